// The days that a page is about, as its address has them.
import { isZone, timeZone } from '../../lib/format.ts'
import { todayIn } from '../../lib/zoned-time.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { addDays, countDays, daysOf, type RangeName, RANGES } from './days.ts'

const MAX_DAYS = 400
const DATE = /^\d{4}-\d{2}-\d{2}$/

export type Range = {
  name: RangeName
  /** Both days are in it. */
  firstDay: string
  lastDay: string
  zone: string
  /** What is wrong with the chosen days. */
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

function problemOf(firstDay: string, lastDay: string): string | null {
  if (!isDate(firstDay) || !isDate(lastDay)) return 'Choose the first and the last day.'
  if (firstDay > lastDay) return 'The first day must not be after the last day.'
  return countDays(firstDay, lastDay) > MAX_DAYS ? `Choose at most ${MAX_DAYS} days.` : null
}

const isDate = (text: string) => DATE.test(text) && !Number.isNaN(Date.parse(text)) && text >= '2000'
