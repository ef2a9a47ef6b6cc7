import type { GoalTerms } from './facts.ts'

const PPM = 1_000_000n

/** More than any single conversion is worth: an amount beyond it is a mistake, or an attack. */
export const MAX_WORTH_MICROS = 100_000 * 1_000_000

/** What a goal pays and earns: shares of the amount where they are agreed and an amount is named, else fixed sums. */
export function worthOf(
  terms: GoalTerms,
  amountMicros: number | null,
): { payoutMicros: number; revenueMicros: number } {
  return {
    payoutMicros: share(terms.payout_ppm, amountMicros) ?? terms.payout_micros,
    revenueMicros: share(terms.revenue_ppm, amountMicros) ?? terms.revenue_micros,
  }
}

/** Rounded down. */
function share(ppm: number | null, amountMicros: number | null): number | null {
  return ppm === null || amountMicros === null ? null : Number((BigInt(amountMicros) * BigInt(ppm)) / PPM)
}
