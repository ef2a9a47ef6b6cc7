// The shapes of an advertiser's figures: nothing of payouts and margins, of publishers what the operator allows.
import { type Static, Type } from 'typebox'
import { DATE_OR_TIME } from '../../../http/validation.ts'
import { shape } from '../../../http/shape.ts'
import { id, oneOf, orNull } from '../../shapes.ts'

export const GROUPINGS = ['day', 'week', 'month', 'offer', 'country', 'device', 'publisher'] as const

const date = (description: string) => Type.Optional(Type.String({ format: DATE_OR_TIME, maxLength: 10, description }))

export const OwnReportQuery = Type.Object({
  from: date('First day, in UTC. Defaults to 30 days before the end.'),
  to: date('Day after the last day, in UTC. Defaults to tomorrow. At most 400 days after the first.'),
  group_by: Type.Optional(
    oneOf(GROUPINGS, 'How to group the rows; by day by default. By publisher only if the operator allows it.'),
  ),
  offer_id: Type.Optional(id),
})
export type OwnReportQuery = Static<typeof OwnReportQuery>

export const OwnFigures = shape('AdvertiserFigures', {
  clicks: Type.Integer({ description: 'Clicks, bots excluded.' }),
  conversions: Type.Integer({ description: 'Conversions that were not rejected, by creation time.' }),
  pending: Type.Integer(),
  approved: Type.Integer(),
  rejected: Type.Integer(),
  reversed: Type.Integer(),
  conversion_rate: orNull(Type.Number({ description: 'Converted clicks divided by clicks; null without clicks.' })),
  spend: Type.Number({ description: 'What you owe for approved conversions, in US dollars.' }),
})

export const OwnReport = shape('AdvertiserReport', {
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date', description: 'Day after the last day.' }),
  group_by: oneOf(GROUPINGS),
  rows: Type.Array(
    Type.Object({
      key: orNull(Type.String({ description: 'An ID, a country, a device or the start of a period in UTC.' })),
      name: orNull(Type.String({ description: 'Name of the offer, or of the publisher if the operator shows names.' })),
      ...OwnFigures.properties,
    }),
    { description: 'Periods in order, empty ones included; other rows by spend.' },
  ),
  has_more: Type.Boolean(),
  totals: OwnFigures,
})
export type OwnReport = Static<typeof OwnReport>
