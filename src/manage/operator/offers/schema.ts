// The shapes of the operator's offers: as an import takes them, in dollars and durations.
import { type Static, Type } from 'typebox'
import { NextCursor, ID_PAGE_QUERY } from '../../../http/paging.ts'
import { FIELDS, GOAL_FIELDS, shapesOf } from '../../../features/offers/fields.ts'
import { CATEGORIES, STATUSES } from '../../../features/offers/choices.ts'
import { METRIC_NAMES } from '../../../features/reports/metrics.ts'
import { MAX_RANKED, OFFER_DAYS } from '../../../features/reports/offer-figures.ts'
import { acceptedOf } from '../../offer-shapes.ts'
import { STATES } from '../../offer-record.ts'
import { id, oneOf, orNull, text, Time } from '../../shapes.ts'
import { shape } from '../../../http/shape.ts'
import { ReportFigures } from '../reports/schema.ts'

/** What the operator's offers can be sorted by. */
export const OFFER_SORTS = ['newest', ...METRIC_NAMES] as const

export const OfferParams = Type.Object({ offer_id: id })

export const OfferSearch = Type.Object({
  search: Type.Optional(text(200, 'Part of the name or external ID, or the offer ID.')),
  status: Type.Optional(oneOf(STATUSES)),
  advertiser_id: Type.Optional(id),
  category: Type.Optional(oneOf(CATEGORIES)),
  sort: Type.Optional(
    oneOf(
      OFFER_SORTS,
      `Defaults to newest. By a figure: only offers with clicks or conversions in the last ${OFFER_DAYS} days, at most ${MAX_RANKED.toLocaleString('en-US')} of them.`,
    ),
  ),
  order: Type.Optional(oneOf(['desc', 'asc'], 'Sort order for figures. Defaults to desc: highest first.')),
  with: Type.Optional(oneOf(['figures'], `Adds the figures of the last ${OFFER_DAYS} days.`)),
  ...ID_PAGE_QUERY,
})

const RECORD = shapesOf(FIELDS)
const { advertiser, external_id, name, category, payout, revenue, countries, platforms, image_url, status } = RECORD

const SUMMARY = {
  offer_id: id,
  advertiser_id: id,
  advertiser,
  external_id,
  name,
  category,
  payout,
  revenue,
  countries,
  platforms,
  image_url,
  status,
  state: oneOf(STATES, 'Current state for users: an active offer may not have started yet, have ended or be full.'),
  updated_at: Time,
}

export const OfferPage = shape('NetworkOfferList', {
  offers: Type.Array(
    Type.Object({
      ...SUMMARY,
      figures: orNull(ReportFigures),
    }),
    { description: `\`figures\` cover the last ${OFFER_DAYS} days, today included; null unless requested.` },
  ),
  next_cursor: NextCursor,
})

const MAX_CHANGED = 1_000
const offerIds = (description: string) => Type.Array(id, { description })
export const NewStatus = shape('NewOfferStatus', {
  offer_ids: Type.Array(id, { minItems: 1, maxItems: MAX_CHANGED }),
  status: oneOf(STATUSES),
})
export const StatusChange = shape('OfferStatusChange', {
  changed: offerIds('Offers that were paused or resumed.'),
  unchanged: offerIds('Offers that had this status already.'),
  missing: offerIds('IDs without an offer.'),
})

const Used = shape('CapUsage', { clicks: Type.Integer(), conversions: Type.Integer(), payout: Type.Number(), revenue: Type.Number() }) // prettier-ignore
const Warnings = Type.Array(Type.String(), {
  description: 'Settings that are allowed but probably a mistake, such as a payout above the revenue.',
})

export const ShownOffer = shape('NetworkOffer', {
  ...SUMMARY,
  ...RECORD,
  goals: Type.Array(Type.Object({ goal_id: id, ...shapesOf(GOAL_FIELDS) })),
  created_at: Time,
  behind_offer_id: orNull(Type.Integer({ description: 'Offer for the same product that is listed instead.' })),
  waiting_proposal_id: orNull(Type.Integer({ description: 'Proposed change that awaits a decision.' })),
  is_out_of_budget: Type.Boolean({ description: 'Whether the offer is closed because a budget is used up.' }),
  usage: orNull(
    Type.Object(
      { full: oneOf(['no', 'today', 'for good']), today: Used, total: Used },
      { description: 'Usage of the caps; null without caps.' },
    ),
  ),
  warnings: Warnings,
})
export type ShownOffer = Static<typeof ShownOffer>

const { advertiser: _advertiser, external_id: _externalId, ...GIVEN } = acceptedOf(FIELDS)

export const NewOffer = shape('NewOffer', {
  advertiser_id: id,
  external_id: text(300, "The advertiser's own ID for the offer, used by imports. Cannot be changed later."),
  ...GIVEN,
})
export const ChangedOffer = shape('ChangedOffer', {
  ...GIVEN,
  seen_updated_at: Type.Optional(
    Type.String({ description: 'The `updated_at` you read. If the offer has changed since, nothing is saved (409).' }),
  ),
})
export const CopiedOffer = shape('CopiedOffer', { external_id: text(300), name: Type.Optional(text(300)) })
export const MadeOffer = shape('CreatedOffer', { offer_id: id, warnings: Warnings })

export const HistoryQuery = Type.Object(ID_PAGE_QUERY)
export const OfferHistory = shape('OfferHistory', {
  changes: Type.Array(
    Type.Object({
      audit_id: id,
      created_at: Time,
      who: Type.String(),
      action: Type.String(),
      fields: Type.Array(Type.Object({ field: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
    }),
  ),
  next_cursor: NextCursor,
})

export const MAX_FILE_BYTES = 20 * 1024 * 1024
export const NewImport = shape('NewOfferImport', {
  file_name: text(255),
  format: oneOf(['json', 'csv']),
  content: Type.String({
    maxLength: MAX_FILE_BYTES,
    description: 'Content of the file: a JSON array, or CSV with a header.',
  }),
})
export const ImportParams = Type.Object({ import_id: Type.String({ maxLength: 36 }) })

const Counts = shape('OfferImportCounts', {
  rows: Type.Integer(),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
})
export const ImportJob = shape('OfferImport', {
  import_id: Type.String(),
  file_name: Type.String(),
  state: oneOf(['checking', 'checked', 'running', 'done', 'failed']),
  progress: Type.Number({ description: 'Progress of the current step, from 0 to 1.' }),
  fault: orNull(Type.String({ description: 'Why the file could not be read to the end.' })),
  result: Counts,
  changes: Type.Array(
    Type.Object({
      line: Type.Integer(),
      kind: oneOf(['created', 'updated']),
      external_id: Type.String(),
      name: Type.String(),
      fields: Type.Array(Type.String()),
    }),
    { description: 'First offers that the import creates or changes.' },
  ),
  problems: Type.Array(Type.Object({ line: Type.Integer(), problem: Type.String() }), {
    description: 'First lines that are refused.',
  }),
  warnings: Type.Array(Type.Object({ line: Type.Integer(), warning: Type.String() }), {
    description: 'First lines that are accepted but probably wrong, such as a payout above the revenue.',
  }),
})
export type ImportJob = Static<typeof ImportJob>
