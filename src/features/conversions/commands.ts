// The commands that change conversions, and their possible outcomes. Every change of a conversion is one of these.
import { callRequest } from '../../http/request-ids.ts'
import type { Actor } from '../accounts/audit.ts'
import type { Conversion, Reason, Status } from './conversions.ts'
import type { InboundCall } from './inbound/inbound-call.ts'

/** A publisher reports that a user completed an offer. */
export type Report = {
  kind: 'report'
  appId: number
  isTest: boolean
  userId: string
  offerId: number
  /** Null: the first one. */
  goalId: number | null
  transactionId: string | null
  idempotencyKey: string | null
  requestId?: string
}

/** The amount is ambiguous, or not in US dollars. */
export type AmountProblem = 'unclear' | 'other_currency'

/** An advertiser reports the status of a click's conversion. */
export type Confirmation = {
  kind: 'confirmation'
  advertiserId: number
  /** Null: the transaction alone identifies it. */
  clickId: string | null
  /** The ID, the external ID or the name of a goal; null: the first one. */
  goal: string | null
  /** In place of `goal`, where it is ours for certain. */
  goalId?: number
  transactionId: string | null
  amountMicros: number | null
  /** An amount was sent, but not one to pay a share of. */
  amountProblem?: AmountProblem | null
  status: Status
  /** Where the user was at the time, if the advertiser sends it. */
  country: string | null
  /** Processed again by hand: a rejected conversion is judged anew. */
  isAgain: boolean
  /** What the network calls the offer that was completed. */
  externalOfferId?: string | null
  /** An unknown goal means the only one, if the call pays as much. */
  isOnlyGoalMeant?: boolean
  call: InboundCall
}

/** The reasons an operator may give the publisher for a change of status; the first is the default. */
export const MOVE_REASONS = {
  approved: ['operator'],
  rejected: [
    'operator',
    'fraud',
    'not_eligible',
    'geo_mismatch',
    'cap_exceeded',
    'click_expired',
    'advertiser_rejected',
  ],
  reversed: ['operator', 'fraud', 'not_eligible', 'geo_mismatch', 'advertiser_reversed'],
} as const satisfies Record<string, readonly Reason[]>

export type MoveTo = keyof typeof MOVE_REASONS
/** One of the reasons for its status. */
export type MoveReason = (typeof MOVE_REASONS)[MoveTo][number]

/** An operator's decision. */
export type Move = {
  kind: 'move'
  conversionId: string
  to: MoveTo
  reason?: MoveReason
  /** For the audit log: who decided it, and why in their own words. */
  by: Actor
  note?: string
}

/** A hold has ended. */
export type Release = { kind: 'release'; conversionId: string }

/** No advertiser confirmed a report in time. */
export type Expire = { kind: 'expire'; conversionId: string }

export type Command = Report | Confirmation | Move | Release | Expire

/** The request that a command came with; null: it was the time, or the command line. */
export function requestOf(command: Command): string | null {
  if (command.kind === 'report') return command.requestId ?? null
  if (command.kind === 'confirmation') return callRequest(command.call.inboundId)
  return command.kind === 'move' ? (command.by.requestId ?? null) : null
}

/** A conversion before and after a change. `before` is null for a new one. */
export type Change = { before: Conversion | null; after: Conversion; requestId?: string | null }

export type Refusal =
  | 'no_offer'
  | 'no_goal'
  | 'no_conversion'
  | 'needs_transaction'
  | 'key_reused'
  | 'amount_too_large'
  | 'amount_unclear'
  | 'amount_other_currency'
  | 'unmatched'
  | 'ambiguous'
  | 'not_yours'
  | 'other_offer'

export type Outcome =
  | { kind: 'created' | 'moved' | 'noted' | 'duplicate' | 'illegal'; conversion: Conversion }
  | { kind: Refusal; conversion: null }
