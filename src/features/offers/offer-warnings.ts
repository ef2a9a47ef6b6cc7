// What is allowed in an offer, and probably a mistake.
import { exactUsd, PPM_PER_PERCENT } from '../../lib/money.ts'
import type { NewGoal } from './import-record.ts'

type Worth = Pick<NewGoal, 'name' | 'payoutMicros' | 'revenueMicros' | 'payoutPpm' | 'revenuePpm'>

/** A payout above the revenue: the network loses with every conversion. */
export function warningsOf(goals: readonly Worth[]): string[] {
  return goals.flatMap(({ name, payoutMicros, revenueMicros, payoutPpm, revenuePpm }) => {
    const warnings: string[] = []
    if (payoutMicros > revenueMicros)
      warnings.push(
        `"${name}" pays ${exactUsd(payoutMicros)} USD and earns ${exactUsd(revenueMicros)} USD: the payout is above the revenue.`,
      )
    if (payoutPpm !== null && revenuePpm !== null && payoutPpm > revenuePpm)
      warnings.push(
        `"${name}" pays ${payoutPpm / PPM_PER_PERCENT} % and earns ${revenuePpm / PPM_PER_PERCENT} %: the payout is above the revenue.`,
      )
    return warnings
  })
}
