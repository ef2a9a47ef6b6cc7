// The ways a decision can end: each is an outcome for the caller and, where something changes, the conversion before and
// after.
import type { Change, Outcome, Refusal } from './commands.ts'
import type { ActorKind, Conversion, Reason, Status } from './conversions.ts'
import { barsRedo } from './finality.ts'
import type { OfferSnapshot } from './offer-cache.ts'

/** When a decision is made, and a source of ids. */
export type Moment = { now: Date; newId: () => string }
export type Decision = { outcome: Outcome; change: Change | null }

/** The status that a conversion gets, why, and by whose decision. */
export type StatusChange = { to: 'approved' | 'rejected' | 'reversed'; reason: Reason | null; actor: ActorKind }

/** A new conversion with its first status. */
export const withStatus = (made: Conversion, status: Status, reason: Reason | null, now: Date): Conversion => ({
  ...made,
  status,
  statusReason: reason,
  approvedAt: status === 'approved' ? now : null,
  rejectedAt: status === 'rejected' ? now : null,
})

export const create = (after: Conversion): Decision => ({
  outcome: { kind: 'created', conversion: after },
  change: { before: null, after },
})

export function move(
  before: Conversion,
  base: Conversion,
  { to, reason, actor }: StatusChange,
  offer: OfferSnapshot | undefined,
  { now, newId }: Moment,
): Decision {
  const after: Conversion = {
    ...base,
    barsRedo: barsRedo(base, { to, reason, actor }, offer),
    status: to,
    statusReason: reason,
    [`${to}At`]: now,
    actor,
    sequence: before.sequence + 1,
    eventId: newId(),
  }
  return { outcome: { kind: 'moved', conversion: after }, change: { before, after } }
}

/** Changed, with the same status. */
export const keep = (before: Conversion, after: Conversion): Decision => ({
  outcome: { kind: 'noted', conversion: after },
  change: { before, after },
})

/** A duplicate for the caller, with something to store. */
export const remember = (before: Conversion, after: Conversion): Decision => ({
  outcome: { kind: 'duplicate', conversion: after },
  change: { before, after },
})

export const duplicate = (conversion: Conversion): Decision => ({
  outcome: { kind: 'duplicate', conversion },
  change: null,
})

export const refuse = (kind: Refusal): Decision => ({ outcome: { kind, conversion: null }, change: null })
