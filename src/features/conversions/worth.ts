import { takeShare } from '../../lib/money.ts'
import type { GoalTerms } from './facts.ts'

/** More than any single conversion is worth: an amount beyond it is a mistake, or an attack. */
export const MAX_WORTH_MICROS = 100_000 * 1_000_000

/**
 * What a goal pays and earns: shares of the amount where they are agreed and an amount is named, else fixed sums. Of what
 * it pays the publisher gets its own share.
 */
export function worthOf(
  terms: GoalTerms,
  amountMicros: number | null,
  sharePpm: number,
): { payoutMicros: number; revenueMicros: number } {
  return {
    payoutMicros: takeShare(shareOf(terms.payout_ppm, amountMicros) ?? terms.payout_micros, sharePpm),
    revenueMicros: shareOf(terms.revenue_ppm, amountMicros) ?? terms.revenue_micros,
  }
}

/** Whether the amount counts for anything. */
export const paysShare = ({ payout_ppm, revenue_ppm }: GoalTerms) => payout_ppm !== null || revenue_ppm !== null

const shareOf = (ppm: number | null, amountMicros: number | null) =>
  ppm === null || amountMicros === null ? null : takeShare(amountMicros, ppm)
