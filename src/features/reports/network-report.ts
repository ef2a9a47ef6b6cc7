// An operator's report: figures of the whole network, or of a part of it, by any one dimension or by time, in UTC.
import { badRequest } from '../../errors.ts'
import type { Db } from '../../db/open.ts'
import type { Details } from '../../errors.ts'
import { microsToUsd } from '../../lib/money.ts'
import { NOTHING, presentFigures, type Sums } from './figures.ts'
import type { Metric } from './metrics.ts'
import { type Comparison, listPeriods, type NamedPeriod, periodBefore, TIME_UNITS, type TimeUnit } from './periods.ts'
import { type Cut, findRollups, type Key, SUB_IDS } from './read-sources.ts'
import type { Range } from './sources.ts'
import { readRange } from './stats.ts'
import { type Group, isAmong, type Summed, sumUp } from './sum-up.ts'

const DAY_MS = 86_400_000
/** How many days a report may have that is counted from clicks and conversions one by one. */
export const MAX_ROW_DAYS = 2
export const MAX_SUB_ID_DAYS = 31
export const MAX_HOUR_DAYS = 31

export const REPORT_KEYS = ['publisher', 'app', 'offer', 'advertiser', 'country', 'device', ...SUB_IDS] as const
export const REPORT_GROUPINGS = [...TIME_UNITS, ...REPORT_KEYS] as const
export type ReportGrouping = (typeof REPORT_GROUPINGS)[number]

export type ReportQuery = {
  /** Dates of UTC; `to` is no longer in it. Without: the last 30 days. */
  from?: string
  to?: string
  groupBy: ReportGrouping
  publisherId?: number
  appId?: number
  offerId?: number
  advertiserId?: number
  country?: string
  device?: string
  /** Of rows that are not periods. */
  sort?: Metric
  isAscending?: boolean
  limit: number
  compares?: Comparison
}

export type ReportFigures = ReturnType<typeof presentFigures> & { revenue: number; margin: number }
export type ReportRow = ReportFigures & {
  /** An id, a code, a sub-ID or the start of a period; null: not known, or none was given. */
  key: string | null
  previous: ReportFigures | null
}
export type Report = {
  from: string
  to: string
  rows: ReportRow[]
  hasMore: boolean
  totals: ReportFigures
  previous: { from: string; to: string; totals: ReportFigures } | null
}

export async function readReport(db: Db, query: ReportQuery, now: Date): Promise<Report> {
  const range = readDates(query, now)
  const cut = await cutOf(db, query)
  refuseLong(query, cut, range)
  const periods = periodsOf(query, range)
  const { limit, sort, isAscending = false } = query
  const summed = await sumUp(db, { ...cut, periods }, range, { limit, isAscending, ...(sort && { sort }) })
  const groups = periods.length > 0 ? fill(periods, summed) : summed.groups
  const shown = periods.length > 0 ? groups : groups.slice(0, limit)
  const before = query.compares === undefined ? null : await readBefore(db, query, cut, range, shown)
  return {
    from: utcDay(range.fromMs),
    to: utcDay(range.toMs),
    rows: shown.map(({ key, sums }, i) => ({
      key: key === null ? null : String(key),
      ...presentReportFigures(sums),
      previous: before && presentReportFigures(before.sumsOf(key, i)),
    })),
    hasMore: groups.length > shown.length,
    totals: presentReportFigures(summed.totals),
    previous: before && {
      from: utcDay(before.range.fromMs),
      to: utcDay(before.range.toMs),
      totals: presentReportFigures(before.totals),
    },
  }
}

/** The same of the period before: periods by their place, all others by their key. */
async function readBefore(db: Db, query: ReportQuery, cut: Cut, range: Range, shown: readonly Group[]) {
  const before = periodBefore(range, query.compares)
  const periods = periodsOf(query, before)
  const keys = shown.map(({ key }) => key)
  const best = { limit: keys.length, isShown: isAmong(keys) }
  const { groups, totals } = await sumUp(db, { ...cut, periods }, before, best)
  const byKey = new Map(groups.map(({ key, sums }) => [key, sums]))
  const sumsOf = (key: Group['key'], place: number) => byKey.get(periods.length > 0 ? place + 1 : key) ?? NOTHING
  return { range: before, totals, sumsOf }
}

const isTimeUnit = (groupBy: ReportGrouping): groupBy is TimeUnit => TIME_UNITS.some((unit) => unit === groupBy)

const periodsOf = ({ groupBy }: ReportQuery, range: Range): NamedPeriod[] =>
  isTimeUnit(groupBy) ? listPeriods(groupBy, range) : []

function fill(periods: readonly NamedPeriod[], { groups }: Summed): Group[] {
  const byPlace = new Map(groups.map(({ key, sums }) => [key, sums]))
  return periods.map(({ name }, i) => ({ key: name, sums: byPlace.get(i + 1) ?? NOTHING }))
}

export function presentReportFigures(sums: Sums): ReportFigures {
  const { payout_micros, revenue_micros } = sums
  return {
    ...presentFigures(sums),
    revenue: microsToUsd(revenue_micros),
    margin: microsToUsd(revenue_micros - payout_micros),
  }
}

const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Whole days, so that whatever is over comes from rollups. */
function readDates({ from, to }: ReportQuery, now: Date): Range {
  const tomorrow = utcDay(now.getTime() + DAY_MS)
  const end = to ?? tomorrow
  const start = from ?? utcDay(Date.parse(end) - 30 * DAY_MS)
  return readRange({ from: start, to: end, timezone: 'UTC' }, now)
}

async function cutOf(db: Db, query: ReportQuery): Promise<Cut> {
  const { groupBy, publisherId, appId, offerId, advertiserId, country, device } = query
  const isOfApps = publisherId !== undefined || appId !== undefined
  const appIds = isOfApps || groupBy === 'app' || groupBy === 'publisher' ? await findApps(db, publisherId, appId) : []
  return {
    periods: [],
    isByUtcDay: groupBy === 'day',
    ...(isTimeUnit(groupBy) ? {} : { key: groupBy satisfies Key }),
    ...(isOfApps ? { appIds } : { allAppIds: appIds }),
    ...(offerId === undefined ? {} : { offerId }),
    ...(advertiserId === undefined ? {} : { advertiserId }),
    ...(country === undefined ? {} : { country }),
    ...(device === undefined ? {} : { device }),
  }
}

async function findApps(db: Db, publisherId: number | undefined, appId: number | undefined): Promise<number[]> {
  let query = db.selectFrom('apps').select('app_id')
  if (publisherId !== undefined) query = query.where('publisher_id', '=', publisherId)
  if (appId !== undefined) query = query.where('app_id', '=', appId)
  return (await query.execute()).map(({ app_id }) => app_id)
}

/** What is in no rollup is counted one by one, and only for so long. */
function refuseLong({ groupBy, appId }: ReportQuery, cut: Cut, { fromMs, toMs }: Range): void {
  const details: Details = {}
  const { isInDays, isInQuarters } = findRollups(cut)
  const isBySubId = SUB_IDS.some((name) => name === groupBy)
  if (isBySubId && appId === undefined) details['app_id'] = 'Choose an app: sub-IDs belong to one app.'
  const tooLong = (most: number, why: string) => {
    if (toMs - fromMs > most * DAY_MS) details['from'] = `Choose at most ${most} days: ${why}`
  }
  if (isBySubId) tooLong(MAX_SUB_ID_DAYS, 'longer reports are not available by sub-ID.')
  else if (groupBy === 'hour' && isInQuarters) tooLong(MAX_HOUR_DAYS, 'longer reports are by day, week or month.')
  else if (groupBy === 'hour') tooLong(MAX_ROW_DAYS, 'longer hourly reports are available for apps and publishers only, not by offer, advertiser, country or device.') // prettier-ignore
  else if (!isInDays) tooLong(MAX_ROW_DAYS, 'longer reports combine devices with one of app, offer and country, not with two.') // prettier-ignore
  if (Object.keys(details).length > 0) throw badRequest(details)
}
