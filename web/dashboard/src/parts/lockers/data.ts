import type { Schemas } from '../../lib/api-types.ts'
import { formatCount, formatNoun, formatReward, formatShare } from '../../lib/format.ts'
import type { Labels } from '../../lib/statuses.ts'

export type Locker = Schemas['Locker']
export type LockerState = 'active' | 'disabled' | 'ended' | 'taken_down'

export const KINDS: Labels<Locker['kind']> = { content: 'Content', link: 'Link' }

export function stateOf({ taken_down_reason, settings: { enabled, link }, opened }: Locker): LockerState {
  if (taken_down_reason !== null) return 'taken_down'
  if (!enabled) return 'disabled'
  const isOver = link !== null && link.expires_at !== null && Date.parse(link.expires_at) <= Date.now()
  const isUsedUp = link !== null && link.click_limit !== null && opened >= link.click_limit
  return isOver || isUsedUp ? 'ended' : 'active'
}

export const conditionOf = ({ settings: { needed_offers, needed_reward } }: Locker, currency: string): string =>
  needed_reward === null ? formatNoun(needed_offers ?? 1, 'offer') : formatReward(needed_reward, currency)

/** Of its visitors. Null: it had none. */
export const unlockRateOf = ({ views, unlocks }: Locker): string =>
  views === 0 ? '–' : formatShare(Math.min(1, unlocks / views))

/** Content lockers lead nowhere. */
export const openedOf = ({ kind, opened }: Locker): string => (kind === 'link' ? formatCount(opened) : '–')
