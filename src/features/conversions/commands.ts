// What can be asked of conversions, and what can come of it. Every change of a conversion is one of these commands.
import type { Trx } from '../../db/open.ts'
import type { Conversion, Reason, Status } from './conversions.ts'
import type { InboundCall } from './inbound/calls.ts'

/** A publisher says that a user completed an offer. */
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
}

/** Nobody can tell which amount it is, or it is not in US dollars. */
export type AmountProblem = 'unclear' | 'other_currency'

/** An advertiser says what became of a click. */
export type Confirmation = {
  kind: 'confirmation'
  advertiserId: number
  /** Null: only the transaction says what it is about. */
  clickId: string | null
  /** The id, the external id or the name of a goal; null: the first one. */
  goal: string | null
  transactionId: string | null
  amountMicros: number | null
  /** An amount was told, but not one to pay a share of. */
  amountProblem?: AmountProblem | null
  status: Status
  /** Where the user was then, if they tell. */
  country: string | null
  /** Done again by hand: what was rejected before is judged anew. */
  isAgain: boolean
  call: InboundCall
}

/** What the operator may tell the publisher as the reason of a move; the first one, unless it is said otherwise. */
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
/** One of those of its move. */
export type MoveReason = (typeof MOVE_REASONS)[MoveTo][number]

/** The operator decides. */
export type Move = {
  kind: 'move'
  conversionId: string
  to: MoveTo
  reason?: MoveReason
  /** Called in the transaction that makes the move, if it is made: its entry in the audit log commits with it. */
  record?: (trx: Trx, moved: Conversion) => Promise<void>
}

/** A hold is over. */
export type Release = { kind: 'release'; conversionId: string }

/** No advertiser confirmed a report in time. */
export type Expire = { kind: 'expire'; conversionId: string }

export type Command = Report | Confirmation | Move | Release | Expire

/** A conversion as it was and as it is now. Null before: it was made. */
export type Change = { before: Conversion | null; after: Conversion }

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

export type Outcome =
  | { kind: 'created' | 'moved' | 'noted' | 'duplicate' | 'illegal'; conversion: Conversion }
  | { kind: Refusal; conversion: null }
