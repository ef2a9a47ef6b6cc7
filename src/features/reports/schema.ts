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
      description: 'IANA time zone in which days begin, such as Europe/Berlin.',
    }),
  ),
  groupBy: Type.Optional(
    Type.Unsafe<Grouping>({
      type: 'string',
      enum: GROUPINGS,
      default: 'day',
      description: 'How to group the rows.',
    }),
  ),
  offerId: Type.Optional(Type.Integer({ minimum: 1, description: 'Filter by offer.' })),
  country: Type.Optional(
    Type.String({
      format: 'country',
      description: 'Filter by country: a 2-letter ISO 3166-1 code, in any case.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      default: 100,
      description: 'Maximum number of rows: the first days, or else the highest payouts.',
    }),
  ),
})
/** As validated: what has a default is there. */
export type StatsQuery = Static<typeof StatsQuery> & { timezone: string; groupBy: Grouping; limit: number }

const Figures = {
  clicks: Type.Integer({ description: 'Clicks on offer links, bots excluded.' }),
  converted_clicks: Type.Integer({
    description: 'Clicks with a conversion that was not rejected, by creation time of the first one.',
  }),
  conversions: Type.Integer({ description: 'Conversions that were not rejected, by creation time.' }),
  pending: Type.Integer(),
  approved: Type.Integer(),
  rejected: Type.Integer(),
  reversed: Type.Integer(),
  payout: Type.Number({ description: 'Payout of approved conversions in US dollars, at most four decimals.' }),
  payout_local: Type.Number({
    description:
      "`payout` in the app's currency, at the rate of each conversion. If the currency changed within the range, this adds up units of both: compare `payout` instead.",
  }),
  epc: Type.Union([Type.Number(), Type.Null()], {
    description:
      'Earnings per click: payout of approved conversions from these clicks, divided by `clicks`; null without clicks.',
  }),
  conversion_rate: Type.Union([Type.Number(), Type.Null()], {
    description: '`converted_clicks` divided by `clicks`; null without clicks.',
  }),
}
const key = (description: string) => Type.Optional(Type.Union([Type.String(), Type.Null()], { description }))
const subId = key('Set when grouped by this sub-ID; null if none was given.')

export const StatsTotals = shape('StatsTotals', Figures)
export type StatsTotals = Static<typeof StatsTotals>

export const StatsRow = shape('StatsRow', {
  day: Type.Optional(Type.String({ format: 'date', description: 'Date in the time zone. Set when grouped by day.' })),
  offer_id: Type.Optional(Type.Integer({ description: 'Set when grouped by offer.' })),
  offer_name: Type.Optional(Type.String({ description: 'Set when grouped by offer.' })),
  country: key('Set when grouped by country; null if unknown.'),
  platform: key(
    'Set when grouped by platform: android, ios or web. Null if unknown, as for old clicks and conversions without a click.',
  ),
  locker_id: Type.Optional(
    Type.Union([Type.Integer(), Type.Null()], {
      description: 'Set when grouped by locker; null for traffic without one.',
    }),
  ),
  aff_sub: subId,
  aff_sub2: subId,
  aff_sub3: subId,
  aff_sub4: subId,
  ...Figures,
})
export type StatsRow = Static<typeof StatsRow>

export const Stats = shape('Stats', {
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  timezone: Type.String(),
  group_by: Type.Unsafe<Grouping>({ type: 'string', enum: GROUPINGS }),
  rows: Type.Array(StatsRow, {
    description: 'By day: every day in order, empty ones included. Otherwise, highest payout first.',
  }),
  has_more: Type.Boolean(),
  totals: StatsTotals,
})
export type Stats = Static<typeof Stats>
