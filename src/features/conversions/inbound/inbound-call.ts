// One call of an advertiser, and what came of it.

export type InboundCall = {
  inboundId: string
  receivedAt: Date
  /** The advertiser whose token it carried; null: the token was unknown. */
  advertiserId: number | null
  method: string
  query: string
  body: string
  /** The body was too long, or compressed, and is not stored in full. */
  isCut: boolean
  ip: string | null
  clickId: string | null
  attempts: number
  /** Its outcome before; null: it was received just now. */
  before: Pick<CallOutcome, 'outcome' | 'reason'> | null
  /** The call that counts this one if it changes nothing. */
  repeatOf?: string | null
  /** This advertiser's budget is used up: if the call cannot be processed, it is not stored. */
  isOverBudget?: boolean
  /** What is stored of it where its user was erased. */
  redact?: () => Pick<InboundCall, 'query' | 'body' | 'ip'>
}

export type CallOutcome = {
  outcome:
    | 'approved'
    | 'pending'
    | 'rejected'
    | 'reversed'
    | 'duplicate'
    | 'ignored'
    | 'unmatched'
    | 'invalid'
    | 'refused'
  reason: string | null
  conversionId: string | null
}

/** Only the operator can process it further. */
export const isUnprocessed = ({ outcome }: CallOutcome) => outcome === 'invalid' || outcome === 'refused'
