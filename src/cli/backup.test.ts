// Backups of the embedded database, made while it is in use, and what they are restored to.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Pool } from 'pg'
import { Installation, type Running, until } from '../../test/installation.ts'
import { failsWith } from '../../test/operator.ts'
import type { Config } from '../config.ts'
import { listBackups } from '../db/backup/backup.ts'
import { sealing } from '../db/backup/passphrase.ts'
import { restoreBackup } from '../db/backup/restore.ts'
import { readSchedule } from '../db/backup/schedule.ts'
import { holdEmbeddedPostgres } from '../db/embedded.ts'
import { listMigrations, migrate } from '../db/migrate.ts'
import { openPool } from '../db/open.ts'

const PASSPHRASE = 'correct horse battery staple'
const home = new Installation()
const folder = join(home.folder, 'backups')
home.env = { DEMO: 'off', BACKUP_PASSPHRASE: PASSPHRASE }
const elsewhere: Installation[] = []
const { workFactor } = sealing
let server: Running & { url: string }
let keys: { api_key: string; api_secret: string }
let offerId: number

before(async () => {
  sealing.workFactor = 10 // of what is made in this process: other processes take their time
  server = await home.serve()
  await home.json('publisher', 'create', '--name', 'P')
  keys = (await home.json<{ live: typeof keys }>('app', 'create', '--publisher', 'P', '--name', 'A', '--rate-limit', '100000')).live // prettier-ignore
  const offers = join(home.folder, 'offers.json')
  const offer = { name: 'An offer', category: 'app', payout: 1.5, destination_url: 'https://ads.example.com/' }
  writeFileSync(offers, JSON.stringify([{ ...offer, external_id: '1', advertiser: 'Ads' }]))
  await home.json('advertiser', 'create', '--name', 'Ads')
  await home.json('offer', 'import', offers)
  await until(async () => {
    const { data } = await ask<{ offers: { offer_id: number }[] }>(server.url, '/v1/offers?userId=u')
    offerId = data.offers[0]?.offer_id ?? 0
    return offerId > 0
  })
})
after(async () => {
  sealing.workFactor = workFactor
  for (const one of elsewhere) await one.remove()
  await home.remove()
})

type Answer<T> = { status: number; data: T }

async function ask<T>(url: string, path: string, body?: unknown): Promise<Answer<T>> {
  const headers = { 'X-API-Key': keys.api_key, 'X-API-Secret': keys.api_secret, 'Content-Type': 'application/json' }
  const more = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(url + path, { headers, ...more })
  return { status: response.status, data: ((await response.json()) as { data: T }).data }
}

async function report(url: string, userId: string): Promise<string> {
  const { status, data } = await ask<{ conversion: { conversion_id: string } }>(url, '/v1/conversions', { userId, offerId }) // prettier-ignore
  assert.equal(status, 201)
  return data.conversion.conversion_id
}

type Events = { events: { data: { conversion_id: string } }[]; next_cursor: string; has_more: boolean }

async function readEvents(url: string, cursor = '0') {
  const ids: string[] = []
  for (let hasMore = true; hasMore;) {
    const { status, data } = await ask<Events>(url, `/v1/events?after=${cursor}&limit=100`)
    assert.equal(status, 200)
    ids.push(...data.events.map((event) => event.data.conversion_id))
    ;({ next_cursor: cursor, has_more: hasMore } = data)
  }
  return { ids, cursor }
}

function anotherHome(): Installation {
  const other = new Installation()
  other.env = { ...home.env }
  elsewhere.push(other)
  return other
}

type Made = { file: string; verified: { conversions: number } | null }

/** As the owner of the server, in the database of an installation. */
async function withPool<T>({ dataDir }: Installation, work: (pool: Pool) => Promise<T>): Promise<T> {
  const embedded = await holdEmbeddedPostgres(dataDir)
  const { pool, close } = openPool(embedded.superuserConnection, 2)
  try {
    return await work(pool)
  } finally {
    await close()
    await embedded.release()
  }
}

/** Sequences whose next numbers may have been given away after the backup. */
const findUnmoved = (one: Installation) =>
  withPool(one, async (pool) => {
    const text =
      "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND coalesce(last_value, 0) < 100000"
    return (await pool.query<{ sequencename: string }>(text)).rows.map(({ sequencename }) => sequencename)
  })

test('a backup made under load has all that was acknowledged before, and the network goes on from there', async () => {
  const acknowledged: string[] = []
  const ended = new AbortController()
  const load = (async () => {
    for (let i = 0; !ended.signal.aborted; i++) acknowledged.push(await report(server.url, `loaded-${i}`))
  })()
  await until(() => acknowledged.length > 20)
  const before = [...acknowledged]
  const made = await home.json<Made>('backup', 'create', '--folder', folder)
  ended.abort()
  await load
  assert.ok(acknowledged.length > before.length, 'nothing was reported meanwhile')
  assert.ok((made.verified?.conversions ?? 0) >= before.length)
  await until(async () => (await readEvents(server.url)).ids.length === acknowledged.length)
  const { cursor } = await readEvents(server.url)

  const other = anotherHome()
  await other.json('restore', made.file)
  const restored = await other.serve()
  await until(async () => (await readEvents(restored.url)).ids.length >= before.length) // the worker numbers them
  const known = await readEvents(restored.url)
  assert.deepEqual(new Set(before).difference(new Set(known.ids)), new Set(), 'acknowledged and gone')
  assert.deepEqual(new Set(known.ids).difference(new Set(acknowledged)), new Set(), 'never acknowledged')
  // A publisher that was further than the backup goes on where it was, and misses nothing new. Events that had no
  // position yet when the backup was made come once more.
  const added = await report(restored.url, 'after the restore')
  await until(async () => (await readEvents(restored.url, cursor)).ids.includes(added))
  const [last, ...again] = (await readEvents(restored.url, cursor)).ids.toReversed()
  assert.equal(last, added)
  assert.ok(again.every((id) => acknowledged.includes(id)) && again.length < acknowledged.length)
  assert.equal((await other.run(['ledger', 'check'])).status, 0)
  failsWith(await other.run(['restore', made.file]), /There is already a database in .*\. Stop what uses it/)
})

test('only the passphrase opens a backup, and only a whole one is restored', async () => {
  const { file } = await home.json<Made>('backup', 'create', '--folder', folder, '--no-verify')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(file).includes(readFileSync(join(home.dataDir, 'secret-key'), 'utf8').trim()))
  const other = anotherHome()
  failsWith(
    await other.run(['restore', file], { BACKUP_PASSPHRASE: 'another horse battery' }),
    /passphrase does not open/,
  )
  const bytes = readFileSync(file)
  const cut = join(home.folder, 'cut.age')
  for (const length of [10, bytes.length >> 1]) {
    writeFileSync(cut, bytes.subarray(0, length))
    failsWith(await other.run(['restore', cut]), /cut\.age is damaged, or is not a backup/)
  }
  const changed = Buffer.from(bytes)
  changed[bytes.length - 1000]! ^= 1
  writeFileSync(cut, changed)
  failsWith(await home.run(['backup', 'verify', cut]), /is damaged/)
  const external = { DATABASE_URL: 'postgres://x@127.0.0.1/x', SECRET_KEY: 'x'.repeat(40) }
  failsWith(await other.run(['restore', join(home.folder, 'none')]), /There is no file/)
  failsWith(await other.run(['restore', file], external), /DATABASE_URL is set/)
  failsWith(await other.run(['restore', file], { BACKUP_PASSPHRASE: '' }), /Set BACKUP_PASSPHRASE/, 2)
  assert.deepEqual(
    readdirSync(join(other.dataDir, 'postgres')).filter((name) => name.startsWith('data')),
    [],
  )

  writeFileSync(join(other.dataDir, 'secret-key'), `${'x'.repeat(40)}\n`)
  failsWith(await other.run(['restore', file]), /secret-key belongs to another network/)
  const passphraseFile = join(home.folder, 'passphrase')
  writeFileSync(passphraseFile, `${PASSPHRASE}\n`)
  const verified = await home.run(['backup', 'verify', file, '--passphrase-file', passphraseFile], {
    BACKUP_PASSPHRASE: '',
  })
  assert.match(verified.out, /can be restored\./)
  assert.deepEqual(
    readdirSync(home.dataDir).filter((name) => name.startsWith('verifying-')),
    [],
  )
})

test('a restore that was killed once the database had its place is completed by the next command', async () => {
  const { file } = await home.json<Made>('backup', 'create', '--folder', folder, '--no-verify')
  const other = anotherHome()
  await restoreBackup(file, PASSPHRASE, other.dataDir) // and no more of the command
  failsWith(await other.run(['restore', file]), /There is already a database/)
  const { publisher_id } = await other.json<{ publisher_id: number }>('publisher', 'create', '--name', 'New')
  assert.ok(publisher_id > 100_000)
  assert.deepEqual(await findUnmoved(other), [])
  const { publisher_id: next } = await other.json<{ publisher_id: number }>('publisher', 'create', '--name', 'Next')
  assert.equal(next, publisher_id + 1)
})

test('before an upgrade, the new version backs up the old schema, and restores it as its own', async () => {
  const [old, other] = [anotherHome(), anotherHome()]
  const schema = listMigrations().filter(({ name }) => name < '0185')
  await withPool(old, (pool) => migrate({ pool }, schema))
  const { file } = await old.json<Made>('backup', 'create', '--folder', join(old.folder, 'backups'))
  const { rows } = await withPool(old, (pool) =>
    pool.query<{ action: string; applied: number }>(
      'SELECT action, (SELECT count(*)::int FROM schema_migrations) AS applied FROM audit_log',
    ),
  )
  assert.deepEqual(rows, [{ action: 'backup.create', applied: schema.length }])
  await other.json('restore', file)
  assert.deepEqual(await findUnmoved(other), [])
})

test('a backup that was killed during its check, or failed it, is none', async () => {
  const one = anotherHome()
  const folder = join(one.folder, 'backups')
  await one.json('publisher', 'create', '--name', 'P')
  const create = one.start(['backup', 'create', '--folder', folder])
  await until(() => readdirSync(one.dataDir).some((name) => name.startsWith('verifying-')))
  await create.kill('SIGKILL')
  assert.deepEqual(listBackups(folder, new Date()), [])
  await withPool(one, (pool) =>
    pool.query(`SET session_replication_role = replica;
      INSERT INTO ledger_balances (account, party_id, amount_micros) SELECT 'publisher', publisher_id, 1 FROM publishers`),
  )
  failsWith(
    await one.run(['backup', 'create', '--folder', folder]),
    /The ledger is wrong: .* The backup failed verification and was deleted/,
  )
  assert.deepEqual(readdirSync(folder), [])
})

test('what waits in the spool and what the demo knows are restored with the rest', async () => {
  await server.kill('SIGTERM')
  const spooled = join(home.dataDir, 'spool/clicks/1-1-gone')
  mkdirSync(spooled, { recursive: true })
  writeFileSync(join(spooled, '1.jsonl'), 'a row')
  writeFileSync(join(home.dataDir, 'demo-people.json'), '{}')
  const other = anotherHome()
  const { file } = await home.json<Made>('backup', 'create', '--folder', folder, '--no-verify')
  await other.json('restore', file)
  assert.equal(readFileSync(join(other.dataDir, 'spool/clicks/1-1-gone/1.jsonl'), 'utf8'), 'a row')
  assert.equal(readFileSync(join(other.dataDir, 'demo-people.json'), 'utf8'), '{}')
})

test('the worker makes one when it is time, keeps the newest, and says what is wrong', async () => {
  const scheduled = join(home.folder, 'scheduled')
  mkdirSync(scheduled)
  for (const day of ['01', '02', '03']) writeFileSync(join(scheduled, `offerdeck-202601${day}-000000.tar.zst.age`), '')
  writeFileSync(join(scheduled, 'offerdeck-29990101-000000.tar.zst.age'), 'of a clock that was wrong')
  const now = new Date('2026-01-04T12:00:00Z')
  const schedule = { backupDir: scheduled, backupHours: 24 } as Config
  assert.deepEqual(readSchedule(schedule, now), { last_at: new Date('2026-01-03'), last_bytes: 0, is_late: false })
  writeFileSync(join(scheduled, 'offerdeck-20260104-000000.tar.zst.age.part'), 'of one that was killed')
  writeFileSync(join(scheduled, 'notes.txt'), 'of the operator')
  const two = [await home.serve({ BACKUP_DIR: scheduled, BACKUP_KEEP: '2' }), await home.serve({ BACKUP_DIR: scheduled, BACKUP_KEEP: '2' }, ['--only', 'worker', '--json'])] // prettier-ignore
  await until(() => readdirSync(scheduled).filter((name) => name.endsWith('.age')).length === 2)
  for (const one of two) assert.equal((await one.kill('SIGTERM')).status, 0)
  const names = readdirSync(scheduled).toSorted()
  assert.deepEqual(names.slice(0, 2), ['notes.txt', 'offerdeck-20260103-000000.tar.zst.age'])
  assert.equal(names.length, 3)

  const broken = await home.serve({ BACKUP_DIR: join(scheduled, 'notes.txt', 'inside') })
  await until(() => broken.err.includes('making backups failed (Cannot write to'))
  await broken.kill('SIGTERM')
  const folder = join(home.folder, 'ended')
  const ended = await home.serve({ BACKUP_DIR: folder })
  await until(() => existsSync(folder))
  assert.equal((await ended.kill('SIGTERM')).status, 0)
  assert.deepEqual(listBackups(folder, new Date()), [])
})
