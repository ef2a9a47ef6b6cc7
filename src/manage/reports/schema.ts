// The shapes of reports: an app's figures, and the network's.
import { Type } from 'typebox'
import { GROUPINGS, Stats, StatsQuery } from '../../features/reports/schema.ts'
import { oneOf } from '../shapes.ts'
import { shape } from '../../http/shape.ts'

const { from, to, timezone, country, limit } = StatsQuery.properties
const Asked = {
  from,
  to,
  timezone,
  country,
  group_by: Type.Optional(
    Type.Unsafe<(typeof GROUPINGS)[number]>({
      ...oneOf(GROUPINGS),
      default: 'day',
      description: 'What a row stands for.',
    }),
  ),
  offer_id: StatsQuery.properties.offerId,
}

/** From when to when; days begin in the zone. */
export const PeriodQuery = Type.Object({ from, to, timezone })

export const AppStatsQuery = Type.Object({ ...Asked, limit })
export const AppStatsCsvQuery = Type.Object(Asked)
export const AppStats = Stats

const Usd = Type.Number({ description: 'US dollars.' })
const Sums = {
  revenue: Type.Number({ description: 'US dollars that advertisers owe for conversions, pending ones included.' }),
  payout: Type.Number({ description: 'US dollars of it for publishers.' }),
  margin: Type.Number({ description: 'US dollars of it that stay with the network.' }),
}

export const NetworkOverview = shape('NetworkOverview', {
  today: Type.Object(Sums, { description: 'Since the day began in UTC.' }),
  last_30_days: Type.Object(Sums, { description: 'Today and the 29 days before it.' }),
  days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...Sums }), {
    description: 'The last 30 days of UTC, the oldest first.',
  }),
  balances: Type.Object({ receivable: Usd, unconfirmed: Usd, cash: Usd, pending: Usd, payable: Usd, margin: Usd }),
  attention: Type.Object({
    pending_conversions: Type.Integer({ description: 'Each of these is counted up to 1,000.' }),
    unmatched_calls: Type.Integer({ description: 'Advertiser callbacks whose click is not known.' }),
    unprocessed_calls: Type.Integer({
      description: 'Advertiser callbacks that were invalid or refused, and not dismissed.',
    }),
    crowded_advertisers: Type.Integer({
      description:
        'Advertisers with 8,000 open calls or more. At 10,000 the oldest leave the list of open calls; the log keeps them.',
    }),
    paused_lanes: Type.Integer({ description: 'Apps that get no postbacks until somebody resumes them.' }),
  }),
})
