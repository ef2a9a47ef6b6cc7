// Explains why a user does not see an offer.
import type { Static } from 'typebox'
import { AppError } from '../../errors.ts'
import type { Catalogue } from './catalogue.ts'
import type { CompletedGoal } from './completions.ts'
import type { HiddenReason, Visit } from './hidden-reasons.ts'
import type { VisibilityReply } from './schema.ts'

export const SENTENCES: Record<HiddenReason | 'behind' | 'completed' | 'banned', string> = {
  paused: 'The offer is paused.',
  not_started: 'The offer has not started yet.',
  ended: 'The offer has ended.',
  full: 'The offer has reached one of its caps, or the budget of its advertiser.',
  country: 'The offer does not run in this country.',
  platform: 'The offer does not run on this platform.',
  content: "The app's own content rules exclude the offer.",
  reward: "The offer's reward is below the app's minimum.",
  not_allowed: 'The network does not let this publisher run the offer.',
  behind: 'Another offer for the same product is listed in its place.',
  completed: 'The user has completed the offer.',
  banned: 'The user is banned, and sees no offers.',
}

export function explainVisibility(
  catalogue: Catalogue,
  offerId: number,
  visit: Visit,
  { completed, isBanned }: { completed: readonly CompletedGoal[]; isBanned: boolean },
  nowMs: number,
): Static<typeof VisibilityReply> {
  const reasons = catalogue.hiddenReasons(offerId, visit, nowMs)
  if (reasons === null)
    throw new AppError('RESOURCE_NOT_FOUND', 'There is no such offer.', { offer_id: 'No offer has this ID.' })
  const codes: (keyof typeof SENTENCES)[] = [...reasons]
  if (catalogue.isBehind(offerId)) codes.push('behind')
  if (catalogue.completedOffers(completed).includes(offerId)) codes.push('completed')
  if (isBanned) codes.push('banned')
  return {
    offer_id: offerId,
    visible: codes.length === 0,
    reasons: codes.map((code) => ({ code, message: SENTENCES[code] })),
  }
}
