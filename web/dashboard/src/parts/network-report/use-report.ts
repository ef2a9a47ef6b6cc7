// What an operator's report is about, as the address of the page has it.
import type { Schemas } from '../../lib/api-types.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { addDays, countDays } from '../reports/days.ts'
import { type Range, useRange } from '../reports/use-range.ts'

export type Report = Schemas['NetworkReport']
export type Row = Report['rows'][number]
export type Grouping = Report['group_by']

export const TIME_UNITS = ['hour', 'day', 'week', 'month'] as const
export const SUB_IDS = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'] as const
export const NAMES = ['publisher', 'app', 'offer', 'advertiser', 'country', 'device'] as const
const GROUPINGS: readonly Grouping[] = [...TIME_UNITS, ...NAMES, ...SUB_IDS]

export const FILTERS = ['publisher_id', 'app_id', 'offer_id', 'advertiser_id', 'country', 'device'] as const
export type FilterName = (typeof FILTERS)[number]

export const isTime = (by: Grouping) => TIME_UNITS.some((unit) => unit === by)
export const isSubId = (by: Grouping) => SUB_IDS.some((name) => name === by)

/** `fixed`: what the page itself is about, such as an offer. */
export function useReport(fixed: Partial<Record<FilterName, string>>) {
  const [filters] = useFilters()
  const range = useRange({ onlyZone: 'UTC' })
  const { from, to } = range.period
  const by = GROUPINGS.find((one) => one === filters['by']) ?? 'day'
  const chosen: Partial<Record<FilterName, string>> = {
    ...Object.fromEntries(FILTERS.map((name) => [name, filters[name]])),
    ...fixed,
  }
  const asked = { from, to, ...chosen, compare: filters['compare'] === 'yes' ? comparisonOf(range) : undefined }
  const unit = isTime(by) ? by : countDays(range.firstDay, range.lastDay) <= 2 ? 'hour' : 'day'
  return { filters, range, by, unit, asked }
}

/** This month so far is compared with as much of the last one. */
const comparisonOf = ({ name }: Range) => (name === 'month' ? ('previous_month' as const) : ('previous' as const))

/** What comes after the choice of a row: the first of these that is not chosen yet. */
const NEXT: Partial<Record<Grouping, readonly Grouping[]>> = {
  publisher: ['offer', 'app', 'country', 'day'],
  app: ['offer', 'country', 'day'],
  offer: ['publisher', 'app', 'country', 'day'],
  advertiser: ['offer', 'publisher', 'country', 'day'],
  country: ['offer', 'publisher', 'app', 'day'],
  device: ['offer', 'country', 'publisher', 'day'],
}
const filterOf = (by: Grouping) => (by === 'country' || by === 'device' ? by : (`${by}_id` as FilterName))

/** What choosing a row changes in the address. Null: it leads nowhere. */
export function furtherFrom(by: Grouping, key: string | null, isChosen: (name: FilterName) => boolean) {
  if (key === null) return null
  if (by === 'month' || by === 'week' || by === 'day')
    return {
      range: 'custom',
      from: by === 'month' ? `${key}-01` : key,
      to: lastDayOf(by, key),
      by: by === 'day' ? 'hour' : null,
    }
  const next = NEXT[by]?.find((one) => one === 'day' || !isChosen(filterOf(one)))
  return next === undefined ? null : { [filterOf(by)]: key, by: next === 'day' ? null : next, sort: null, order: null }
}

/** Of a week that begins within: it ends with its Sunday. */
function lastDayOf(by: 'month' | 'week' | 'day', key: string): string {
  if (by === 'day') return key
  if (by === 'week') return addDays(key, (7 - new Date(key).getUTCDay()) % 7)
  const [year = 0, month = 0] = key.split('-').map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}

/** The same page, or another one, with other filters. */
export function hrefOf(path: string, filters: Filters, changed: Record<string, string | null>): string {
  const next = Object.entries({ ...filters, ...changed }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  )
  return next.length === 0 ? path : `${path}?${new URLSearchParams(next).toString()}`
}
