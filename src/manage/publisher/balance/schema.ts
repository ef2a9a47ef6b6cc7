// The shapes of a publisher's balance: what it is owed, was paid, and the months of it.
import { Type } from 'typebox'
import { MONTH_CURSOR } from '../../../http/validation.ts'
import { id, orNull, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const usd = (description: string) => Type.Number({ description: `US dollars ${description}` })
const Movement = {
  earned: usd('that became payable.'),
  reversed: usd('that were reversed.'),
  adjusted: usd('of credits, less debits, by the operator.'),
  paid: usd('that were paid out, less payments that were voided.'),
}

export const Balance = shape('Balance', {
  publisher: Type.Object({ publisher_id: id, name: Type.String() }),
  pending: usd('of conversions that are not approved yet.'),
  payable: usd('that are due; negative if reversals exceed earnings.'),
  paid: usd('that were paid so far.'),
  period: Type.Object({ from: Time, to: Time, ...Movement }),
})

const month = Type.String({ description: 'Month in UTC, such as 2026-11.' })

export const StatementList = shape('StatementList', {
  statements: Type.Array(
    Type.Object({
      month,
      is_open: Type.Boolean({ description: 'Whether the month is not over yet.' }),
      ...Movement,
      closing_balance: usd('payable at the end of the month.'),
    }),
  ),
  next_cursor: orNull(Type.String()),
})
export const StatementListQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 36, default: 12, description: 'How many months to return.' }),
  ),
  cursor: Type.Optional(Type.String({ format: MONTH_CURSOR, description: '`next_cursor` of the previous page.' })),
})
export const StatementParams = Type.Object({
  publisher_id: id,
  month: Type.String({ maxLength: 20, description: 'Month in UTC, such as 2026-11.' }),
})

export const PaymentList = shape('PaymentList', {
  payments: Type.Array(
    Type.Object({
      payment_id: id,
      paid_at: Time,
      amount: usd('that were paid.'),
      reference: Type.String(),
      voided_at: orNull(Time),
    }),
  ),
  next_cursor: orNull(Type.String()),
})
export const PaymentListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many to return.' })),
  cursor: Type.Optional(Type.Integer({ minimum: 1, description: '`next_cursor` of the previous page.' })),
})
