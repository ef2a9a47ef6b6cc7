// The shapes of the API of users.
import { type Static, Type } from 'typebox'
import { ID_PAGE_QUERY, NextCursor } from '../../http/paging.ts'
import { oneOf, shape } from '../../http/shape.ts'
import { SAFE_TEXT } from '../../http/validation.ts'
import { UserId } from '../offers/schema.ts'
import { ENTRY_KINDS } from './balances.ts'

export const UserParams = Type.Object({
  userId: { ...UserId, description: 'Your own ID for the user, percent-encoded, slashes included.' },
})
export type UserParams = Static<typeof UserParams>

export const UserQuery = Type.Object(ID_PAGE_QUERY)
export type UserQuery = Static<typeof UserQuery> & { limit: number }

const balance = Type.Number({
  description: "Balance in the app's currency, at most four decimals. Negative if a reversed reward was already spent.",
})
const currency = Type.String({ description: "The app's currency." })

export const BalanceEntry = shape('BalanceEntry', {
  entry_id: Type.Integer(),
  kind: oneOf(ENTRY_KINDS, {
    description:
      '`reward`: a conversion was approved. `reversal`: it was reversed. `debit`: your server debited the balance.',
  }),
  amount: Type.Number({ description: 'Positive for rewards, negative for reversals and debits.' }),
  conversion_id: Type.Union([Type.String(), Type.Null()], { description: 'Null for debits.' }),
  note: Type.Union([Type.String(), Type.Null()], { description: 'Your note on a debit.' }),
  created_at: Type.String({ format: 'date-time' }),
})

export const User = shape('User', {
  user_id: Type.String(),
  balance,
  currency,
  keeps_balance: Type.Boolean({
    description: 'Whether the app keeps balances. If not, rewards are not added and debits are refused.',
  }),
  entries: Type.Array(BalanceEntry, { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

export const NewDebit = shape('NewDebit', {
  amount: Type.Number({
    exclusiveMinimum: 0,
    description: "Amount to debit, in the app's currency: above 0, at most 4 decimals.",
  }),
  note: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      format: SAFE_TEXT,
      description: 'Purpose of the debit, such as an order.',
    }),
  ),
})
export type NewDebit = Static<typeof NewDebit>

export const DebitHeaders = Type.Object({
  'idempotency-key': Type.String({
    minLength: 1,
    maxLength: 255,
    format: SAFE_TEXT,
    description:
      'Unique for each debit. A repeated request, however late, returns the first debit and debits nothing more. The same key with another user, amount or note is refused.',
  }),
})

export const DebitReply = shape('DebitReply', { entry: BalanceEntry, balance, currency })
