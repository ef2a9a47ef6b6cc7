// The time that a report is about, as the address of the page has it.
import { timeZone } from '../../lib/format.ts'
import { useFilters } from '../../lib/use-filters.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 400
const DATE = /^\d{4}-\d{2}-\d{2}$/

export const RANGES = ['7', '30', '90', 'custom'] as const
export type RangeName = (typeof RANGES)[number]

export type Range = {
  name: RangeName
  /** Both days are in it. */
  firstDay: string
  lastDay: string
  zone: string
  /** What is wrong with the days, for whoever chose them. */
  error: string | null
  /** The same for the API: there the end is no longer in it. */
  period: { from: string; to?: string; timezone: string }
}

export function useRange(): Range {
  const [filters] = useFilters()
  const name = RANGES.find((range) => range === filters['range']) ?? '30'
  const zone = isZone(filters['zone']) ? filters['zone'] : timeZone()
  const today = new Intl.DateTimeFormat('sv-SE', { timeZone: zone }).format(new Date())
  if (name !== 'custom') {
    const firstDay = addDays(today, 1 - Number(name))
    return { name, firstDay, lastDay: today, zone, error: null, period: { from: firstDay, timezone: zone } }
  }
  const [firstDay = '', lastDay = ''] = [filters['from'], filters['to']]
  const error = problemOf(firstDay, lastDay)
  const to = error === null ? addDays(lastDay, 1) : lastDay
  return { name, firstDay, lastDay, zone, error, period: { from: firstDay, to, timezone: zone } }
}

function problemOf(firstDay: string, lastDay: string): string | null {
  if (!isDate(firstDay) || !isDate(lastDay)) return 'Choose the first and the last day.'
  if (firstDay > lastDay) return 'The first day must not be after the last day.'
  const days = (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS + 1
  return days > MAX_DAYS ? `Choose at most ${MAX_DAYS} days.` : null
}

const isDate = (text: string) => DATE.test(text) && !Number.isNaN(Date.parse(text)) && text >= '2000'

const addDays = (day: string, count: number) => new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)

function isZone(name: string | undefined): name is string {
  if (name === undefined) return false
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }))
  } catch {
    return false
  }
}
