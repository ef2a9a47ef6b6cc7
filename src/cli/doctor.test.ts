// What doctor sees, each with what to do about it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { selfSign } from '../../test/certificates.ts'
import { fakeTime } from '../../test/faketime.ts'
import { Installation } from '../../test/installation.ts'
import { PgBouncer } from '../../test/pgbouncer.ts'
import { adminQuery, superuserConnection } from '../../test/databases.ts'
import { databaseUrl, SECRET_KEY, useWorld } from '../../test/world.ts'
import { openPool } from '../db/open.ts'
import { rfc3339 } from '../lib/time.ts'

const home = new Installation()
after(() => home.remove())
const world = useWorld('doctor')

const database = () => ({ DATABASE_URL: databaseUrl(world), SECRET_KEY })

async function examine(env: Record<string, string>): Promise<(check: string) => string> {
  const { out } = await ('LD_PRELOAD' in env ? home.start(['doctor'], env).finished : home.run(['doctor'], env))
  return (check) => new RegExp(`^(?:ok  |FAIL)  ${check} .*(?:\\n {6}.*)?$`, 'm').exec(out)?.[0] ?? out
}

/** The settings for a certificate of this host, valid from and to these days. */
function createCertificate(name: string, from: string, to: string): Record<string, string> {
  const folder = mkdtempSync(join(world.dataDir, 'tls-'))
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const made = selfSign({ names: [`DNS:${name}`], from, to })
  writeFileSync(certificate, made.cert)
  writeFileSync(key, made.key)
  const urls = { PUBLIC_URL: 'https://offers.example.com', HOST: '0.0.0.0' }
  return { TLS_CERT: certificate, TLS_KEY: key, ...urls, ...database() }
}

const inDays = (days: number) => rfc3339(new Date(Date.now() + days * 86_400_000)).slice(0, 10).replaceAll('-', '') // prettier-ignore

test('a certificate for another host, one that has expired or soon will, and one that is right', async () => {
  const right = await examine(createCertificate('offers.example.com', '20200101', inDays(90)))
  assert.match(right('tls'), /^ok .*for offers\.example\.com is valid for (89|90) days/)
  const other = await examine(createCertificate('other.example.com', '20200101', inDays(90)))
  assert.match(
    other('tls'),
    /^FAIL .*for another host \(DNS:other\.example\.com\), not for offers.*\n.*Get a certificate/,
  )
  const soon = await examine(createCertificate('offers.example.com', '20200101', inDays(5)))
  assert.match(soon('tls'), /^FAIL .*valid for (4|5) days\n.*Renew/)
  const over = await examine(createCertificate('offers.example.com', '20200101', '20210101'))
  assert.match(over('tls'), /^FAIL .*expired on 2021-01-01T00:00:00Z\n.*Renew/)
})

test('a HOST that cannot be reached under PUBLIC_URL', async () => {
  const outside = { ...database(), PUBLIC_URL: 'http://offers.example.com' }
  const alone = await examine(outside)
  assert.match(alone('address'), /^FAIL .*127\.0\.0\.1 is reachable only from this machine.*\n.*HOST to 0\.0\.0\.0/)
  assert.match((await examine({ ...outside, TRUST_PROXY: '127.0.0.1' }))('address'), /^ok /)
  assert.match((await examine({ ...outside, HOST: '0.0.0.0' }))('address'), /^ok /)
})

test('whether a contact for vulnerabilities is published', async () => {
  const unset = (await examine(database()))('security')
  assert.match(unset, /^ok .*set SECURITY_CONTACT to publish \/\.well-known\/security\.txt/)
  const set = (await examine({ ...database(), SECURITY_CONTACT: 'security@example.com' }))('security')
  assert.match(set, /^ok .*mailto:security@example\.com/)
})

test('whether backups and exports can be written', async () => {
  const none = await examine(database())
  assert.match(none('backups'), /^ok .*not created here/)
  assert.match(none('export'), /^ok .*EXPORT_URL is not set/)
  const folder = mkdtempSync(join(world.dataDir, 'exports-'))
  const there = await examine({ ...database(), EXPORT_URL: pathToFileURL(folder).href })
  assert.match(there('export'), /^ok .*exports-\w+ accepts files/)
  const missing = await examine({ ...database(), EXPORT_URL: pathToFileURL(join(folder, 'not/mounted')).href })
  assert.match(missing('export'), /^FAIL .*cannot write to file:.*ENOENT.*\n.*Create the folder, or mount it/)
  const refusing = createServer((_request, response) => response.writeHead(403).end('<Code>AccessDenied</Code>'))
  await once(refusing.listen(0, '127.0.0.1'), 'listening')
  const storage = { EXPORT_S3_ENDPOINT: `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`, EXPORT_S3_ACCESS_KEY_ID: 'id', EXPORT_S3_SECRET_ACCESS_KEY: 'key' } // prettier-ignore
  const refused = await examine({ ...database(), EXPORT_URL: 's3://bucket/prefix', ...storage })
  refusing.close()
  assert.match(refused('export'), /^FAIL .*the storage answered 403 \(AccessDenied\)\n.*that the bucket exists/)
  const unwritable = { BACKUP_PASSPHRASE: 'correct horse battery', BACKUP_DIR: join(folder, 'doctor.txt/backups') }
  assert.match((await examine(unwritable))('backups'), /^FAIL .*ENOTDIR.*\n.*write access/)
})

test('a database with the limits, the pooler and the schema that it should have, or not', async () => {
  const { pool } = world.database
  const others = openPool(superuserConnection(), 30)
  const clients = await Promise.all(Array.from({ length: 30 }, () => others.pool.connect()))
  const healthy = await examine(database())
  for (const client of clients) client.release()
  await others.close()
  for (const check of ['database', 'schema', 'key', 'clock', 'limits', 'pooler']) assert.match(healthy(check), /^ok /)
  const [, used] = /connections, (\d+) in use/.exec(healthy('limits')) ?? []
  assert.ok(Number(used) >= 30, 'those of other roles count, too')
  await adminQuery(`ALTER DATABASE ${world.databaseName} CONNECTION LIMIT 11`)
  await pool.query(
    "INSERT INTO schema_migrations (name, checksum, breaks_older) VALUES ('9999_from_the_future.sql', 'x', true)",
  )
  const poor = await examine(database())
  assert.match(poor('limits'), /^FAIL .*11 connections.*\n.*Raise max_connections/)
  assert.match(poor('schema'), /^FAIL .*9999_from_the_future.*newer.*\n.*Install the version/)
})

test('a clock that differs from the database’s, and PgBouncer without prepared statements', async () => {
  const pooler = await PgBouncer.open(world, { mode: 'transaction' })
  const poor = await examine({ DATABASE_URL: pooler.url, SECRET_KEY, ...fakeTime({ FAKETIME: '+90s' }) })
  const right = await examine({ DATABASE_URL: pooler.url, SECRET_KEY, PREPARED_STATEMENTS: 'off' })
  assert.match(right('pooler'), /^ok .*do not work, and are not used/)
  await pooler.close()
  assert.match(poor('clock'), /^FAIL .*off from the database clock by (89|90|91) s\n.*NTP service/)
  assert.match(
    poor('pooler'),
    /^FAIL .*prepared statements do not work \(.*offerdeck-doctor.*\)\n.*PREPARED_STATEMENTS=off/,
  )
})
