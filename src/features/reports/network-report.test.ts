// An operator's report says what a naive count of every single click and conversion does, whatever was rolled up, dropped
// or changed late.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { action, DEVICES, perform, share, spanOf } from '../../../test/stats-history.ts'
import { addConversions } from '../../../test/seed-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { ensurePartitions } from '../../db/partitions.ts'
import { compactClickCounts } from '../clicks/compact-counts.ts'
import { readReport, type ReportQuery } from './network-report.ts'
import { listPeriods, periodBefore } from './periods.ts'
import { rollUpStats } from './rollup.ts'

const DAY_MS = 86_400_000
const DAYS = 70 // at least two ends of months
const NOW_MS = Date.now()
const span = spanOf(DAYS, NOW_MS)

const apps: number[] = []
let offers: number[] = []
let publishers: number[] = []
let advertisers: number[] = []
const world = useWorld('network_report', async () => {
  const { db } = world.database
  for (const one of [1, 2, 3]) apps.push((await world.createApp({ name: `App ${one}` })).appId)
  // Two apps of one publisher.
  publishers = (await db.selectFrom('apps').select('publisher_id').orderBy('app_id').execute()).map(
    (one) => one.publisher_id,
  )
  await db
    .updateTable('apps')
    .set({ publisher_id: publishers[0] ?? 0 })
    .where('app_id', '=', apps[1] ?? 0)
    .execute()
  offers = [...(await world.createOffers({})), ...(await world.createOffers({}))]
  const found = await db
    .selectFrom('offers')
    .select('advertiser_id')
    .where('offer_id', 'in', offers)
    .orderBy('offer_id')
    .execute()
  advertisers = found.map(({ advertiser_id }) => advertiser_id)
  const days = Array.from({ length: DAYS + 1 }, (_, i) => span.startMs + i * DAY_MS)
  await ensurePartitions(db, 'clicks', days)
})

const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)

const groupings = [
  'hour',
  'day',
  'week',
  'month',
  'publisher',
  'app',
  'offer',
  'advertiser',
  'country',
  'device',
  'aff_sub',
] as const
const question = fc
  .record({
    from: share,
    length: fc.constantFrom(1, 2, 8, 31, DAYS + 1),
    fromStart: fc.boolean(),
    groupBy: fc.constantFrom(...groupings),
    filter: fc.constantFrom(
      'none',
      'publisher',
      'app',
      'offer',
      'advertiser',
      'country',
      'device',
      'app and offer',
      'offer and country',
      'all',
    ),
    which: fc.nat(1),
  })
  .map(({ from, length, fromStart, groupBy, filter, which }) => {
    const first = fromStart ? span.startMs : Math.floor((span.startMs + from * DAYS * DAY_MS) / DAY_MS) * DAY_MS
    const has = (name: string) => filter === 'all' || filter.split(' and ').includes(name)
    return { first, length, groupBy, which, has }
  })
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never

function queryOf({ first, length, groupBy, which, has }: Question): ReportQuery {
  const isBySubId = groupBy === 'aff_sub'
  const by = (...names: string[]) => names.some((name) => has(name) || groupBy === name)
  const others = [by('app', 'publisher'), by('offer', 'advertiser'), by('country')].filter(Boolean).length
  const isRolledUp = !by('device') || others < 2
  const most = isBySubId ? 31 : groupBy === 'hour' || !isRolledUp ? 2 : length
  return {
    from: utcDay(first),
    to: utcDay(first + Math.min(length, most) * DAY_MS),
    groupBy,
    limit: 1_000,
    ...(has('publisher') && { publisherId: publishers[0] ?? 0 }),
    ...((has('app') || isBySubId) && { appId: apps[which] ?? 0 }),
    ...(has('offer') && { offerId: offers[which] ?? 0 }),
    ...(has('advertiser') && { advertiserId: advertisers[which] ?? 0 }),
    ...(has('country') && { country: 'US' }),
    ...(has('device') && { device: DEVICES[which] ?? '' }),
  }
}

type Figures = { clicks: number; approved: number; pending: number; rejected: number; reversed: number; converted_clicks: number; click_payout: number; payout: number; revenue: number } // prettier-ignore

/** Counted from every row, with nothing of the program's own. */
async function countNaively(query: ReportQuery): Promise<Map<string, Figures>> {
  const units = ['hour', 'day', 'week', 'month']
  const shape = { hour: 'YYYY-MM-DD"T"HH24:MI"Z"', day: 'YYYY-MM-DD', week: 'YYYY-MM-DD', month: 'YYYY-MM' }
  const { groupBy, from = '', to = '' } = query
  const start = sql`greatest(date_trunc(${groupBy}, at, 'UTC'), ${from}::timestamp AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`
  const key = units.includes(groupBy)
    ? sql`to_char(${start}, ${shape[groupBy as keyof typeof shape]})`
    : { publisher: sql`publisher_id::text`, app: sql`app_id::text`, offer: sql`offer_id::text`, advertiser: sql`advertiser_id::text` }[groupBy as 'app'] ?? sql`coalesce(${sql.ref(groupBy)}, '-')` // prettier-ignore
  const { publisherId = null, appId = null, offerId = null, advertiserId = null, country = null, device = null } = query
  const { rows } = await sql<{ key: string } & Figures>`
    WITH everything AS (
      SELECT clicked_at AS at, app_id, offer_id, country, device, aff_sub, 'click' AS status, 1 AS count, false AS is_clicked, false AS is_first, 0 AS payout, 0 AS revenue
      FROM clicks WHERE NOT is_test AND NOT coalesce('bot' = ANY (signals), false)
      UNION ALL SELECT quarter, app_id, offer_id, country, device, aff_sub, 'click', clicks, false, false, 0, 0 FROM click_counts
      UNION ALL SELECT created_at, app_id, offer_id, country, device, aff_sub, status, 1,
        nth_of_click IS NOT NULL, nth_of_click IS NOT NULL AND nth_of_click <> 2, payout_micros, revenue_micros FROM conversions WHERE NOT is_test
    )
    SELECT ${key} AS key, coalesce(sum(count) FILTER (WHERE status = 'click'), 0)::bigint AS clicks,
      count(*) FILTER (WHERE status = 'approved') AS approved, count(*) FILTER (WHERE status = 'pending') AS pending,
      count(*) FILTER (WHERE status = 'rejected') AS rejected, count(*) FILTER (WHERE status = 'reversed') AS reversed,
      count(*) FILTER (WHERE is_first AND status <> 'rejected') AS converted_clicks,
      coalesce(sum(payout) FILTER (WHERE is_clicked AND status = 'approved'), 0)::bigint AS click_payout,
      coalesce(sum(payout) FILTER (WHERE status = 'approved'), 0)::bigint AS payout,
      coalesce(sum(revenue) FILTER (WHERE status = 'approved'), 0)::bigint AS revenue
    FROM everything JOIN (SELECT app_id, publisher_id FROM apps) AS a USING (app_id)
      JOIN (SELECT offer_id, advertiser_id FROM offers) AS o USING (offer_id)
    WHERE at >= ${from}::timestamp AT TIME ZONE 'UTC' AND at < ${to}::timestamp AT TIME ZONE 'UTC'
      AND (${publisherId}::bigint IS NULL OR publisher_id = ${publisherId}) AND (${appId}::bigint IS NULL OR app_id = ${appId})
      AND (${offerId}::bigint IS NULL OR offer_id = ${offerId}) AND (${advertiserId}::bigint IS NULL OR advertiser_id = ${advertiserId})
      AND (${country}::text IS NULL OR everything.country = ${country}) AND (${device}::text IS NULL OR everything.device = ${device})
    GROUP BY 1`.execute(world.database.db)
  return new Map(rows.map(({ key: name, ...figures }) => [name, figures]))
}

/** `+ 0`: a margin just below nothing is 0, not -0. */
const round = (micros: number) => Math.trunc(micros / 100) / 10_000 + 0

async function compare(asked: Question): Promise<void> {
  const query = queryOf(asked)
  const naive = await countNaively(query)
  const { rows, totals } = await readReport(world.database.db, query, new Date(NOW_MS))
  const filled = rows.filter((row) => row.clicks + row.conversions + row.rejected > 0)
  assert.deepEqual(filled.map(({ key }) => key ?? '-').toSorted(), [...naive.keys()].toSorted(), JSON.stringify(query))
  for (const row of filled) {
    const its = naive.get(row.key ?? '-') ?? assert.fail()
    const { clicks, pending, approved, rejected, reversed } = its
    assert.deepEqual(
      { ...row, previous: null },
      {
        key: row.key,
        clicks,
        converted_clicks: its.converted_clicks,
        conversions: pending + approved + reversed,
        pending,
        approved,
        rejected,
        reversed,
        payout: round(its.payout),
        revenue: round(its.revenue),
        margin: round(its.revenue - its.payout),
        epc: clicks === 0 ? null : round(its.click_payout / clicks),
        conversion_rate: clicks === 0 ? null : Math.round((its.converted_clicks / clicks) * 10_000) / 10_000,
        previous: null,
      },
      JSON.stringify(query),
    )
  }
  const sum = (name: keyof Figures) => [...naive.values()].reduce((all, one) => all + one[name], 0)
  assert.deepEqual(
    [totals.clicks, totals.approved, totals.payout, totals.revenue, totals.reversed],
    [sum('clicks'), sum('approved'), round(sum('payout')), round(sum('revenue')), sum('reversed')],
  )
}

test('a report says what a naive count of everything does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 4, maxLength: 14 }),
      fc.array(question, { minLength: 6, maxLength: 8 }),
      async (actions, questions) => {
        for (const one of actions) await perform({ world, span, apps, offers }, one)
        for (const asked of questions) await compare(asked)
      },
    ),
    { numRuns: 20, endOnFailure: true },
  )
  // Everything rolled up, old clicks dropped to counts, and those compacted: nothing changes.
  await rollUpStats(world.database.db, new Date(NOW_MS))
  await compactClickCounts(world.database.db, new Date(NOW_MS + 500 * DAY_MS))
  const all = { first: span.startMs, length: DAYS + 1, which: 0, has: () => false }
  for (const groupBy of groupings) if (groupBy !== 'aff_sub') await compare({ ...all, groupBy })
  const { rows } = await sql<{ months: number }>`SELECT count(DISTINCT month) AS months FROM stats_months`.execute(
    world.database.db,
  )
  assert.ok((rows[0]?.months ?? 0) >= 2)
})

test('a late change of a month that is long over reaches its sums', async () => {
  const { db } = world.database
  const [appId = 0, offerId = 0] = [apps[2], offers[1]]
  await addConversions(db, {
    at: new Date(span.startMs + 7).toISOString(),
    appId,
    offerId,
    status: 'reversed',
    device: 'tv',
  })
  await rollUpStats(db, new Date(NOW_MS))
  for (const groupBy of ['device', 'month', 'app'] as const)
    await compare({ first: span.startMs, length: DAYS + 1, which: 0, has: () => false, groupBy })
})

test('periods are whole weeks and months but for the first and the last, and the period before is as long', () => {
  const range = (from: string, to: string) => ({ fromMs: Date.parse(from), toMs: Date.parse(to) })
  const names = (unit: 'week' | 'month' | 'hour', from: string, to: string) =>
    listPeriods(unit, range(from, to)).map(({ name }) => name)
  assert.deepEqual(names('week', '2026-11-01', '2026-11-17'), ['2026-11-01', '2026-11-02', '2026-11-09', '2026-11-16'])
  assert.deepEqual(names('month', '2026-10-30', '2026-12-02'), ['2026-10', '2026-11', '2026-12'])
  assert.deepEqual(names('hour', '2026-10-30', '2026-10-31').slice(0, 2), ['2026-10-30T00:00Z', '2026-10-30T01:00Z'])
  const before = (from: string, to: string, comparison?: 'previous_month') => {
    const { fromMs, toMs } = periodBefore(range(from, to), comparison)
    return [utcDay(fromMs), utcDay(toMs)]
  }
  assert.deepEqual(before('2026-11-16', '2026-11-17'), ['2026-11-15', '2026-11-16'])
  assert.deepEqual(before('2026-11-10', '2026-11-17'), ['2026-11-03', '2026-11-10'])
  assert.deepEqual(before('2026-11-01', '2026-11-02'), ['2026-10-31', '2026-11-01'])
  assert.deepEqual(before('2026-11-01', '2026-11-08'), ['2026-10-25', '2026-11-01'])
  assert.deepEqual(before('2026-11-01', '2026-11-17', 'previous_month'), ['2026-10-01', '2026-10-17'])
  assert.deepEqual(before('2026-03-01', '2026-03-31', 'previous_month'), ['2026-02-01', '2026-03-01'])
  assert.deepEqual(before('2026-03-30', '2026-04-02', 'previous_month'), ['2026-02-28', '2026-03-03'])
  assert.deepEqual(before('2026-10-01', '2026-11-01', 'previous_month'), ['2026-09-01', '2026-10-01'])
  assert.deepEqual(before('2026-10-01', '2026-11-01'), ['2026-09-01', '2026-10-01'])
  assert.deepEqual(before('2026-01-01', '2026-04-01'), ['2025-10-01', '2026-01-01'])
  assert.deepEqual(before('2026-01-01', '2026-02-10'), ['2025-11-22', '2026-01-01'])
})
