// What is allowed in an offer, and probably a mistake.
import { exactUsd, PPM_PER_PERCENT } from '../../lib/money.ts'
import type { NewGoal } from './fields.ts'

type Worth = Pick<NewGoal, 'name' | 'payout_micros' | 'revenue_micros' | 'payout_ppm' | 'revenue_ppm'>

/** A payout above the revenue: the network loses with every conversion. */
export function warningsOf(goals: readonly Worth[]): string[] {
  return goals.flatMap(({ name, payout_micros, revenue_micros, payout_ppm, revenue_ppm }) => {
    const warnings: string[] = []
    if (payout_micros > revenue_micros)
      warnings.push(
        `"${name}" pays ${exactUsd(payout_micros)} USD and earns ${exactUsd(revenue_micros)} USD: the payout is above the revenue.`,
      )
    if (payout_ppm !== null && revenue_ppm !== null && payout_ppm > revenue_ppm)
      warnings.push(
        `"${name}" pays ${payout_ppm / PPM_PER_PERCENT} % and earns ${revenue_ppm / PPM_PER_PERCENT} %: the payout is above the revenue.`,
      )
    return warnings
  })
}
