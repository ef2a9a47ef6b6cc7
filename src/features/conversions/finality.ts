// Whether a rejected or reversed conversion can be completed again.
//
// Both free their place: the user may complete the goal again. A conversion that an operator reversed, or rejected for
// fraud, or that the offer does not let users redo, is final (`barsRedo`). Other rejections by an operator or a fraud
// rule are final for their click, whatever transaction is named next.
import type { ActorKind, Conversion, Reason } from './conversions.ts'
import type { OfferSnapshot } from './offer-cache.ts'
import type { ClickSnapshot } from './read-clicks.ts'

export const isStanding = ({ status }: Conversion) => status === 'pending' || status === 'approved'

/** Whether this rejection or reversal keeps the user from completing the goal again. */
export function barsRedo(
  { isRepeatable }: Conversion,
  { to, reason, actor }: { to: 'approved' | 'rejected' | 'reversed'; reason: Reason | null; actor: ActorKind },
  offer: OfferSnapshot | undefined,
): boolean {
  if (isRepeatable || to === 'approved') return false
  if (reason === 'fraud' && actor === 'operator') return true
  return to === 'reversed' && offer?.redoAfterReversal === false
}

/** Whether a reversed conversion was completed again: by a click after the reversal. */
export const isRedone = (one: Conversion, click: ClickSnapshot | null) =>
  !one.barsRedo && click !== null && one.reversedAt !== null && click.clickedAt >= one.reversedAt

/** Rejected by an operator or a fraud rule; a ban that was lifted no longer counts. */
export const isTurnedDown = ({ actor, statusReason, signals }: Conversion) =>
  actor === 'operator' ||
  ((statusReason === 'fraud' || statusReason === 'geo_mismatch') && !signals.includes('banned_user'))
