// What may be told again of what is rejected or reversed.
//
// Both leave their place: the user may complete the goal anew. What an operator took back or turned down for fraud, or
// the offer does not let users redo, stays (`bars_redo`). What an operator or a fraud rule turned down otherwise stays for
// its click, whatever transaction is named next.
import type { ClickFacts, OfferFacts } from './facts.ts'
import type { ActorKind, Conversion, Reason } from './conversions.ts'

export const isStanding = ({ status }: Conversion) => status === 'pending' || status === 'approved'

/** Whether a move to rejected or reversed keeps the user from completing the goal again. */
export function barsRedo(
  { is_repeatable }: Conversion,
  { to, reason, actor }: { to: 'approved' | 'rejected' | 'reversed'; reason: Reason | null; actor: ActorKind },
  offer: OfferFacts | undefined,
): boolean {
  if (is_repeatable || to === 'approved') return false
  if (reason === 'fraud' && actor === 'operator') return true
  return to === 'reversed' && offer?.redo_after_reversal === false
}

/** Whether what was reversed is done again: by a click that came after the reversal. */
export const isRedone = (one: Conversion, click: ClickFacts | null) =>
  !one.bars_redo && click !== null && one.reversed_at !== null && click.clicked_at >= one.reversed_at

/** Turned down by an operator, or by a fraud rule; a ban that is lifted is over. */
export const isTurnedDown = ({ actor, status_reason, signals }: Conversion) =>
  actor === 'operator' ||
  ((status_reason === 'fraud' || status_reason === 'geo_mismatch') && !signals.includes('banned_user'))
