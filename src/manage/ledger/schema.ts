// The shapes of the network's ledger: balances, payment runs, receipts.
import { Type } from 'typebox'
import { NextCursor, PAGE_QUERY } from '../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../shapes.ts'

const Usd = Type.Number({ description: 'US dollars.' })
const Amount = Type.Number({
  exclusiveMinimum: 0,
  maximum: 999_999_999,
  description: 'US dollars, at most 4 decimals.',
})
const Reference = text(200, 'What names the payment, such as the number of the transfer. Works once for each party.')
const OFFSET_QUERY = {
  search: Type.Optional(text(100, 'Part of the name.')),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
}

export const NetworkBalance = Type.Object({
  receivable: Type.Number({ description: 'What advertisers owe.' }),
  cash: Type.Number({ description: 'Received from advertisers, less what was paid to publishers.' }),
  pending: Type.Number({ description: 'Earned by publishers, not yet approved.' }),
  payable: Type.Number({ description: 'Owed to publishers.' }),
  margin: Type.Number({ description: "The network's own." }),
})

const MINIMUM = {
  minimum: Type.Optional(text(14, 'In US dollars, such as 50: only who is owed this much, or more.')),
}
export const OwedQuery = Type.Object({ ...MINIMUM, ...OFFSET_QUERY })
export const RunQuery = Type.Object({ ...MINIMUM, search: OFFSET_QUERY.search })
export const OwedList = Type.Object({
  publishers: Type.Array(
    Type.Object({
      publisher_id: id,
      name: Type.String(),
      email: orNull(Type.String()),
      pending: Usd,
      payable: Usd,
      paid: Usd,
      last_paid_at: orNull(Time),
      due: Type.Number({ description: 'Payable in whole cents: what a payment run would pay.' }),
    }),
  ),
  total: Type.Integer({ description: 'How many match.' }),
  total_due: Type.Number({ description: 'Of all that match.' }),
})

export const PaymentRun = Type.Object({
  reference: Reference,
  payments: Type.Array(Type.Object({ publisher_id: id, amount: Amount }), { minItems: 1, maxItems: 200 }),
})
export const PaymentRunReply = Type.Object({
  results: Type.Array(
    Type.Object({
      publisher_id: id,
      outcome: oneOf(['paid', 'already', 'refused']),
      message: orNull(Type.String()),
      payable: orNull(Usd),
    }),
  ),
})

export const DebtorQuery = Type.Object(OFFSET_QUERY)
export const DebtorList = Type.Object({
  advertisers: Type.Array(
    Type.Object({
      advertiser_id: id,
      name: Type.String(),
      receivable: Type.Number({ description: 'Negative when it has paid ahead.' }),
      received: Usd,
      last_received_at: orNull(Time),
    }),
  ),
  total: Type.Integer(),
})
export const NewReceipt = Type.Object({ advertiser_id: id, amount: Amount, reference: Reference })
export const ReceiptReply = Type.Object({
  is_new: Type.Boolean({ description: 'False: this receipt was recorded before.' }),
  receivable: Type.Number({ description: 'What it owes still.' }),
})

export const MOVEMENTS = ['payout', 'receipt'] as const
export const MovementQuery = Type.Object({ kind: Type.Optional(oneOf(MOVEMENTS)), ...PAGE_QUERY })
export const MovementList = Type.Object({
  payments: Type.Array(
    Type.Object({
      posting_id: Type.String(),
      kind: oneOf(MOVEMENTS),
      party_id: id,
      name: Type.String(),
      amount: Usd,
      reference: Type.String(),
      created_at: Time,
    }),
  ),
  next_cursor: NextCursor,
})

export const CheckReply = Type.Object({
  is_right: Type.Boolean(),
  postings: Type.Integer(),
  conversions: Type.Integer(),
  problems: Type.Array(
    Type.Object({ kind: Type.String(), count: Type.Integer(), examples: Type.Array(Type.String()) }),
  ),
  checked_at: Time,
  took_ms: Type.Integer(),
})
