// The shapes of the operator's reports and overview.
import { type Static, Type } from 'typebox'
import { METRIC_NAMES } from '../../../features/reports/metrics.ts'
import {
  MAX_HOUR_DAYS,
  MAX_ROW_DAYS,
  MAX_SUB_ID_DAYS,
  REPORT_GROUPINGS,
} from '../../../features/reports/network-report.ts'
import { COMPARISONS } from '../../../features/reports/periods.ts'
import { DATE_OR_TIME } from '../../../http/validation.ts'
import { shape } from '../../../http/shape.ts'
import { id, oneOf, orNull, text } from '../../shapes.ts'

const date = (description: string) => Type.Optional(Type.String({ format: DATE_OR_TIME, maxLength: 10, description }))

const ASKED = {
  from: date('First day of the report, in UTC. Defaults to 30 days before the end.'),
  to: date('The day after the last one, in UTC. Defaults to tomorrow. At most 400 days after the first.'),
  group_by: Type.Optional(
    oneOf(
      REPORT_GROUPINGS,
      `What a row stands for; by default a day. Hours: at most ${MAX_HOUR_DAYS} days, or ${MAX_ROW_DAYS} when filtered by offer, advertiser, country or device. Sub-IDs: of one app, at most ${MAX_SUB_ID_DAYS} days. Devices combine with one of app or publisher, offer or advertiser, and country; with two of them at most ${MAX_ROW_DAYS} days.`,
    ),
  ),
  publisher_id: Type.Optional(id),
  app_id: Type.Optional(id),
  offer_id: Type.Optional(id),
  advertiser_id: Type.Optional(id),
  country: Type.Optional(Type.String({ format: 'country', description: 'A 2-letter ISO 3166-1 code.' })),
  device: Type.Optional(text(20, 'desktop, mobile, tablet or tv.')),
  sort: Type.Optional(oneOf(METRIC_NAMES, 'What rows that are not periods are sorted by. Defaults to payout.')),
  order: Type.Optional(oneOf(['desc', 'asc'], 'Defaults to desc: the highest first.')),
  compare: Type.Optional(
    oneOf(
      COMPARISONS,
      'Adds the figures of the period before: as many days, or as many months if the report is of whole months. `previous_month`: the same days of the month before.',
    ),
  ),
}
export const ReportQuery = Type.Object({
  ...ASKED,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'How many rows that are not periods.' }),
  ),
})
export const ReportCsvQuery = Type.Object(ASKED)
export type ReportQuery = Static<typeof ReportQuery>

export const ReportFigures = shape('ReportFigures', {
  clicks: Type.Integer({ description: 'Without clicks of bots.' }),
  converted_clicks: Type.Integer({ description: 'Clicks that led to a conversion that is not rejected.' }),
  conversions: Type.Integer({ description: 'All except rejected ones, by creation time.' }),
  pending: Type.Integer(),
  approved: Type.Integer(),
  rejected: Type.Integer(),
  reversed: Type.Integer(),
  payout: Type.Number({ description: 'US dollars that approved conversions earned for publishers.' }),
  revenue: Type.Number({ description: 'US dollars that advertisers owe for approved conversions.' }),
  margin: Type.Number({ description: 'Revenue less payout.' }),
  epc: orNull(
    Type.Number({
      description: 'Payout of approved conversions that came from these clicks, per click; null without clicks.',
    }),
  ),
  conversion_rate: orNull(Type.Number({ description: 'converted_clicks divided by clicks; null without clicks.' })),
})

export const NetworkReport = shape('NetworkReport', {
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date', description: 'The day after the last one.' }),
  group_by: oneOf(REPORT_GROUPINGS),
  rows: Type.Array(
    Type.Object({
      key: orNull(
        Type.String({
          description:
            'An id, a country, a device, a sub-ID, or the start of a period in UTC. Null: not known, or none was given.',
        }),
      ),
      name: orNull(Type.String({ description: 'Of a publisher, app, offer or advertiser.' })),
      owner: orNull(Type.String({ description: 'The publisher of an app, the advertiser of an offer.' })),
      ...ReportFigures.properties,
      previous: orNull(ReportFigures),
    }),
    { description: 'Periods in order, including empty ones; all others by `sort`.' },
  ),
  has_more: Type.Boolean({ description: 'There are more rows than the limit.' }),
  totals: ReportFigures,
  previous: orNull(
    Type.Object({
      from: Type.String({ format: 'date' }),
      to: Type.String({ format: 'date', description: 'The day after the last one.' }),
      totals: ReportFigures,
    }),
  ),
})
export type NetworkReport = Static<typeof NetworkReport>

const Usd = Type.Number({ description: 'US dollars.' })
export const NetworkOverview = shape('NetworkOverview', {
  today: ReportFigures,
  yesterday: ReportFigures,
  last_30_days: ReportFigures,
  days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...ReportFigures.properties }), {
    description: 'The last 30 days of UTC, the oldest first: the last one is today.',
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
    paused_lanes: Type.Integer({ description: 'Apps whose postbacks are paused until they are resumed.' }),
    troubled_feeds: Type.Integer({ description: 'Feeds whose last run failed or was refused.' }),
    held_offers: Type.Integer({ description: 'Offers of feeds whose new payout waits for approval.' }),
  }),
})
