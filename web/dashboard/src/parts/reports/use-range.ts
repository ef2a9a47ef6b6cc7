// The days that a page is about, as its address has them.
import { isZone, timeZone } from '../../lib/format.ts'
import { todayIn } from '../../lib/zoned-time.ts'
import { useFilters } from '../../lib/use-filters.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 400
const DATE = /^\d{4}-\d{2}-\d{2}$/

export type RangeName = 'today' | 'yesterday' | '7' | '30' | '90' | 'month' | 'last_month' | 'custom'
export const RANGES: Readonly<Record<RangeName, string>> = {
  today: 'Today',
  yesterday: 'Yesterday',
  7: 'Last 7 days',
  30: 'Last 30 days',
  90: 'Last 90 days',
  month: 'This month',
  last_month: 'Last month',
  custom: 'Custom',
}

export type Range = {
  name: RangeName
  /** Both days are in it. */
  firstDay: string
  lastDay: string
  zone: string
  /** What is wrong with the days, for whoever chose them. */
  error: string | null
  /** The same for the API: there the end is no longer in it. Not there: now. */
  period: { from: string; to?: string; timezone: string }
}

/** `onlyZone`: for pages whose days are always those of UTC. */
export function useRange({ onlyZone }: { onlyZone?: 'UTC' } = {}): Range {
  const [filters] = useFilters()
  const given = filters['range'] ?? ''
  const name = Object.hasOwn(RANGES, given) ? (given as RangeName) : '30'
  const chosen = filters['zone'] ?? ''
  const zone = onlyZone ?? (isZone(chosen) ? chosen : timeZone())
  const today = todayIn(zone)
  const days = name === 'custom' ? ([filters['from'] ?? '', filters['to'] ?? ''] as const) : daysOf(name, today)
  const [firstDay, lastDay] = days
  const error = problemOf(firstDay, lastDay)
  const to = error === null && (name === 'custom' || lastDay < today) ? { to: addDays(lastDay, 1) } : {}
  return { name, firstDay, lastDay, zone, error, period: { from: firstDay, ...to, timezone: zone } }
}

/** The first and the last day. */
function daysOf(name: Exclude<RangeName, 'custom'>, today: string): readonly [string, string] {
  const thisMonth = `${today.slice(0, 7)}-01`
  const lastOfMonth = addDays(thisMonth, -1)
  if (name === 'today') return [today, today]
  if (name === 'yesterday') return [addDays(today, -1), addDays(today, -1)]
  if (name === 'month') return [thisMonth, today]
  if (name === 'last_month') return [`${lastOfMonth.slice(0, 7)}-01`, lastOfMonth]
  return [addDays(today, 1 - Number(name)), today]
}

function problemOf(firstDay: string, lastDay: string): string | null {
  if (!isDate(firstDay) || !isDate(lastDay)) return 'Choose the first and the last day.'
  if (firstDay > lastDay) return 'The first day must not be after the last day.'
  return countDays(firstDay, lastDay) > MAX_DAYS ? `Choose at most ${MAX_DAYS} days.` : null
}

export const countDays = (firstDay: string, lastDay: string) =>
  (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS + 1

const isDate = (text: string) => DATE.test(text) && !Number.isNaN(Date.parse(text)) && text >= '2000'

export const addDays = (day: string, count: number) =>
  new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)
