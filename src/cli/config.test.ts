import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../config.ts'
import { SETTINGS } from '../settings.ts'
import { describeConfig } from './config.ts'

test('the settings are described as they are in force, and whether they were given', () => {
  const env = { PORT: '9000', DATA_DIR: '/srv/offers', TLS_CERT: '/c', TLS_KEY: '/k', TRUST_PROXY: '10.0.0.1' }
  const described = describeConfig(loadConfig(env), env)
  assert.deepEqual(
    described.map(({ name }) => name),
    SETTINGS.map(({ name }) => name),
  )
  const valueOf = (wanted: string) => described.find(({ name }) => name === wanted)
  assert.deepEqual(valueOf('PORT'), { name: 'PORT', value: '9000', given: true })
  assert.deepEqual(valueOf('HOST'), { name: 'HOST', value: '127.0.0.1', given: false })
  assert.equal(valueOf('DATA_DIR')?.value, join('/srv', 'offers'))
  assert.equal(valueOf('DATABASE_URL')?.value, '(embedded PostgreSQL)')
  assert.equal(valueOf('SECRET_KEY')?.value, '(stored in DATA_DIR)')
  assert.ok(described.every(({ value }) => value !== ''))
})

test('the description of the settings masks every secret', () => {
  for (const scheme of ['postgres', 'postgresql']) {
    const env = {
      DATABASE_URL: `${scheme}://owner:canary@db:5432/offers?sslpassword=canary&password=canary#canary`,
      REDIS_URL: 'redis+sentinel://user:canary@cache:6379,other:6379/name',
      SECRET_KEY: 'canary'.repeat(6),
    }
    const text = JSON.stringify(describeConfig(loadConfig(env), env))
    assert.doesNotMatch(text, /canary/)
    assert.match(text, /owner:\*+@db:5432\/offers/)
    assert.match(text, /user:\*+@cache:6379,other:6379\/name/)
  }
})
