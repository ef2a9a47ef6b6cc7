import { takeShare } from '../../lib/money.ts'

/** What a goal pays: amounts, and where they are agreed, shares of the amount that the advertiser sends. */
export type GoalTerms = {
  payoutMicros: number
  revenueMicros: number
  payoutPpm: number | null
  revenuePpm: number | null
}

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
    payoutMicros: takeShare(shareOf(terms.payoutPpm, amountMicros) ?? terms.payoutMicros, sharePpm),
    revenueMicros: shareOf(terms.revenuePpm, amountMicros) ?? terms.revenueMicros,
  }
}

/** Whether the amount matters at all. */
export const paysShare = ({ payoutPpm, revenuePpm }: GoalTerms) => payoutPpm !== null || revenuePpm !== null

const shareOf = (ppm: number | null, amountMicros: number | null) =>
  ppm === null || amountMicros === null ? null : takeShare(amountMicros, ppm)
