// The periods of an operator's report, in UTC, and the one before it.
import type { Range } from './sources.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const TIME_UNITS = ['hour', 'day', 'week', 'month'] as const
export type TimeUnit = (typeof TIME_UNITS)[number]
export type NamedPeriod = { name: string; startsMs: number }

/** The hours, days, weeks or months that a range touches, by their first moment. The first begins with the range. */
export function listPeriods(unit: TimeUnit, { fromMs, toMs }: Range): NamedPeriod[] {
  const periods: NamedPeriod[] = []
  for (let startsMs = fromMs; startsMs < toMs; startsMs = nextStart(unit, startsMs))
    periods.push({ name: nameOf(unit, startsMs), startsMs })
  return periods
}

function nextStart(unit: TimeUnit, ms: number): number {
  if (unit === 'hour') return ms + HOUR_MS
  if (unit === 'day') return ms + DAY_MS
  const time = new Date(ms)
  if (unit === 'month') return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1, 1)
  const sinceMonday = (time.getUTCDay() + 6) % 7
  return ms + (7 - sinceMonday) * DAY_MS
}

const nameOf = (unit: TimeUnit, ms: number) => {
  const text = new Date(ms).toISOString()
  return unit === 'hour' ? `${text.slice(0, 16)}Z` : text.slice(0, unit === 'month' ? 7 : 10)
}

/** What a report is compared with: the period before it, or the same days of the month before. */
export const COMPARISONS = ['previous', 'previous_month'] as const
export type Comparison = (typeof COMPARISONS)[number]

/**
 * What a range of whole days is compared with. Whole months: as many months before. Other ranges: as many days before, or
 * the same days of the month before, which end where that month does.
 */
export function periodBefore({ fromMs, toMs }: Range, comparison: Comparison = 'previous'): Range {
  const [from, to] = [new Date(fromMs), new Date(toMs)]
  const months = (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()
  if (from.getUTCDate() === 1 && to.getUTCDate() === 1) return { fromMs: monthsEarlier(from, months), toMs: fromMs }
  if (comparison === 'previous') return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs }
  const beforeMs = monthsEarlier(from, 1)
  return { fromMs: beforeMs, toMs: Math.min(beforeMs + toMs - fromMs, fromMs) }
}

/** The last day of a shorter month stands for those that it does not have. */
function monthsEarlier(time: Date, months: number): number {
  const firstOf = (month: number) => Date.UTC(time.getUTCFullYear(), month, 1)
  const month = time.getUTCMonth() - months
  return Math.min(firstOf(month) + (time.getUTCDate() - 1) * DAY_MS, firstOf(month + 1) - DAY_MS)
}
