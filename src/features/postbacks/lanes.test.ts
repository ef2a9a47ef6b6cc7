// What a lane lets through, and how failures narrow, open and pause it.
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
  MINUTE,
  NOW,
  readLane,
  SECOND,
  setLane,
} from '../../../test/postback-world.ts'
import { useQueue } from '../../../test/queue-world.ts'
import { SECRET_KEY } from '../../../test/world.ts'
import { laneSigns, updateLanes } from './lanes.ts'
import type { Claimed } from './queue.ts'
import { DEFAULTS, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const { world, claim, claimOne, put, putMany, read, report, finishLanes } = useQueue('lanes')
const noticesOf = (appId: number) =>
  world.database.db.selectFrom('notices').selectAll().where('app_id', '=', appId).execute()

test('paused lanes and open circuits are left alone', async () => {
  const paused = await createLane(world, { paused_at: before(DAY), pause_reason: 'gone' })
  const open = await createLane(world, { open_until: after(1), failures: 5 })
  const ids = [...(await putMany(paused, 3)), ...(await putMany(open, 3))]
  assert.deepEqual(await claim(), [])
  for (const id of ids) assert.equal((await read(id)).attempts, 0)
})

test('when the time of an open circuit is over, one goes as a probe; when that arrives, the lane is open', async () => {
  const { db } = world.database
  const lane = await createLane(world, { open_until: NOW, failures: 5, width: 1, failing_since: before(HOUR) })
  await putMany(lane, 10)
  const probe = await claimOne()
  assert.deepEqual(await claim(after(SECOND)), [])
  await report([finish(probe)])
  await finishLanes([finish(probe)])
  const { width, failures, open_until, failing_since } = await readLane(db, lane)
  assert.deepEqual([width, failures, open_until, failing_since], [2, 0, null, null])
  assert.equal((await claim()).length, 2)
})

test('a probe that fails opens the circuit again, for longer', async () => {
  const { db } = world.database
  const lane = await createLane(world, { open_until: NOW, failures: 5, width: 1, failing_since: before(HOUR) })
  await putMany(lane, 10)
  const failed = fail(await claimOne(), { nextAt: after(MINUTE) })
  await report([failed])
  await finishLanes([failed])
  const { failures, open_until } = await readLane(db, lane)
  const ms = (open_until?.getTime() ?? 0) - NOW.getTime()
  assert.equal(failures, 6)
  assert.ok(ms >= 16 * SECOND && ms <= 24 * SECOND)
  assert.deepEqual(await claim(after(15 * SECOND)), [])
  assert.equal((await claim(after(25 * SECOND))).length, 1)
})

test('a lane has no more under way than it is wide', async () => {
  const lane = await createLane(world, { width: 3 })
  await putMany(lane, 10)
  const first = await claim()
  assert.equal(first.length, 3)
  assert.deepEqual(await claim(), [])
  await report(first.slice(0, 2).map((one) => finish(one)))
  assert.equal((await claim()).length, 2)
  await setLane(world.database.db, lane, { width: 1 })
  assert.deepEqual(await claim(), [])
})

test('five failures in a row open the circuit of their lane, and of no other', async () => {
  const { db } = world.database
  const [bad, good] = [await createLane(world), await createLane(world)]
  await putMany(bad, 4)
  await putMany(good, 4)
  const claims = await claim()
  const [ofBad, ofGood] = [bad, good].map((lane) => claims.filter(({ app_id }) => app_id === lane))
  await finishLanes([...(ofBad ?? []).map((one) => fail(one)), ...(ofGood ?? []).map((one) => finish(one))])
  const four = await readLane(db, bad)
  assert.deepEqual([four.width, four.failures, four.open_until, four.failing_since], [1, 4, null, NOW])
  assert.deepEqual([(await readLane(db, good)).width, (await readLane(db, good)).failures], [8, 0])
  await finishLanes([fail(ofBad?.[0] as Claimed)], after(MINUTE))
  const five = await readLane(db, bad)
  assert.equal(five.failures, 5)
  assert.ok(five.open_until !== null && five.open_until > after(MINUTE))
  assert.equal((await readLane(db, good)).open_until, null)
})

test('test sends do not close a lane', async () => {
  const lane = await createLane(world)
  await putMany(lane, 4, { scenario: 'approved' })
  await finishLanes((await claim()).map((one) => fail(one, { status: 410 })))
  const { failures, width, paused_at } = await readLane(world.database.db, lane)
  assert.deepEqual([failures, width, paused_at], [0, 4, null])
})

test('410 pauses a lane at once, with one notice', async () => {
  const lane = await createLane(world)
  await putMany(lane, 2)
  const [first, second] = (await claim()) as [Claimed, Claimed]
  await finishLanes([fail(first, { status: 410 })])
  await finishLanes([fail(second, { status: 410 })], after(MINUTE))
  const { paused_at, pause_reason } = await readLane(world.database.db, lane)
  assert.deepEqual([paused_at, pause_reason], [NOW, 'gone'])
  assert.deepEqual(
    (await noticesOf(lane)).map(({ kind }) => kind),
    ['postbacks_paused'],
  )
})

test('410 among successes pauses the lane all the same', async () => {
  const lane = await createLane(world)
  await putMany(lane, 2)
  const [good, gone] = (await claim()) as [Claimed, Claimed]
  await finishLanes([finish(good), fail(gone, { status: 410 })])
  assert.equal((await readLane(world.database.db, lane)).pause_reason, 'gone')
})

test('a lane is paused after five days of failures only, with a notice', async () => {
  const { db } = world.database
  const failing = { failures: 30, failing_since: before(5 * DAY - HOUR), last_failure_at: before(DAY), width: 1 }
  const lane = await createLane(world, failing)
  await put(lane)
  const one = await claimOne()
  await finishLanes([fail(one)])
  assert.equal((await readLane(db, lane)).paused_at, null)
  await finishLanes([fail(one)], after(HOUR))
  assert.deepEqual((await readLane(db, lane)).pause_reason, 'failing')
  assert.match((await noticesOf(lane))[0]?.message ?? '', /five days/)
  assert.deepEqual(await claim(after(HOUR)), [])
})

test('while this network itself cannot send, circuits open, but no lane is paused, also not afterwards', async () => {
  const { db } = world.database
  const failing = { failures: 30, failing_since: before(5 * DAY), last_failure_at: before(DAY), width: 1 }
  const lane = await createLane(world, failing)
  await put(lane)
  const claimed = await claimOne()
  await finishLanes([fail(claimed, { status: null, isOwnError: true })])
  const hindered = await readLane(db, lane)
  assert.deepEqual([hindered.paused_at, hindered.failures, hindered.failing_since], [null, 5, NOW])
  assert.ok((hindered.open_until ?? NOW) > NOW)
  await finishLanes([fail(claimed)], after(DAY))
  assert.equal((await readLane(db, lane)).paused_at, null)
  assert.deepEqual(await noticesOf(lane), [])
})

test('among workers that claim at once a lane is not filled beyond its width, and an open one is probed once', async () => {
  const wide = await createLane(world, { width: 4 })
  const open = await createLane(world, { failures: 5, open_until: before(SECOND) })
  for (const lane of [wide, open]) await putMany(lane, 50)
  for (let round = 0; round < 20; round++) {
    const claims = (await Promise.all(Array.from({ length: 6 }, () => claim()))).flat()
    const counts = countByApp(claims)
    assert.ok((counts.get(wide) ?? 0) <= 4 && (counts.get(open) ?? 0) <= 1)
    await report(claims.map((one) => fail(one, { nextAt: NOW })))
  }
})

test('responses of an old URL say nothing about the new one', async () => {
  const { db } = world.database
  const lane = await createLane(world)
  await putMany(lane, 4)
  const [first, ...others] = (await claim()) as [Claimed, ...Claimed[]]
  await saveSettings(db, TESTER, SECRET_KEY, lane, { ...DEFAULTS, url: 'https://example.com/new/{transaction_id}' })
  await finishLanes([fail(first, { status: 410 }), ...others.map((one) => fail(one))])
  const { paused_at, failures, width } = await readLane(db, lane)
  assert.deepEqual([paused_at, failures, width], [null, 0, 4])
  await finishLanes([fail(first, { status: 410, settingsVersion: 2 })])
  assert.equal((await readLane(db, lane)).pause_reason, 'gone')
})

test('messages that are refused, and replays that fail, close no lane', async () => {
  const { db } = world.database
  const lane = await createLane(world, { width: 64 })
  await putMany(lane, 40)
  const claims = await claim()
  await finishLanes(claims.map((one, i) => fail(one, { status: [400, 404, 422][i % 3] ?? 400 })))
  await finishLanes(claims.map((one) => fail({ ...one, is_replay: true }, { status: 503 })))
  const { width, failures, open_until } = await readLane(db, lane)
  assert.deepEqual([width, failures, open_until], [64, 0, null])
  await finishLanes(claims.map((one) => fail(one, { status: 429 })))
  assert.ok((await readLane(db, lane)).open_until !== null)
})

test('a quiet app that failed once three weeks ago is not paused by one failure today', async () => {
  const { db } = world.database
  const lane = await createLane(world, {
    failures: 1,
    failing_since: before(21 * DAY),
    last_failure_at: before(18 * DAY),
  })
  await put(lane)
  await finishLanes([fail(await claimOne(), { status: 503 })])
  const { paused_at, failures, failing_since } = await readLane(db, lane)
  assert.deepEqual([paused_at, failures, failing_since], [null, 1, NOW])
})

test('nothing waits for a locked lane: it is updated later', async () => {
  const { db } = world.database
  const [locked, free] = [await createLane(world), await createLane(world)]
  await put(locked)
  await put(free)
  const signs = laneSigns((await claim()).map((one) => fail(one)))
  const later = await db.transaction().execute(async (trx) => {
    await trx.selectFrom('postback_lanes').selectAll().where('app_id', '=', locked).forUpdate().execute()
    return updateLanes(db, signs, NOW)
  })
  assert.deepEqual([(await readLane(db, locked)).failures, (await readLane(db, free)).failures], [0, 1])
  assert.deepEqual(await updateLanes(db, later, NOW), [])
  assert.deepEqual([(await readLane(db, locked)).failures, (await readLane(db, free)).failures], [1, 1])
})

test('test sends pass an open circuit, and nothing else does', async () => {
  const lane = await createLane(world, { failures: 5, open_until: after(MINUTE), width: 1 })
  await putMany(lane, 3)
  const [testing] = await putMany(lane, 1, { scenario: 'approved' })
  assert.equal((await claimOne()).postback_id, testing)
  assert.deepEqual(await claim(), [])
})
