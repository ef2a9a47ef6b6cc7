// What the form of an offer holds: texts, as people type them. The server reads them as it reads a row of an import.
import { OFFER_FIELDS, type Schemas } from '../../lib/api-types.ts'
import { fromClockTime, toClockTime } from '../../lib/zoned-time.ts'

export type OfferData = Schemas['NetworkOffer']

export type GoalValues = {
  external_id: string
  name: string
  description: string
  payout: string
  revenue: string
  payout_percent: string
  revenue_percent: string
  is_optional: boolean
  is_repeatable: boolean
  translations: Translations
}

/** By language and field. */
export type Translations = Record<string, Record<string, string>>

type Fields = typeof OFFER_FIELDS
export type FieldName = keyof Fields
type ValueOf<Initial> = Initial extends string ? string : Initial extends boolean ? boolean : string[]

export type OfferValues = { [N in FieldName]: ValueOf<Fields[N]['initial']> } & {
  advertiser_id: string
  external_id: string
  goals: GoalValues[]
  translations: Translations
}

export const FIELD_NAMES = Object.keys(OFFER_FIELDS) as FieldName[]
export type Reader = 'operator' | 'advertiser'
/** What is revenue to the operator is spend to the advertiser. */
export const labelOf = (name: FieldName, reader: Reader): string =>
  reader === 'operator' ? OFFER_FIELDS[name].label : OFFER_FIELDS[name].label.replace('Revenue', 'Spend')

export const CAPS = FIELD_NAMES.flatMap((name) => {
  const { part, input, label } = OFFER_FIELDS[name]
  return part === 'caps' && input === 'number' ? [[name, label] as const] : []
})
export type CapName = { [N in FieldName]: Fields[N] extends { part: 'caps'; input: 'number' } ? N : never }[FieldName]

export const newGoal = (name = ''): GoalValues => ({
  external_id: '',
  name,
  description: '',
  payout: '',
  revenue: '',
  payout_percent: '',
  revenue_percent: '',
  is_optional: false,
  is_repeatable: false,
  translations: {},
})

const fieldsOf = (value: (name: FieldName) => unknown) =>
  Object.fromEntries(FIELD_NAMES.map((name) => [name, value(name)])) as Pick<OfferValues, FieldName>

export const NEW_OFFER: OfferValues = {
  ...fieldsOf((name) => OFFER_FIELDS[name].initial),
  advertiser_id: '',
  external_id: '',
  goals: [newGoal('Complete')],
  translations: {},
}

const textOf = (number: number | null = null) => (number === null ? '' : String(number))

type GoalData = OfferData['goals'][number]
/** What is known of an offer: an operator sees more of it than its advertiser. */
type KnownOffer = Pick<OfferData, 'external_id' | 'translations'> &
  Partial<Pick<OfferData, FieldName | 'advertiser_id'>> & {
    goals: (Omit<GoalData, 'goal_id' | 'payout' | 'payout_percent'> & {
      payout?: number | null
      payout_percent?: number | null
    })[]
  }

export function valuesOf(offer: KnownOffer): OfferValues {
  return {
    ...fieldsOf((name) => {
      const value = offer[name]
      if (value === undefined) return OFFER_FIELDS[name].initial
      if (OFFER_FIELDS[name].input === 'time') return toClockTime(value as string | null)
      return typeof value === 'number' || value === null ? textOf(value) : value
    }),
    advertiser_id: String(offer.advertiser_id ?? ''),
    external_id: offer.external_id,
    goals: offer.goals.map((goal) => ({
      external_id: goal.external_id ?? '',
      name: goal.name,
      description: goal.description,
      payout: textOf(goal.payout),
      revenue: textOf(goal.revenue),
      payout_percent: textOf(goal.payout_percent),
      revenue_percent: textOf(goal.revenue_percent),
      is_optional: goal.is_optional,
      is_repeatable: goal.is_repeatable,
      translations: goal.translations,
    })),
    translations: offer.translations,
  }
}

/** As the API takes it. */
export function bodyOf({ advertiser_id: _id, external_id: _externalId, starts_at, ends_at, ...values }: OfferValues) {
  return { ...values, starts_at: zonedTime(starts_at), ends_at: zonedTime(ends_at) }
}

/** What an advertiser may propose. */
export const isProposed = (name: FieldName) => 'proposed' in OFFER_FIELDS[name]

/** What an advertiser changed, or all of a new offer: payouts are not for it to say. */
export function proposalOf(values: OfferValues, initial: OfferValues | null) {
  const body = { ...bodyOf(values), goals: values.goals.map(({ payout: _p, payout_percent: _s, ...goal }) => goal) }
  const names = [...FIELD_NAMES.filter(isProposed), 'goals', 'translations'] as const
  const changed = names.filter((name) => initial === null || JSON.stringify(initial[name]) !== JSON.stringify(values[name])) // prettier-ignore
  return Object.fromEntries(changed.map((name) => [name, body[name]]))
}

/** What is no time stays as it is, for the server to refuse. */
const zonedTime = (text: string) => (text === '' ? null : (fromClockTime(text) ?? text))

/** What was typed, as far as it is a number. */
export const amountOf = (text: string) => {
  const amount = Number(text)
  return text.trim() === '' || Number.isNaN(amount) ? 0 : amount
}

export const payoutOf = (goals: GoalValues[]) => goals.reduce((sum, goal) => sum + amountOf(goal.payout), 0)
/** An empty revenue is the payout. */
export const isAbove = (goal: GoalValues | undefined): boolean =>
  goal !== undefined &&
  ((goal.revenue !== '' && amountOf(goal.payout) > amountOf(goal.revenue)) ||
    (goal.revenue_percent !== '' && amountOf(goal.payout_percent) > amountOf(goal.revenue_percent)))

export const revenueOf = (goals: GoalValues[]) =>
  goals.reduce((sum, goal) => sum + amountOf(goal.revenue === '' ? goal.payout : goal.revenue), 0)
