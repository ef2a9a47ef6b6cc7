// Which postbacks are claimed, in which order, and for which worker.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  after,
  before,
  countByApp,
  DAY,
  fail,
  finish,
  HOUR,
  createLane,
  NOW,
  publisherOf,
  SECOND,
} from '../../../test/postback-world.ts'
import { CAPACITY, useQueue } from '../../../test/queue-world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { readAttempts } from './postbacks.ts'
import { replayPostback } from './replay-postback.ts'
import { type Claimed, LEASE_MS } from './queue.ts'
import { TESTER } from '../../../test/tester.ts'

const { world, claim, claimOne, put, putMany, read, report } = useQueue('queue')
const idsOf = (claims: readonly Claimed[]) => claims.map((one) => one.postback_id).toSorted()

test('what is due is claimed, and nothing else', async () => {
  const lane = await createLane(world, { width: 64 })
  const due = [await put(lane, { dueAt: NOW }), await put(lane, { dueAt: before(DAY) })]
  await put(lane, { dueAt: after(1) })
  await put(lane, { state: 'delivered' })
  await put(lane, { state: 'dead' })
  assert.deepEqual(idsOf(await claim()), due.toSorted())
  assert.deepEqual(await claim(), [])
})

test('an attempt is counted when it is claimed, and its claim has a lease', async () => {
  const lane = await createLane(world)
  const id = await put(lane, { tries: 2, attempts: 7 })
  const claimed = await claimOne()
  assert.deepEqual([claimed.postback_id, claimed.app_id, claimed.tries, claimed.attempts], [id, lane, 3, 8])
  assert.deepEqual(claimed.lane, {
    width: 4,
    failures: 0,
    failingSince: null,
    lastFailureAt: null,
    openUntil: null,
  })
  const row = await read(id)
  assert.deepEqual(
    [row.state, row.tries, row.attempts, row.claim_id, row.lease_until],
    ['sending', 3, 8, claimed.claim_id, after(LEASE_MS)],
  )
})

test('no more are claimed than asked for, those first that are due the longest', async () => {
  const lane = await createLane(world, { width: 64 })
  const late = await put(lane, { dueAt: before(SECOND) })
  const early = await put(lane, { dueAt: before(HOUR) })
  assert.deepEqual(idsOf(await claim(NOW, 1)), [early])
  assert.deepEqual(idsOf(await claim(NOW, 1)), [late])
})

test('workers that claim at once never get the same postback, and together get all', async () => {
  const lanes: number[] = []
  for (let i = 0; i < 6; i++) lanes.push(await createLane(world, { width: 64 }))
  const put50 = await Promise.all(lanes.map((lane) => putMany(lane, 50)))
  const claimed: Claimed[] = []
  for (let got = 1; got > 0;) {
    const rounds = await Promise.all(Array.from({ length: 10 }, () => claim(NOW, 32, 4_096)))
    got = rounds.flat().length
    claimed.push(...rounds.flat())
  }
  assert.equal(new Set(idsOf(claimed)).size, claimed.length)
  assert.deepEqual(idsOf(claimed), put50.flat().toSorted())
  assert.ok(claimed.every(({ attempts }) => attempts === 1))
})

test('a later event of a conversion waits for an earlier one that is queued or being sent', async () => {
  const lane = await createLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  const first = await put(lane, { conversionId, sequence: 1, dueAt: after(HOUR) })
  const second = await put(lane, { conversionId, sequence: 2, status: 'reversed', dueAt: before(HOUR) })
  const third = await put(lane, { conversionId, sequence: 3, dueAt: before(DAY) })
  const other = await put(lane)
  assert.deepEqual(idsOf(await claim()), [other])
  const earlier = await claimOne(after(HOUR))
  assert.equal(earlier.postback_id, first)
  assert.deepEqual(await claim(after(HOUR)), [])
  await report([fail(earlier, { nextAt: after(2 * HOUR) })])
  assert.deepEqual(await claim(after(HOUR)), [])
  await report([finish(await claimOne(after(2 * HOUR)))])
  const later = await claimOne(after(2 * HOUR))
  assert.equal(later.postback_id, second)
  await report([fail(later)])
  assert.equal((await read(second)).state, 'dead')
  assert.deepEqual(idsOf(await claim(after(2 * HOUR))), [third])
})

test('what is replayed in bulk comes after everything live of its lane', async () => {
  const lane = await createLane(world, { width: 2 })
  const replayed = await putMany(lane, 2, { priority: 1, dueAt: before(DAY) })
  const live = await putMany(lane, 3, { dueAt: before(SECOND) })
  const first = await claim()
  assert.ok(first.length === 2 && first.every(({ postback_id }) => live.includes(postback_id)))
  await report(first.map((one) => finish(one)))
  const second = await claim()
  assert.equal(second.filter(({ postback_id }) => live.includes(postback_id)).length, 1)
  assert.equal(second.filter(({ postback_id }) => replayed.includes(postback_id)).length, 1)
})

test('a lane with ten thousand due keeps out no lane with one', async () => {
  const crowded = await createLane(world, { width: 64 })
  await putMany(crowded, 10_000, { dueAt: before(DAY) })
  const quiet = await createLane(world)
  const one = await put(quiet)
  const claims = await claim(NOW, 16)
  assert.ok(idsOf(claims).includes(one))
  assert.equal(countByApp(claims).get(crowded), 12) // the other has room for four, and uses one
})

test('a publisher with fifty lanes gets a quarter of the capacity, and others are served', async () => {
  const { db } = world.database
  const greedy = [await createLane(world, { width: 64 })]
  const publisherId = await publisherOf(db, greedy[0] as number)
  while (greedy.length < 50) greedy.push(await createLane(world, { width: 64 }, publisherId))
  for (const lane of greedy) await putMany(lane, 20)
  const other = await createLane(world, { width: 64 })
  await putMany(other, 40)
  const claimed: Claimed[] = []
  for (let more; (more = await claim()).length > 0;) claimed.push(...more)
  assert.equal(claimed.filter(({ app_id }) => greedy.includes(app_id)).length, CAPACITY / 4)
  assert.equal(countByApp(claimed).get(other), 40)
  const [ended] = claimed.filter(({ app_id }) => greedy.includes(app_id))
  await report([finish(ended as Claimed)])
  assert.equal((await claim()).length, 1)
})

test('a replay restarts the retry schedule, and the attempt numbers go on', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  const id = await put(lane, { state: 'dead', tries: 12, attempts: 12 })
  await replayPostback(db, TESTER, id, null)
  const claimed = await claimOne()
  assert.deepEqual([claimed.tries, claimed.attempts], [1, 13])
  await replayPostback(db, TESTER, id, null)
  assert.equal((await read(id)).claim_id, claimed.claim_id)
  await report([finish(claimed)])
  assert.deepEqual(
    (await readAttempts(db, id)).map(({ attempt }) => attempt),
    [13],
  )
})

test('every lane gets its turn where there are more than capacity', async () => {
  const lanes: number[] = []
  while (lanes.length < 30) lanes.push(await createLane(world))
  for (const lane of lanes) await putMany(lane, 40)
  const counts = new Map<number, number>()
  for (let round = 0; round < 40; round++) {
    const claims = await claim(NOW, 16)
    for (const { app_id } of claims) counts.set(app_id, (counts.get(app_id) ?? 0) + 1)
    await report(claims.map((one) => finish(one)))
  }
  assert.equal(counts.size, 30)
})
