// The shapes of the operator's offers: as an import takes them, in dollars and durations.
import { type Static, type TSchema, Type } from 'typebox'
import { NextCursor, ID_PAGE_QUERY } from '../../http/paging.ts'
import { CATEGORIES, CONVERSION_TYPES, DIFFICULTIES, PLATFORMS, STATUSES } from '../../features/offers/schema.ts'
import { id, oneOf, orNull, text, Time } from '../shapes.ts'
import { shape } from '../../http/shape.ts'

const OVER_CAP = ['honour', 'reject'] as const
export const STATES = ['active', 'paused', 'scheduled', 'ended', 'full'] as const

export const OfferParams = Type.Object({ offer_id: id })

export const OfferSearch = Type.Object({
  search: Type.Optional(text(200, 'Part of the name or of the external_id, or the offer_id.')),
  status: Type.Optional(oneOf(STATUSES)),
  advertiser_id: Type.Optional(id),
  category: Type.Optional(oneOf(CATEGORIES)),
  ...ID_PAGE_QUERY,
})

const usd = Type.Number({ description: 'US dollars.' })

const SUMMARY = {
  offer_id: id,
  advertiser_id: id,
  advertiser: Type.String(),
  external_id: Type.String({ description: "The advertiser's own id of it." }),
  name: Type.String(),
  category: oneOf(CATEGORIES),
  payout: usd,
  revenue: usd,
  countries: Type.Array(Type.String(), { description: 'Empty: everywhere.' }),
  platforms: Type.Array(oneOf(PLATFORMS)),
  image_url: orNull(Type.String()),
  status: oneOf(STATUSES),
  state: Type.Unsafe<(typeof STATES)[number]>({
    type: 'string',
    enum: [...STATES],
    description: 'What users meet now: an active offer may not have begun, have ended or be full.',
  }),
  updated_at: Time,
}

export const OfferPage = shape('NetworkOfferList', {
  offers: Type.Array(Type.Object(SUMMARY)),
  next_cursor: NextCursor,
})

const cap = orNull(Type.Number())
const Used = shape('CapUsage', { clicks: Type.Integer(), conversions: Type.Integer(), payout: usd })

const GOAL = {
  external_id: orNull(
    Type.String({ description: "The advertiser's own id of it: imports and confirmations know it by that." }),
  ),
  name: Type.String(),
  description: Type.String(),
  payout: usd,
  revenue: usd,
  is_optional: Type.Boolean(),
  is_repeatable: Type.Boolean(),
  payout_percent: orNull(Type.Number({ description: 'Of the amount that the advertiser confirms.' })),
  revenue_percent: orNull(Type.Number()),
}

const Warnings = Type.Array(Type.String(), {
  description: 'What is allowed and probably a mistake, such as a payout above the revenue.',
})

export const ShownOffer = shape('NetworkOffer', {
  ...SUMMARY,
  description: Type.String(),
  destination_url: Type.String(),
  difficulty: oneOf(DIFFICULTIES),
  time_estimate: Type.String(),
  requirements: Type.String(),
  payment_required: Type.Boolean(),
  conversion_type: oneOf(CONVERSION_TYPES),
  goals: Type.Array(Type.Object({ goal_id: id, ...GOAL })),
  starts_at: orNull(Time),
  ends_at: orNull(Time),
  attribution_window: Type.String({ description: 'How long a click is good for, such as 30d.' }),
  hold: Type.String({ description: 'How long a confirmed conversion waits, such as 7d.' }),
  confirm_within: Type.String({ description: 'A report that its advertiser does not confirm for so long expires.' }),
  redo_after_reversal: Type.Boolean({
    description: 'Whether a user whose completion was reversed, but not for fraud, may complete it again.',
  }),
  over_cap: oneOf(OVER_CAP),
  daily_click_cap: cap,
  total_click_cap: cap,
  daily_conversion_cap: cap,
  total_conversion_cap: cap,
  daily_payout_cap: cap,
  total_payout_cap: cap,
  created_at: Time,
  usage: orNull(
    Type.Object(
      { full: oneOf(['no', 'today', 'for good']), today: Used, total: Used },
      { description: 'Null without caps: then nothing is counted.' },
    ),
  ),
  warnings: Warnings,
})
export type ShownOffer = Static<typeof ShownOffer>

// The body is parsed like a row of an import (features/offers/import-record.ts), which does the validation: these
// schemas only distinguish text, numbers and lists.
const given = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema))
const word = given(Type.String())
const amount = Type.Optional(Type.Union([Type.Number(), Type.String(), Type.Null()]))
const flag = given(Type.Boolean())

const FIELDS = {
  name: word,
  description: word,
  category: Type.Optional(Type.String({ description: CATEGORIES.join(', ') })),
  payout: amount,
  revenue: amount,
  countries: given(Type.Array(Type.String())),
  platforms: given(Type.Array(Type.String())),
  destination_url: word,
  image_url: word,
  difficulty: word,
  time_estimate: word,
  requirements: word,
  payment_required: flag,
  conversion_type: word,
  goals: given(
    Type.Array(
      Type.Object({
        external_id: word,
        name: word,
        description: word,
        payout: amount,
        revenue: amount,
        is_optional: flag,
        is_repeatable: flag,
        payout_percent: amount,
        revenue_percent: amount,
      }),
    ),
  ),
  status: word,
  starts_at: word,
  ends_at: word,
  attribution_window: word,
  hold: word,
  confirm_within: word,
  redo_after_reversal: flag,
  over_cap: word,
  daily_click_cap: amount,
  total_click_cap: amount,
  daily_conversion_cap: amount,
  total_conversion_cap: amount,
  daily_payout_cap: amount,
  total_payout_cap: amount,
}

export const NewOffer = shape('NewOffer', {
  advertiser_id: id,
  external_id: text(300, "The advertiser's own id of it: imports know the offer by it. Never changed."),
  ...FIELDS,
})
export const ChangedOffer = shape('ChangedOffer', {
  ...FIELDS,
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
