// What an offer and its goals are worth to a user.
import { rewardSteps, takeShare, WHOLE_PPM } from '../../lib/money.ts'

/** What rewards are computed with. */
export type RewardTerms = { rateMicros: number; sharePpm: number; rounding: string | null }

/** Of an offer and its goals. Each goal's amount is rounded separately, as it will be paid; the offer's own is their sum. */
export function sharesOf(payouts: readonly number[], sharePpm: number): readonly number[] {
  if (sharePpm === WHOLE_PPM) return payouts
  const goals = payouts.slice(1).map((micros) => takeShare(micros, sharePpm))
  return [sum(goals), ...goals]
}

/** The rewards of these shares, in ten thousandths. Where they are rounded, the offer's own is the sum of the rounded ones. */
export function rewardsOf(shares: readonly number[], { rateMicros, rounding }: RewardTerms): number[] {
  const rewards = shares.map((micros) => rewardSteps(micros, rateMicros, rounding))
  return rounding === null ? rewards : [sum(rewards.slice(1)), ...rewards.slice(1)]
}

/** In ten thousandths of an app's currency. */
export type MinReward = RewardTerms & { steps: number }

/** Whether what users would get is enough: as lists show it, but for a sale. `payouts`: of the offer, then of its goals. */
export const isEnough = (payouts: readonly number[], wanted: MinReward): boolean =>
  (rewardsOf(sharesOf(payouts, wanted.sharePpm), wanted)[0] ?? 0) >= wanted.steps

const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0)
