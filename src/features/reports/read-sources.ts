// The statements that read figures from the rollups, from the differences to them, and from the rows of the rest. Clicks are
// counted from their rows or, once those are dropped, from what retention left of them.
import { type RawBuilder, sql } from 'kysely'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { IS_COUNTED } from '../clicks/clicks.ts'
import { PLATFORM_OF } from '../clicks/visitor.ts'
import { CONVERSION_FIGURES, FIGURE_NAMES, FIGURE_SUMS, NO_CONVERSIONS } from './figures.ts'
import { APP_DIMS, BY_COUNTRY, BY_DEVICE, BY_OFFER, NETWORK_DIMS } from './rollup.ts'
import type { Range, Sources } from './sources.ts'

export type Period = { startsMs: number }
export const SUB_IDS = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'] as const
/** What a row stands for, when it is not a period. */
export type Key =
  | 'publisher'
  | 'app'
  | 'offer'
  | 'advertiser'
  | 'country'
  | 'device'
  | 'platform'
  | 'locker_id'
  | (typeof SUB_IDS)[number]

/** The part of all clicks and conversions that is asked for, and how it is grouped. */
export type Cut = {
  /** Not there: by periods. */
  key?: Key
  periods: readonly Period[]
  /** The periods are days of UTC: then the place of a day is a subtraction. */
  isByUtcDay?: boolean
  /** Of these apps alone; an app is 0 nowhere but in rollups. */
  appIds?: readonly number[]
  /** Every app, where rows are by app or publisher. */
  allAppIds?: readonly number[]
  offerId?: number
  offerIds?: readonly number[]
  advertiserId?: number
  country?: string
  device?: string
}

/** The dimensions of the rollups that have what is asked for. */
function dimsOf({ key, offerId, advertiserId, country, device }: Cut) {
  const byOffer = key === 'offer' || key === 'advertiser' || offerId !== undefined || advertiserId !== undefined
  const byCountry = key === 'country' || country !== undefined
  const byDevice = key === 'device' || device !== undefined
  return (byOffer ? BY_OFFER : 0) + (byCountry ? BY_COUNTRY : 0) + (byDevice ? BY_DEVICE : 0)
}
const isByApp = ({ key, appIds }: Cut) => key === 'app' || key === 'publisher' || appIds !== undefined

/** Which rollups have what is asked for. Platforms, lockers and sub-IDs are in none. */
export function findRollups(cut: Cut): { isInDays: boolean; isInQuarters: boolean } {
  const { key = 'app' } = cut
  if (key === 'platform' || key === 'locker_id' || SUB_IDS.some((name) => name === key))
    return { isInDays: false, isInQuarters: false }
  const dims: readonly number[] = isByApp(cut) ? APP_DIMS : NETWORK_DIMS
  return { isInDays: dims.includes(dimsOf(cut)), isInQuarters: dimsOf(cut) === 0 }
}

/** Rows of a key and the figures, to be added up. */
export function readSources(cut: Cut, sources: Sources): RawBuilder<unknown> {
  const facts = sql.join([...rollupStatements(cut, sources), ...rowStatements(cut, sources)], sql` UNION ALL `)
  const owner = { publisher: sql`publisher_id FROM apps WHERE app_id`, advertiser: sql`advertiser_id FROM offers WHERE offer_id` } // prettier-ignore
  if (cut.key !== 'publisher' && cut.key !== 'advertiser') return facts
  return sql`SELECT (SELECT ${owner[cut.key]} = parts.key), ${FIGURE_NAMES} FROM (
    SELECT key, ${FIGURE_SUMS} FROM (${facts}) AS facts (key, ${FIGURE_NAMES}) GROUP BY 1) AS parts`
}

function rollupStatements(cut: Cut, { months, days, quarters }: Sources): RawBuilder<unknown>[] {
  const apps = isByApp(cut) ? (cut.appIds ?? cut.allAppIds ?? []) : [0]
  const ofApps = isIn('app_id', apps)
  const isAsked = sql`${ofApps} AND dims = ${dimsOf(cut)} ${isFiltered(cut)}`
  const isDayEach = isOneADay(cut, apps)
  return [
    ...months.map(
      ({ fromMs, toMs }) => sql`SELECT ${groupKey(cut, 'stats_months')}, ${FIGURE_SUMS} FROM stats_months
        WHERE ${isAsked} AND month >= ${utcDay(fromMs)}::date AND month <= ${utcDay(toMs - 1)}::date GROUP BY 1`,
    ),
    ...days.map(
      ({
        fromMs,
        toMs,
      }) => sql`SELECT ${groupKey(cut, 'stats_days')}, ${isDayEach ? FIGURE_NAMES : FIGURE_SUMS} FROM stats_days
        WHERE ${isAsked} AND day >= ${utcDay(fromMs)}::date AND day <= ${utcDay(toMs - 1)}::date
        ${isDayEach ? sql`` : sql`GROUP BY 1`}`,
    ),
    ...quarters.map(
      (range) => sql`SELECT ${groupKey(cut, 'stats_quarters')}, ${FIGURE_SUMS} FROM stats_quarters
        WHERE ${ofApps} AND ${between('quarter', range)} GROUP BY 1`,
    ),
    ...[...months, ...days, ...quarters].map(
      (range) => sql`SELECT ${groupKey(cut, 'stats_deltas')}, ${FIGURE_SUMS} FROM stats_deltas
        WHERE ${ofRows(cut)} AND ${between('at', range)} GROUP BY 1`,
    ),
  ]
}

function rowStatements(cut: Cut, { rows }: Sources): RawBuilder<unknown>[] {
  const isAsked = ofRows(cut)
  return rows.flatMap((range) => [
    sql`SELECT ${groupKey(cut, 'clicks')}, count(*), ${NO_CONVERSIONS} FROM clicks
      WHERE ${isAsked} AND ${IS_COUNTED} AND ${idBetween('click_id', range)} GROUP BY 1`,
    sql`SELECT ${groupKey(cut, 'click_counts')}, sum(clicks)::bigint, ${NO_CONVERSIONS} FROM click_counts
      WHERE ${isAsked} AND ${between('quarter', range)} GROUP BY 1`,
    sql`SELECT ${groupKey(cut, 'conversions')}, 0, ${CONVERSION_FIGURES} FROM conversions
      WHERE ${isAsked} AND NOT is_test AND ${idBetween('conversion_id', range)} GROUP BY 1`,
  ])
}

/** Of rows and differences, which are everybody's. */
const ofRows = (cut: Cut) =>
  sql`${cut.appIds === undefined ? sql`true` : isIn('app_id', cut.appIds)} ${isFiltered(cut)}`

function isIn(column: string, ids: readonly number[]): RawBuilder<unknown> {
  const [first] = ids
  if (ids.length === 1) return sql`${sql.ref(column)} = ${first}`
  return sql`${sql.ref(column)} = ANY (${[...ids]}::bigint[])`
}

function isFiltered({ offerId, offerIds, advertiserId, country, device }: Cut): RawBuilder<unknown> {
  const ofAdvertiser = sql`AND offer_id IN (SELECT offer_id FROM offers WHERE advertiser_id = ${advertiserId})`
  return sql`${offerId === undefined ? sql`` : sql`AND offer_id = ${offerId}`}
    ${offerIds === undefined ? sql`` : sql`AND ${isIn('offer_id', offerIds)}`}
    ${advertiserId === undefined ? sql`` : ofAdvertiser}
    ${country === undefined ? sql`` : sql`AND country = ${country.toUpperCase()}`}
    ${device === undefined ? sql`` : sql`AND device = ${device}`}`
}

/** Whether a day has one row of the dimensions asked for: nothing is to be summed. */
const isOneADay = ({ periods, advertiserId }: Cut, apps: readonly number[]) =>
  periods.length > 0 && apps.length === 1 && advertiserId === undefined

const between = (column: string, { fromMs, toMs }: Range) =>
  sql`${sql.ref(column)} >= ${new Date(fromMs)} AND ${sql.ref(column)} < ${new Date(toMs)}`
const idBetween = (column: string, { fromMs, toMs }: Range) =>
  sql`${sql.ref(column)} >= ${uuid7Floor(fromMs)}::uuid AND ${sql.ref(column)} < ${uuid7Floor(toMs)}::uuid`
const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)

type Source = keyof typeof TIMES
const TIMES = {
  clicks: sql`clicked_at`,
  click_counts: sql`quarter`,
  conversions: sql`created_at`,
  stats_months: sql`(month::timestamp AT TIME ZONE 'UTC')`,
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

function groupKey({ key, periods, isByUtcDay }: Cut, source: Source): RawBuilder<unknown> {
  if (isByUtcDay === true && source === 'stats_days') return sql`day - ${utcDay(periods[0]?.startsMs ?? 0)}::date + 1`
  if (key === undefined) return sql`width_bucket(${TIMES[source]}, (SELECT starts FROM periods))`
  if (key === 'offer' || key === 'advertiser') return sql`offer_id`
  if (key === 'app' || key === 'publisher') return sql`app_id`
  if (key === 'locker_id') return sql`locker_id`
  if (key === 'platform') return PLATFORMS[source] ?? NO_PLATFORM
  if (key === 'country' || key === 'device') return sql`nullif(${sql.ref(key)}, '') COLLATE "C"`
  return sql`${sql.ref(key)} COLLATE "C"`
}
