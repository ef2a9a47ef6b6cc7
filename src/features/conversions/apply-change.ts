// What a change does to the context, for the commands that follow in the same batch.
import { dayNumber, type Worth } from '../offers/caps.ts'
import type { Change } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { DecisionContext } from './decision-context.ts'
import { addressCountKey, addressCounts, userCountKey, userKey } from './keys.ts'

/**
 * Which conversion of its click this is, for conversion rate and EPC, in which clicks of bots do not count: 1 for the first
 * that is not rejected, 2 for others, null without a click that counts.
 */
export function nthOfClick(
  { before, after }: Change,
  { clicks, latestClicks, conversions }: DecisionContext,
): number | null {
  if (after.clickId === null) return null
  if (before !== null && before.clickId === after.clickId) return before.nthOfClick
  const click = clicks.get(after.clickId) ?? latestClicks.get(userKey(after))
  const others = conversions
    .ofUser(userKey(after))
    .filter((one) => one.clickId === after.clickId && one.conversionId !== after.conversionId)
  // A click that was dropped is known by its conversions alone.
  if (click?.signals?.includes('bot') || others.some((one) => one.nthOfClick === null)) return null
  return others.some((one) => one.status !== 'rejected') ? 2 : 1
}

/** Updates the context after a change, for the commands that follow in the same batch. */
export function applyChange(
  { conversions, usage, counts }: DecisionContext,
  { before, after }: Change,
  day: number,
): void {
  conversions.set(after)
  if (before === null) {
    counts.set(userCountKey(after), (counts.get(userCountKey(after)) ?? 0) + 1)
    if (after.ip !== null && !after.isTest) countVisitor(counts, after)
  }
  const used = usage.get(after.offerId)
  if (used === undefined || after.isTest) return
  const { conversions: more, payoutMicros, revenueMicros } = usageOf({ before, after })
  used.total.conversions += more
  used.total.payoutMicros += payoutMicros
  used.total.revenueMicros += revenueMicros
  const itsDay = dayNumber(after.createdAt)
  const earlier = used.earlier.get(itsDay)
  if (earlier !== undefined) {
    earlier.payoutMicros += payoutMicros
    earlier.revenueMicros += revenueMicros
  }
  if (itsDay !== day) return
  used.today.conversions += more
  used.today.payoutMicros += payoutMicros
  used.today.revenueMicros += revenueMicros
}

/**
 * Counts one more user of an IP address for all others of the batch. A user counted before is counted twice, which is
 * exact enough for fraud rules.
 */
function countVisitor(counts: Map<string, number>, visitor: Conversion): void {
  const [all, own] = [addressCounts(visitor.ip), addressCountKey(visitor)]
  for (const [key, count] of counts) if (key.startsWith(all) && key !== own) counts.set(key, count + 1)
}

/** What a change adds to its offer's cap usage: pending and approved conversions count. */
export function usageOf({ before, after }: Change): Worth & { conversions: number } {
  const counts = (one: Conversion | null) => (one !== null && ['pending', 'approved'].includes(one.status) ? 1 : 0)
  const added = (of: keyof Worth) => counts(after) * after[of] - counts(before) * (before?.[of] ?? 0)
  return {
    conversions: counts(after) - counts(before),
    payoutMicros: added('payoutMicros'),
    revenueMicros: added('revenueMicros'),
  }
}
