// What the worker counts for recommended lists, and the rankings that come of it.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { addClicks, addConversions } from '../../../test/seed-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { numberEvents } from '../conversions/events.ts'
import { forgetOldRankings, readCells, renewRanking } from './rankings.ts'

const world = useWorld('rankings')
const DAY_MS = 86_400_000
const HOUR_MS = DAY_MS / 24
const [NOW, USD] = [new Date(), 1_000_000]
/** So many days ago, at noon of UTC. */
const daysAgo = (days: number) => new Date((Math.floor(NOW.getTime() / DAY_MS) - days) * DAY_MS + DAY_MS / 2)

let appId = 0
beforeEach(async () => {
  ;({ appId } = await world.createApp())
  const { db } = world.database
  await sql`TRUNCATE ranking_days, ranking_progress, rankings, ranking_segments, clicks`.execute(db)
  await sql`INSERT INTO ranking_progress SELECT ${daysAgo(28)}, ${daysAgo(28)}, coalesce(max(seq), 0) FROM event_feed`.execute(
    db,
  )
})

type Seed = { days: number; country?: string; os?: string; signals?: string[]; isTest?: boolean; status?: 'pending' | 'approved' | 'rejected' | 'reversed'; payout?: number } // prettier-ignore

/** Clicks, and what came of each. */
async function addTraffic(offerId: number, ...seeds: Seed[]): Promise<void> {
  const { db } = world.database
  for (const { days, status, payout = 1, country = 'US', os = 'ios', isTest = false, ...more } of seeds) {
    const [at, click_id] = [daysAgo(days).toISOString(), uuid7(daysAgo(days).getTime())]
    await addClicks(db, { at, appId, offerId, country, os, isTest, click_id, ...more })
    const nthOfClick = more.signals === undefined ? 1 : null
    if (status !== undefined)
      await addConversions(db, { at, appId, offerId, country, status, isTest, click_id, nthOfClick, payoutMicros: payout * USD }) // prettier-ignore
  }
  while ((await numberEvents(db)) > 0);
}

const readDays = async (offerId: number) =>
  (
    await world.database.db
      .selectFrom('ranking_days')
      .select(['country', 'platform', 'clicks', 'approved', 'earned_micros'])
      .where('offer_id', '=', offerId)
      .orderBy('country')
      .orderBy('platform')
      .execute()
  ).map((row) => [row.country, row.platform, row.clicks, row.approved, row.earned_micros / USD])

const readRankings = () => world.database.db.selectFrom('rankings').selectAll().orderBy('ranking_id').execute()

test('live clicks of people count, and of what they earned only what is approved', async () => {
  const [offerId = 0] = await world.createOffers({})
  await addTraffic(
    offerId,
    { days: 1, status: 'approved', payout: 2 },
    { days: 1, status: 'pending', payout: 4 },
    { days: 1, status: 'rejected', payout: 8 },
    { days: 1, status: 'reversed', payout: 16 },
    { days: 1, status: 'approved', payout: 32, isTest: true },
    { days: 1, status: 'approved', payout: 64, signals: ['bot'] },
    { days: 1, os: 'windows', status: 'approved', payout: 3 },
    { days: 1, os: 'playstation', country: 'DE' },
  )
  const expected = [['DE', '', 1, 0, 0], ['US', 'ios', 4, 1, 2], ['US', 'web', 1, 1, 3]] // prettier-ignore
  await renewRanking(world.database.db, NOW)
  assert.deepEqual(await readDays(offerId), expected)
  await renewRanking(world.database.db, NOW)
  assert.deepEqual(await readDays(offerId), expected, 'nothing is counted twice')
})

test('a reversal takes what was approved out again, and leaves the click', async () => {
  const [offerId = 0] = await world.createOffers({})
  const { db } = world.database
  await addTraffic(offerId, { days: 2, status: 'approved', payout: 5 })
  await renewRanking(db, NOW)
  assert.deepEqual(await readDays(offerId), [['US', 'ios', 1, 1, 5]])
  await db
    .updateTable('conversions')
    .set({
      status: 'reversed',
      status_reason: 'operator',
      reversed_at: NOW,
      sequence: 2,
      event_id: crypto.randomUUID(),
    })
    .where('offer_id', '=', offerId)
    .execute()
  await numberEvents(db)
  await renewRanking(db, NOW)
  assert.deepEqual(await readDays(offerId), [['US', 'ios', 1, 0, 0]])
})

test('what is a week old counts half, what is older than four weeks nothing, and what is on hold not yet', async () => {
  const [recent = 0, old = 0, ancient = 0, held = 0] = await world.createOffers({}, {}, {}, { hold: '3d' })
  await addTraffic(recent, { days: 0 + 1, status: 'approved' })
  await addTraffic(old, { days: 8, status: 'approved' })
  await addTraffic(ancient, { days: 29, status: 'approved' })
  await addTraffic(held, { days: 2 }, { days: 4, status: 'approved' })
  await renewRanking(world.database.db, NOW)
  const [ranking] = await readRankings()
  const ids = ranking?.offer_ids ?? []
  const clicksOf = (offerId: number) => ranking?.clicks[ids.indexOf(offerId)] ?? 0
  const seenOf = (offerId: number) => ranking?.seen[ids.indexOf(offerId)] ?? 0
  assert.ok(Math.abs(clicksOf(old) / clicksOf(recent) - 0.5) < 1e-9)
  assert.ok(Math.abs(seenOf(old) / seenOf(recent) - 0.5) < 0.2)
  assert.ok(!ids.includes(ancient))
  // Four days ago with a hold of three is as good as yesterday; the click of the day before yesterday is not judged.
  assert.ok(Math.abs(seenOf(held) - seenOf(recent)) < 1e-9)
  assert.ok(clicksOf(held) > clicksOf(recent))
  const expectedOf = (offerId: number) => ranking?.expected[ids.indexOf(offerId)] ?? 0
  assert.ok(Math.abs(expectedOf(held) - expectedOf(recent)) < 1e-9)
})

test('a ranking is made every four hours by one of all workers, takes effect a minute later, and the last three are kept', async () => {
  const { db } = world.database
  await renewRanking(db, NOW)
  assert.deepEqual(await readRankings(), [], 'nothing is known yet')
  const [offerId = 0] = await world.createOffers({})
  await addTraffic(offerId, { days: 1, status: 'approved' })
  await Promise.all([renewRanking(db, NOW), renewRanking(db, NOW)])
  await renewRanking(db, new Date(NOW.getTime() + HOUR_MS))
  const [first, ...more] = await readRankings()
  assert.deepEqual([(first?.effective_at.getTime() ?? 0) - NOW.getTime(), more], [60_000, []])
  for (let hours = 4; hours <= 20; hours += 4) await renewRanking(db, new Date(NOW.getTime() + hours * HOUR_MS))
  assert.equal((await readRankings()).length, 6)
  await forgetOldRankings(db, new Date(NOW.getTime() + 100 * DAY_MS))
  assert.equal((await readRankings()).length, 3)
  assert.deepEqual(await readDays(offerId), [])
})

test('what is read some offers at a time is what is read at once, the busiest first', async () => {
  const { db } = world.database
  const ids = await world.createOffers({}, {}, {}, {}, {})
  for (const [i, offerId] of ids.entries())
    await addTraffic(offerId, { days: 1 }, ...Array.from({ length: i % 3 }, () => ({ days: 3, country: 'DE', status: 'approved' as const }))) // prettier-ignore
  await renewRanking(db, NOW)
  const read = (offersAtOnce: number) => db.transaction().execute((trx) => readCells(trx, NOW, offersAtOnce))
  const [atOnce, oneByOne, inPairs] = [await read(1_000), await read(1), await read(2)]
  assert.ok(atOnce.cells.length >= 8)
  assert.deepEqual(oneByOne, atOnce)
  assert.deepEqual(inPairs, atOnce)
  const clicks = atOnce.cells.map(({ allClicks }) => allClicks)
  assert.deepEqual(clicks, clicks.toSorted((a, b) => b - a)) // prettier-ignore
})
