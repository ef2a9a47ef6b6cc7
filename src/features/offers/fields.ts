// The one description of an offer and its goals: their fields, as files, the management API and the dashboard name them.
// What an import reads, which columns are read and written, the schemas, the history's differences, what publishers see,
// and the form come from it. A new field to show is a column, an entry, and a line in docs/api.md.
import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { Goals, Offers } from '../../db/tables.ts'
import { OVER_CAP } from './caps.ts'
import { choice, choices, countCap, countries, duration, flag, type Kind, lines, payoutCap, percent, plain, requiredText, text, textOrNull, time, url, usd } from './field-kinds.ts' // prettier-ignore
import { type FieldReader, MAX_NAME } from './field-reader.ts'
import { CATEGORIES, CONVERSION_TYPES, DESTINATION_MACROS, DIFFICULTIES, PLATFORMS, STATUSES } from './choices.ts'

export type Field = Kind & {
  label: string
  about: string
  /** Where it is recorded, when it is not called the same there. */
  column?: string
  /** Publishers see it: always, or of offers that have it. */
  shown?: 'always' | 'if set'
  /** Where it stands in the form. */
  part?: 'look' | 'target' | 'terms' | 'caps'
  hint?: string
  placeholder?: string
  /** What the form begins with, where that is not the default. */
  initial?: string
  /** Of its choices. */
  labels?: readonly string[]
}

/** `external_id` stays where it is not given. */
export const GOAL_FIELDS = {
  external_id: {
    ...textOrNull((from, name) => (from.isGiven(name) ? from.text(name, { max: MAX_NAME }) || null : undefined)),
    label: 'Goal external ID', about: "The advertiser's own ID of it: imports and confirmations know it by that." },
  name: { ...requiredText, label: 'Goal name', about: 'What the user does.' },
  description: { ...text(), label: 'Goal description', about: 'More about it.' },
  payout: { ...usd, column: 'payout_micros',
    label: 'Payout, USD', about: 'What the publisher earns.' },
  revenue: { ...usd, column: 'revenue_micros',
    label: 'Revenue, USD', about: 'What the advertiser pays; without it the same as the payout.' },
  is_optional: { ...flag(false), label: 'Optional', about: 'The offer is complete without it.' },
  is_repeatable: { ...flag(false), label: 'Repeatable', about: 'The same user can complete it again and again.' },
  payout_percent: { ...percent, column: 'payout_ppm',
    label: 'Payout, %', about: 'Of the amount that the advertiser confirms.' },
  revenue_percent: { ...percent, column: 'revenue_ppm',
    label: 'Revenue, %', about: 'Of that amount; without it the same as `payout_percent`.' },
} as const satisfies Record<string, Field> // prettier-ignore

/** The codes of ISO 639-1. */
const LANGUAGES = `
  aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
  eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja
  jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb
  nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq
  sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
`.trim().split(/\s+/) // prettier-ignore

/** In the order in which publishers and the form have them. */
export const FIELDS = {
  external_id: { ...requiredText,
    label: 'External ID', about: "The advertiser's own ID of the offer: imports know it by that." },
  advertiser: { ...requiredText,
    label: 'Advertiser', about: 'The name of an advertiser that exists.' },
  name: { ...requiredText, shown: 'always', part: 'look',
    label: 'Name', about: 'The title.' },
  description: { ...lines, shown: 'always', part: 'look',
    label: 'Description', about: 'What the user does.' },
  category: { ...choice(CATEGORIES), shown: 'always', part: 'look', initial: 'app',
    label: 'Category', about: 'What kind of offer it is.' },
  payout: { ...usd, column: 'payout_micros',
    label: 'Payout, USD', about: 'The sum over the goals; required without `goals`.' },
  revenue: { ...usd, column: 'revenue_micros',
    label: 'Revenue, USD', about: 'What the advertiser pays; without it the same as `payout`.' },
  destination_url: { ...url(DESTINATION_MACROS), part: 'target', placeholder: 'https://advertiser.example/?click={click_id}',
    label: 'Destination', hint: 'The URL users are sent to. {click_id} is required, or the advertiser can’t confirm conversions.',
    about: 'Where users are sent. Macros are filled in at the click; without `{click_id}` conversions cannot be confirmed.' },
  image_url: {
    ...textOrNull((from, name) => from.url(name, { optional: true, local: true })), shown: 'always', part: 'look',
    label: 'Picture', placeholder: 'https://… or upload one', about: 'A URL, or a path on this server.' },
  countries: { ...countries, shown: 'always', part: 'target',
    label: 'Countries', hint: 'Leave empty for all countries.', about: 'Where it runs. Empty: everywhere.' },
  platforms: { ...choices(PLATFORMS), shown: 'always', part: 'target',
    label: 'Platforms', about: 'What it runs on.' },
  difficulty: { ...choice(DIFFICULTIES, 'easy'), shown: 'always', part: 'look',
    label: 'Difficulty', about: 'How hard it is.' },
  time_estimate: { ...text(MAX_NAME), shown: 'always', part: 'look',
    label: 'Time estimate', placeholder: '5-10 minutes', about: 'How long it takes, in words.' },
  language: { ...textOrNull((from, name) => from.oneOf(name, LANGUAGES, '', 'an ISO 639-1 code such as en') || null),
    shown: 'if set', part: 'look', rule: 'an ISO 639-1 code such as `en`',
    label: 'Language', placeholder: 'en', about: 'The language that users need.' },
  requirements: { ...lines, shown: 'always', part: 'look',
    label: 'Requirements', about: 'Who can complete it, and under which conditions.' },
  payment_required: { ...flag(false), shown: 'always', part: 'look',
    label: 'Payment required', about: 'The user must make a payment to complete the offer.' },
  conversion_type: { ...choice(CONVERSION_TYPES, 'cpa'), shown: 'always', part: 'target',
    labels: ['Action (CPA)', 'Install (CPI)', 'Event (CPE)', 'Lead (CPL)', 'Survey'],
    label: 'Conversion type', about: 'What the advertiser pays for.' },
  goals: {
    input: 'goals', shape: plain<Shown<typeof GOAL_FIELDS>[]>({ type: 'array' }), read: (from, name) => from.list(name), show: showGoals,
    label: 'Goals', about: 'What is to be done and what it pays. Names are unique within the offer, and one goal at least is not optional. In CSV as JSON text.',
    rule: `\`[{ ${Object.keys(GOAL_FIELDS).join(', ')} }]\`` },
  status: { ...choice(STATUSES, 'active'), label: 'Status', about: 'A paused offer is not listed.' },
  starts_at: { ...time, part: 'target', label: 'Starts', about: 'Not listed before.' },
  ends_at: { ...time, part: 'target', label: 'Ends', about: 'Not listed from then on.' },
  attribution_window: { ...duration('60s', '365d', '30d'), column: 'attribution_s', part: 'terms',
    label: 'Attribution window', hint: 'Such as 90s, 15m, 24h or 30d.', about: 'How long after the click a conversion counts.' },
  hold: { ...duration('0s', '365d', '0s'), column: 'hold_s', part: 'terms',
    label: 'Hold period', hint: 'Before a confirmed conversion is approved: 0s, 24h, 7d.',
    about: 'How long a confirmed conversion stays pending.' },
  confirm_within: { ...duration('1h', '365d', '30d'), column: 'confirm_within_s', part: 'terms',
    label: 'Reports expire after', hint: 'Unless the advertiser confirms: 7d, 30d.',
    about: "How long the advertiser has to confirm a publisher's report before it is rejected as `unconfirmed`." },
  redo_after_reversal: { ...flag(true), part: 'terms',
    label: 'Allow a new completion after a reversal', hint: 'Never after a reversal for fraud.',
    about: 'Whether a user whose completion was reversed, but not for fraud, may complete it again.' },
  daily_click_cap: { ...countCap, part: 'caps', label: 'Clicks per day', about: 'Days are those of UTC.' },
  total_click_cap: { ...countCap, part: 'caps', label: 'Clicks in total', about: 'Counted since the first cap was set.' },
  daily_conversion_cap: { ...countCap, part: 'caps', label: 'Conversions per day', about: 'Pending and approved ones.' },
  total_conversion_cap: { ...countCap, part: 'caps', label: 'Conversions in total', about: 'Pending and approved ones.' },
  daily_payout_cap: { ...payoutCap, column: 'daily_payout_cap_micros', part: 'caps',
    label: 'Payout per day, USD', about: 'For pending and approved conversions.' },
  total_payout_cap: { ...payoutCap, column: 'total_payout_cap_micros', part: 'caps',
    label: 'Payout in total, USD', about: 'For pending and approved conversions.' },
  over_cap: { ...choice(OVER_CAP, 'honour'), part: 'caps', labels: ['Pay the conversion', 'Reject the conversion'],
    label: 'If a cap is reached between click and conversion',
    about: 'What to do with a conversion above the caps whose click was made while the offer was open.' },
} as const satisfies Record<string, Field> // prettier-ignore

export type Fields = Record<string, Field>
/** As an import would take it. */
type Shown<F extends Fields> = { [N in keyof F]: Static<F[N]['shape']> }
type ColumnOf<F> = { [N in keyof F]: F[N] extends { column: infer C } ? C : N }[keyof F]
export type FieldName = keyof typeof FIELDS
export type RecordedGoal = Selectable<Goals>

/** A goal to write. */
export type NewGoal = Pick<RecordedGoal, Exclude<ColumnOf<typeof GOAL_FIELDS>, 'external_id'>> & {
  external_id?: string | null | undefined
}
/** An offer to write: its columns, its advertiser's name and its goals. */
export type NewOffer = Pick<Selectable<Offers>, ColumnOf<typeof FIELDS> & keyof Offers> & {
  advertiser: string
  goals: NewGoal[]
}

const columnsOf = (fields: Fields) => Object.entries(fields).map(([name, { column = name }]) => column)
export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[]
type ShownName = { [N in FieldName]: (typeof FIELDS)[N] extends { shown: string } ? N : never }[FieldName]
/** What publishers see of an offer as it is. */
export const SHOWN_FIELDS = Object.fromEntries(Object.entries(FIELDS).filter(([, field]) => 'shown' in field)) as Pick<
  typeof FIELDS,
  ShownName
>
export const GOAL_COLUMNS = columnsOf(GOAL_FIELDS) as ColumnOf<typeof GOAL_FIELDS>[]
/** Without what identifies an offer. */
export const OFFER_COLUMNS = columnsOf(FIELDS).filter((name) => !['external_id', 'advertiser', 'goals'].includes(name))

/** What is given, by column. Files have many rows: no list is made of the fields here. */
export function readFields(fields: Fields, from: FieldReader): object {
  from.refuseUnknown(fields)
  const read: Record<string, unknown> = {}
  for (const name in fields) {
    const field = fields[name] as Field
    read[field.column ?? name] = field.read(from, name)
  }
  return read
}

/** What is recorded, as an import would take it. */
export function showFields<F extends Fields>(fields: F, row: object) {
  const shown = Object.entries(fields).map(([name, { column = name, show }]) => {
    const stored = (row as Record<string, unknown>)[column]
    return [name, show === undefined ? stored : show(stored as never)]
  })
  return Object.fromEntries(shown) as Shown<F>
}

function showGoals(goals: RecordedGoal[]) {
  return goals.filter((goal) => !goal.is_retired).map((goal) => showFields(GOAL_FIELDS, goal))
}

/** The shapes of what is shown. */
export function shapesOf<F extends Fields>(fields: F) {
  const shapes = Object.entries(fields).map(([name, { shape, about }]) => [name, { ...shape, description: about }])
  return Object.fromEntries(shapes) as { [N in keyof F]: F[N]['shape'] }
}
