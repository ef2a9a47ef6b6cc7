import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { after, before, DAY, HOUR, MINUTE, NOW, SECOND } from '../../../test/postback-world.ts'
import {
  afterResults,
  FIRST_WIDTH,
  isHopeless,
  type Lane,
  readRetryAfter,
  signOf,
  waitBeforeAttempt,
  WAITS_MS,
} from './schedule.ts'

const WAITS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
const ALMOST_1 = 1 - Number.EPSILON / 2

const waitMs = (tries: number, jitter: number, retryAfter: string | null = null) =>
  waitBeforeAttempt(tries, jitter, readRetryAfter(retryAfter, NOW))
const asked = (text: string | null, now = NOW) => readRetryAfter(text, now)

const jitters = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const texts = fc.oneof(
  fc.string(),
  fc.integer().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
)

test('the waits are those of the documentation, give or take a fifth', () => {
  assert.deepEqual([...WAITS_MS], WAITS)
  for (const [i, wait] of WAITS.entries()) {
    assert.equal(waitMs(i + 1, 0), wait * 0.8)
    assert.equal(waitMs(i + 1, 0.5), wait)
    assert.ok(Math.abs((waitMs(i + 1, ALMOST_1) ?? 0) - wait * 1.2) <= 1)
  }
})

test('after the twelfth attempt there is no other, whatever the response asks for', () => {
  for (const tries of [12, 13, 1_000])
    for (const text of [null, '1', '86400']) assert.equal(waitMs(tries, 0, text), null)
})

test('twelve attempts take a little over three days', () => {
  const total = WAITS.reduce((sum, wait) => sum + wait)
  assert.ok(total > 3 * DAY && total < 3.5 * DAY)
})

test('a wait is never shorter than its own, and longer only as far as it is asked for, within a day', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 11 }), jitters, fc.option(texts), (tries, jitter, text) => {
      const wait = waitMs(tries, jitter, text) ?? 0
      const own = waitMs(tries, jitter) ?? 0
      assert.ok(wait >= own && own >= (WAITS[tries - 1] ?? 0) * 0.8 - 1)
      assert.ok(wait <= Math.max(own, DAY))
      if (wait > own) assert.equal(wait, Math.min(asked(text) ?? 0, DAY))
    }),
  )
})

test('Retry-After in seconds is waited for, within a day, and is no reason to hurry', () => {
  assert.equal(waitMs(1, 0.5, '120'), 2 * MINUTE)
  assert.equal(waitMs(1, 0.5, ' 120 '), 2 * MINUTE)
  assert.equal(waitMs(1, 0.5, '86400'), DAY)
  assert.equal(waitMs(1, 0.5, '86401'), DAY)
  assert.equal(waitMs(1, 0.5, '999999999'), DAY)
  assert.equal(waitMs(1, 0.5, '0'), 5 * SECOND)
  assert.equal(waitMs(6, 0.5, '60'), 2 * HOUR)
})

test('Retry-After can be a date, in the form of today and in that of RFC 850', () => {
  const now = new Date('2026-11-06T08:49:00Z')
  assert.equal(asked('Fri, 06 Nov 2026 08:49:37 GMT', now), 37 * SECOND)
  assert.equal(asked('Friday, 06-Nov-26 08:49:37 GMT', now), 37 * SECOND)
  assert.equal(waitMs(1, 0.5, after(3 * DAY).toUTCString()), DAY)
})

test('a date that has passed asks for nothing', () => {
  const now = new Date('2026-11-06T08:49:37Z')
  for (const text of [
    'Fri, 06 Nov 2026 08:49:37 GMT',
    'Fri, 06 Nov 2026 08:49:36 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ])
    assert.equal(asked(text, now), null, text)
})

test('what is neither seconds nor a date asks for nothing', () => {
  for (const text of [
    null,
    '',
    ' ',
    '-1',
    '-120',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '12s',
    '1 2',
    '5, 5',
    'soon',
    'NaN',
    '٥',
  ])
    assert.equal(asked(text), null, String(text))
  for (const text of ['2099-01-01', '2099-01-01T00:00:00Z', '1/1/2099', 'Fri, 99 Foo 2099 08:49:37 GMT', '\0', 'null'])
    assert.equal(asked(text), null, text)
})

test('whatever stands there, what is read is null or not negative', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const ms = asked(text)
      assert.ok(ms === null || (Number.isFinite(ms) && ms >= 0))
    }),
  )
})

const fresh: Lane = { width: FIRST_WIDTH, failures: 0, failingSince: null, lastFailureAt: null, openUntil: null }
const succeed = (lane: Lane, delivered = 1, now = NOW) => afterResults(lane, { delivered, failed: 0 }, now, 0.5)
const fail = (lane: Lane, failed = 1, now = NOW, jitter = 0.5) =>
  afterResults(lane, { delivered: 0, failed }, now, jitter)
const openFor = ({ openUntil }: Lane, now = NOW) => (openUntil === null ? null : openUntil.getTime() - now.getTime())

test('a lane widens by what arrives, up to 64, and is a single file after a failure', () => {
  assert.equal(fresh.width, 4)
  assert.equal(succeed(fresh, 3).width, 7)
  assert.equal(succeed(fresh, 1_000).width, 64)
  assert.equal(succeed({ ...fresh, width: 64 }).width, 64)
  assert.equal(fail({ ...fresh, width: 64 }).width, 1)
  assert.equal(afterResults({ ...fresh, width: 64 }, { delivered: 9, failed: 1 }, NOW, 0.5).width, FIRST_WIDTH)
})

test('Retry-After takes the three forms of a date in HTTP, in GMT whatever the zone here', () => {
  const now = new Date('1994-11-06T08:48:37Z')
  for (const text of ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])
    assert.equal(asked(text, now), MINUTE, text)
  for (const text of ['foo 2099', 'retry after 2030', 'Sun, 06 Nov 1994 08:49:37', 'Sun, 06 Foo 1994 08:49:37 GMT'])
    assert.equal(asked(text, now), null, text)
  assert.equal(waitMs(1, 0.5, '9'.repeat(40)), DAY)
})

test('no result changes nothing', () => {
  const lane = { width: 9, failures: 7, failingSince: NOW, lastFailureAt: NOW, openUntil: NOW }
  assert.deepEqual(afterResults(lane, { delivered: 0, failed: 0 }, after(DAY), 0.5), lane)
})

test('the circuit opens at the fifth failure in a row, then for twice as long each time up to ten minutes', () => {
  let lane = fresh
  let now = NOW
  const opened: (number | null)[] = []
  for (let i = 0; i < 14; i++) {
    lane = fail(lane, 1, now)
    opened.push(lane.openUntil === null ? null : lane.openUntil.getTime() - now.getTime())
    now = lane.openUntil ?? now // the probe
  }
  const seconds = [10, 20, 40, 80, 160, 320, 600, 600, 600, 600].map((s) => s * SECOND)
  assert.deepEqual(opened, [null, null, null, null, ...seconds])
})

test('however many fail at once, it is one opening; what fails while it is open changes nothing', () => {
  const opened = fail(fresh, 60)
  assert.equal(openFor(opened), 10 * SECOND)
  assert.deepEqual(fail(opened, 20, after(SECOND)), opened)
  assert.equal(openFor(fail(opened, 1, after(10 * SECOND)), after(10 * SECOND)), 20 * SECOND)
})

test('how long it is open differs by a fifth', () => {
  const four = { ...fresh, failures: 4 }
  assert.equal(openFor(fail(four, 1, NOW, 0)), 8 * SECOND)
  assert.ok(Math.abs((openFor(fail(four, 1, NOW, ALMOST_1)) ?? 0) - 12 * SECOND) <= 1)
})

test('a success between failures resets the count', () => {
  let lane = fresh
  for (let i = 0; i < 4; i++) lane = fail(lane)
  lane = succeed(lane)
  for (let i = 0; i < 4; i++) assert.equal((lane = fail(lane)).openUntil, null)
  assert.equal(lane.failures, 4)
  assert.notEqual(fail(lane).openUntil, null)
})

const lanes: fc.Arbitrary<Lane> = fc.record({
  width: fc.integer({ min: 1, max: 64 }),
  failures: fc.integer({ min: 0, max: 1_000_000 }),
  failingSince: fc.constantFrom(null, before(DAY), before(6 * DAY)),
  lastFailureAt: fc.constantFrom(null, before(DAY), before(3 * DAY)),
  openUntil: fc.constantFrom(null, before(MINUTE), after(MINUTE)),
})

test('one success closes any circuit and ends any row of failures', () => {
  fc.assert(
    fc.property(lanes, fc.integer({ min: 1, max: 200 }), fc.nat(200), jitters, (lane, delivered, failed, jitter) => {
      const next = afterResults(lane, { delivered, failed }, NOW, jitter)
      assert.deepEqual([next.failures, next.failingSince, next.openUntil], [0, null, null])
      assert.equal(isHopeless(next, after(100 * DAY)), false)
    }),
  )
})

test('a lane lets through 1 to 64, and is never closed for longer than ten minutes and a fifth', () => {
  fc.assert(
    fc.property(lanes, fc.nat(200), fc.nat(200), jitters, (lane, delivered, failed, jitter) => {
      const next = afterResults(lane, { delivered, failed }, NOW, jitter)
      assert.ok(next.width >= 1 && next.width <= 64)
      if (failed + delivered > 0) assert.ok((openFor(next) ?? 0) <= 12 * MINUTE)
    }),
  )
})

test('a URL is hopeless after five days of failures only, counted from the first', () => {
  let lane = fail(fresh, 1, NOW)
  for (const days of [1, 2, 3, 4]) lane = fail(lane, 1, after(days * DAY))
  assert.deepEqual(lane.failingSince, NOW)
  assert.equal(isHopeless(lane, after(5 * DAY - 1)), false)
  assert.equal(isHopeless(lane, after(5 * DAY)), true)
  assert.equal(isHopeless(fresh, after(100 * DAY)), false)
  const again = fail(succeed(lane, 1, after(4 * DAY)), 1, after(4.5 * DAY))
  assert.equal(isHopeless(again, after(9 * DAY)), false)
  assert.equal(isHopeless(again, after(9.5 * DAY)), true)
})

test('failures with more than two days of silence between them are no row', () => {
  const weeksAgo = fail({ ...fresh, failures: 4 }, 1, before(21 * DAY))
  const today = fail(weeksAgo, 1, NOW)
  assert.deepEqual([today.failures, today.failingSince, today.openUntil], [1, NOW, null])
  assert.equal(isHopeless(today, NOW), false)
  const retried = fail(fail(fresh, 1, before(1.2 * DAY)), 1, NOW) // the longest delay between two attempts
  assert.deepEqual([retried.failures, retried.failingSince], [2, before(1.2 * DAY)])
})

test('a refusal of one message says nothing about the server, but for those that ask to come later', () => {
  const sign = (status: number | null) => signOf({ ok: false, status })
  for (const status of [400, 401, 404, 409, 422]) assert.equal(sign(status), 'refuses')
  for (const status of [null, 200, 302, 408, 425, 429, 500, 503]) assert.equal(sign(status), 'fails')
  assert.equal(signOf({ ok: true, status: 200 }), 'works')
})
