// Periods by name, as days.

const DAY_MS = 86_400_000

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

/** The first and the last day. */
export function daysOf(name: Exclude<RangeName, 'custom'>, today: string): readonly [string, string] {
  const thisMonth = `${today.slice(0, 7)}-01`
  const lastOfMonth = addDays(thisMonth, -1)
  if (name === 'today') return [today, today]
  if (name === 'yesterday') return [addDays(today, -1), addDays(today, -1)]
  if (name === 'month') return [thisMonth, today]
  if (name === 'last_month') return [`${lastOfMonth.slice(0, 7)}-01`, lastOfMonth]
  return [addDays(today, 1 - Number(name)), today]
}

export const countDays = (firstDay: string, lastDay: string) =>
  (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS + 1

export const addDays = (day: string, count: number) =>
  new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)
