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
  search: Type.Optional(text(200, 'Part of the name or of the external_id, or the offer_id.')),
  status: Type.Optional(oneOf(STATUSES)),
  advertiser_id: Type.Optional(id),
  category: Type.Optional(oneOf(CATEGORIES)),
  sort: Type.Optional(
    oneOf(
      OFFER_SORTS,
      `Defaults to newest. By a figure: only offers with clicks or conversions in the last ${OFFER_DAYS} days, at most ${MAX_RANKED.toLocaleString('en-US')} of them.`,
    ),
  ),
  order: Type.Optional(oneOf(['desc', 'asc'], 'Of a figure. Defaults to desc: the highest first.')),
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
  state: oneOf(STATES, 'What users meet now: an active offer may not have begun, have ended or be full.'),
  updated_at: Time,
}

export const OfferPage = shape('NetworkOfferList', {
  offers: Type.Array(
    Type.Object({
      ...SUMMARY,
      figures: orNull(ReportFigures),
    }),
    { description: `\`figures\`: of the last ${OFFER_DAYS} days, today included; null unless asked for.` },
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
  missing: offerIds('IDs that no offer has.'),
})

const Used = shape('CapUsage', { clicks: Type.Integer(), conversions: Type.Integer(), payout: Type.Number(), revenue: Type.Number() }) // prettier-ignore
const Warnings = Type.Array(Type.String(), {
  description: 'What is allowed and probably a mistake, such as a payout above the revenue.',
})

export const ShownOffer = shape('NetworkOffer', {
  ...SUMMARY,
  ...RECORD,
  goals: Type.Array(Type.Object({ goal_id: id, ...shapesOf(GOAL_FIELDS) })),
  created_at: Time,
  behind_offer_id: orNull(Type.Integer({ description: 'The offer for the same product that is listed in its place.' })),
  waiting_proposal_id: orNull(Type.Integer({ description: 'A proposal of its advertiser that waits for a decision.' })),
  is_out_of_budget: Type.Boolean({ description: 'A budget of its advertiser is used up: the offer is closed.' }),
  usage: orNull(
    Type.Object(
      { full: oneOf(['no', 'today', 'for good']), today: Used, total: Used },
      { description: 'Null without caps: then nothing is counted.' },
    ),
  ),
  warnings: Warnings,
})
export type ShownOffer = Static<typeof ShownOffer>

const { advertiser: _advertiser, external_id: _externalId, ...GIVEN } = acceptedOf(FIELDS)

export const NewOffer = shape('NewOffer', {
  advertiser_id: id,
  external_id: text(300, "The advertiser's own id of it: imports know the offer by it. Never changed."),
  ...GIVEN,
})
export const ChangedOffer = shape('ChangedOffer', {
  ...GIVEN,
  seen_updated_at: Type.Optional(
    Type.String({ description: 'The updated_at that you saw: where the offer has changed since, nothing is changed.' }),
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
  content: Type.String({ maxLength: MAX_FILE_BYTES, description: 'The file: a JSON array, or CSV with a header.' }),
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
  progress: Type.Number({ description: 'From 0 to 1, of the step under way.' }),
  fault: orNull(Type.String({ description: 'Why it could not be read to its end.' })),
  result: Counts,
  changes: Type.Array(
    Type.Object({
      line: Type.Integer(),
      kind: oneOf(['created', 'updated']),
      external_id: Type.String(),
      name: Type.String(),
      fields: Type.Array(Type.String()),
    }),
    { description: 'What the file would make or change: the first ones.' },
  ),
  problems: Type.Array(Type.Object({ line: Type.Integer(), problem: Type.String() }), {
    description: 'The lines refused: the first ones.',
  }),
  warnings: Type.Array(Type.Object({ line: Type.Integer(), warning: Type.String() }), {
    description: 'Lines that are taken and probably wrong, such as a payout above the revenue: the first ones.',
  }),
})
export type ImportJob = Static<typeof ImportJob>
