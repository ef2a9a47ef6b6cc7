import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import type { Database, Db } from '../../db/open.ts'
import { createConversion, createDeal, type Deal } from '../../../test/conversion-rows.ts'
import { dieAt } from '../../../test/crash.ts'
import { assertComplete, exportEverything, readExported, readManifests } from '../../../test/exported.ts'
import { until } from '../../../test/installation.ts'
import { createFolder } from '../../../test/folders.ts'
import { addClicks } from '../../../test/seed-rows.ts'
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { numberEvents } from '../conversions/events.ts'
import { eraseUsers } from '../users/erase.ts'
import { requestErasure } from '../users/erasures.ts'
import { exportDue } from './exporter.ts'
import { createFolderTarget } from './folder.ts'
import { MOST_ROWS } from './positions.ts'
import { readExports } from './status.ts'

let db: Db
let deal: Deal
const world = useWorld('exports', async () => {
  ;({ db } = world.database)
  deal = await createDeal(world)
})
let folder = ''
beforeEach(() => void (folder = createFolder('exports')))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const NOW = new Date()
const seconds = (count: number) => new Date(NOW.getTime() + count * 1000).toISOString()
const warned: string[] = []
const optionsFor = (of: Pick<Database, 'db'> = world.database) => ({
  db: of.db,
  target: createFolderTarget(folder),
  intervalSeconds: 60,
  warn: (message: string) => void warned.push(message),
})

/** Until nothing is left, or it fails. */
async function exportAll(): Promise<void> {
  await numberEvents(db)
  await exportEverything(optionsFor())
}

const clicksAt = (...times: string[]) =>
  addClicks(
    db,
    ...times.map((at) => ({ at, appId: deal.appId, offerId: deal.offerId, country: 'DE', signals: ['bot'] })),
  )

const status = async (kind = 'clicks') =>
  (await readExports(db, createFolderTarget(folder).url)).find((one) => one.kind === kind)

test('clicks and events are exported once, by day, with the names of the API and exact amounts', async () => {
  await clicksAt('2026-01-05T23:59:59.999Z', '2026-01-06T00:00:00Z')
  const { conversionId } = await createConversion(world, deal, { status: 'reversed', payoutMicros: 1_234_567, revenueMicros: 2_000_000, at: NOW }) // prettier-ignore
  await exportAll()
  await exportAll()
  await assertComplete(db, folder)
  const ofDays = readManifests(folder, 'clicks').filter(({ day }) => day.startsWith('2026-01'))
  assert.deepEqual(
    ofDays.map(({ day, rows, path }) => [day, rows, path.split('/').slice(0, 2).join('/')]),
    [
      ['2026-01-05', 1, 'clicks/day=2026-01-05'],
      ['2026-01-06', 1, 'clicks/day=2026-01-06'],
    ],
  )
  const [click] = readExported(folder, 'clicks')
  assert.deepEqual(
    [click?.['clicked_at'], click?.['publisher_id'], click?.['advertiser_id'], click?.['signals'], click?.['is_test']],
    ['2026-01-05T23:59:59.999Z', deal.publisherId, deal.advertiserId, ['bot'], false],
  )
  const events = readExported(folder, 'conversion_events').filter((one) => one['conversion_id'] === conversionId)
  assert.deepEqual(
    events.map((one) => [one['sequence'], one['status'], one['payout'], one['revenue'], one['payout_local']]),
    [
      [1, 'approved', 1.234567, 2, 123.4567],
      [2, 'reversed', 1.234567, 2, 123.4567],
    ],
  )
  for (const row of [click, ...events])
    assert.deepEqual(Object.keys(row ?? {}).filter((name) => /_micros$|_ppm$|_no$/.test(name)), []) // prettier-ignore
})

test('a click that comes days late, and one whose transaction commits after younger ones, are not missed', async () => {
  await exportAll()
  await clicksAt('2026-01-01T10:00:00Z')
  const late = await world.database.pool.connect()
  await late.query('BEGIN')
  const insert = `INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, request_id)
    SELECT uuid7_floor((extract(epoch FROM $1::timestamptz) * 1000 + 7)::bigint), $1::timestamptz, 1, false, 'u', 1, 1, 'Coins', 1, 'r'`
  await late.query(insert, ['2026-01-01T11:00:00Z'])
  await clicksAt('2026-01-01T12:00:00Z')
  const before = await status()
  await exportDue({ ...optionsFor(), patienceMs: 100 }, true) // waits for the transaction, and gives up
  assert.deepEqual((await status())?.rows, before?.rows)
  assert.deepEqual((await status())?.caught_up_at, before?.caught_up_at)
  await late.query('COMMIT')
  late.release()
  await exportAll()
  assert.equal((await status())?.rows, (before?.rows ?? 0) + 3)
  await assertComplete(db, folder)
})

test('a process that dies at any statement loses nothing and lists nothing twice', async () => {
  for (let statement = 1; statement <= 60; statement++) {
    await clicksAt(seconds(statement), '2026-02-03T10:00:00Z')
    if (statement % 3 === 0)
      await createConversion(world, deal, { status: 'reversed', payoutMicros: 1, revenueMicros: 1, at: NOW })
    await numberEvents(db)
    await dieAt(world.database, statement, (dying) => exportDue(optionsFor(dying), true))
  }
  await exportAll()
  await assertComplete(db, folder)
  // Also for those who read everything that is there.
  const names = globSync(join(folder, '*/day=*/*')).length
  assert.equal(names, readManifests(folder, 'clicks').length + readManifests(folder, 'conversion_events').length)
  assert.equal(globSync(join(folder, '.tmp/*')).length, 0)
})

test('a file of an attempt that failed is empty once a user of it was erased before the next', async () => {
  await clicksAt(seconds(0))
  const { target, ...options } = optionsFor()
  const put = (path: string, content: Buffer) => target.put(path, content).then(() => Promise.reject(new Error('cut')))
  await exportDue({ ...options, target: { ...target, put } }, true)
  const readFiles = () => globSync(join(folder, '*/day=*/*')).map((file) => gunzipSync(readFileSync(file)).toString())
  assert.ok(readFiles().some((text) => text.includes('a secret user')))
  await requestErasure(
    db,
    TESTER,
    SECRET_KEY,
    { appId: deal.appId, isTest: false, userId: 'a secret user' },
    new Date(),
  )
  await eraseUsers(db, new Date())
  await exportAll()
  await assertComplete(db, folder)
  assert.ok(!readFiles().some((text) => text.includes('a secret user')))
  const listed = [...readManifests(folder, 'clicks'), ...readManifests(folder, 'conversion_events')]
  assert.equal(readFiles().filter((text) => text !== '').length, listed.length)
  const { rows } = await sql`SELECT FROM export_positions WHERE target = ${target.url} AND begun <> '{}'`.execute(db)
  assert.equal(rows.length, 0)
})

test('two processes at once list every row once', async () => {
  for (let round = 0; round < 5; round++) {
    await clicksAt(seconds(round), seconds(round + 1))
    await Promise.all([exportDue(optionsFor(), true), exportDue(optionsFor(), true), clicksAt(seconds(round + 2))])
  }
  await exportAll()
  await assertComplete(db, folder)
})

test('a target that fails is tried later and later, is warned of once, and nothing is missing after it', async () => {
  await exportAll()
  await clicksAt(seconds(100))
  const away = `${folder}-away`
  renameSync(folder, away)
  warned.length = 0
  await exportDue(optionsFor(), true)
  await exportDue(optionsFor(), true)
  await exportDue(optionsFor()) // not due
  const failing = await status()
  assert.equal(failing?.failures, 2)
  assert.match(failing?.failure ?? '', /not there: it may be another disk/)
  assert.equal(warned.filter((message) => message.includes('clicks')).length, 1)
  mkdirSync(folder) // as where a disk is not mounted
  await exportDue(optionsFor(), true)
  assert.equal((await status())?.failures, 3)
  rmSync(folder, { recursive: true })
  renameSync(away, folder)
  await exportAll()
  assert.deepEqual([(await status())?.failures, (await status())?.failure], [0, null])
  await assertComplete(db, folder)
})

test('a file in the place of a folder fails, and the other kind goes on', async () => {
  await clicksAt(seconds(200))
  await createConversion(world, deal, { status: 'approved', payoutMicros: 1, revenueMicros: 1, at: NOW })
  writeFileSync(join(folder, 'clicks'), 'in the way')
  await exportAll()
  assert.match((await status())?.failure ?? '', /EEXIST|ENOTDIR/)
  assert.equal((await status('conversion_events'))?.failure, null)
  assert.equal(globSync(join(folder, '.tmp/*')).length, 0)
  rmSync(join(folder, 'clicks'))
  await exportAll()
  await assertComplete(db, folder)
})

test('clocks do not matter: one that was set back makes no export wait, and none is missed', async () => {
  await exportAll()
  await sql`UPDATE export_positions SET due_at = now() + interval '1 year', caught_up_at = now() + interval '1 year'`.execute(
    db,
  )
  await clicksAt(seconds(-400 * 86_400), seconds(300))
  await exportDue(optionsFor())
  const { rows } = await sql`SELECT FROM export_positions WHERE target = ${createFolderTarget(folder).url} AND due_at < now() + interval '1 hour'`.execute(db) // prettier-ignore
  assert.equal(rows.length, 2)
  await exportAll()
  await assertComplete(db, folder)
})

test('clicks from before they had numbers are exported, too', async () => {
  await clicksAt('2026-03-01T10:00:00Z', '2026-03-01T10:00:01Z', '2026-03-02T10:00:01Z')
  await sql`UPDATE clicks SET click_no = NULL WHERE clicked_at BETWEEN '2026-03-01' AND '2026-03-03'`.execute(db)
  await sql`UPDATE unnumbered_clicks SET last_id = (SELECT click_id FROM clicks WHERE click_no IS NULL ORDER BY click_id DESC LIMIT 1)`.execute(
    db,
  )
  await clicksAt('2026-03-01T11:00:00Z')
  await exportAll()
  await assertComplete(db, folder)
  assert.equal(readManifests(folder, 'clicks').filter(({ first_position }) => first_position === null).length, 2)
  await sql`UPDATE clicks SET click_no = DEFAULT WHERE click_no IS NULL`.execute(db)
})

test('a manifest that a frozen process wrote last is written again', async () => {
  await clicksAt(seconds(400))
  await exportAll()
  writeFileSync(join(folder, 'manifest/clicks/00000001.ndjson'), '')
  await exportAll()
  await assertComplete(db, folder)
})

test('the manifests of a thousand files are followed by others, and old lines are forgotten', async () => {
  await clicksAt(seconds(500))
  await exportAll()
  await exportAll()
  const { url } = createFolderTarget(folder)
  await sql`UPDATE export_files SET file_no = 2001 - (SELECT count(*) FROM export_files f WHERE f.target = ${url} AND f.kind = 'clicks') + file_no
    WHERE target = ${url} AND kind = 'clicks'`.execute(db)
  await sql`UPDATE export_positions SET files = 2001, listed = 1990 WHERE target = ${url} AND kind = 'clicks'`.execute(
    db,
  )
  rmSync(join(folder, 'manifest/clicks'), { recursive: true })
  mkdirSync(join(folder, 'manifest/clicks'))
  writeFileSync(join(folder, 'manifest/clicks/00000002.ndjson'), '')
  await clicksAt(seconds(501))
  await exportAll()
  const second = readManifests(folder, 'clicks')
  assert.deepEqual(second.slice(-3).map(({ file_no }) => file_no), [2000, 2001, 2002]) // prettier-ignore
  assert.ok(existsSync(join(folder, 'manifest/clicks/00000003.ndjson')))
})

test('a long backlog is exported in steps, each of which is due at once', async () => {
  await sql`INSERT INTO clicks (click_id, clicked_at, app_id, is_test, user_id, offer_id, terms_id, currency, rate_micros, request_id)
    SELECT (left(uuid7_floor(1770112800000)::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, to_timestamp(1770112800), 1, false, 'u' || n, 1, 1, 'Coins', 1, 'r'
    FROM generate_series(1, ${MOST_ROWS + 100}::integer) n`.execute(db)
  const isDue = async () =>
    (await sql`SELECT FROM export_positions WHERE kind = 'clicks' AND due_at <= now() AND target = ${createFolderTarget(folder).url}`.execute(db)).rows.length === 1 // prettier-ignore
  await until(async () => (await exportDue(optionsFor(), true), isDue()))
  await exportAll()
  assert.equal(await isDue(), false)
  assert.ok(readManifests(folder, 'clicks').every(({ rows }) => rows <= MOST_ROWS))
  await assertComplete(db, folder)
})
