// The shapes of the statistics API.
import { type Static, Type } from 'typebox'
import { DATE_OR_TIME, SAFE_TEXT } from '../../http/validation.ts'
import { shape } from '../../http/shape.ts'

export const GROUPINGS = [
  'day',
  'offer',
  'country',
  'platform',
  'locker_id',
  'aff_sub',
  'aff_sub2',
  'aff_sub3',
  'aff_sub4',
] as const
export type Grouping = (typeof GROUPINGS)[number]

export const StatsQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      format: DATE_OR_TIME,
      description:
        'Start of the range: an RFC 3339 time, or a date in the time zone. Defaults to 7 days before the end.',
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: DATE_OR_TIME,
      description:
        'End of the range (exclusive): an RFC 3339 time, or a date in the time zone. Defaults to now. At most 400 days after the start.',
    }),
  ),
  timezone: Type.Optional(
    Type.String({
      maxLength: 64,
      format: SAFE_TEXT,
      default: 'UTC',
      description: 'Time zone of the days: an IANA name such as Europe/Berlin.',
    }),
  ),
  groupBy: Type.Optional(
    Type.Unsafe<Grouping>({
      type: 'string',
      enum: GROUPINGS,
      default: 'day',
      description: 'What to group the rows by.',
    }),
  ),
  offerId: Type.Optional(Type.Integer({ minimum: 1, description: 'Only this offer.' })),
  country: Type.Optional(
    Type.String({
      format: 'country',
      description: 'Only clicks and conversions from this country: a 2-letter ISO 3166-1 code, in any case.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'How many rows to return: the first days, or else those with the highest payout.',
    }),
  ),
})
/** As validated: what has a default is there. */
export type StatsQuery = Static<typeof StatsQuery> & { timezone: string; groupBy: Grouping; limit: number }

const Figures = {
  clicks: Type.Integer({ description: 'Clicks on offer links, except those of bots.' }),
  converted_clicks: Type.Integer({
    description: 'Clicks that led to a conversion that is not rejected, by the creation time of the first one.',
  }),
  conversions: Type.Integer({ description: 'All except rejected ones, by creation time.' }),
  pending: Type.Integer(),
  approved: Type.Integer(),
  rejected: Type.Integer(),
  reversed: Type.Integer(),
  payout: Type.Number({ description: 'US dollars: what the approved conversions earned, at most four decimals.' }),
  payout_local: Type.Number({
    description:
      "The same in the app's own currency, at the rate of each conversion. If the app's currency changed within the range, this adds up units of both currencies: payout stays comparable, and each conversion names its currency.",
  }),
  epc: Type.Union([Type.Number(), Type.Null()], {
    description:
      'Earnings per click: the payout of approved conversions that came from these clicks, divided by clicks. Conversions without a click, or of a bot, are not in it. Null without clicks.',
  }),
  conversion_rate: Type.Union([Type.Number(), Type.Null()], {
    description:
      'converted_clicks divided by clicks. Conversions without a click, or of a bot, and further goals of the same click are not in it. Null without clicks.',
  }),
}
const key = (description: string) => Type.Optional(Type.Union([Type.String(), Type.Null()], { description }))
const subId = key('When grouped by it. Null: none was given.')

export const StatsTotals = shape('StatsTotals', Figures)
export type StatsTotals = Static<typeof StatsTotals>

export const StatsRow = shape('StatsRow', {
  day: Type.Optional(Type.String({ format: 'date', description: 'When grouped by day: a date of the time zone.' })),
  offer_id: Type.Optional(Type.Integer({ description: 'When grouped by offer.' })),
  offer_name: Type.Optional(Type.String({ description: 'When grouped by offer.' })),
  country: key('When grouped by country. Null: it is not known.'),
  platform: key(
    'When grouped by platform: android, ios or web, of the click. Null: it is not known, as for clicks of long ago and for conversions without one.',
  ),
  locker_id: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], { description: 'When grouped by locker. Null: not through one.' }),
  ),
  aff_sub: subId,
  aff_sub2: subId,
  aff_sub3: subId,
  aff_sub4: subId,
  ...Figures,
})
export type StatsRow = Static<typeof StatsRow>

export const Stats = shape('Stats', {
  from: Type.String({ format: 'date-time', description: 'RFC 3339 in UTC.' }),
  to: Type.String({ format: 'date-time', description: 'RFC 3339 in UTC.' }),
  timezone: Type.String(),
  group_by: Type.Unsafe<Grouping>({ type: 'string', enum: GROUPINGS }),
  rows: Type.Array(StatsRow, {
    description: 'Grouped by day: every day in order, including empty ones. Otherwise, the highest payout first.',
  }),
  has_more: Type.Boolean({ description: 'There are more rows than the limit.' }),
  totals: StatsTotals,
})
export type Stats = Static<typeof Stats>
