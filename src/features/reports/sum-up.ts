// Sums up an app's figures by groups, in one statement: what is rolled up, the differences to it, and the rows of the rest.
// One statement, because whatever is rolled up or dropped meanwhile must be seen on one side only. Clicks are counted from
// their rows or, once those are dropped, from what retention left of them.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { IS_COUNTED } from '../clicks/retention.ts'
import { PLATFORM_OF } from '../clicks/visitor.ts'
import type { Day } from './days.ts'
import { CONVERSION_FIGURES, FIGURES, readThrough } from './rollup.ts'
import type { Grouping, StatsQuery } from './schema.ts'
import { chooseSources, type Range, type Sources } from './sources.ts'

/** `local_steps` are ten thousandths of the app's currency. */
export type Sums = Record<(typeof FIGURES)[number], number>
/** A day's key is its place among the days, from 1 on. */
export type Group = { key: string | number | null; sums: Sums }
export type Summed = { groups: Group[]; totals: Sums }
/** And how far the rollups went when it was read. */
type Seen = Summed & { seen: Date }

export const NOTHING: Readonly<Sums> = {
  clicks: 0,
  pending: 0,
  approved: 0,
  rejected: 0,
  reversed: 0,
  payout_micros: 0,
  local_steps: 0,
}

/** The groups and their total: all days that have anything, in any order, or the best of the others and one beyond the limit. */
export async function sumUp(
  db: Db,
  appId: number,
  query: Omit<StatsQuery, 'from' | 'to'>,
  range: Range,
  days: readonly Day[],
): Promise<Summed> {
  const { groupBy, offerId, country, limit } = query
  const isFiltered = offerId !== undefined || country !== undefined
  for (let through = await readThrough(db); ;) {
    const sources = chooseSources(range, through.getTime(), { groupBy, isFiltered, days })
    const facts = readSources(appId, query, sources, days)
    const { seen, ...summed } =
      groupBy === 'day' ? await readDays(db, facts, days) : await readBest(db, facts, limit + 1)
    if (seen.getTime() === through.getTime()) return summed
    through = seen // rolled up between the two: the rest would be counted twice
  }
}

/** The best of these groups, so many. */
async function readBest(db: Db, facts: RawBuilder<unknown>[], most: number): Promise<Seen> {
  // Each with its figures as one text, because each column has its price.
  const { rows } = await sql<{ key: Group['key']; /** Of the total alone. */ through: Date | null; figures: string }>`
    WITH facts (key, ${names}) AS (${sql.join(facts, sql` UNION ALL `)})
    SELECT key, CASE grouping(key) WHEN 1 THEN (SELECT through FROM stats_rollup) END AS through,
      concat_ws(',', ${sql.raw(FIGURES.map((name) => `coalesce(sum(${name}), 0)`).join(', '))}) AS figures
    FROM facts GROUP BY GROUPING SETS ((key), ())
    HAVING grouping(key) = 1 OR sum(clicks) <> 0 OR sum(pending) + sum(approved) + sum(rejected) + sum(reversed) <> 0
    ORDER BY grouping(key) DESC, sum(payout_micros) DESC, sum(clicks) DESC, key LIMIT ${most + 1}`.execute(db)
  const [total, ...groups] = rows.map(({ key, through, figures }) => ({ key, through, sums: readFigures(figures.split(',')) })) // prettier-ignore
  return { groups, totals: total?.sums ?? NOTHING, seen: total?.through as Date }
}

/** All of these days. A year has 365 rows, and each row has its price: they come as one text, and are added up here. */
async function readDays(db: Db, facts: RawBuilder<unknown>[], days: readonly Day[]): Promise<Seen> {
  const starts = days.map(({ startsMs }) => new Date(startsMs))
  const { rows } = await sql<{ through: Date; facts: string | null }>`
    WITH days (starts) AS (SELECT ${starts}::timestamptz[]),
      facts (key, ${names}) AS (${sql.join(facts, sql` UNION ALL `)})
    SELECT (SELECT through FROM stats_rollup) AS through, string_agg(concat_ws(',', key, ${names}), ' ') AS facts
    FROM facts`.execute(db)
  const [read] = rows as [(typeof rows)[number]]
  const byDay = new Map<number, Sums>()
  const totals = { ...NOTHING }
  for (const fact of read.facts?.split(' ') ?? []) {
    const [key, ...figures] = fact.split(',')
    const sums = readFigures(figures)
    const ofDay = byDay.get(Number(key))
    if (ofDay === undefined) byDay.set(Number(key), sums)
    else addTo(ofDay, sums)
    addTo(totals, sums)
  }
  return { groups: [...byDay].map(([key, sums]) => ({ key, sums })), totals, seen: read.through }
}

function readFigures(figures: readonly (string | undefined)[]): Sums {
  const at = (place: number) => Number(figures[place]) // in the order of FIGURES
  return {
    clicks: at(0),
    pending: at(1),
    approved: at(2),
    rejected: at(3),
    reversed: at(4),
    payout_micros: at(5),
    local_steps: at(6),
  }
}

function addTo(sums: Sums, more: Sums): void {
  for (const name of FIGURES) sums[name] += more[name]
}

const names = sql.raw(FIGURES.join(', '))
// As PostgreSQL stores them: it sums integers far quicker than the numerics that their sums are.
const sums = sql.raw(FIGURES.map((name) => `sum(${name})${name === 'local_steps' ? '' : '::bigint'}`).join(', '))

function readSources(
  appId: number,
  { groupBy, offerId, country }: Omit<StatsQuery, 'from' | 'to'>,
  sources: Sources,
  days: readonly Day[],
): RawBuilder<unknown>[] {
  const [firstDay] = days
  // Of days that are those of UTC, the place is counted rather than searched.
  const isUtc =
    firstDay !== undefined &&
    days.every(({ startsMs }, i) => startsMs === firstDay.startsMs + i * DAY_MS && startsMs % DAY_MS === 0)
  const keyOf = (source: Source) =>
    source === 'stats_days' && isUtc ? sql`day - ${utcDay(firstDay.startsMs)}::date + 1` : groupKey(groupBy, source)
  const between = (column: string, { fromMs, toMs }: Range) =>
    sql`${sql.ref(column)} >= ${new Date(fromMs)} AND ${sql.ref(column)} < ${new Date(toMs)}`
  const idBetween = (column: string, { fromMs, toMs }: Range) =>
    sql`${sql.ref(column)} >= ${uuid7Floor(fromMs)}::uuid AND ${sql.ref(column)} < ${uuid7Floor(toMs)}::uuid`
  const ofOffer = offerId === undefined ? sql`` : sql`AND offer_id = ${offerId}`
  const ofCountry = country === undefined ? sql`` : sql`AND country = ${country.toUpperCase()}`
  const isAsked = sql`app_id = ${appId} ${ofOffer} ${ofCountry}`
  const byOffer = groupBy === 'offer' || offerId !== undefined
  const byCountry = groupBy === 'country' || country !== undefined
  const dims = (byOffer ? 1 : 0) + (byCountry ? 2 : 0)
  const isOneADay = groupBy === 'day' // a day has one row of these dims, of this offer and country
  return [
    ...sources.days.map(
      ({ fromMs, toMs }) => sql`SELECT ${keyOf('stats_days')}, ${isOneADay ? names : sums} FROM stats_days
        WHERE ${isAsked} AND dims = ${dims} AND day >= ${utcDay(fromMs)}::date AND day <= ${utcDay(toMs - 1)}::date
        ${isOneADay ? sql`` : sql`GROUP BY 1`}`,
    ),
    ...sources.quarters.map(
      (range) => sql`SELECT ${keyOf('stats_quarters')}, ${sums} FROM stats_quarters
        WHERE app_id = ${appId} AND ${between('quarter', range)} GROUP BY 1`,
    ),
    ...[...sources.days, ...sources.quarters].map(
      (range) => sql`SELECT ${keyOf('stats_deltas')}, ${sums} FROM stats_deltas
        WHERE ${isAsked} AND ${between('at', range)} GROUP BY 1`,
    ),
    // The amount in the app's currency is truncated for each conversion, as it was sent and credited one by one.
    ...sources.rows.flatMap((range) => [
      sql`SELECT ${keyOf('clicks')}, count(*), 0, 0, 0, 0, 0, 0 FROM clicks
        WHERE ${isAsked} AND ${IS_COUNTED} AND ${idBetween('click_id', range)} GROUP BY 1`,
      sql`SELECT ${keyOf('click_counts')}, sum(clicks)::bigint, 0, 0, 0, 0, 0, 0 FROM click_counts
        WHERE ${isAsked} AND ${between('quarter', range)} GROUP BY 1`,
      sql`SELECT ${keyOf('conversions')}, 0, ${CONVERSION_FIGURES} FROM conversions
        WHERE ${isAsked} AND NOT is_test AND ${idBetween('conversion_id', range)} GROUP BY 1`,
    ]),
  ]
}

const DAY_MS = 86_400_000
const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)

type Source = keyof typeof TIMES
const TIMES = {
  clicks: sql`clicked_at`,
  click_counts: sql`quarter`,
  conversions: sql`created_at`,
  stats_days: sql`(day::timestamp AT TIME ZONE 'UTC')`,
  stats_quarters: sql`quarter`,
  stats_deltas: sql`at`,
}

const CASES = Object.entries(PLATFORM_OF).map(([os, platform]) => sql`WHEN ${sql.lit(os)} THEN ${sql.lit(platform)}`)
const PLATFORM = sql`CASE click.os ${sql.join(CASES, sql` `)} END COLLATE "C"`
// Not among what is kept of old clicks; and then that of their conversions is not known either.
const NO_PLATFORM = sql`NULL::text COLLATE "C"`
const PLATFORMS: Partial<Record<Source, RawBuilder<unknown>>> = {
  clicks: sql`(SELECT ${PLATFORM} FROM (SELECT clicks.os) AS click)`,
  conversions: sql`(SELECT ${PLATFORM} FROM clicks AS click WHERE click.click_id = conversions.click_id)`,
}

function groupKey(groupBy: Grouping, source: Source): RawBuilder<unknown> {
  if (groupBy === 'offer') return sql`offer_id`
  if (groupBy === 'platform') return PLATFORMS[source] ?? NO_PLATFORM
  if (groupBy === 'country') return sql`nullif(country, '') COLLATE "C"`
  if (groupBy !== 'day') return sql`${sql.ref(groupBy)} COLLATE "C"`
  return sql`width_bucket(${TIMES[source]}, (SELECT starts FROM days))`
}
