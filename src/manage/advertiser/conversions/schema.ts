// The shapes of an advertiser's conversions: with its own transaction IDs, without anything of the publisher's.
import { type Static, Type } from 'typebox'
import { REASONS, STATUSES } from '../../../features/conversions/conversions.ts'
import { DECISION_RESULTS, WANTED } from '../../../features/conversions/inbound/decisions.ts'
import { ConversionListQuery } from '../../../features/conversions/schema.ts'
import { NextCursor, UUID_PAGE_QUERY } from '../../../http/paging.ts'
import { shape } from '../../../http/shape.ts'
import { id, MODES, oneOf, orNull, text, Time } from '../../shapes.ts'

const { status, from, to } = ConversionListQuery.properties
const FILTERS = {
  offer_id: Type.Optional(id),
  status,
  transaction_id: Type.Optional(text(200, 'Filter by the `txn_id` of your callbacks.')),
  from,
  to,
  mode: Type.Optional(oneOf(MODES)),
}
export const OwnExportQuery = Type.Object(FILTERS)
export type OwnExportQuery = Static<typeof OwnExportQuery>
export const OwnConversionQuery = Type.Object({ ...FILTERS, ...UUID_PAGE_QUERY })

export const OwnConversion = shape('AdvertiserConversion', {
  conversion_id: Type.String(),
  created_at: Time,
  transaction_id: orNull(Type.String({ description: '`txn_id` of your callback, or null.' })),
  click_id: orNull(Type.String()),
  offer_id: id,
  offer: Type.String(),
  goal_id: id,
  goal: Type.String(),
  status: oneOf(STATUSES),
  status_reason: orNull(oneOf(REASONS)),
  spend: Type.Number({ description: 'What you owe for the conversion once approved, in US dollars.' }),
  country: orNull(Type.String()),
  device: orNull(Type.String()),
  confirmed_at: orNull(Time),
  is_test: Type.Boolean(),
  publisher_id: orNull(Type.Integer({ description: 'Null unless the operator shows publishers.' })),
  publisher: orNull(Type.String({ description: 'Null unless the operator shows publisher names.' })),
})
export type OwnConversion = Static<typeof OwnConversion>

export const OwnConversionList = shape('AdvertiserConversionList', {
  conversions: Type.Array(OwnConversion),
  next_cursor: NextCursor,
})

export const DecisionFile = shape('DecisionFile', {
  csv: Type.String({ minLength: 1, maxLength: 1_000_000, description: 'CSV with the columns transaction_id and status (approved, rejected or reversed), at most 5,000 rows.' }), // prettier-ignore
})
export const DecisionList = shape('DecisionList', {
  changes: Type.Integer({ description: 'Number of rows that change a conversion.' }),
  rows: Type.Array(
    Type.Object({
      line: Type.Integer(),
      transaction_id: Type.String(),
      wanted: orNull(oneOf(WANTED)),
      result: oneOf(DECISION_RESULTS),
      conversion_id: orNull(Type.String()),
      status: orNull(oneOf(STATUSES)),
      message: Type.String(),
    }),
  ),
})
