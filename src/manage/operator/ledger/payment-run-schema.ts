// The shapes of payment runs.
import { Type } from 'typebox'
import { RUN_STATUSES } from '../../../features/ledger/payment-runs.ts'
import { LINE_STATUSES } from '../../../features/ledger/run-lines.ts'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

const Usd = Type.Number({ description: 'US dollars.' })
const PublisherIds = Type.Optional(
  Type.Array(id, { minItems: 1, maxItems: 1_000, description: 'Only these publishers.' }),
)

export const NewRun = shape('NewPaymentRun', {
  minimum: Type.Optional(
    Type.Number({ minimum: 0, maximum: 999_999_999, description: 'US dollars: only who is owed this much, or more.' }),
  ),
  publisher_ids: Type.Optional(
    Type.Array(id, {
      minItems: 1,
      maxItems: 1_000,
      description: 'Only these publishers. Without them: everybody who is owed and not suspended.',
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
  total: Type.Number({ description: 'US dollars, of all lines as they were created.' }),
  due: Type.Integer({ description: 'Lines that are still to be paid.' }),
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
      payable: Type.Number({ description: 'The balance when the run was created.' }),
      amount: Type.Number({ description: 'What is paid: the balance in whole cents.' }),
      status: oneOf(LINE_STATUSES),
      reason: orNull(Type.String({ description: 'Why it was cancelled.' })),
      posting_id: orNull(Type.String({ description: 'Of the payout.' })),
      settled_at: orNull(Time),
      voided_at: orNull(Time),
      payable_now: orNull(Type.Number({ description: 'The balance now, while the line is due.' })),
      is_short: Type.Boolean({ description: 'The balance no longer covers the line.' }),
      is_suspended: Type.Boolean({ description: 'The publisher was suspended after the run was created.' }),
    }),
  ),
  next_cursor: NextCursor,
})

export const Exported = shape('ExportedPaymentRun', {
  run: Run,
  cancelled: Type.Integer({ description: 'Lines that were short, or whose publisher was suspended.' }),
})

export const Paying = shape('PaidLines', {
  publisher_ids: PublisherIds,
  is_sent: Type.Optional(
    Type.Boolean({
      description:
        'Pay lines that are held back, too, because the money was sent: those of suspended publishers, and those that the balance no longer covers, which falls below 0.',
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
      payable: orNull(Type.Number({ description: 'The balance after it.' })),
    }),
  ),
})

export const Cancelling = shape('CancelledLines', { publisher_ids: PublisherIds, reason: text(200, 'Why.') })
export const Cancelled = shape('CancelledPaymentRun', { run: Run, cancelled: Type.Integer() })
