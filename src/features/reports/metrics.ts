// What the rows of a report can be sorted by.
import { type RawBuilder, sql } from 'kysely'

const METRICS = {
  clicks: 'sum(clicks)',
  conversions: 'sum(pending) + sum(approved) + sum(reversed)',
  conversion_rate: 'sum(converted_clicks)::float8 / nullif(sum(clicks), 0)',
  epc: 'sum(click_payout_micros)::float8 / nullif(sum(clicks), 0)',
  payout: 'sum(payout_micros)',
  revenue: 'sum(revenue_micros)',
  margin: 'sum(revenue_micros) - sum(payout_micros)',
  reversed: 'sum(reversed)',
} as const
export type Metric = keyof typeof METRICS
export const METRIC_NAMES = Object.keys(METRICS) as Metric[]

/** Rows without a rate, for want of clicks, come last either way. */
export function orderOf({ sort = 'payout', isAscending = false }: { sort?: Metric; isAscending?: boolean }) {
  const order: RawBuilder<unknown> = sql.raw(`${METRICS[sort]} ${isAscending ? 'ASC' : 'DESC'} NULLS LAST`)
  return sql`${order}, sum(payout_micros) DESC, sum(clicks) DESC, key`
}
