// The figures of every report, of a publisher's app as of the network: how each is counted, and what follows from them.
//
// Test traffic is never counted, and clicks of bots are not. A conversion counts for the time it was created, with the
// status it has now: a reversal takes its money out of that time again.
import { sql } from 'kysely'
import { microsToUsd } from '../../lib/money.ts'

/** As the columns of the rollups are named, in the order in which statements return them. */
export const FIGURES = [
  'clicks',
  'pending',
  'approved',
  'rejected',
  'reversed',
  'converted_clicks',
  'payout_micros',
  'revenue_micros',
  'click_payout_micros',
  'local_steps',
] as const

/**
 * `converted_clicks` are the counted clicks that led to a conversion that is not rejected; amounts are of approved
 * conversions, `click_payout_micros` of those from counted clicks, `local_steps` ten thousandths of the app's currency.
 */
export type Sums = Record<(typeof FIGURES)[number], number>

export const NOTHING: Readonly<Sums> = sumsOf(() => 0)

/**
 * What conversions count for, as the columns FIGURES without clicks; differences to it are in the trigger note_stats_delta.
 * The amount in the app's currency is rounded for each conversion, as it was sent and credited one by one.
 */
export const CONVERSION_FIGURES = sql`count(*) FILTER (WHERE status = 'pending') AS pending,
  count(*) FILTER (WHERE status = 'approved') AS approved, count(*) FILTER (WHERE status = 'rejected') AS rejected,
  count(*) FILTER (WHERE status = 'reversed') AS reversed,
  count(*) FILTER (WHERE status <> 'rejected' AND nth_of_click < 2 AND click_id IS NOT NULL) AS converted_clicks,
  coalesce(sum(payout_micros) FILTER (WHERE status = 'approved'), 0)::bigint AS payout_micros,
  coalesce(sum(revenue_micros) FILTER (WHERE status = 'approved'), 0)::bigint AS revenue_micros,
  coalesce(sum(payout_micros) FILTER (WHERE status = 'approved' AND nth_of_click IS NOT NULL AND click_id IS NOT NULL), 0)::bigint
    AS click_payout_micros,
  coalesce(sum(reward_steps(payout_micros, rate_micros, rounding)) FILTER (WHERE status = 'approved'), 0) AS local_steps`

/** The same columns for clicks. */
export const NO_CONVERSIONS = sql.raw(FIGURES.slice(1).map((name) => `0 AS ${name}`).join(', ')) // prettier-ignore

export const FIGURE_NAMES = sql.raw(FIGURES.join(', '))
// As PostgreSQL stores them: it sums integers far quicker than the numerics that their sums are.
export const FIGURE_SUMS = sql.raw(FIGURES.map((name) => `sum(${name})${name === 'local_steps' ? '' : '::bigint'} AS ${name}`).join(', ')) // prettier-ignore

/** From a list in the order of FIGURES. */
export const readFigures = (figures: readonly (string | undefined)[]): Sums => sumsOf((place) => Number(figures[place]))

function sumsOf(at: (place: number) => number): Sums {
  return Object.fromEntries(FIGURES.map((name, place) => [name, at(place)])) as Sums
}

export function addTo(sums: Sums, more: Sums): void {
  for (const name of FIGURES) sums[name] += more[name]
}

/** What a publisher and an operator read alike. */
export function presentFigures({ payout_micros, click_payout_micros, ...counts }: Sums) {
  const { clicks, converted_clicks, pending, approved, rejected, reversed } = counts
  return {
    clicks,
    converted_clicks,
    conversions: pending + approved + reversed,
    pending,
    approved,
    rejected,
    reversed,
    payout: microsToUsd(payout_micros),
    // Both compare clicks with what these clicks led to: conversions without a click, or of a bot's, are on neither side.
    epc: clicks === 0 ? null : microsToUsd(click_payout_micros / clicks),
    conversion_rate: clicks === 0 ? null : Math.round((converted_clicks / clicks) * 10_000) / 10_000,
  }
}
