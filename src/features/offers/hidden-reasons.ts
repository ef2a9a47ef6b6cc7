// Why an offer cannot be shown.
import type { Platform } from './choices.ts'
import { compileFilter, type Filter, matches } from './filters.ts'
import type { ContentRules, RuleSet } from './rule-sets.ts'
import type { Slots } from './slots.ts'

/** Who wants an offer; null where it is not known or does not matter. */
export type Visit = {
  country: string | null
  /** Any of them will do. */
  platforms: readonly Platform[] | null
  rules: ContentRules | null
}

export type HiddenReason =
  | 'paused'
  | 'not_started'
  | 'ended'
  | 'full'
  | 'country'
  | 'platform'
  | 'content'
  | 'reward'
  | 'not_allowed'

/** To such a visitor now; empty when it can be. */
export function findReasons(
  slots: Slots,
  slot: number,
  { country, platforms, rules }: Omit<Visit, 'rules'> & { rules: RuleSet | null },
  nowMs: number,
): HiddenReason[] {
  const reasons: HiddenReason[] = []
  if (slots.active[slot] !== 1) reasons.push('paused')
  if (nowMs < (slots.startsAt[slot] as number)) reasons.push('not_started')
  if (nowMs >= (slots.endsAt[slot] as number)) reasons.push('ended')
  if (nowMs < (slots.fullUntil[slot] as number)) reasons.push('full')
  const fails = (filter: Omit<Filter, 'rules'>) => !matches(compileFilter(filter), slots, slot)
  if (country !== null && fails({ country })) reasons.push('country')
  if (platforms !== null && platforms.every((platform) => fails({ platform }))) reasons.push('platform')
  if (rules !== null && !rules.allowsContent(slots, slot)) reasons.push('content')
  if (rules !== null && !rules.allowsReward(slots, slot)) reasons.push('reward')
  if (rules !== null && !rules.allowsOffer(slots.ids[slot] as number)) reasons.push('not_allowed')
  return reasons
}
