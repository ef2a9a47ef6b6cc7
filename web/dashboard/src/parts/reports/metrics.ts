// The figures of a report: their names and how they are shown.
import type { Schemas } from '../../lib/api-types.ts'
import { formatCents, formatCount, formatShare, formatUsd } from '../../lib/format.ts'

export type Stats = Schemas['Stats']
export type StatsRow = Stats['rows'][number]
export type Totals = Stats['totals']

export type Metric = {
  name: 'clicks' | 'conversions' | 'payout' | 'epc' | 'conversion_rate'
  label: string
  about: string
  format: (value: number) => string
}

export const METRICS: Metric[] = [
  { name: 'clicks', label: 'Clicks', about: 'Excluding bots', format: formatCount },
  { name: 'conversions', label: 'Conversions', about: 'Excluding rejected', format: formatCount },
  { name: 'payout', label: 'Payout', about: 'Approved conversions', format: formatCents },
  { name: 'epc', label: 'EPC', about: 'Payout per click', format: formatUsd },
  { name: 'conversion_rate', label: 'Conversion rate', about: 'Conversions per click', format: formatShare },
]

/** A figure that cannot be told, such as a rate without clicks, is a dash. */
export const showFigure = (metric: Metric, { [metric.name]: value }: Totals) =>
  value === null ? '–' : metric.format(value)

const date = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const fullDate = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
export const formatDay = (day: string) => date.format(new Date(day))
export const formatFullDay = (day: string) => fullDate.format(new Date(day))
