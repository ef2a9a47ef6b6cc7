// PORT, HOST and the settings that are URLs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf, refuses } from '../test/config-problems.ts'
import { loadConfig } from './config.ts'

const KEY = 'k'.repeat(32)
const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL: 'https://offers.example.com' }
const urlOf = (env: NodeJS.ProcessEnv) => loadConfig(env).publicUrl

test('PORT is a whole number from 1 to 65535', () => {
  for (const port of [1, 80, 65_535]) assert.equal(loadConfig({ PORT: String(port) }).port, port)
  for (const PORT of ['0', '65536', '-1', '80.5', 'http', '8080x', '0x50', '1e3', '123456']) refuses({ PORT }, /^PORT /)
})

test('the public URL follows from HOST, PORT and TLS where it is not set', () => {
  assert.equal(urlOf({ HOST: '0.0.0.0', PORT: '9000' }), 'http://localhost:9000')
  assert.equal(urlOf({ HOST: '::', PORT: '9000' }), 'http://localhost:9000')
  assert.equal(urlOf({ HOST: '::1' }), 'http://[::1]:8080')
  assert.equal(urlOf({ HOST: 'box.local', TLS_CERT: 'c', TLS_KEY: 'k' }), 'https://box.local:8080')
  assert.equal(urlOf({ PORT: '80' }), 'http://127.0.0.1')
})

test('a HOST that is neither an IP address nor a name is refused', () => {
  for (const HOST of ['two words', '[::1]', 'http://box', 'box/path', 'a:b']) refuses({ HOST }, /^HOST /)
})

test('PUBLIC_URL is scheme, host and port, nothing else', () => {
  for (const PUBLIC_URL of [
    'https://offers.example.com/wall',
    'https://offers.example.com//',
    'https://offers.example.com?x=1',
    'https://offers.example.com/#top',
    'https://user@offers.example.com',
    'https://user:canary@offers.example.com',
  ]) {
    refuses({ PUBLIC_URL }, /^PUBLIC_URL must be scheme, host and port only/)
  }
  for (const PUBLIC_URL of ['offers.example.com', 'ftp://offers.example.com', 'https://', 'javascript:alert(1)', '/x'])
    refuses({ PUBLIC_URL }, /^PUBLIC_URL must be a URL that starts with http:\/\/ or https:\/\//)
})

test('production requires a PUBLIC_URL with https', () => {
  assert.equal(loadConfig(PRODUCTION).publicUrl, PRODUCTION.PUBLIC_URL)
  refuses({ NODE_ENV: 'production' }, /^PUBLIC_URL is required in production/)
  refuses({ ...PRODUCTION, PUBLIC_URL: 'http://offers.example.com' }, /^PUBLIC_URL must start with https:\/\//)
  refuses(
    { ...PRODUCTION, PUBLIC_URL: 'http://offers.example.com', REQUIRE_HTTPS: 'off' },
    /^PUBLIC_URL must start with https:\/\//,
  )
})

test('outside production PUBLIC_URL may be plain HTTP, unless HTTPS is required', () => {
  assert.equal(loadConfig({ PUBLIC_URL: 'http://box.local' }).publicUrl, 'http://box.local')
  refuses({ PUBLIC_URL: 'http://box.local', REQUIRE_HTTPS: 'on' }, /^PUBLIC_URL must start with https:\/\//)
})

test('a HOST that no URL can have is refused', () => {
  for (const HOST of ['A.0', '1.2.3.4.5', '256.0.0.1'])
    assert.match(problemsOf({ HOST }).join(), /HOST must be an address or a host name/, HOST)
})

test('DATABASE_URL must be a PostgreSQL URL and requires a SECRET_KEY', () => {
  refuses(
    { DATABASE_URL: 'mysql://db/offers', SECRET_KEY: KEY },
    /^DATABASE_URL must be a URL that starts with postgres/,
  )
  refuses({ DATABASE_URL: 'db:5432', SECRET_KEY: KEY }, /^DATABASE_URL /)
  refuses({ DATABASE_URL: 'postgres://db/offers' }, /^SECRET_KEY is required with DATABASE_URL.*openssl rand/)
})

test('REDIS_URL must be a Redis URL', () => {
  assert.equal(loadConfig({ REDIS_URL: 'redis://cache' }).redisUrl, 'redis://cache')
  for (const REDIS_URL of ['cache:6379', 'http://cache', 'localhost', 'redis://a,b', 'redis+sentinel://a,b'])
    refuses({ REDIS_URL }, /^REDIS_URL must be redis:/)
})

test('EXPORT_URL is a folder, or a bucket with the keys for it', () => {
  const keys = { EXPORT_S3_ACCESS_KEY_ID: 'AKIA', EXPORT_S3_SECRET_ACCESS_KEY: 'kept' }
  for (const EXPORT_URL of ['file:///var/exports', 'file:///var/exports/', 's3://bucket', 's3://my.bucket/a/b/'])
    assert.equal(loadConfig({ EXPORT_URL, ...keys }).exportUrl, EXPORT_URL)
  for (const EXPORT_URL of [
    '/var/exports',
    'file://var/exports',
    'file:///',
    's3://',
    's3://Bucket_1',
    's3://key:canary@bucket',
    'https://bucket',
  ])
    refuses({ EXPORT_URL, ...keys }, /^EXPORT_URL must name a folder, such as file:/)
  refuses({ EXPORT_URL: 's3://bucket' }, /^EXPORT_S3_ACCESS_KEY_ID and EXPORT_S3_SECRET_ACCESS_KEY are required/)
  for (const EXPORT_S3_ENDPOINT of ['https://storage.example.com/bucket', 'https://key:canary@storage.example.com'])
    refuses({ EXPORT_S3_ENDPOINT }, /^EXPORT_S3_ENDPOINT must be scheme, host and port only/)
  refuses({ EXPORT_S3_REGION: 'eu central' }, /^EXPORT_S3_REGION /)
  refuses({ EXPORT_INTERVAL_SECONDS: '4' }, /^EXPORT_INTERVAL_SECONDS /)
})
