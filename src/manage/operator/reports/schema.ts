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
  from: date('First day, in UTC. Defaults to 30 days before the end.'),
  to: date('Day after the last day, in UTC. Defaults to tomorrow. At most 400 days after the first.'),
  group_by: Type.Optional(
    oneOf(
      REPORT_GROUPINGS,
      `How to group the rows; by day by default. Hours: at most ${MAX_HOUR_DAYS} days, or ${MAX_ROW_DAYS} when filtered by offer, advertiser, country or device. Sub-IDs: for one app, at most ${MAX_SUB_ID_DAYS} days. Devices combine with one of app or publisher, offer or advertiser, and country; with two of them at most ${MAX_ROW_DAYS} days.`,
    ),
  ),
  publisher_id: Type.Optional(id),
  app_id: Type.Optional(id),
  offer_id: Type.Optional(id),
  advertiser_id: Type.Optional(id),
  country: Type.Optional(
    Type.String({ format: 'country', description: 'Filter by country: a 2-letter ISO 3166-1 code, in any case.' }),
  ),
  device: Type.Optional(text(20, 'Filter by device: desktop, mobile, tablet or tv.')),
  sort: Type.Optional(oneOf(METRIC_NAMES, 'Figure to sort rows by, except periods. Defaults to payout.')),
  order: Type.Optional(oneOf(['desc', 'asc'], 'Sort order. Defaults to desc: highest first.')),
  compare: Type.Optional(
    oneOf(
      COMPARISONS,
      'Adds the figures of the period before, with as many days, or as many months for a report of whole months. `previous_month`: the same days of the previous month.',
    ),
  ),
}
export const ReportQuery = Type.Object({
  ...ASKED,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Maximum number of rows, except periods.' }),
  ),
})
export const ReportCsvQuery = Type.Object(ASKED)
export type ReportQuery = Static<typeof ReportQuery>

export const ReportFigures = shape('ReportFigures', {
  clicks: Type.Integer({ description: 'Clicks, bots excluded.' }),
  converted_clicks: Type.Integer({ description: 'Clicks with a conversion that was not rejected.' }),
  conversions: Type.Integer({ description: 'Conversions that were not rejected, by creation time.' }),
  pending: Type.Integer(),
  approved: Type.Integer(),
  rejected: Type.Integer(),
  reversed: Type.Integer(),
  payout: Type.Number({ description: 'What publishers earned from approved conversions, in US dollars.' }),
  revenue: Type.Number({ description: 'What advertisers owe for approved conversions, in US dollars.' }),
  margin: Type.Number({ description: 'Revenue minus payout.' }),
  epc: orNull(
    Type.Number({
      description: 'Payout of approved conversions from these clicks, per click; null without clicks.',
    }),
  ),
  conversion_rate: orNull(Type.Number({ description: '`converted_clicks` divided by `clicks`; null without clicks.' })),
})

export const NetworkReport = shape('NetworkReport', {
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date', description: 'Day after the last day.' }),
  group_by: oneOf(REPORT_GROUPINGS),
  rows: Type.Array(
    Type.Object({
      key: orNull(
        Type.String({
          description: 'ID, country, device, sub-ID, or the start of a period in UTC. Null if unknown or not given.',
        }),
      ),
      name: orNull(Type.String({ description: 'Name of the publisher, app, offer or advertiser.' })),
      owner: orNull(Type.String({ description: 'Publisher of an app, or advertiser of an offer.' })),
      ...ReportFigures.properties,
      previous: orNull(ReportFigures),
    }),
    { description: 'Periods in order, empty ones included; other rows by `sort`.' },
  ),
  has_more: Type.Boolean(),
  totals: ReportFigures,
  previous: orNull(
    Type.Object({
      from: Type.String({ format: 'date' }),
      to: Type.String({ format: 'date', description: 'Day after the last day.' }),
      totals: ReportFigures,
    }),
  ),
})
export type NetworkReport = Static<typeof NetworkReport>

const Usd = Type.Number({ description: 'In US dollars.' })
export const NetworkOverview = shape('NetworkOverview', {
  today: ReportFigures,
  yesterday: ReportFigures,
  last_30_days: ReportFigures,
  days: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), ...ReportFigures.properties }), {
    description: 'The last 30 days in UTC, oldest first, today last.',
  }),
  balances: Type.Object({ receivable: Usd, unconfirmed: Usd, cash: Usd, pending: Usd, payable: Usd, margin: Usd }),
  attention: Type.Object({
    pending_conversions: Type.Integer({ description: 'Pending conversions. Like all counts here, up to 1,000.' }),
    unmatched_calls: Type.Integer({ description: 'Advertiser callbacks with an unknown click.' }),
    unprocessed_calls: Type.Integer({
      description: 'Advertiser callbacks that were invalid or refused, and not dismissed.',
    }),
    crowded_advertisers: Type.Integer({
      description:
        'Advertisers with 8,000 or more open callbacks. At 10,000, the oldest leave the list of open callbacks; the log keeps them.',
    }),
    paused_lanes: Type.Integer({ description: 'Apps whose postbacks are paused until they are resumed.' }),
    troubled_feeds: Type.Integer({ description: 'Feeds whose last run failed or was refused.' }),
    held_offers: Type.Integer({ description: 'Feed offers whose new payout awaits approval.' }),
  }),
})
