// Events of a conversion that wait for an earlier one: they are sent in order, and cost nothing while they wait.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  after,
  before,
  claimDue,
  fail,
  finish,
  HOUR,
  createLane,
  MINUTE,
  NOW,
  publisherOf,
  readPostback,
} from '../../../test/postback-world.ts'
import { CAPACITY, useQueue } from '../../../test/queue-world.ts'
import { untilLockIsAwaited } from '../../../test/waiting.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { finishClaims } from './claims.ts'
import { listPostbacks, presentPostback } from './postbacks.ts'
import { replayPostback } from './replay-postback.ts'
import { type Claimed, claimReady } from './queue.ts'
import { cancelReplay, runReplays, startReplay } from './replays.ts'
import { TESTER } from '../../../test/tester.ts'

const { world, claim, claimOne, put, putBlocked, read, report, countRead } = useQueue('order')
const idsOf = (claims: readonly Claimed[]) => claims.map((one) => one.postback_id)

/** Claims until nothing is left that a claim could look at. */
async function claimAll(): Promise<Claimed[]> {
  const all: Claimed[] = []
  for (let round = 0; ; round++) {
    assert.ok(round < 300, 'the same rows are looked at again and again')
    const { claims, isMore } = await claimReady(world.database.db, { limit: 128, capacity: CAPACITY, now: NOW })
    all.push(...claims)
    if (claims.length === 0 && !isMore) return all
  }
}

test('twenty thousand events that wait for an earlier one are looked at once, and by no claim after that', async () => {
  const crowded = await createLane(world, { width: 64 })
  await putBlocked(crowded, 20_000)
  assert.deepEqual(await claimAll(), [])
  const quiet = await createLane(world)
  const one = await put(quiet)
  const rowsRead = await countRead(async (db) =>
    assert.deepEqual(idsOf((await claimReady(db, { limit: 128, capacity: CAPACITY, now: NOW })).claims), [one]),
  )
  assert.ok(rowsRead < 50, `${rowsRead} rows were read`)
})

test('while they are looked at for the first time, other lanes are served by every claim', async () => {
  const crowded = await createLane(world, { width: 64 })
  await putBlocked(crowded, 5_000)
  const quiet = await createLane(world)
  for (let i = 0; i < 3; i++) {
    const one = await put(quiet)
    const found = await claimReady(world.database.db, { limit: 128, capacity: CAPACITY, now: NOW })
    assert.deepEqual(idsOf(found.claims), [one])
    assert.equal(found.isMore, true)
    await report(found.claims.map((claimed) => finish(claimed)))
  }
})

test('two thousand lanes with nothing but such events keep no other lane waiting', async () => {
  const { db } = world.database
  const some = await createLane(world)
  await sql`
    WITH made AS (
      INSERT INTO apps (publisher_id, name, currency, rate_micros, rate_limit)
      SELECT ${await publisherOf(db, some)}, 'Many ' || n, 'Coins', 1000000, 100 FROM generate_series(1, 2000) n RETURNING app_id, publisher_id
    ), lanes AS (
      INSERT INTO postback_lanes (app_id, publisher_id) SELECT app_id, publisher_id FROM made RETURNING app_id
    )
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at)
    SELECT gen_random_uuid(), app_id, false, md5('many-' || app_id)::uuid, sequence, 'approved', 'queued', now()
    FROM lanes, generate_series(1, 2) sequence`.execute(db)
  await sql`UPDATE postback_queue SET state = 'later', due_at = ${after(HOUR)} WHERE sequence = 1`.execute(db)
  assert.deepEqual(await claimAll(), [])
  const one = await put(some)
  const rowsRead = await countRead(async (trx) =>
    assert.deepEqual(idsOf((await claimReady(trx, { limit: 128, capacity: CAPACITY, now: NOW })).claims), [one]),
  )
  assert.ok(rowsRead < 50, `${rowsRead} rows were read`)
})

test('500 events of one conversion come in order', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  await sql`
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at)
    SELECT gen_random_uuid(), ${lane}, false, ${conversionId}, n, 'approved', 'queued', now()
    FROM generate_series(1, 500) n`.execute(db)
  const sequences: number[] = []
  for (let claims; (claims = await claimAll()).length > 0;) {
    sequences.push(...claims.map((one) => one.sequence))
    await report(claims.map((one) => finish(one)))
  }
  assert.deepEqual(
    sequences,
    Array.from({ length: 500 }, (_, i) => i + 1),
  )
})

test('deleting the earlier event while a claim puts the later one behind it waits for the claim, and unblocks it', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  await put(lane, { conversionId, sequence: 1 })
  const first = await claimOne()
  const second = await put(lane, { conversionId, sequence: 2 })
  let finishing: Promise<unknown> = Promise.resolve()
  await db.transaction().execute(async (trx) => {
    assert.deepEqual((await claimReady(trx, { limit: 128, capacity: CAPACITY, now: NOW })).claims, [])
    finishing = finishClaims(db, [finish(first)], NOW)
    await untilLockIsAwaited(db)
  })
  await finishing
  assert.equal((await read(second)).place, 'ready')
  assert.equal((await claimOne()).postback_id, second)
})

test('where the earlier event is taken out in the moment of a claim, the later one is not put behind it', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  await put(lane, { conversionId, sequence: 1 })
  const first = await claimOne()
  const second = await put(lane, { conversionId, sequence: 2 })
  await db.transaction().execute(async (trx) => {
    await finishClaims(trx, [finish(first)], NOW)
    assert.deepEqual(await claim(), []) // without waiting
  })
  assert.equal((await read(second)).place, 'ready')
  assert.equal((await claimOne()).postback_id, second)
})

test('a live event that waits for one replayed in bulk brings it forward, and both go before the rest of the replay', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 1 })
  const conversionId = uuid7(NOW.getTime())
  for (let i = 0; i < 20; i++) await put(lane, { state: 'dead', createdAt: before(2 * HOUR) })
  const approval = await put(lane, { state: 'dead', conversionId, sequence: 1, createdAt: before(HOUR) })
  await startReplay(db, TESTER, lane, {})
  await runReplays(db)
  const reversal = await put(lane, { conversionId, sequence: 2, status: 'reversed', dueAt: NOW })
  const order: string[] = []
  for (let i = 0; i < 5 && !order.includes(reversal); i++) {
    const claims = await claimAll()
    order.push(...idsOf(claims))
    await report(claims.map((one) => finish(one)))
  }
  assert.ok(order.indexOf(approval) !== -1 && order.indexOf(approval) < order.indexOf(reversal), order.join())
  assert.ok(order.length <= 3)
})

test('a replay that is cancelled, or an event that is taken out, lets what waits for it go on', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  await put(lane, { state: 'dead', conversionId, sequence: 1 })
  const replayId = await startReplay(db, TESTER, lane, {})
  await runReplays(db)
  await sql`UPDATE postback_queue SET state = 'later', due_at = ${after(HOUR)}`.execute(db)
  const reversal = await put(lane, { conversionId, sequence: 2, status: 'reversed' })
  assert.deepEqual(await claimAll(), [])
  assert.equal((await read(reversal)).place, 'behind')
  await cancelReplay(db, TESTER, replayId, NOW)
  assert.deepEqual(idsOf(await claimAll()), [reversal])
})

test('the next send time of what waits for an earlier event is unknown, even when it is replayed', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  await put(lane, { conversionId, sequence: 1, dueAt: after(HOUR) })
  const second = await put(lane, { conversionId, sequence: 2 })
  await claimAll()
  const replayed = await replayPostback(db, TESTER, second, null)
  assert.ok(replayed !== null)
  const { state, next_attempt_at } = presentPostback(replayed.postback)
  assert.deepEqual([state, next_attempt_at], ['queued', null])
  assert.equal((await readPostback(db, second)).place, 'behind')
  const [later, earlier] = await listPostbacks(db, { appId: lane, state: 'queued' }, 10)
  assert.deepEqual([later?.next_attempt_at, earlier?.next_attempt_at], [null, after(HOUR)])
})

test('a replay during the last attempt is not lost: if that fails, all attempts start over', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const id = await put(lane, { tries: 11, attempts: 11 })
  const last = await claimOne()
  assert.equal(last.tries, 12)
  await replayPostback(db, TESTER, id, null)
  await report([fail(last)])
  const row = await read(id)
  assert.deepEqual([row.state, row.tries, row.attempts], ['queued', 0, 12])
  const again = await claimDue(db, 1, CAPACITY, after(MINUTE))
  assert.deepEqual([again[0]?.tries, again[0]?.attempts], [1, 13])
})
