// An app's own figures. Clicks are counted from their rows or, once those are dropped, from what retention left of them;
// a single statement reads both, so that a partition dropped meanwhile is seen either before or after, never twice.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { Details } from '../../errors.ts'
import { badRequest } from '../../http/validation.ts'
import { microsToUsd } from '../../lib/money.ts'
import { parseTime, rfc3339 } from '../../lib/time.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { IS_COUNTED } from '../clicks/retention.ts'
import { PLATFORM_OF } from '../clicks/visitor.ts'
import { type Day, isTimeZone, listDays, startOfDay } from './days.ts'
import type { Grouping, Stats, StatsQuery, StatsRow, StatsTotals } from './schema.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DEFAULT_DAYS = 7
const MAX_DAYS = 400
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const LATEST_MS = Date.UTC(3000, 0, 1)

/** Whole seconds, as they are shown; `toMs` is no longer in it. */
export type Range = { fromMs: number; toMs: number }

type RangeQuery = Pick<StatsQuery, 'from' | 'to' | 'timezone'>

/** The range that a request means; throws all that is wrong with it. */
export function readRange(query: RangeQuery, now: Date): Range {
  const { range, details } = judgeRange(query, now)
  if (Object.keys(details).length > 0) throw badRequest(details)
  return range
}

export function judgeRange(query: RangeQuery, now: Date): { range: Range; details: Details } {
  const { from, to, timezone } = query
  const details: Details = {}
  const isKnown = isTimeZone(timezone)
  if (!isKnown) details['timezone'] = `timezone must be an IANA name such as Europe/Berlin; "${timezone}" is none.`
  const timeOf = (text: string) => readTime(text, isKnown ? timezone : 'UTC')
  // The second that runs now belongs to it, so that what was just done is counted.
  const toMs = to === undefined ? Math.floor(now.getTime() / 1000 + 1) * 1000 : timeOf(to)
  const fromMs = from === undefined ? toMs - DEFAULT_DAYS * DAY_MS : timeOf(from)
  for (const [name, ms] of Object.entries({ from: fromMs, to: toMs })) {
    if (ms < EARLIEST_MS || ms > LATEST_MS) details[name] = `${name} must be in the years 2000 to 2999.`
  }
  if (fromMs >= toMs) details['from'] ??= 'from must be before to, which is now unless it is given.'
  // An hour more, for clocks that are set back on the way.
  if (toMs - fromMs > MAX_DAYS * DAY_MS + HOUR_MS) {
    details['from'] ??= `from must be at most ${MAX_DAYS} days before to, which is now unless it is given.`
  }
  return { range: { fromMs, toMs }, details }
}

function readTime(text: string, timezone: string): number {
  const trimmed = text.trim()
  if (trimmed.length === 10) return startOfDay(timezone, trimmed)
  return Math.floor((parseTime(trimmed)?.getTime() ?? NaN) / 1000) * 1000
}

export async function readStats(
  db: Db,
  { appId, isTest }: { appId: number; isTest: boolean },
  query: Omit<StatsQuery, 'from' | 'to'>,
  { fromMs, toMs }: Range,
): Promise<Stats> {
  const { timezone, groupBy, limit } = query
  const days = groupBy === 'day' ? listDays(timezone, fromMs, toMs) : []
  // Nothing done with test credentials is counted, so there is nothing to read for them.
  const sums = isTest ? [] : await sumUp(db, appId, query, { fromMs, toMs }, days)
  const groups = sums.filter((sum) => !sum.is_total)
  const rows = groupBy === 'day' ? fillDays(days, groups) : await nameGroups(db, groupBy, groups)
  return {
    from: rfc3339(new Date(fromMs)),
    to: rfc3339(new Date(toMs)),
    timezone,
    group_by: groupBy,
    rows: rows.slice(0, limit),
    has_more: rows.length > limit,
    totals: present(sums.find((sum) => sum.is_total) ?? NOTHING),
  }
}

type Sums = {
  clicks: number
  pending: number
  approved: number
  rejected: number
  reversed: number
  payout_micros: number
  /** In ten thousandths of the app's currency. */
  local_steps: number
}
/** A day's key is its place among the days, from 1 on. */
type Group = Sums & { is_total: boolean; key: string | number | null }

const NOTHING: Sums = {
  clicks: 0,
  pending: 0,
  approved: 0,
  rejected: 0,
  reversed: 0,
  payout_micros: 0,
  local_steps: 0,
}

/** The groups and their total: all days that have anything, or the best of the others and one beyond the limit. */
async function sumUp(
  db: Db,
  appId: number,
  { groupBy, offerId, country, limit }: Omit<StatsQuery, 'from' | 'to'>,
  { fromMs, toMs }: Range,
  days: readonly Day[],
): Promise<Group[]> {
  const keyOf = (source: Source) => groupKey(groupBy, source, days)
  const between = (column: string) =>
    sql`${sql.ref(column)} >= ${new Date(fromMs)} AND ${sql.ref(column)} < ${new Date(toMs)}`
  const ofOffer = offerId === undefined ? sql`` : sql`AND offer_id = ${offerId}`
  const ofCountry = country === undefined ? sql`` : sql`AND country = ${country.toUpperCase()}`
  const isAsked = sql`app_id = ${appId} ${ofOffer} ${ofCountry}`
  // The worth in the app's currency is cut for each conversion, as it was told and credited one by one.
  const { rows } = await sql<Group>`
    WITH facts AS (
      SELECT ${keyOf('clicks')} AS key, count(*) AS clicks, 0 AS pending, 0 AS approved, 0 AS rejected, 0 AS reversed,
        0 AS payout_micros, 0 AS local_steps
      FROM clicks
      WHERE ${isAsked} AND ${IS_COUNTED}
        AND click_id >= ${uuid7Floor(fromMs)}::uuid AND click_id < ${uuid7Floor(toMs)}::uuid
      GROUP BY 1
      UNION ALL
      SELECT ${keyOf('click_counts')}, sum(clicks), 0, 0, 0, 0, 0, 0
      FROM click_counts WHERE ${isAsked} AND ${between('quarter')} GROUP BY 1
      UNION ALL
      SELECT ${keyOf('conversions')}, 0, count(*) FILTER (WHERE status = 'pending'),
        count(*) FILTER (WHERE status = 'approved'), count(*) FILTER (WHERE status = 'rejected'),
        count(*) FILTER (WHERE status = 'reversed'), coalesce(sum(payout_micros) FILTER (WHERE status = 'approved'), 0),
        coalesce(sum(div(payout_micros::numeric * rate_micros, 100000000)) FILTER (WHERE status = 'approved'), 0)
      FROM conversions WHERE ${isAsked} AND NOT is_test
        AND conversion_id >= ${uuid7Floor(fromMs)}::uuid AND conversion_id < ${uuid7Floor(toMs)}::uuid
      GROUP BY 1
    )
    SELECT grouping(key) = 1 AS is_total, key, coalesce(sum(clicks), 0)::bigint AS clicks,
      coalesce(sum(pending), 0)::bigint AS pending, coalesce(sum(approved), 0)::bigint AS approved,
      coalesce(sum(rejected), 0)::bigint AS rejected, coalesce(sum(reversed), 0)::bigint AS reversed,
      coalesce(sum(payout_micros), 0)::bigint AS payout_micros, coalesce(sum(local_steps), 0)::float8 AS local_steps
    FROM facts GROUP BY GROUPING SETS ((key), ())
    ORDER BY is_total DESC, payout_micros DESC, clicks DESC, key
    LIMIT ${groupBy === 'day' ? days.length + 1 : limit + 2}`.execute(db)
  return rows
}

type Source = keyof typeof TIMES
const TIMES = { clicks: 'clicked_at', click_counts: 'quarter', conversions: 'created_at' }

const CASES = Object.entries(PLATFORM_OF).map(([os, platform]) => sql`WHEN ${sql.lit(os)} THEN ${sql.lit(platform)}`)
const PLATFORM = sql`CASE click.os ${sql.join(CASES, sql` `)} END COLLATE "C"`
const PLATFORMS: Record<Source, RawBuilder<unknown>> = {
  clicks: sql`(SELECT ${PLATFORM} FROM (SELECT clicks.os) AS click)`,
  // Not among what is kept of old clicks; and then that of their conversions is not known either.
  click_counts: sql`NULL::text COLLATE "C"`,
  conversions: sql`(SELECT ${PLATFORM} FROM clicks AS click WHERE click.click_id = conversions.click_id)`,
}

function groupKey(groupBy: Grouping, source: Source, days: readonly Day[]): RawBuilder<unknown> {
  if (groupBy === 'offer') return sql`offer_id`
  if (groupBy === 'platform') return PLATFORMS[source]
  if (groupBy !== 'day') return sql`${sql.ref(groupBy)} COLLATE "C"`
  return sql`width_bucket(${sql.ref(TIMES[source])}, ${days.map(({ startsMs }) => new Date(startsMs))}::timestamptz[])`
}

function fillDays(days: readonly Day[], groups: readonly Group[]): StatsRow[] {
  const byPlace = new Map(groups.map((group) => [group.key, group]))
  return days.map(({ day }, i) => ({ day, ...present(byPlace.get(i + 1) ?? NOTHING) }))
}

async function nameGroups(db: Db, groupBy: Exclude<Grouping, 'day'>, groups: readonly Group[]): Promise<StatsRow[]> {
  if (groupBy !== 'offer') return groups.map((group) => ({ [groupBy]: group.key, ...present(group) }))
  const ids = groups.map(({ key }) => Number(key))
  if (ids.length === 0) return []
  const offers = await db.selectFrom('offers').select(['offer_id', 'name']).where('offer_id', 'in', ids).execute()
  const names = new Map(offers.map(({ offer_id, name }) => [offer_id, name]))
  return groups.map((group, i) => ({
    offer_id: Number(group.key),
    offer_name: names.get(ids[i] ?? 0) ?? '',
    ...present(group),
  }))
}

function present({ clicks, pending, approved, rejected, reversed, payout_micros, local_steps }: Sums): StatsTotals {
  const conversions = pending + approved + reversed
  return {
    clicks,
    conversions,
    pending,
    approved,
    rejected,
    reversed,
    payout: microsToUsd(payout_micros),
    payout_local: local_steps / 10_000,
    epc: clicks === 0 ? null : microsToUsd(payout_micros / clicks),
    conversion_rate: clicks === 0 ? null : Math.round((conversions / clicks) * 10_000) / 10_000,
  }
}
