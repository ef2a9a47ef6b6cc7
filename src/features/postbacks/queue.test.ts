import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import {
  after,
  before,
  countByApp,
  DAY,
  fail,
  finish,
  forgetPostbacks,
  HOUR,
  makeLane,
  MINUTE,
  NOW,
  publisherOf,
  putPostback,
  putPostbacks,
  readLane,
  readPostback,
  SECOND,
  setLane,
} from '../../../test/postback-world.ts'
import { useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { settleLanes } from './lanes.ts'
import { readAttempts, replayPostback } from './postbacks.ts'
import { type Claimed, claimDue, type Finished, finishClaims, LEASE_MS, reapExpired } from './queue.ts'

const LIMIT = 128
const SLOTS = 256

const world = useWorld('queue')
beforeEach(() => forgetPostbacks(world.database.db))

const claim = (now = NOW, limit = LIMIT, slots = SLOTS) => claimDue(world.database.db, limit, slots, now)
const idsOf = (claims: readonly Claimed[]) => claims.map((one) => one.postback_id).toSorted()
const put = (appId: number, given?: Parameters<typeof putPostback>[2]) => putPostback(world.database.db, appId, given)
const putMany = (appId: number, count: number, given?: Parameters<typeof putPostbacks>[3]) =>
  putPostbacks(world.database.db, appId, count, given)
const read = (id: string) => readPostback(world.database.db, id)
const tell = (results: Finished[], now = NOW) => finishClaims(world.database.db, results, now)

/** Claims the one that is due. */
async function claimOne(now = NOW): Promise<Claimed> {
  const [one, ...others] = await claim(now)
  assert.ok(one !== undefined && others.length === 0)
  return one
}

test('what is due is claimed, and nothing else', async () => {
  const lane = await makeLane(world, { width: 64 })
  const due = [await put(lane, { dueAt: NOW }), await put(lane, { dueAt: before(DAY) })]
  await put(lane, { dueAt: after(1) })
  await put(lane, { state: 'delivered' })
  await put(lane, { state: 'dead' })
  assert.deepEqual(idsOf(await claim()), due.toSorted())
  assert.deepEqual(await claim(), [])
})

test('a try is counted when it is claimed, and its claim has a lease', async () => {
  const lane = await makeLane(world)
  const id = await put(lane, { tries: 2, attempts: 7 })
  const claimed = await claimOne()
  assert.deepEqual([claimed.postback_id, claimed.app_id, claimed.tries, claimed.attempts], [id, lane, 3, 8])
  assert.deepEqual(claimed.lane, { width: 4, failures: 0, failingSince: null, openUntil: null })
  const row = await read(id)
  assert.deepEqual(
    [row.state, row.tries, row.attempts, row.claim_id, row.lease_until],
    ['sending', 3, 8, claimed.claim_id, after(LEASE_MS)],
  )
})

test('no more are claimed than asked for, those first that are due the longest', async () => {
  const lane = await makeLane(world, { width: 64 })
  const late = await put(lane, { dueAt: before(SECOND) })
  const early = await put(lane, { dueAt: before(HOUR) })
  assert.deepEqual(idsOf(await claim(NOW, 1)), [early])
  assert.deepEqual(idsOf(await claim(NOW, 1)), [late])
})

test('workers that claim at once never get the same postback, and together get all', async () => {
  const lanes: number[] = []
  for (let i = 0; i < 6; i++) lanes.push(await makeLane(world, { width: 64 }))
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
  const lane = await makeLane(world, { width: 64 })
  const conversionId = uuid7(NOW.getTime())
  const first = await put(lane, { conversionId, sequence: 1, dueAt: after(HOUR) })
  const second = await put(lane, { conversionId, sequence: 2, status: 'reversed', dueAt: before(HOUR) })
  const third = await put(lane, { conversionId, sequence: 3, dueAt: before(DAY) })
  const other = await put(lane)
  assert.deepEqual(idsOf(await claim()), [other])
  const earlier = await claimOne(after(HOUR))
  assert.equal(earlier.postback_id, first)
  assert.deepEqual(await claim(after(HOUR)), [])
  await tell([fail(earlier, { nextAt: after(2 * HOUR) })])
  assert.deepEqual(await claim(after(HOUR)), [])
  await tell([finish(await claimOne(after(2 * HOUR)))])
  const later = await claimOne(after(2 * HOUR))
  assert.equal(later.postback_id, second)
  await tell([fail(later)])
  assert.equal((await read(second)).state, 'dead')
  assert.deepEqual(idsOf(await claim(after(2 * HOUR))), [third])
})

test('what is replayed in bulk comes after everything live of its lane', async () => {
  const lane = await makeLane(world, { width: 2 })
  const replayed = await putMany(lane, 2, { priority: 1, dueAt: before(DAY) })
  const live = await putMany(lane, 3, { dueAt: before(SECOND) })
  const first = await claim()
  assert.ok(first.length === 2 && first.every(({ postback_id }) => live.includes(postback_id)))
  await tell(first.map((one) => finish(one)))
  const second = await claim()
  assert.equal(second.filter(({ postback_id }) => live.includes(postback_id)).length, 1)
  assert.equal(second.filter(({ postback_id }) => replayed.includes(postback_id)).length, 1)
})

test('paused lanes and open circuits are left alone', async () => {
  const paused = await makeLane(world, { paused_at: before(DAY), pause_reason: 'gone' })
  const open = await makeLane(world, { open_until: after(1), failures: 5 })
  const ids = [...(await putMany(paused, 3)), ...(await putMany(open, 3))]
  assert.deepEqual(await claim(), [])
  for (const id of ids) assert.equal((await read(id)).attempts, 0)
})

test('when the time of an open circuit is over, one goes as a probe; when that arrives, the lane is open', async () => {
  const { db } = world.database
  const lane = await makeLane(world, { open_until: NOW, failures: 5, width: 1, failing_since: before(HOUR) })
  await putMany(lane, 10)
  const probe = await claimOne()
  assert.deepEqual(await claim(after(SECOND)), [])
  await tell([finish(probe)])
  await settleLanes(db, [finish(probe)], NOW)
  const { width, failures, open_until, failing_since } = await readLane(db, lane)
  assert.deepEqual([width, failures, open_until, failing_since], [2, 0, null, null])
  assert.equal((await claim()).length, 2)
})

test('a probe that fails opens the circuit again, for longer', async () => {
  const { db } = world.database
  const lane = await makeLane(world, { open_until: NOW, failures: 5, width: 1, failing_since: before(HOUR) })
  await putMany(lane, 10)
  const failed = fail(await claimOne(), { nextAt: after(MINUTE) })
  await tell([failed])
  await settleLanes(db, [failed], NOW)
  const { failures, open_until } = await readLane(db, lane)
  const ms = (open_until?.getTime() ?? 0) - NOW.getTime()
  assert.equal(failures, 6)
  assert.ok(ms >= 16 * SECOND && ms <= 24 * SECOND)
  assert.deepEqual(await claim(after(15 * SECOND)), [])
  assert.equal((await claim(after(25 * SECOND))).length, 1)
})

test('a lane has no more under way than it is wide', async () => {
  const lane = await makeLane(world, { width: 3 })
  await putMany(lane, 10)
  const first = await claim()
  assert.equal(first.length, 3)
  assert.deepEqual(await claim(), [])
  await tell(first.slice(0, 2).map((one) => finish(one)))
  assert.equal((await claim()).length, 2)
  await setLane(world.database.db, lane, { width: 1 })
  assert.deepEqual(await claim(), [])
})

test('a lane with ten thousand due keeps out no lane with one', async () => {
  const crowded = await makeLane(world, { width: 64 })
  await putMany(crowded, 10_000, { dueAt: before(DAY) })
  const quiet = await makeLane(world)
  const one = await put(quiet)
  const claims = await claim(NOW, 16)
  assert.ok(idsOf(claims).includes(one))
  assert.equal(countByApp(claims).get(crowded), 12) // the other has room for four, and uses one
})

test('a publisher with fifty lanes gets a quarter of the slots, and others are served', async () => {
  const { db } = world.database
  const greedy = [await makeLane(world, { width: 64 })]
  const publisherId = await publisherOf(db, greedy[0] as number)
  while (greedy.length < 50) greedy.push(await makeLane(world, { width: 64 }, publisherId))
  for (const lane of greedy) await putMany(lane, 20)
  const other = await makeLane(world, { width: 64 })
  await putMany(other, 40)
  const claimed: Claimed[] = []
  for (let more; (more = await claim()).length > 0;) claimed.push(...more)
  assert.equal(claimed.filter(({ app_id }) => greedy.includes(app_id)).length, SLOTS / 4)
  assert.equal(countByApp(claimed).get(other), 40)
  const [ended] = claimed.filter(({ app_id }) => greedy.includes(app_id))
  await tell([finish(ended as Claimed)])
  assert.equal((await claim()).length, 1)
})

test('what came of a try is on the postback and, whole, in the log', async () => {
  const { db } = world.database
  const lane = await makeLane(world)
  const ids = await putMany(lane, 3)
  const [first, second, third] = (await claim()) as [Claimed, Claimed, Claimed]
  const nasty = 'a "quoted" \\ back, {brace}, NULL\r\n\té😀'
  await tell([
    finish(first, { request: nasty, response: nasty }),
    fail(second, { nextAt: after(MINUTE), phase: null }),
    fail(third, { status: null, phase: 'connect', error: nasty, remoteAddress: null }),
  ])
  const rows = await Promise.all([first, second, third].map((one) => read(one.postback_id)))
  assert.equal(new Set(ids).size, 3)
  assert.deepEqual(
    rows.map((row) => [row.state, row.settled_at, row.last_status, row.last_error, row.claim_id, row.lease_until]),
    [
      ['delivered', NOW, 200, null, null, null],
      ['queued', null, 500, 'The answer is 500, not 2xx.', null, null],
      ['dead', NOW, null, nasty, null, null],
    ],
  )
  assert.deepEqual(rows[1]?.due_at, after(MINUTE))
  const [[good], [, none], [bad]] = (await Promise.all(
    [first, second, third].map((one) => readAttempts(db, one.postback_id)),
  )) as [Attempts, Attempts, Attempts]
  assert.equal(none, undefined)
  assert.deepEqual(
    [good?.attempt, good?.ok, good?.status, good?.duration_ms, good?.remote_address, good?.request, good?.response],
    [1, true, 200, 12, '192.0.2.1', nasty, nasty],
  )
  assert.deepEqual([bad?.ok, bad?.phase, bad?.status, bad?.error], [false, 'connect', null, nasty])
})
type Attempts = Awaited<ReturnType<typeof readAttempts>>

test('a claim that was lost changes nothing any more, but is in the log', async () => {
  const { db } = world.database
  const lane = await makeLane(world)
  const id = await put(lane)
  const slow = await claimOne()
  const late = after(LEASE_MS + SECOND)
  assert.equal(await reapExpired(db, late), 1)
  await tell([fail(slow, { status: 418 })], late)
  assert.deepEqual([(await read(id)).state, (await read(id)).last_status], ['queued', null])
  const next = await claimOne(after(LEASE_MS + MINUTE))
  await tell([fail(slow, { status: 418 })], late)
  assert.deepEqual([(await read(id)).state, (await read(id)).claim_id], ['sending', next.claim_id])
  await tell([finish(next)], late)
  await tell([fail(slow, { status: 418 })], late)
  const row = await read(id)
  assert.deepEqual([row.state, row.last_status, row.attempts], ['delivered', 200, 2])
  const statuses = (await readAttempts(db, id)).map(({ attempt, status }) => `${attempt} ${status}`)
  assert.deepEqual(statuses.toSorted(), ['1 418', '1 418', '1 418', '1 null', '2 200'])
})

test('what a worker does not come back for is queued again after its lease, and the log says so', async () => {
  const { db } = world.database
  const lane = await makeLane(world)
  const id = await put(lane)
  await claimOne()
  assert.equal(await reapExpired(db, after(LEASE_MS)), 0)
  assert.equal((await read(id)).state, 'sending')
  assert.equal(await reapExpired(db, after(LEASE_MS + 1)), 1)
  assert.equal(await reapExpired(db, after(LEASE_MS + 1)), 0)
  const row = await read(id)
  assert.deepEqual([row.state, row.attempts, row.claim_id, row.lease_until], ['queued', 1, null, null])
  const [attempt, ...others] = await readAttempts(db, id)
  assert.deepEqual([attempt?.attempt, attempt?.ok, attempt?.status, others.length], [1, false, null, 0])
  assert.match(attempt?.error ?? '', /worker ended/)
  assert.deepEqual(await claim(after(LEASE_MS + 1)), []) // it waits like after any other failure
  assert.equal((await claimOne(after(LEASE_MS + MINUTE))).attempts, 2)
})

test('what kills every worker is given up in the end', async () => {
  const { db } = world.database
  const id = await put(await makeLane(world))
  await claimOne()
  await db.updateTable('postbacks').set({ tries: 12 }).where('postback_id', '=', id).execute()
  assert.equal(await reapExpired(db, after(LEASE_MS + 1)), 1)
  assert.equal((await read(id)).state, 'dead')
})

test('of several who take back at once, each postback is taken back by one', async () => {
  const { db } = world.database
  const lane = await makeLane(world, { width: 64 })
  const ids = await putMany(lane, 60)
  assert.equal((await claim()).length, 60)
  const counts = await Promise.all(Array.from({ length: 6 }, () => reapExpired(db, after(HOUR))))
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    60,
  )
  for (const id of ids) assert.equal((await readAttempts(db, id)).length, 1)
})

test('a replay begins the tries anew, and the attempts go on', async () => {
  const { db } = world.database
  const lane = await makeLane(world)
  const id = await put(lane, { state: 'dead', tries: 12, attempts: 12 })
  await replayPostback(db, id, null, NOW)
  const claimed = await claimOne()
  assert.deepEqual([claimed.tries, claimed.attempts], [1, 13])
  await replayPostback(db, id, null, NOW)
  assert.equal((await read(id)).claim_id, claimed.claim_id)
  await tell([finish(claimed)])
  assert.deepEqual(
    (await readAttempts(db, id)).map(({ attempt }) => attempt),
    [13],
  )
})

const settle = (results: Finished[], now = NOW) => settleLanes(world.database.db, results, now)
const noticesOf = (appId: number) =>
  world.database.db.selectFrom('notices').selectAll().where('app_id', '=', appId).execute()

test('five failures in a row open the circuit of their lane, and of no other', async () => {
  const { db } = world.database
  const [bad, good] = [await makeLane(world), await makeLane(world)]
  await putMany(bad, 4)
  await putMany(good, 4)
  const claims = await claim()
  const [ofBad, ofGood] = [bad, good].map((lane) => claims.filter(({ app_id }) => app_id === lane))
  await settle([...(ofBad ?? []).map((one) => fail(one)), ...(ofGood ?? []).map((one) => finish(one))])
  const four = await readLane(db, bad)
  assert.deepEqual([four.width, four.failures, four.open_until, four.failing_since], [1, 4, null, NOW])
  assert.deepEqual([(await readLane(db, good)).width, (await readLane(db, good)).failures], [8, 0])
  await settle([fail(ofBad?.[0] as Claimed)], after(MINUTE))
  const five = await readLane(db, bad)
  assert.equal(five.failures, 5)
  assert.ok(five.open_until !== null && five.open_until > after(MINUTE))
  assert.equal((await readLane(db, good)).open_until, null)
})

test('test sends do not close a lane', async () => {
  const lane = await makeLane(world)
  await putMany(lane, 4, { scenario: 'approved' })
  await settle((await claim()).map((one) => fail(one, { status: 410 })))
  const { failures, width, paused_at } = await readLane(world.database.db, lane)
  assert.deepEqual([failures, width, paused_at], [0, 4, null])
})

test('410 pauses a lane at once, and it is told once', async () => {
  const lane = await makeLane(world)
  await putMany(lane, 2)
  const [first, second] = (await claim()) as [Claimed, Claimed]
  await settle([fail(first, { status: 410 })])
  await settle([fail(second, { status: 410 })], after(MINUTE))
  const { paused_at, pause_reason } = await readLane(world.database.db, lane)
  assert.deepEqual([paused_at, pause_reason], [NOW, 'gone'])
  assert.deepEqual(
    (await noticesOf(lane)).map(({ kind }) => kind),
    ['postbacks_paused'],
  )
})

test('a lane is paused after five days of failures only, and that is told', async () => {
  const { db } = world.database
  const lane = await makeLane(world, { failures: 30, failing_since: before(5 * DAY - HOUR), width: 1 })
  await put(lane)
  const one = await claimOne()
  await settle([fail(one)])
  assert.equal((await readLane(db, lane)).paused_at, null)
  await settle([fail(one)], after(HOUR))
  assert.deepEqual((await readLane(db, lane)).pause_reason, 'failing')
  assert.match((await noticesOf(lane))[0]?.message ?? '', /five days/)
  assert.deepEqual(await claim(after(HOUR)), [])
})

test('among workers that claim at once a lane is not filled beyond its width, and an open one is probed once', async () => {
  const wide = await makeLane(world, { width: 4 })
  const open = await makeLane(world, { failures: 5, open_until: before(SECOND) })
  for (const lane of [wide, open]) await putMany(lane, 50)
  for (let round = 0; round < 20; round++) {
    const claims = (await Promise.all(Array.from({ length: 6 }, () => claim()))).flat()
    const counts = countByApp(claims)
    assert.ok((counts.get(wide) ?? 0) <= 4 && (counts.get(open) ?? 0) <= 1)
    await tell(claims.map((one) => fail(one, { nextAt: NOW })))
  }
})

test('every lane gets its turn where there are more than slots', async () => {
  const lanes: number[] = []
  while (lanes.length < 30) lanes.push(await makeLane(world))
  for (const lane of lanes) await putMany(lane, 40)
  const counts = new Map<number, number>()
  for (let round = 0; round < 40; round++) {
    const claims = await claim(NOW, 16)
    for (const { app_id } of claims) counts.set(app_id, (counts.get(app_id) ?? 0) + 1)
    await tell(claims.map((one) => finish(one)))
  }
  assert.equal(counts.size, 30)
})

test('410 among successes pauses the lane all the same', async () => {
  const { db } = world.database
  const lane = await makeLane(world)
  await putMany(lane, 2)
  const [good, gone] = (await claim()) as [Claimed, Claimed]
  await settleLanes(db, [finish(good), fail(gone, { status: 410 })], NOW)
  const { pause_reason } = await db
    .selectFrom('postback_lanes')
    .select('pause_reason')
    .where('app_id', '=', lane)
    .executeTakeFirstOrThrow()
  assert.equal(pause_reason, 'gone')
})

test('what is written again, and what PostgreSQL would not take, is in the log once', async () => {
  const id = await put(await makeLane(world))
  const one = finish(await claimOne(), { response: 'HTTP/1.1 200 O\0K' })
  await tell([one])
  await tell([one])
  assert.deepEqual(
    (await readAttempts(world.database.db, id)).map(({ response }) => response),
    ['HTTP/1.1 200 OK'],
  )
})
