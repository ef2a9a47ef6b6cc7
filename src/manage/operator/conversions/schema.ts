// The shapes of conversions as the operator sees them, and of what is decided about them.
import { type Static, Type } from 'typebox'
import { MOVE_REASONS, type MoveReason, type MoveTo } from '../../../features/conversions/commands.ts'
import { REASONS, STATUSES } from '../../../features/conversions/conversions.ts'
import { MARKS } from '../../../features/conversions/fraud.ts'
import { STATES as POSTBACK_STATES } from '../../../features/postbacks/postbacks.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { DATE_OR_TIME } from '../../../http/validation.ts'
import { freeText, id, oneOf, orNull, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'

export const MAX_MOVES = 1000

const Signals = Type.Array(oneOf(MARKS), { description: 'Fraud signals, not shown to publishers.' })
const Text = orNull(Type.String())

const SUMMARY = {
  conversion_id: Type.String(),
  created_at: Time,
  status: oneOf(STATUSES),
  status_reason: orNull(oneOf(REASONS)),
  publisher_id: id,
  publisher: Type.String(),
  app_id: id,
  app: Type.String(),
  advertiser_id: id,
  advertiser: Type.String(),
  offer_id: id,
  offer: Type.String(),
  goal_id: id,
  goal: Type.String(),
  user_id: Type.String(),
  payout: Type.Number({ description: 'What the publisher earns, in US dollars.' }),
  revenue: Type.Number({ description: 'What the advertiser pays, in US dollars.' }),
  source: oneOf(['publisher', 'advertiser']),
  signals: Signals,
  hold_until: orNull(Time),
  is_test: Type.Boolean(),
}

const when = (description: string) => Type.Optional(Type.String({ format: DATE_OR_TIME, description }))

export const ConversionSearchQuery = Type.Object({
  status: Type.Optional(oneOf(STATUSES)),
  reason: Type.Optional(oneOf(REASONS)),
  signal: Type.Optional(oneOf([...MARKS, 'any'])),
  publisher_id: Type.Optional(id),
  app_id: Type.Optional(id),
  advertiser_id: Type.Optional(id),
  offer_id: Type.Optional(id),
  user_id: Type.Optional(freeText(256)),
  from: when('Only conversions created at or after this time.'),
  to: when('Only conversions created before this time.'),
  mode: Type.Optional(oneOf(['live', 'test'])),
  order: Type.Optional(oneOf(['newest', 'oldest'])),
  ...UUID_PAGE_QUERY,
})
export type ConversionSearchQuery = Static<typeof ConversionSearchQuery>

const Summary = shape('ConversionSummary', SUMMARY)

export const ConversionSearch = shape('ConversionSummaryList', {
  conversions: Type.Array(Summary),
  next_cursor: NextCursor,
})

export const ConversionParams = Type.Object({ conversion_id: Type.String() })

export const ConversionReply = shape('NetworkConversion', {
  ...SUMMARY,
  payout_local: Type.Number({ description: "Payout in the app's currency." }),
  currency: Type.String(),
  publisher_transaction_id: Text,
  advertiser_transaction_id: Text,
  aff_sub: Text,
  aff_sub2: Text,
  aff_sub3: Text,
  aff_sub4: Text,
  click_id: Text,
  click_at: orNull(Time),
  confirmed_at: orNull(Time),
  ip: Text,
  country: Text,
  device: Text,
  history: Type.Array(
    Type.Object({
      sequence: Type.Integer(),
      status: oneOf(STATUSES),
      status_reason: orNull(oneOf(REASONS)),
      actor: Type.String({ description: 'Who caused it: publisher, advertiser, operator or system.' }),
      created_at: Time,
      event_id: Type.String(),
      request_id: orNull(
        Type.String({ description: 'Request that caused it; null if it was automatic or came from the command line.' }),
      ),
    }),
    { description: 'Status changes, oldest first.' },
  ),
  decisions: Type.Array(
    Type.Object({ created_at: Time, who: Type.String(), action: Type.String(), reason: orNull(Type.String()) }),
    { description: 'Decisions of people, newest first.' },
  ),
  entries: Type.Array(
    Type.Object({
      entry_id: Type.Integer(),
      posting_id: Type.String(),
      account: Type.String(),
      amount: Type.Number({ description: 'In US dollars: positive for debits, negative for credits.' }),
      created_at: Time,
    }),
    { description: 'Ledger entries of the conversion, oldest first.' },
  ),
  postbacks: Type.Array(
    Type.Object({
      postback_id: Type.String(),
      sequence: orNull(Type.Integer()),
      state: oneOf(POSTBACK_STATES),
      attempts: Type.Integer(),
      last_status: orNull(Type.Integer()),
      last_error: Text,
      created_at: Time,
      settled_at: orNull(Time),
    }),
    { description: 'Postbacks to the publisher, newest first.' },
  ),
})

/** For the dashboard, which takes only types: what it offers must be just this. */
export type MoveReasons = typeof MOVE_REASONS

export const Moves = shape('ConversionMoves', {
  to: oneOf(Object.keys(MOVE_REASONS) as MoveTo[]),
  conversion_ids: Type.Array(Type.String({ maxLength: 100 }), {
    minItems: 1,
    maxItems: MAX_MOVES,
    description: `At most ${MAX_MOVES}. Each is decided on its own: one that is refused does not stop the others.`,
  }),
  status_reason: Type.Optional(
    Type.Unsafe<MoveReason>({
      type: 'string',
      enum: [...new Set(Object.values(MOVE_REASONS).flat())],
      description:
        'Reason shown to the publisher, in the API, in postbacks and in the dashboard. ' +
        `To reject: ${MOVE_REASONS.rejected.join(', ')}. To reverse: ${MOVE_REASONS.reversed.join(', ')}. ` +
        'Defaults to operator.',
    }),
  ),
  reason: Type.Optional(freeText(500, 'Why, in your own words, for the audit log. Required to reject and to reverse.')),
})

export const Moved = shape('MovedConversions', {
  results: Type.Array(
    Type.Object({
      conversion_id: Type.String(),
      outcome: oneOf(['done', 'already', 'refused']),
      status: orNull(oneOf(STATUSES)),
      problem: orNull(Type.String({ description: 'Why the conversion was not changed.' })),
    }),
  ),
})
