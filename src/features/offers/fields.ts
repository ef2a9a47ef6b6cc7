// The one description of an offer and its goals: their fields, as files, the management API and the dashboard name them.
// What an import reads, which columns are read and written, the schemas, the history's differences, what publishers see,
// and the form come from it. A new field to show is a column, an entry, and a line in docs/api.md.
import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { Goals, Offers } from '../../db/tables.ts'
import { OVER_CAP } from './caps.ts'
import { choice, choices, countCap, countries, duration, factor, flag, type Kind, lines, payoutCap, percent, plain, position, requiredText, text, textOrNull, time, translations, url, usd } from './field-kinds.ts' // prettier-ignore
import { type FieldReader, MAX_NAME, MAX_TEXT } from './field-reader.ts'
import { readProduct } from './products/product.ts'
import { LANGUAGES } from './translations.ts'
import { CATEGORIES, CONVERSION_TYPES, DESTINATION_MACROS, DIFFICULTIES, PLATFORMS, STATUSES } from './choices.ts'

export type Field = Kind & {
  label: string
  /** What its name and label do not say. */
  about?: string
  /** Where it is recorded, when it is not called the same there. */
  column?: string
  /** Publishers see it: always, or of offers that have it. */
  shown?: 'always' | 'if set'
  /** Its advertiser sees it, and may propose another value. The rest is the operator's: payouts, terms, ranking. */
  proposed?: true
  /** Where it stands in the form. */
  part?: 'look' | 'target' | 'terms' | 'caps' | 'ranking'
  hint?: string
  placeholder?: string
  /** What the form begins with, where that is not the default. */
  initial?: string
  /** Of its choices. */
  labels?: readonly string[]
}

/** `external_id` stays where it is not given. */
export const GOAL_FIELDS = {
  external_id: { proposed: true,
    ...textOrNull((from, name) => (from.isGiven(name) ? from.text(name, { max: MAX_NAME }) || null : undefined)),
    label: 'Goal external ID', about: "The advertiser's own ID for the goal, used by imports and confirmations." },
  name: { proposed: true, ...requiredText, label: 'Goal name', about: 'What the user does.' },
  description: { proposed: true, ...text(), label: 'Goal description' },
  payout: { ...usd, column: 'payout_micros',
    label: 'Payout, USD', about: 'What the publisher earns.' },
  revenue: { proposed: true, ...usd, column: 'revenue_micros',
    label: 'Revenue, USD', about: 'What the advertiser pays. Defaults to the payout.' },
  is_optional: { proposed: true, ...flag(false), label: 'Optional', about: 'Whether the offer is complete without this goal.' },
  is_repeatable: { proposed: true, ...flag(false), label: 'Repeatable', about: 'Whether a user can complete the goal more than once.' },
  payout_percent: { ...percent, column: 'payout_ppm',
    label: 'Payout, %', about: 'Payout as a percentage of the amount that the advertiser confirms.' },
  revenue_percent: { proposed: true, ...percent, column: 'revenue_ppm',
    label: 'Revenue, %', about: 'Revenue as a percentage of the confirmed amount. Defaults to `payout_percent`.' },
  translations: { proposed: true, ...translations({ name: MAX_NAME, description: MAX_TEXT }),
    label: 'Goal translations', about: 'Texts of the goal in other languages.' },
} as const satisfies Record<string, Field> // prettier-ignore

/** In the order in which publishers and the form have them. */
export const FIELDS = {
  external_id: { ...requiredText,
    label: 'External ID', about: "The advertiser's own ID for the offer, used by imports." },
  advertiser: { ...requiredText,
    label: 'Advertiser', about: 'Name of an existing advertiser.' },
  name: { proposed: true, ...requiredText, shown: 'always', part: 'look',
    label: 'Name' },
  description: { proposed: true, ...lines, shown: 'always', part: 'look',
    label: 'Description', about: 'What the user does.' },
  category: { proposed: true, ...choice(CATEGORIES), shown: 'always', part: 'look', initial: 'app', labels: ['Survey', 'App', 'Game', 'Video'],
    label: 'Category' },
  payout: { ...usd, column: 'payout_micros',
    label: 'Payout, USD', about: 'Sum over the goals. Required without `goals`.' },
  revenue: { ...usd, column: 'revenue_micros',
    label: 'Revenue, USD', about: 'What the advertiser pays. Defaults to `payout`.' },
  destination_url: { proposed: true, ...url(DESTINATION_MACROS), part: 'target', placeholder: 'https://advertiser.example/?click={click_id}',
    label: 'Destination', hint: 'The URL users are sent to. {click_id} is required: without it, conversions can’t be confirmed.',
    about: 'URL that users are sent to, with macros. Without `{click_id}`, conversions cannot be confirmed.' },
  image_url: { proposed: true,
    ...textOrNull((from, name) => from.url(name, { optional: true, local: true })), shown: 'always', part: 'look',
    label: 'Picture', placeholder: 'https://…', about: 'URL of the picture, or a path on this server.' },
  countries: { proposed: true, ...countries, shown: 'always', part: 'target',
    label: 'Countries', hint: 'Leave empty for all countries.', about: 'Countries that the offer runs in. Empty for all.' },
  platforms: { proposed: true, ...choices(PLATFORMS), shown: 'always', part: 'target', labels: ['Web', 'Android', 'iOS'],
    label: 'Platforms' },
  difficulty: { proposed: true, ...choice(DIFFICULTIES, 'easy'), shown: 'always', part: 'look', labels: ['Easy', 'Medium', 'Hard'],
    label: 'Difficulty' },
  time_estimate: { proposed: true, ...text(MAX_NAME), shown: 'always', part: 'look',
    label: 'Time estimate', placeholder: '5-10 minutes', about: 'How long the offer takes, such as 5-10 minutes.' },
  language: { proposed: true, ...textOrNull((from, name) => from.oneOf(name, LANGUAGES, '', 'an ISO 639-1 code such as en') || null),
    shown: 'if set', part: 'look', rule: 'an ISO 639-1 code such as `en`',
    label: 'Language', placeholder: 'en', about: 'Language that users need.' },
  product: { ...textOrNull((from, name) => readProduct(from.text(name, { max: MAX_NAME }))), part: 'target', placeholder: 'android:com.example.game',
    label: 'Product', hint: 'What the offer advertises: an app store link, or any name. If several offers are for the same product, only one is listed.',
    about: 'Advertised product: a name, or an app store link. Of several offers for one product, only one is listed.' },
  requirements: { proposed: true, ...lines, shown: 'always', part: 'look',
    label: 'Requirements', about: 'Who can complete the offer, and under which conditions.' },
  translations: { proposed: true, ...translations({ name: MAX_NAME, description: MAX_TEXT, requirements: MAX_TEXT, time_estimate: MAX_NAME }),
    label: 'Translations', about: 'Texts in other languages, for walls and lockers. Missing translations fall back to the original.' },
  payment_required: { proposed: true, ...flag(false), shown: 'always', part: 'look',
    label: 'Payment required' },
  conversion_type: { proposed: true, ...choice(CONVERSION_TYPES, 'cpa'), shown: 'always', part: 'target',
    labels: ['Action (CPA)', 'Install (CPI)', 'Event (CPE)', 'Lead (CPL)', 'Survey'],
    label: 'Conversion type', about: 'What the advertiser pays for.' },
  goals: {
    proposed: true, input: 'goals', shape: plain<Shown<typeof GOAL_FIELDS>[]>({ type: 'array' }), read: (from, name) => from.list(name), show: showGoals,
    label: 'Goals', about: 'Goals with unique names, at least one of them not optional. In CSV as JSON text.',
    rule: `\`[{ ${Object.keys(GOAL_FIELDS).join(', ')} }]\`` },
  status: { ...choice(STATUSES, 'active'), label: 'Status', about: 'Paused offers are not listed.' },
  starts_at: { proposed: true, ...time, part: 'target', label: 'Starts', about: 'The offer is not listed before this time.' },
  ends_at: { proposed: true, ...time, part: 'target', label: 'Ends', about: 'The offer is not listed from this time on.' },
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
    about: 'Whether users can complete the offer again after a reversal, unless it was for fraud.' },
  daily_click_cap: { proposed: true, ...countCap, part: 'caps', label: 'Clicks per day', about: 'Maximum clicks per UTC day.' },
  total_click_cap: { proposed: true, ...countCap, part: 'caps', label: 'Clicks in total', about: 'Maximum clicks since the first cap was set.' },
  daily_conversion_cap: { proposed: true, ...countCap, part: 'caps', label: 'Conversions per day', about: 'Maximum pending and approved conversions per UTC day.' },
  total_conversion_cap: { proposed: true, ...countCap, part: 'caps', label: 'Conversions in total', about: 'Maximum pending and approved conversions.' },
  daily_payout_cap: { ...payoutCap, column: 'daily_payout_cap_micros', part: 'caps',
    label: 'Payout per day, USD', about: 'Maximum payout of pending and approved conversions per UTC day.' },
  total_payout_cap: { ...payoutCap, column: 'total_payout_cap_micros', part: 'caps',
    label: 'Payout in total, USD', about: 'Maximum payout of pending and approved conversions.' },
  daily_revenue_cap: { proposed: true, ...payoutCap, column: 'daily_revenue_cap_micros', part: 'caps',
    label: 'Revenue per day, USD', about: 'Maximum revenue of pending and approved conversions per UTC day.' },
  total_revenue_cap: { proposed: true, ...payoutCap, column: 'total_revenue_cap_micros', part: 'caps',
    label: 'Revenue in total, USD', about: 'Maximum revenue of pending and approved conversions.' },
  over_cap: { ...choice(OVER_CAP, 'honour'), part: 'caps', labels: ['Pay the conversion', 'Reject the conversion'],
    label: 'If a cap is reached between click and conversion',
    about: 'What happens to conversions above a cap if the offer was open at the click.' },
  boost: { ...factor, column: 'boost_percent', part: 'ranking', initial: '1',
    label: 'Boost', hint: 'Multiplies the expected earnings per click: 2 doubles them, 0.5 halves them.',
    about: 'Factor on the expected earnings per click in recommended lists.' },
  pin_position: { ...position, part: 'ranking',
    label: 'Pinned position', placeholder: 'Not pinned', about: 'Fixed position in recommended lists.' },
  is_excluded: { ...flag(false), part: 'ranking',
    label: 'Exclude from recommendations', hint: 'Listed last where offers are recommended. Other orders stay the same.',
    about: 'Whether the offer comes last in recommended lists.' },
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
export const SHOWN_FIELDS = Object.fromEntries(
  Object.entries<Field>(FIELDS).filter(([, { shown }]) => shown !== undefined),
) as object as Pick<typeof FIELDS, ShownName>
type ProposedOf<F> = { [N in keyof F]: F[N] extends { proposed: true } ? N : never }[keyof F]
export type ProposedName = ProposedOf<typeof FIELDS>
const namesOfProposed = <F extends Fields>(fields: F) =>
  Object.keys(fields).filter((name) => fields[name]?.proposed) as ProposedOf<F>[]
/** What an advertiser sees of its offers and their goals, and may propose to change. */
export const PROPOSED_NAMES = namesOfProposed(FIELDS)
export const PROPOSED_GOAL_NAMES = namesOfProposed(GOAL_FIELDS)
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
  const shapes = Object.entries(fields).map(([name, { shape, about }]) => [
    name,
    about === undefined ? shape : { ...shape, description: about },
  ])
  return Object.fromEntries(shapes) as { [N in keyof F]: F[N]['shape'] }
}
