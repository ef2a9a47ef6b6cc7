// The shapes of the conversions API.
import { type Static, Type } from 'typebox'
import { NextCursor, UUID_PAGE_QUERY } from '../../http/paging.ts'
import { DATE_OR_TIME, NUMBER_CURSOR, SAFE_TEXT } from '../../http/validation.ts'
import { UserId } from '../offers/schema.ts'
import { REASONS, STATUSES } from './conversions.ts'
import { oneOf, shape } from '../../http/shape.ts'

const MAX_ID = Number.MAX_SAFE_INTEGER

export const NewConversion = shape('NewConversion', {
  userId: UserId,
  offerId: Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'The offer_id of the offer that was completed.' }),
  goalId: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'The goal_id of the goal; without it, the first goal.' }),
  ),
  transactionId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      format: SAFE_TEXT,
      description: 'Your own identifier of this completion. Required for repeatable goals.',
    }),
  ),
})
export type NewConversion = Static<typeof NewConversion>

export const ReportHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      format: SAFE_TEXT,
      description:
        'Makes a repeated request safe for 24 hours. The same key with another body is refused. After 24 hours the key is deleted and the request is handled as a new one: a goal that is paid once, and a transactionId that was reported before, still return the conversion that exists.',
    }),
  ),
})

const time = (description: string) => Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const text = Type.Union([Type.String(), Type.Null()])

export const Conversion = shape('Conversion', {
  conversion_id: Type.String({ description: 'Never changes.' }),
  publisher_transaction_id: Type.Union([Type.String(), Type.Null()], { description: 'Your own transactionId.' }),
  offer_id: Type.Integer(),
  goal_id: Type.Integer(),
  user_id: Type.String(),
  status: oneOf(STATUSES, { description: 'pending may become approved or rejected; approved may become reversed.' }),
  status_reason: Type.Union([oneOf(REASONS), Type.Null()]),
  payout: Type.Number({
    description:
      'US dollars, at most four decimals. Never negative in a conversion, whatever its status. In the events of a ' +
      'reversal (`/events`, postbacks) it is negative, so that the sum over the events is what was earned, unless the ' +
      'app has that switched off.',
  }),
  payout_local: Type.Number({ description: "The same in the app's own currency, with the same sign." }),
  currency: Type.String(),
  multiplier: Type.Number({
    description: 'Of the currency sale that was on at the click: 2 when rewards were doubled. 1 without a sale.',
  }),
  locker_id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The content or link locker that the user came through. Null: none.',
  }),
  aff_sub: text,
  aff_sub2: text,
  aff_sub3: text,
  aff_sub4: text,
  source: oneOf(['publisher', 'advertiser'], { description: 'Source of the first report.' }),
  country: text,
  device: text,
  click_at: time('When the user followed the link; null without a click.'),
  created_at: Type.String({ format: 'date-time', description: 'RFC 3339 in UTC, like all times here.' }),
  approved_at: time('When it was approved.'),
  rejected_at: time('When it was rejected.'),
  reversed_at: time('When it was reversed.'),
  hold_until: time('Approved automatically at this time unless the advertiser reverses it before.'),
  is_test: Type.Boolean(),
})

export const ConversionReply = shape('ConversionReply', { conversion: Conversion })

export const ConversionListQuery = Type.Object({
  userId: Type.Optional(UserId),
  offerId: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'Only conversions of this offer.' })),
  status: Type.Optional(oneOf(STATUSES, { description: 'Only conversions with this status.' })),
  from: Type.Optional(
    Type.String({ format: DATE_OR_TIME, description: 'Only conversions created at or after this time.' }),
  ),
  to: Type.Optional(Type.String({ format: DATE_OR_TIME, description: 'Only conversions created before this time.' })),
  ...UUID_PAGE_QUERY,
})
export type ConversionListQuery = Static<typeof ConversionListQuery> & { limit: number }

export const ConversionList = shape('ConversionList', {
  conversions: Type.Array(Conversion, { description: 'Newest first.' }),
  next_cursor: NextCursor,
})

export const ConversionParams = Type.Object({
  conversion_id: Type.String({ description: 'The conversion_id of a conversion.' }),
})

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      format: NUMBER_CURSOR,
      description: 'The next_cursor of the previous response; without it, from the beginning.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, format: NUMBER_CURSOR, description: 'Another name for after. Send one of them.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'How many to return.' })),
})
export type EventListQuery = Static<typeof EventListQuery> & { limit: number }

export const EventList = shape('EventList', {
  events: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Unique for each event: store it so that you process each event once.' }),
      type: oneOf(STATUSES.map((status) => `conversion.${status}` as const)),
      created_at: Type.String({ format: 'date-time' }),
      sequence: Type.Integer({ description: "Counts this conversion's events from 1." }),
      data: Conversion,
    }),
    { description: 'Oldest first. Each is the body of its postback.' },
  ),
  next_cursor: Type.String({
    description: 'Send this as `after` in the next request, now or later: no event is ever skipped.',
  }),
  has_more: Type.Boolean(),
})
