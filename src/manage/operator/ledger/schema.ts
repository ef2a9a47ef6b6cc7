// The shapes of the network's ledger: balances, payments, adjustments, voids.
import { Type } from 'typebox'
import { MOVEMENT_KINDS } from '../../../features/ledger/balances.ts'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const Usd = Type.Number({ description: 'In US dollars.' })
const Amount = Type.Number({
  exclusiveMinimum: 0,
  maximum: 999_999_999,
  description: 'Amount in US dollars, at most 4 decimals.',
})
const Reference = text(
  200,
  'Unique reference, such as a transfer number. Counts only once for each publisher or advertiser.',
)
const OFFSET_QUERY = {
  search: Type.Optional(text(100, 'Part of the name.')),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
}

export const NetworkBalance = shape('NetworkBalance', {
  receivable: Type.Number({ description: 'What advertisers owe for confirmed conversions.' }),
  unconfirmed: Type.Number({ description: 'What advertisers would owe for unconfirmed conversions.' }),
  cash: Type.Number({ description: 'Received from advertisers, less what was paid to publishers.' }),
  pending: Type.Number({ description: 'Earned by publishers, not yet approved.' }),
  payable: Type.Number({ description: 'Owed to publishers.' }),
  margin: Type.Number(),
})

const MINIMUM = {
  minimum: Type.Optional(text(14, 'Minimum amount owed, in US dollars, such as 50.')),
}
export const OwedQuery = Type.Object({ ...MINIMUM, ...OFFSET_QUERY })
export const OwedList = shape('PublisherBalanceList', {
  publishers: Type.Array(
    Type.Object({
      publisher_id: id,
      name: Type.String(),
      email: orNull(Type.String()),
      pending: Usd,
      payable: Usd,
      paid: Usd,
      last_paid_at: orNull(Time),
      due: Type.Number({ description: 'Payable in whole cents: what a payment run created now would pay.' }),
      is_suspended: Type.Boolean({
        description: 'Whether the publisher is suspended: paid only by a run that names it.',
      }),
      run_id: orNull(Type.Integer({ description: 'Payment run that already includes the publisher.' })),
    }),
  ),
  total: Type.Integer(),
  total_due: Type.Number({ description: 'Total due to matching publishers that are not suspended.' }),
})

export const NewPayout = shape('NewPayout', { publisher_id: id, amount: Amount, reference: Reference })
const is_new = Type.Boolean({ description: 'False if it was recorded before; it counts only once.' })
export const PayoutReply = shape('RecordedPayout', {
  is_new,
  payable: Type.Number({ description: 'Remaining payable balance.' }),
})

export const DebtorQuery = Type.Object(OFFSET_QUERY)
export const DebtorList = shape('AdvertiserBalanceList', {
  advertisers: Type.Array(
    Type.Object({
      advertiser_id: id,
      name: Type.String(),
      receivable: Type.Number({ description: 'Amount owed; negative if paid ahead.' }),
      unconfirmed: Type.Number({ description: 'Amount it would owe for unconfirmed conversions.' }),
      received: Usd,
      last_received_at: orNull(Time),
    }),
  ),
  total: Type.Integer(),
})
export const NewReceipt = shape('NewReceipt', { advertiser_id: id, amount: Amount, reference: Reference })
export const ReceiptReply = shape('RecordedReceipt', {
  is_new,
  receivable: Type.Number({ description: 'Amount that the advertiser still owes.' }),
})

const Reason = text(200, 'Reason, shown to the publisher or advertiser.')
export const NewAdjustment = Type.Object(
  {
    publisher_id: Type.Optional(id),
    advertiser_id: Type.Optional(id),
    amount: Type.Number({
      minimum: -999_999_999,
      maximum: 999_999_999,
      description:
        'In US dollars, at most 4 decimals. Positive for a credit (a publisher is owed more, an advertiser owes less), negative for a debit.',
    }),
    reference: Reference,
    reason: Reason,
  },
  { title: 'NewAdjustment', description: 'For either a publisher or an advertiser.' },
)
const balance = Type.Number({ description: 'New balance: what the publisher is owed, or the advertiser owes.' })
export const AdjustmentReply = shape('RecordedAdjustment', { is_new, posting_id: Type.String(), balance })
export const VoidParams = Type.Object({ posting_id: Type.String({ maxLength: 36 }) })
export const NewVoid = shape('NewVoid', { reason: Reason })
export const VoidReply = shape('VoidedPayment', { is_new, balance })

export const MovementQuery = Type.Object({ kind: Type.Optional(oneOf(MOVEMENT_KINDS)), ...ID_PAGE_QUERY })
export const MovementList = shape('MovementList', {
  payments: Type.Array(
    Type.Object({
      posting_id: Type.String(),
      kind: oneOf(MOVEMENT_KINDS),
      party: oneOf(['publisher', 'advertiser']),
      party_id: id,
      name: Type.String(),
      amount: Type.Number({
        description: 'In US dollars. Negative adjustments are debits; a void has the opposite sign of what it voids.',
      }),
      reference: Type.String(),
      reason: orNull(Type.String()),
      voids: orNull(Type.String({ description: '`posting_id` of the voided entry.' })),
      voided_at: orNull(Time),
      created_at: Time,
    }),
  ),
  next_cursor: NextCursor,
})

export const CheckReply = shape('LedgerCheck', {
  is_right: Type.Boolean(),
  postings: Type.Integer(),
  conversions: Type.Integer(),
  problems: Type.Array(
    Type.Object({ kind: Type.String(), count: Type.Integer(), examples: Type.Array(Type.String()) }),
  ),
  checked_at: Time,
  took_ms: Type.Integer(),
})
