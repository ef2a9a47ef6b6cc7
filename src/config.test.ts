import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { problemsOf, refuses } from '../test/config-problems.ts'
import { type Config, loadConfig } from './config.ts'
import { LOG_LEVELS, SETTINGS } from './settings.ts'
import { OperatorError } from './errors.ts'

const KEY = 'k'.repeat(32)
const PRODUCTION = { NODE_ENV: 'production', PUBLIC_URL: 'https://offers.example.com' }

test('auto is left to whoever knows the offers', () => {
  assert.equal(loadConfig({ PROCESSES: 'auto' }).processes, 'auto')
})

test('an empty environment gives the documented defaults', () => {
  const expected: Config = {
    production: false,
    port: 8080,
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1:8080',
    dataDir: resolve('data'),
    databaseUrl: null,
    databaseReplicaUrl: null,
    preparedStatements: true,
    redisUrl: null,
    tls: null,
    trustProxy: [],
    requireHttps: false,
    require2fa: false,
    geoipDb: null,
    countryHeader: null,
    listedIps: null,
    ipAddresses: 'full',
    retentionDays: 90,
    backupDir: null,
    backupHours: 24,
    backupKeep: 7,
    backupPassphrase: null,
    exportUrl: null,
    exportIntervalSeconds: 60,
    exportS3Endpoint: null,
    exportS3Region: 'us-east-1',
    exportS3AccessKeyId: null,
    exportS3SecretAccessKey: null,
    retention: { clicks: 90, callbacks: 90, postbacks: 90, requests: 3, tickets: 400, unlocks: 90, addresses: 90 },
    postbackAllow: [],
    postbackDeny: [],
    postbackProxy: null,
    smtpUrl: null,
    mailFrom: 'offerdeck@127.0.0.1',
    securityContact: null,
    metricsPort: null,
    metricsHost: '127.0.0.1',
    metricsToken: null,
    tracing: null,
    drainSeconds: 0,
    processes: 1,
    logLevel: 'info',
    demo: true,
    secretKey: null,
    oldSecretKey: null,
  }
  assert.deepEqual(loadConfig({}), expected)
})

test('a variable that is empty or blank counts as absent', () => {
  const blank = Object.fromEntries(SETTINGS.map(({ name }, i) => [name, i % 2 === 0 ? '' : '  ']))
  assert.deepEqual(loadConfig(blank), loadConfig({}))
})

test('every variable that is given is taken, without the white space around it', () => {
  const config = loadConfig({
    PORT: ' 9000 ',
    HOST: '0.0.0.0',
    PUBLIC_URL: 'https://offers.example.com:8443/',
    DATA_DIR: 'some/where',
    DATABASE_URL: 'postgresql://u:p@db:5432/offers',
    DATABASE_REPLICA_URL: 'postgres://u:p@replica/offers',
    PREPARED_STATEMENTS: 'off',
    REDIS_URL: 'rediss://cache:6379',
    TLS_CERT: 'cert.pem',
    TLS_KEY: '/etc/key.pem',
    TRUST_PROXY: '10.0.0.0/8, 127.0.0.1,2001:db8::/32',
    REQUIRE_HTTPS: 'on',
    REQUIRE_2FA: 'on',
    GEOIP_DB: 'geo.mmdb',
    COUNTRY_HEADER: 'CF-IPCountry',
    LISTED_IPS: '/etc/listed',
    IP_ADDRESSES: 'truncated',
    RETENTION_DAYS: '30',
    BACKUP_HOURS: '6',
    BACKUP_KEEP: '30',
    BACKUP_PASSPHRASE: 'a long passphrase for backups',
    EXPORT_URL: 's3://exports/offers',
    EXPORT_INTERVAL_SECONDS: '300',
    EXPORT_S3_ENDPOINT: 'https://storage.example.com/',
    EXPORT_S3_REGION: 'eu-central-1',
    EXPORT_S3_ACCESS_KEY_ID: 'AKIA',
    EXPORT_S3_SECRET_ACCESS_KEY: 'kept',
    RETENTION_DAYS_ADDRESSES: '10',
    POSTBACK_ALLOW: '10.1.0.0/16 , fd00::/8',
    POSTBACK_DENY: '8.8.8.8',
    POSTBACK_PROXY: 'http://u:p@proxy:3128',
    SMTP_URL: 'smtps://u:p@mail:465',
    MAIL_FROM: 'deck@example.com',
    SECURITY_CONTACT: 'security@example.com',
    METRICS_PORT: '9464',
    METRICS_HOST: '10.0.0.7',
    METRICS_TOKEN: 'a token for Prometheus',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/otlp/',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20abc, x-tenant=offers',
    OTEL_SERVICE_NAME: 'offers-staging',
    OTEL_TRACES_SAMPLER_ARG: '.25',
    DRAIN_SECONDS: '20',
    PROCESSES: '3',
    LOG_LEVEL: 'debug',
    DEMO: 'off',
    SECRET_KEY: KEY,
  })
  assert.deepEqual(config, {
    production: false,
    port: 9000,
    host: '0.0.0.0',
    publicUrl: 'https://offers.example.com:8443',
    dataDir: resolve('some/where'),
    databaseUrl: 'postgresql://u:p@db:5432/offers',
    databaseReplicaUrl: 'postgres://u:p@replica/offers',
    preparedStatements: false,
    redisUrl: 'rediss://cache:6379',
    tls: { certFile: resolve('cert.pem'), keyFile: '/etc/key.pem' },
    trustProxy: ['10.0.0.0/8', '127.0.0.1', '2001:db8::/32'],
    requireHttps: true,
    require2fa: true,
    geoipDb: resolve('geo.mmdb'),
    countryHeader: 'cf-ipcountry',
    listedIps: '/etc/listed',
    ipAddresses: 'truncated',
    retentionDays: 30,
    backupDir: null,
    backupHours: 6,
    backupKeep: 30,
    backupPassphrase: 'a long passphrase for backups',
    exportUrl: 's3://exports/offers',
    exportIntervalSeconds: 300,
    exportS3Endpoint: 'https://storage.example.com',
    exportS3Region: 'eu-central-1',
    exportS3AccessKeyId: 'AKIA',
    exportS3SecretAccessKey: 'kept',
    retention: { clicks: 30, callbacks: 30, postbacks: 30, requests: 3, tickets: 400, unlocks: 30, addresses: 10 },
    postbackAllow: ['10.1.0.0/16', 'fd00::/8'],
    postbackDeny: ['8.8.8.8'],
    postbackProxy: 'http://u:p@proxy:3128',
    smtpUrl: 'smtps://u:p@mail:465',
    mailFrom: 'deck@example.com',
    securityContact: 'mailto:security@example.com',
    metricsPort: 9464,
    metricsHost: '10.0.0.7',
    metricsToken: 'a token for Prometheus',
    tracing: { endpoint: 'https://collector.example.com/otlp', headers: { authorization: 'Bearer abc', 'x-tenant': 'offers' }, serviceName: 'offers-staging', ratio: 0.25 }, // prettier-ignore
    drainSeconds: 20,
    processes: 3,
    logLevel: 'debug',
    demo: false,
    secretKey: KEY,
    oldSecretKey: null,
  })
})

test('SECURITY_CONTACT is an email address or a URI of https, mailto or tel, on one line', () => {
  const contactOf = (SECURITY_CONTACT: string) => loadConfig({ SECURITY_CONTACT }).securityContact
  assert.equal(contactOf('security@example.com'), 'mailto:security@example.com')
  for (const uri of ['mailto:security@example.com', 'https://example.com/security', 'tel:+1-201-555-0123'])
    assert.equal(contactOf(uri), uri)
  for (const SECURITY_CONTACT of [
    'example.com',
    'http://example.com',
    'https://',
    'a b@example.com',
    'https://x\nExpires: 1',
  ])
    refuses({ SECURITY_CONTACT }, /^SECURITY_CONTACT must be/)
})

test('metrics have a port that nothing else uses, and a token that is not guessed', () => {
  refuses({ PORT: '9464', METRICS_PORT: '9464' }, /^METRICS_PORT must differ/)
  refuses({ METRICS_PORT: 'on' }, /^METRICS_PORT must be a whole number/)
  refuses({ METRICS_TOKEN: 'too short' }, /^METRICS_TOKEN must have at least 16/)
})

test('HTTPS and a second factor are required and the demo is off in production', () => {
  const { requireHttps, require2fa, demo, production } = loadConfig(PRODUCTION)
  assert.deepEqual(
    { requireHttps, require2fa, demo, production },
    { requireHttps: true, require2fa: true, demo: false, production: true },
  )
  assert.equal(loadConfig({ ...PRODUCTION, REQUIRE_HTTPS: 'off' }).requireHttps, false)
  assert.equal(loadConfig({ ...PRODUCTION, REQUIRE_2FA: 'off' }).require2fa, false)
})

test('a switch is on or off in the usual spellings, and nothing else', () => {
  for (const on of ['on', 'ON', 'true', '1', 'yes']) assert.equal(loadConfig({ REQUIRE_HTTPS: on }).requireHttps, true)
  for (const off of ['off', 'False', '0', 'no']) assert.equal(loadConfig({ DEMO: off }).demo, false)
  refuses({ REQUIRE_HTTPS: 'maybe' }, /^REQUIRE_HTTPS must be "on" or "off"/)
  refuses({ DEMO: '2' }, /^DEMO must be "on" or "off"/)
})

test('SECRET_KEY has at least 32 characters', () => {
  assert.equal(loadConfig({ SECRET_KEY: KEY }).secretKey, KEY)
  refuses({ SECRET_KEY: KEY.slice(1) }, /^SECRET_KEY must have at least 32 characters/)
})

test('the demo is refused with DATABASE_URL and in production', () => {
  const database = { DATABASE_URL: 'postgres://db/offers', SECRET_KEY: KEY }
  assert.equal(loadConfig(database).demo, false)
  refuses({ ...database, DEMO: 'on' }, /^DEMO works only with the embedded database/)
  refuses({ ...PRODUCTION, DEMO: 'on' }, /^DEMO works only with the embedded database and not in production/)
})

test('TLS_CERT and TLS_KEY go together', () => {
  refuses({ TLS_CERT: 'cert.pem' }, /^TLS_CERT and TLS_KEY must be given together/)
  refuses({ TLS_KEY: 'key.pem' }, /^TLS_CERT and TLS_KEY must be given together/)
})

test('backups are for the embedded database, and need a passphrase', () => {
  const BACKUP_PASSPHRASE = 'a long passphrase'
  assert.equal(loadConfig({ BACKUP_DIR: '/backups', BACKUP_PASSPHRASE }).backupDir, '/backups')
  refuses({ BACKUP_DIR: '/backups' }, /^BACKUP_DIR needs BACKUP_PASSPHRASE/)
  refuses({ BACKUP_PASSPHRASE: 'short' }, /^BACKUP_PASSPHRASE must have at least 16/)
  refuses(
    { BACKUP_DIR: '/b', BACKUP_PASSPHRASE, DATABASE_URL: 'postgres://db/x', SECRET_KEY: KEY },
    /^BACKUP_DIR is for/,
  )
})

test('LOG_LEVEL is one of the known levels', () => {
  for (const level of LOG_LEVELS) assert.equal(loadConfig({ LOG_LEVEL: level }).logLevel, level)
  refuses({ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of fatal, error/)
})

test('all problems come in one message', () => {
  const problems = problemsOf({
    NODE_ENV: 'production',
    PORT: 'eighty',
    HOST: 'two words',
    PUBLIC_URL: 'offers',
    DATABASE_URL: 'mysql://db',
    REDIS_URL: 'http://cache',
    TLS_CERT: 'cert.pem',
    TRUST_PROXY: '*',
    REQUIRE_HTTPS: 'perhaps',
    POSTBACK_ALLOW: '10.0.0.0/8, everywhere',
    POSTBACK_DENY: '1.2.3',
    POSTBACK_PROXY: 'socks5://proxy',
    SMTP_URL: 'mail.example.com',
    MAIL_FROM: 'nobody',
    SECURITY_CONTACT: 'nobody',
    LOG_LEVEL: 'loud',
    DEMO: 'on',
    SECRET_KEY: 'short',
  })
  const named = new Set(problems.map((problem) => /^[A-Z_]+/.exec(problem)?.[0]))
  assert.deepEqual(named, new Set([
    'DATABASE_URL', 'DEMO', 'HOST', 'LOG_LEVEL', 'MAIL_FROM', 'PORT', 'POSTBACK_ALLOW', 'POSTBACK_DENY', 'POSTBACK_PROXY', 'PUBLIC_URL',
    'REDIS_URL', 'REQUIRE_HTTPS', 'SECRET_KEY', 'SECURITY_CONTACT', 'SMTP_URL', 'TLS_CERT', 'TRUST_PROXY',
  ])) // prettier-ignore
})

test('no problem repeats the value of a secret', () => {
  const env = { DATABASE_URL: 'mysql://u:canary@db', REDIS_URL: 'http://:canary@cache', SECRET_KEY: 'canary' }
  assert.doesNotMatch(problemsOf(env).join('\n'), /canary/)
})

test('reading any environment gives a configuration or a message for the operator, and leaves it as it was', () => {
  const env = fc.record(
    Object.fromEntries([...SETTINGS.map(({ name }) => name), 'NODE_ENV'].map((name) => [name, fc.string()])),
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(env, (given) => {
      const before = { ...given }
      try {
        assert.ok(loadConfig(given).port > 0)
      } catch (error) {
        assert.ok(error instanceof OperatorError, String(error))
      }
      assert.deepEqual({ ...given }, before)
    }),
  )
})

test('the demo is for this machine: refused on another HOST, and off there unless it is asked for', () => {
  for (const HOST of ['127.0.0.1', '127.3.2.1', '::1', 'localhost']) assert.equal(loadConfig({ HOST }).demo, true, HOST)
  for (const HOST of ['0.0.0.0', '::', '192.168.1.5', 'offers.example.com', '::ffff:10.0.0.1']) {
    assert.equal(loadConfig({ HOST }).demo, false, HOST)
    assert.throws(() => loadConfig({ HOST, DEMO: 'on' }), /DEMO works only while HOST is an address of this machine/)
  }
})
