// The queue was empty when PostgreSQL looked at it last, and is full now: nothing that a worker does reads all of it.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { after, createLane, fail, finish, HOUR, MINUTE, NOW } from '../../../test/postback-world.ts'
import { CAPACITY, useQueue } from '../../../test/queue-world.ts'
import { finishClaims, renewLeases } from './claims.ts'
import { type Claimed, claimReady, makeReady, unblockNext } from './queue.ts'
import { siftQueues } from './sift.ts'

const QUEUED = 20_000
const { world, putBlocked, putMany, countRead } = useQueue('statistics')

let lane: number
beforeEach(async () => {
  const { db } = world.database
  await putBlocked(await createLane(world), QUEUED / 2)
  await sql`DELETE FROM postback_queue`.execute(db)
  await sql`ANALYZE postback_queue`.execute(db)
  await putBlocked(await createLane(world), QUEUED / 2)
  lane = await createLane(world, { width: 64 })
})

async function assertBounded(what: string, written: number, work: (db: Db) => Promise<unknown>): Promise<void> {
  const count = await countRead(work)
  assert.ok(count <= written * 10 + 50, `${what}: ${count} rows were read to write ${written}`)
}

const claim = async (db: Db) => (await claimReady(db, { limit: 128, capacity: CAPACITY, now: NOW })).claims

test('claims, renewed leases, results and what was unblocked by them', async () => {
  await putMany(lane, 100)
  let claims: Claimed[] = []
  // Of the lane that waits for earlier events, 500 are looked at and put behind those.
  await assertBounded('claim', 64 + 504, async (db) => (claims = await claim(db)))
  assert.equal(claims.length, 64)
  await assertBounded('renew', 64, (db) => renewLeases(db, claims, NOW))
  const results = claims.map((one, i) => (i % 2 === 0 ? finish(one) : fail(one, { nextAt: after(MINUTE) })))
  await assertBounded('finish', 64, async (db) => assert.equal((await finishClaims(db, results, NOW)).length, 64))
  const { rows } = await sql<{ conversion_id: string }>`
    SELECT conversion_id FROM postback_queue WHERE state = 'behind' LIMIT 100`.execute(world.database.db)
  assert.equal(rows.length, 100)
  await assertBounded(
    'unblock',
    100,
    (db) =>
    unblockNext(db as Trx, rows.map((row) => row.conversion_id)), // prettier-ignore
  )
  const { rows: behind } = await sql`SELECT FROM postback_queue WHERE state = 'behind'`.execute(world.database.db)
  assert.ok(behind.length > 300)
})

test('delayed ones whose time has come', async () => {
  await putMany(lane, 100, { dueAt: after(MINUTE) })
  await assertBounded('ready', 100, async (db) => assert.equal(await makeReady(db, after(2 * MINUTE)), 100))
  await putMany(lane, 3, { dueAt: after(HOUR / 2) })
  await assertBounded('ready', 3, async (db) => assert.equal(await makeReady(db, after(HOUR / 2)), 3))
})

test('what an app no longer asks for', async () => {
  const { db } = world.database
  await putMany(lane, 100)
  await db
    .updateTable('postback_settings')
    .set({ events: ['reversed'] })
    .where('app_id', '=', lane)
    .execute()
  await db.updateTable('postback_lanes').set({ is_sifted: false }).where('app_id', '=', lane).execute()
  await assertBounded('sift', 100, async (trx) => assert.equal(await siftQueues(trx), 100))
})
