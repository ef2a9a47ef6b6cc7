import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  claimDue,
  after,
  before,
  DAY,
  fail,
  finish,
  forgetPostbacks,
  HOUR,
  createLane,
  MINUTE,
  NOW,
  putPostback,
  putPostbacks,
  readPostback,
} from '../../../test/postback-world.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker } from '../../worker.ts'
import { OperatorError } from '../../errors.ts'
import { until } from '../../../test/installation.ts'
import { listPostbacks } from './postbacks.ts'
import { replayPostback } from './replay-postback.ts'
import { finishClaims } from './claims.ts'
import type { Claimed } from './queue.ts'
import { cancelReplay, readReplay, type ReplayFilter, runReplays, startReplay } from './replays.ts'
import { SCENARIO_NAMES, startTestSends } from './test-sends.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('replays')
beforeEach(() => forgetPostbacks(world.database.db))

const put = (appId: number, given: Parameters<typeof putPostback>[2]) => putPostback(world.database.db, appId, given)
const start = (appId: number, filter: ReplayFilter = {}) => startReplay(world.database.db, TESTER, appId, filter)
const run = () => runReplays(world.database.db)
const readOne = (replayId: number) => readReplay(world.database.db, replayId)

/** Those of a lane that are queued, by id. */
async function queued(appId: number): Promise<string[]> {
  const rows = await world.database.db
    .selectFrom('postback_queue')
    .select('postback_id')
    .where('app_id', '=', appId)
    .where('state', '<>', 'sending')
    .orderBy('postback_id')
    .execute()
  return rows.map((row) => row.postback_id)
}

/** Runs until nothing is queued any more. */
async function runAll(): Promise<number> {
  let total = 0
  for (let more; (more = await run()) > 0;) total += more
  return total
}

async function deliver(count: number): Promise<Claimed[]> {
  const claims = await claimDue(world.database.db, count, 4_096, NOW)
  await finishClaims(
    world.database.db,
    claims.map((one) => finish(one)),
    NOW,
  )
  return claims
}

test('everything delivered or failed is resent, with all its attempts, after live postbacks', async () => {
  const lane = await createLane(world)
  const ids = [await put(lane, { state: 'delivered', attempts: 1 }), await put(lane, { state: 'dead', tries: 12 })]
  const replayId = await start(lane)
  assert.equal(await runAll(), 2)
  assert.deepEqual(await queued(lane), ids.toSorted())
  for (const id of ids) {
    const row = await readPostback(world.database.db, id)
    assert.deepEqual(
      [row.tries, row.priority, row.place, row.settled_at, row.replay_id],
      [0, 1, 'ready', null, replayId],
    )
    assert.ok(row.attempts > 0)
  }
  const replay = await readOne(replayId)
  assert.deepEqual([replay.state, replay.queued, replay.waiting], ['done', 2, 2])
  assert.ok(replay.finished_at !== null)
})

test('a replay is of one app, of one state, of one status and of live or test conversions', async () => {
  const [lane, other] = [await createLane(world), await createLane(world)]
  const dead = await put(lane, { state: 'dead' })
  const delivered = await put(lane, { state: 'delivered' })
  const reversed = await put(lane, { state: 'dead', status: 'reversed' })
  const testing = await put(lane, { state: 'dead', isTest: true })
  await put(other, { state: 'dead' })
  const replayed = async (filter: ReplayFilter) => {
    const replayId = await start(lane, filter)
    await runAll()
    const ids = await queued(lane)
    await cancelReplay(world.database.db, TESTER, replayId, NOW)
    return ids
  }
  assert.deepEqual(await replayed({ state: 'dead' }), [dead, reversed].toSorted())
  assert.deepEqual(await replayed({ state: 'delivered' }), [delivered])
  assert.deepEqual(await replayed({ status: 'reversed' }), [reversed])
  assert.deepEqual(await replayed({ isTest: true }), [testing])
  assert.deepEqual(await replayed({ state: 'delivered', status: 'reversed' }), [])
  assert.deepEqual(await queued(other), [])
})

test('a span of time begins with its first moment and ends before its last', async () => {
  const lane = await createLane(world)
  const made = (createdAt: Date) => put(lane, { state: 'dead', createdAt })
  const [from, to] = [before(2 * DAY), before(DAY)]
  await made(after(-1, from))
  const inside = [await made(from), await made(after(-1, to))]
  await made(to)
  await start(lane, { from: from.toISOString(), to: to.toISOString() })
  await runAll()
  assert.deepEqual(await queued(lane), inside.toSorted())
})

test('what is queued or being sent is left as it is', async () => {
  const lane = await createLane(world)
  const sending = await put(lane, {})
  const claims = await claimDue(world.database.db, 1, 256, NOW)
  const waiting = await put(lane, { dueAt: after(HOUR), tries: 3 })
  await start(lane)
  assert.equal(await runAll(), 0)
  const row = await readPostback(world.database.db, waiting)
  assert.deepEqual([row.tries, row.priority, row.due_at], [3, 0, after(HOUR)])
  assert.equal((await readPostback(world.database.db, sending)).claim_id, claims[0]?.claim_id)
})

test('it goes on where it stopped: each is queued once, also when workers take it further together', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  const ids = await putPostbacks(db, lane, 1_700, { state: 'dead' })
  const replayId = await start(lane)
  const sent: string[] = []
  for (let rounds = 0; sent.length < ids.length; rounds++) {
    assert.ok(rounds < 200)
    await Promise.all([run(), run(), run()])
    sent.push(...(await deliver(64)).map((one) => one.postback_id))
  }
  await runAll()
  assert.deepEqual(sent.toSorted(), ids)
  const replay = await readOne(replayId)
  assert.deepEqual([replay.state, replay.queued, replay.waiting], ['done', 1_700, 0])
})

test('no more than a thousand are queued; the rest waits until those are sent', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  await putPostbacks(db, lane, 1_200, { state: 'dead' })
  const replayId = await start(lane)
  assert.equal(await runAll(), 1_000)
  assert.deepEqual([(await readOne(replayId)).state, (await readOne(replayId)).waiting], ['running', 1_000])
  assert.equal(await run(), 0)
})

test('a replay of one app does not wait for that of another', async () => {
  const { db } = world.database
  const [first, second] = [await createLane(world), await createLane(world)]
  await putPostbacks(db, first, 1_200, { state: 'dead' })
  await putPostbacks(db, second, 10, { state: 'dead' })
  await start(first)
  await start(second)
  await runAll()
  assert.deepEqual([(await queued(first)).length, (await queued(second)).length], [1_000, 10])
})

test('what was created after it began is not resent', async () => {
  const lane = await createLane(world)
  const earlier = await put(lane, { state: 'delivered' })
  const replayId = await start(lane)
  const began = (await readOne(replayId)).created_at
  await put(lane, { state: 'delivered', createdAt: after(1, began) })
  await put(lane, { state: 'dead', createdAt: after(MINUTE, began) })
  await runAll()
  assert.deepEqual(await queued(lane), [earlier])
})

test('what a replay has sent, and failed again, is not sent by it a second time', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  await put(lane, { state: 'dead' })
  const replayId = await start(lane)
  await run()
  const claims = await claimDue(db, 1, 256, NOW)
  await finishClaims(
    db,
    claims.map((one) => fail(one)),
    NOW,
  )
  assert.equal(await runAll(), 0)
  assert.deepEqual([(await readOne(replayId)).state, (await readOne(replayId)).queued], ['done', 1])
})

test('test sends are left out', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  for (const isTest of [false, true]) {
    await startTestSends(db, TESTER, { appId: lane, isTest }, SCENARIO_NAMES, NOW)
    for (let sent = 1; sent > 0;) sent = (await deliver(64)).length
    await start(lane, { isTest })
  }
  assert.equal(await runAll(), 0)
})

test('who cancels gets back what it was: delivered, or dead', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 1 })
  const delivered = await putPostbacks(db, lane, 3, { state: 'delivered', createdAt: before(HOUR) })
  const dead = await putPostbacks(db, lane, 1_100, { state: 'dead' })
  const replayId = await start(lane)
  await runAll()
  const [sending] = await claimDue(db, 1, 256, NOW)
  await cancelReplay(db, TESTER, replayId, after(MINUTE))
  const states = await listPostbacks(db, { appId: lane }, 2_000)
  for (const { postback_id, state } of states) {
    const was = delivered.includes(postback_id) ? 'delivered' : 'dead'
    assert.equal(state, postback_id === sending?.postback_id ? 'sending' : was)
  }
  assert.equal(states.length, delivered.length + dead.length)
  const replay = await readOne(replayId)
  assert.deepEqual([replay.state, replay.finished_at], ['cancelled', after(MINUTE)])
  assert.equal(await runAll(), 0)
})

test('a replay that is done can be cancelled, too, and remains done', async () => {
  const lane = await createLane(world)
  const id = await put(lane, { state: 'delivered' })
  const replayId = await start(lane)
  await runAll()
  await cancelReplay(world.database.db, TESTER, replayId, after(HOUR))
  assert.equal((await readOne(replayId)).state, 'done')
  assert.equal((await readPostback(world.database.db, id)).state, 'delivered')
})

test('cancelling does not touch single replays, nor what another replay queued', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const [single, bulk] = [await put(lane, { state: 'dead' }), await put(lane, { state: 'dead' })]
  const first = await start(lane)
  await runAll()
  await replayPostback(db, TESTER, single, null)
  await cancelReplay(db, TESTER, first, NOW)
  assert.deepEqual(await queued(lane), [single])
  await start(lane)
  await runAll()
  await cancelReplay(db, TESTER, first, NOW)
  assert.deepEqual(await queued(lane), [single, bulk].toSorted())
})

test('an app or a replay that is not there is said', async () => {
  const { db } = world.database
  await assert.rejects(startReplay(db, TESTER, 999_999, {}), OperatorError)
  await assert.rejects(readReplay(db, 999_999), OperatorError)
  await assert.rejects(cancelReplay(db, TESTER, 999_999, NOW), OperatorError)
})

test('a worker advances replays automatically', async () => {
  const { config, database, log } = world
  const lane = await createLane(world, { paused_at: NOW, pause_reason: 'operator' })
  const id = await put(lane, { state: 'dead' })
  const replayId = await start(lane)
  const worker = await buildWorker({ config, secretKey: SECRET_KEY, database, log })
  try {
    await until(async () => (await readOne(replayId)).state === 'done')
  } finally {
    await worker.close()
  }
  assert.deepEqual(await queued(lane), [id])
})

test('a replay whose query fails stops no other', async () => {
  const { db } = world.database
  const [broken, lane] = [await createLane(world), await createLane(world)]
  await put(broken, { state: 'dead' })
  const id = await put(lane, { state: 'dead' })
  await start(broken, { from: 'never' })
  await start(lane)
  const warnings: string[] = []
  assert.equal(await runReplays(db, (message) => warnings.push(message)), 1)
  assert.deepEqual(await queued(lane), [id])
  assert.match(warnings.join(), /did not go on/)
})
