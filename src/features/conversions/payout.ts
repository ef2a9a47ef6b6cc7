import { takeShare } from '../../lib/money.ts'
import type { GoalTerms } from './decision-context.ts'

/** More than any single conversion pays: a larger amount is a mistake, or an attack. */
export const MAX_AMOUNT_MICROS = 100_000 * 1_000_000

/**
 * The payout and revenue of a goal: shares of the amount where they are agreed and an amount was sent, else fixed
 * amounts. The publisher gets its own share of the payout.
 */
export function amountsOf(
  terms: GoalTerms,
  amountMicros: number | null,
  sharePpm: number,
): { payoutMicros: number; revenueMicros: number } {
  return {
    payoutMicros: takeShare(shareOf(terms.payout_ppm, amountMicros) ?? terms.payout_micros, sharePpm),
    revenueMicros: shareOf(terms.revenue_ppm, amountMicros) ?? terms.revenue_micros,
  }
}

/** Whether the amount matters at all. */
export const paysShare = ({ payout_ppm, revenue_ppm }: GoalTerms) => payout_ppm !== null || revenue_ppm !== null

const shareOf = (ppm: number | null, amountMicros: number | null) =>
  ppm === null || amountMicros === null ? null : takeShare(amountMicros, ppm)
