// The shapes of payment runs.
import { Type } from 'typebox'
import { RUN_STATUSES } from '../../../features/ledger/payment-runs.ts'
import { LINE_STATUSES } from '../../../features/ledger/run-lines.ts'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const Usd = Type.Number({ description: 'In US dollars.' })
const PublisherIds = Type.Optional(
  Type.Array(id, {
    minItems: 1,
    maxItems: 1_000,
    description: 'Publishers whose lines are meant. Defaults to all that are due.',
  }),
)

export const NewRun = shape('NewPaymentRun', {
  minimum: Type.Optional(
    Type.Number({ minimum: 0, maximum: 999_999_999, description: 'Minimum amount owed, in US dollars.' }),
  ),
  publisher_ids: Type.Optional(
    Type.Array(id, {
      minItems: 1,
      maxItems: 1_000,
      description: 'Publishers to pay. Defaults to all that are owed money and not suspended.',
    }),
  ),
})

export const RunParams = Type.Object({ run_id: id })
export const Run = shape('PaymentRun', {
  run_id: id,
  status: oneOf(RUN_STATUSES),
  minimum: Usd,
  created_by: Type.String(),
  created_at: Time,
  exported_at: orNull(Time),
  closed_at: orNull(Time),
  lines: Type.Integer(),
  total: Type.Number({ description: 'Total of all lines as created, in US dollars.' }),
  due: Type.Integer({ description: 'Number of lines that are still to be paid.' }),
  due_total: Usd,
  paid: Type.Integer(),
  paid_total: Usd,
})
export const RunList = shape('PaymentRunList', { runs: Type.Array(Run), next_cursor: NextCursor })
export const RunListQuery = Type.Object(ID_PAGE_QUERY)

export const LineQuery = Type.Object({ status: Type.Optional(oneOf(LINE_STATUSES)), ...ID_PAGE_QUERY })
export const LineList = shape('PaymentRunLineList', {
  lines: Type.Array(
    Type.Object({
      publisher_id: id,
      name: Type.String(),
      email: orNull(Type.String()),
      payable: Type.Number({ description: 'Balance when the run was created.' }),
      amount: Type.Number({ description: 'Amount to pay: the balance in whole cents.' }),
      status: oneOf(LINE_STATUSES),
      reason: orNull(Type.String({ description: 'Why the line was cancelled.' })),
      posting_id: orNull(Type.String({ description: 'ID of the payout.' })),
      settled_at: orNull(Time),
      voided_at: orNull(Time),
      payable_now: orNull(Type.Number({ description: 'Current balance, while the line is due.' })),
      is_short: Type.Boolean({ description: 'Whether the balance no longer covers the line.' }),
      is_suspended: Type.Boolean({ description: 'Whether the publisher was suspended after the run was created.' }),
    }),
  ),
  next_cursor: NextCursor,
})

export const Exported = shape('ExportedPaymentRun', {
  run: Run,
  cancelled: Type.Integer({
    description: 'Lines cancelled because the balance fell short or the publisher was suspended.',
  }),
})

export const Paying = shape('PaidLines', {
  publisher_ids: PublisherIds,
  is_sent: Type.Optional(
    Type.Boolean({
      description:
        'The money was already sent: also pay lines that are held back because the publisher was suspended or the balance, which then turns negative, no longer covers them.',
    }),
  ),
})
export const Paid = shape('PaidPaymentRun', {
  run: Run,
  results: Type.Array(
    Type.Object({
      publisher_id: id,
      name: Type.String(),
      outcome: oneOf(['paid', 'already', 'short', 'suspended', 'cancelled', 'unknown']),
      amount: Usd,
      payable: orNull(Type.Number({ description: 'New balance.' })),
    }),
  ),
})

export const Cancelling = shape('CancelledLines', {
  publisher_ids: PublisherIds,
  reason: text(200, 'Why the lines are cancelled.'),
})
export const Cancelled = shape('CancelledPaymentRun', { run: Run, cancelled: Type.Integer() })
