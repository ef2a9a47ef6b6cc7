import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addConversions, type ConversionSeed } from '../../../test/seed-rows.ts'
import { until } from '../../../test/installation.ts'
import { useWorld } from '../../../test/world.ts'
import type { Db } from '../../db/open.ts'
import { countCaps } from './cap-counts.ts'
import { setCaps } from './edit-offers.ts'
import {
  addUsage,
  type Caps,
  dayNumber,
  isFull,
  lockCaps,
  lockUsage,
  parseCountCap,
  parsePayoutCap,
  readCaps,
  refreshFull,
  showCaps,
  type Usage,
} from './caps.ts'
import { TESTER } from '../../../test/tester.ts'

const NOON = new Date('2026-03-10T12:00:00Z')
const TODAY = dayNumber(NOON)
const MIDNIGHT = new Date('2026-03-11T00:00:00Z')
const NO_CAPS: Caps = { dailyClicks: null, totalClicks: null, dailyConversions: null, totalConversions: null, dailyPayoutMicros: null, totalPayoutMicros: null, dailyRevenueMicros: null, totalRevenueMicros: null } // prettier-ignore
const none = { clicks: 0, conversions: 0, payout_micros: 0 }

let appId = 0
const world = useWorld('caps', async (opened) => {
  appId = (await opened.createApp()).appId
})

async function createOffer(more: Record<string, unknown> = {}): Promise<number> {
  const [offerId = 0] = await world.createOffers(more)
  return offerId
}

const convert = (db: Db, offerId: number, more: Partial<ConversionSeed> = {}) =>
  addConversions(db, { at: NOON.toISOString(), appId, offerId, status: 'approved', payoutMicros: 1_000_000, ...more })

const fullUntil = async (offerId: number): Promise<unknown> => {
  const { db } = world.database
  return (await db.selectFrom('offers').select('full_until').where('offer_id', '=', offerId).executeTakeFirstOrThrow()).full_until // prettier-ignore
}

const usageOf = (offerId: number) =>
  world.database.db.selectFrom('offer_usage').select(['day', 'clicks', 'conversions', 'payout_micros']).where('offer_id', '=', offerId).orderBy('day').execute() // prettier-ignore

const add = (offerId: number, day: number, more: Partial<Usage>) =>
  world.database.db
    .transaction()
    .execute((trx) =>
      addUsage(trx, [{ offerId, day, clicks: 0, conversions: 0, payoutMicros: 0, revenueMicros: 0, ...more }]),
    )

/** Takes one place of each of these offers where all have one, as a click or conversion does. */
async function takePlaces(offerIds: number[], now: Date): Promise<boolean> {
  return world.database.db.transaction().execute(async (trx) => {
    await lockCaps(trx)
    const usage = await lockUsage(trx, offerIds, dayNumber(now))
    const caps = await readCaps(trx, offerIds)
    const isClosed = offerIds.some((id) => {
      const { today, total } = usage.get(id) ?? assert.fail()
      return isFull(caps.get(id) ?? NO_CAPS, today, total) !== 'no'
    })
    if (isClosed) return false
    await addUsage(trx, offerIds.map((offerId) => ({ offerId, day: dayNumber(now), clicks: 1, conversions: 0, payoutMicros: 0, revenueMicros: 0 }))) // prettier-ignore
    await refreshFull(trx, offerIds, now)
    return true
  })
}

test('setting a cap counts existing conversions, each day separately, and closes the offer where they reach it', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  await convert(db, offerId, { status: 'pending' })
  await convert(db, offerId, { payoutMicros: 2_500_000, at: '2026-03-10T00:00:00Z' })
  await convert(db, offerId, { at: '2026-03-09T23:59:59.999Z' })
  await convert(db, offerId, { status: 'rejected' })
  await convert(db, offerId, { isTest: true })
  await convert(db, offerId, { status: 'reversed' })

  await setCaps(db, TESTER, offerId, { dailyConversions: 3 }, NOON)
  assert.partialDeepStrictEqual(await showCaps(db, offerId, NOON), {
    daily_conversion_cap: 3,
    full: 'no',
    today: { clicks: 0, conversions: 2, payout_micros: 3_500_000 },
    total: { clicks: 0, conversions: 3, payout_micros: 4_500_000 },
  })
  assert.equal(await fullUntil(offerId), null)
  await setCaps(db, TESTER, offerId, { dailyConversions: 2 }, NOON)
  assert.deepEqual(await fullUntil(offerId), MIDNIGHT)
  await setCaps(db, TESTER, offerId, { totalPayoutMicros: 4_500_000 }, NOON)
  assert.equal(await fullUntil(offerId), Infinity)
})

test('a cap on revenue counts what the advertiser pays, also from before it was set, and late conversions still count', async () => {
  const { db } = world.database
  const offerId = await createOffer({ total_click_cap: 100 })
  await convert(db, offerId, { payoutMicros: 1_000_000, revenueMicros: 3_000_000 })
  await convert(db, offerId, { payoutMicros: 1_000_000, revenueMicros: 3_000_000, status: 'pending', at: '2026-03-09T12:00:00Z' }) // prettier-ignore
  await setCaps(db, TESTER, offerId, { dailyRevenueMicros: 4_000_000, totalRevenueMicros: 7_000_000 }, NOON)
  assert.partialDeepStrictEqual(await showCaps(db, offerId, NOON), { full: 'no', today: { revenue_micros: 3_000_000 }, total: { revenue_micros: 6_000_000, payout_micros: 2_000_000 } }) // prettier-ignore
  await setCaps(db, TESTER, offerId, { dailyRevenueMicros: 3_000_000 }, NOON)
  assert.deepEqual(await fullUntil(offerId), MIDNIGHT)
  await add(offerId, TODAY, { conversions: 1, revenueMicros: 2_000_000 })
  await db.transaction().execute((trx) => refreshFull(trx, [offerId], NOON))
  assert.equal(await fullUntil(offerId), Infinity)
})

test('raising a cap or taking it away opens the offer again', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  await convert(db, offerId)
  await setCaps(db, TESTER, offerId, { totalConversions: 1, dailyPayoutMicros: 1_000_000 }, NOON)
  assert.equal(await fullUntil(offerId), Infinity)
  await setCaps(db, TESTER, offerId, { totalConversions: 2 }, NOON)
  assert.deepEqual(await fullUntil(offerId), MIDNIGHT)
  await setCaps(db, TESTER, offerId, { dailyPayoutMicros: null }, NOON)
  assert.equal(await fullUntil(offerId), null)
  await setCaps(db, TESTER, offerId, { totalConversions: 1 }, NOON)
  assert.equal(await fullUntil(offerId), Infinity)
  await setCaps(db, TESTER, offerId, { totalConversions: null, overCap: 'reject' }, NOON)
  assert.equal(await fullUntil(offerId), null)
  assert.partialDeepStrictEqual(await showCaps(db, offerId, NOON), {
    total_conversion_cap: null,
    over_cap: 'reject',
    full: 'no',
    total: null,
  })
  await assert.rejects(setCaps(db, TESTER, 999_999, { totalClicks: 1 }, NOON), /There is no offer 999999/)
})

test('a new day begins empty, and clicks are kept when caps change', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  await setCaps(db, TESTER, offerId, { dailyClicks: 2 }, NOON)
  for (const isTaken of [true, true, false]) assert.equal(await takePlaces([offerId], NOON), isTaken)
  assert.deepEqual(await fullUntil(offerId), MIDNIGHT)
  assert.equal(await takePlaces([offerId], new Date(MIDNIGHT.getTime() - 1)), false)
  assert.equal(await takePlaces([offerId], MIDNIGHT), true)
  assert.equal(await fullUntil(offerId), null)
  await setCaps(db, TESTER, offerId, { dailyClicks: 1, totalClicks: 4 }, MIDNIGHT)
  const next = { clicks: 1, conversions: 0, payout_micros: 0 }
  assert.partialDeepStrictEqual(await showCaps(db, offerId, MIDNIGHT), {
    full: 'today',
    today: next,
    total: { clicks: 3 },
  })
})

test('conversions of a day that began while the lock was awaited are counted for it', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  await convert(db, offerId, { at: MIDNIGHT.toISOString() })
  await setCaps(db, TESTER, offerId, { dailyConversions: 1 }, new Date(MIDNIGHT.getTime() - 1))
  assert.equal((await showCaps(db, offerId, MIDNIGHT)).full, 'today')
})

test('a reversal lowers the total, and its own day only where that was counted', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  await setCaps(db, TESTER, offerId, { totalConversions: 9 }, NOON)
  await add(offerId, TODAY, { conversions: 3, payoutMicros: 30 })
  await add(offerId, TODAY - 40, { conversions: -1, payoutMicros: -10 })
  await add(offerId, TODAY, { conversions: -1, payoutMicros: -10 })
  await add(offerId, TODAY - 1, { clicks: 5 })
  assert.deepEqual(await usageOf(offerId), [
    { day: 0, clicks: 5, conversions: 1, payout_micros: 10 },
    { day: TODAY - 1, clicks: 5, conversions: 0, payout_micros: 0 },
    { day: TODAY, clicks: 0, conversions: 2, payout_micros: 20 },
    { day: TODAY + 1, ...none },
  ])
})

test('several of one batch for the same offer and day are added up', async () => {
  const offerId = await createOffer({ total_click_cap: 100 })
  const delta = { offerId, day: TODAY, clicks: 2, conversions: 1, payoutMicros: 5, revenueMicros: 9 }
  await world.database.db.transaction().execute((trx) => addUsage(trx, [delta, delta, { ...delta, day: TODAY + 1 }]))
  const byDay = new Map((await usageOf(offerId)).map((row) => [row.day, row.clicks]))
  assert.deepEqual([0, TODAY, TODAY + 1].map((day) => byDay.get(day)), [6, 4, 2]) // prettier-ignore
})

/** As many as there are connections: who waits for one longer than five seconds fails, on a busy machine. */
async function tenAtATime<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const takeTurns = async () => {
    while (next < count) {
      const i = next++
      results[i] = await work(i)
    }
  }
  await Promise.all(Array.from({ length: 10 }, takeTurns))
  return results
}

test('however many come at once, a cap is never exceeded, and nothing waits for ever', async () => {
  const [one = 0, two = 0, three = 0] = await world.createOffers({ total_click_cap: 25 }, { daily_click_cap: 20 }, { total_click_cap: 1_000 }) // prettier-ignore
  const batches = [[one, two, three], [three, two], [two, one], [three, one]] // prettier-ignore
  const outcomes = await tenAtATime(200, async (i) => {
    const batch = batches[i % 4] ?? []
    return (await takePlaces(batch, NOON)) ? batch : []
  })
  const taken = (id: number) => outcomes.filter((batch) => batch.includes(id)).length
  for (const id of [one, two, three]) assert.equal((await usageOf(id))[0]?.clicks, taken(id))
  assert.deepEqual([taken(one), taken(two)], [25, 20])
  assert.deepEqual([await fullUntil(one), await fullUntil(two), await fullUntil(three)], [Infinity, MIDNIGHT, null])
})

test('a cap set while conversions pour in has counted every one of them', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  const pour = () =>
    db.transaction().execute(async (trx) => {
      await lockCaps(trx)
      const caps = (await readCaps(trx, [offerId])).get(offerId) ?? NO_CAPS
      if (caps.totalConversions !== null) {
        const { today, total } = (await lockUsage(trx, [offerId], TODAY)).get(offerId) ?? assert.fail()
        if (isFull(caps, today, total) !== 'no') return
        await addUsage(trx, [
          { offerId, day: TODAY, clicks: 0, conversions: 1, payoutMicros: 1_000_000, revenueMicros: 1_000_000 },
        ])
      }
      await convert(trx, offerId)
      await refreshFull(trx, [offerId], NOON)
    })
  await tenAtATime(120, (i) => (i === 60 ? setCaps(db, TESTER, offerId, { totalConversions: 90 }, NOON) : pour()))
  const { count } = await db.selectFrom('conversions').select((is) => is.fn.countAll<number>().as('count')).where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const { full, total } = await showCaps(db, offerId, NOON)
  assert.ok(count >= 90)
  assert.deepEqual([total?.conversions, full], [count, 'for good'])
})

test('setting a cap waits for transactions that may not have seen it, and nothing waits for the one that sets it', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  const isCapped = async () => (await readCaps(db, [offerId])).get(offerId)?.totalConversions === 2
  const capping = await db.transaction().execute(async (trx) => {
    await lockCaps(trx)
    assert.equal(await isCapped(), false)
    const setting = setCaps(db, TESTER, offerId, { totalConversions: 2 }, NOON)
    await until(isCapped)
    assert.equal(await takePlaces([offerId], NOON), true) // another, which sees the cap
    await convert(trx, offerId) // without counting it
    await convert(trx, offerId)
    return { setting }
  })
  await capping.setting
  assert.deepEqual([(await showCaps(db, offerId, NOON)).total, await fullUntil(offerId)], [{ clicks: 1, conversions: 2, payout_micros: 2_000_000, revenue_micros: 2_000_000 }, Infinity]) // prettier-ignore
  assert.deepEqual(await db.selectFrom('cap_counts').selectAll().execute(), [])
})

test('caps that were set and not counted are counted later, once, by any process', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  await convert(db, offerId)
  await db.transaction().execute((trx) => setCaps(trx, TESTER, offerId, { totalConversions: 1 }, NOON)) // and then a crash
  assert.equal(await fullUntil(offerId), null)
  await Promise.all([1, 2, 3].map(() => countCaps(db, NOON)))
  assert.deepEqual([(await showCaps(db, offerId, NOON)).total?.conversions, await fullUntil(offerId)], [1, Infinity])
})

test('what closes an offer in the database is the rule that the program goes by', async () => {
  const { db } = world.database
  const offerId = await createOffer()
  const count = fc.integer({ min: 0, max: 4 })
  const cap = fc.option(fc.integer({ min: 1, max: 4 }))
  const caps = fc.record({ dailyClicks: cap, totalClicks: cap, dailyConversions: cap, totalConversions: cap, dailyPayoutMicros: cap, totalPayoutMicros: cap, dailyRevenueMicros: cap, totalRevenueMicros: cap }) // prettier-ignore
  const usage = fc.record({ clicks: count, conversions: count, payoutMicros: count, revenueMicros: count })
  await fc.assert(
    fc.asyncProperty(caps, usage, usage, async (given, today, total) => {
      await setCaps(db, TESTER, offerId, given, NOON)
      await db.deleteFrom('offer_usage').where('offer_id', '=', offerId).execute()
      const rows = [{ day: 0, ...total }, { day: TODAY, ...today }] // prettier-ignore
      await db.insertInto('offer_usage').values(rows.map(({ payoutMicros, revenueMicros, ...row }) => ({ offer_id: offerId, payout_micros: payoutMicros, revenue_micros: revenueMicros, ...row }))).execute() // prettier-ignore
      await db.transaction().execute((trx) => refreshFull(trx, [offerId], NOON))
      const expected = { no: null, today: MIDNIGHT, 'for good': Infinity }[isFull(given, today, total)]
      assert.deepEqual(await fullUntil(offerId), expected)
    }),
    { numRuns: 100 },
  )
})

test('caps are read as people write them, or not at all', () => {
  assert.deepEqual(['1', ' 12 ', 1e12, '0', '-1', '1.5', 'many', '', 1e13].map(parseCountCap), [1, 12, 1e12, null, null, null, null, null, null]) // prettier-ignore
  assert.deepEqual(['0.0001', 2, '0', '1.00001', '1e3', ''].map(parsePayoutCap), [100, 2_000_000, null, null, null, null]) // prettier-ignore
})
