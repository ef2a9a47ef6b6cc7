// Whether a rejected or reversed conversion can be completed again.
//
// Both free their place: the user may complete the goal again. A conversion that an operator reversed, or rejected for
// fraud, or that the offer does not let users redo, is final (`bars_redo`). Other rejections by an operator or a fraud
// rule are final for their click, whatever transaction is named next.
import type { ClickSnapshot, OfferSnapshot } from './decision-context.ts'
import type { ActorKind, Conversion, Reason } from './conversions.ts'

export const isStanding = ({ status }: Conversion) => status === 'pending' || status === 'approved'

/** Whether this rejection or reversal keeps the user from completing the goal again. */
export function barsRedo(
  { is_repeatable }: Conversion,
  { to, reason, actor }: { to: 'approved' | 'rejected' | 'reversed'; reason: Reason | null; actor: ActorKind },
  offer: OfferSnapshot | undefined,
): boolean {
  if (is_repeatable || to === 'approved') return false
  if (reason === 'fraud' && actor === 'operator') return true
  return to === 'reversed' && offer?.redo_after_reversal === false
}

/** Whether a reversed conversion was completed again: by a click after the reversal. */
export const isRedone = (one: Conversion, click: ClickSnapshot | null) =>
  !one.bars_redo && click !== null && one.reversed_at !== null && click.clicked_at >= one.reversed_at

/** Rejected by an operator or a fraud rule; a ban that was lifted no longer counts. */
export const isTurnedDown = ({ actor, status_reason, signals }: Conversion) =>
  actor === 'operator' ||
  ((status_reason === 'fraud' || status_reason === 'geo_mismatch') && !signals.includes('banned_user'))
