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
  offerId: Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'ID of the completed offer.' }),
  goalId: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'ID of the completed goal. Defaults to the first goal.' }),
  ),
  transactionId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      format: SAFE_TEXT,
      description: 'Your own ID for this completion. Required for repeatable goals.',
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
        'Makes it safe to repeat the request for 24 hours. The same key with another body is refused. After that, the request counts as a new one, but a goal that is paid once, or a known transactionId, still returns the existing conversion.',
    }),
  ),
})

const Time = Type.Union([Type.String({ format: 'date-time' }), Type.Null()])
const time = (description: string) => ({ ...Time, description })
const text = Type.Union([Type.String(), Type.Null()])

export const Conversion = shape('Conversion', {
  conversion_id: Type.String(),
  publisher_transaction_id: Type.Union([Type.String(), Type.Null()], {
    description: 'The `transactionId` of your report.',
  }),
  offer_id: Type.Integer(),
  goal_id: Type.Integer(),
  user_id: Type.String(),
  status: oneOf(STATUSES, {
    description: 'A pending conversion can become approved or rejected, an approved one reversed.',
  }),
  status_reason: Type.Union([oneOf(REASONS), Type.Null()]),
  payout: Type.Number({
    description:
      'In US dollars, at most four decimals. Never negative in a conversion. In the events of a reversal (`/events` and ' +
      'postbacks) it is negative, unless the app has switched that off, so that events add up to what was earned.',
  }),
  payout_local: Type.Number({ description: "Payout in the app's currency, with the same sign." }),
  currency: Type.String(),
  multiplier: Type.Number({
    description: 'Multiplier of the currency sale at the click: 2 if rewards were doubled, 1 without a sale.',
  }),
  locker_id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Locker that the user came through, or null.',
  }),
  aff_sub: text,
  aff_sub2: text,
  aff_sub3: text,
  aff_sub4: text,
  source: oneOf(['publisher', 'advertiser'], { description: 'Who reported the conversion first.' }),
  country: text,
  device: text,
  click_at: time('Time of the click, or null without one.'),
  created_at: Type.String({ format: 'date-time' }),
  approved_at: Time,
  rejected_at: Time,
  reversed_at: Time,
  hold_until: time('When the conversion is approved automatically, unless the advertiser reverses it first.'),
  is_test: Type.Boolean(),
})

export const ConversionReply = shape('ConversionReply', { conversion: Conversion })

export const ConversionListQuery = Type.Object({
  userId: Type.Optional(UserId),
  offerId: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ID, description: 'Filter by offer.' })),
  status: Type.Optional(oneOf(STATUSES, { description: 'Filter by status.' })),
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
  conversion_id: Type.String({ description: 'ID of the conversion.' }),
})

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      minLength: 1,
      format: NUMBER_CURSOR,
      description: '`next_cursor` of the previous response. Without it, events are returned from the beginning.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, format: NUMBER_CURSOR, description: 'Alias of `after`. Send only one of the two.' }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100, description: 'How many to return.' })),
})
export type EventListQuery = Static<typeof EventListQuery> & { limit: number }

export const EventList = shape('EventList', {
  events: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Unique event ID. Store it to process each event only once.' }),
      type: oneOf(STATUSES.map((status) => `conversion.${status}` as const)),
      created_at: Type.String({ format: 'date-time' }),
      sequence: Type.Integer({ description: 'Number of the event within its conversion, from 1.' }),
      data: Conversion,
    }),
    { description: 'Oldest first. Each event equals the body of its postback.' },
  ),
  next_cursor: Type.String({
    description: 'Send it as `after` in the next request, now or later. No event is ever skipped.',
  }),
  has_more: Type.Boolean(),
})
