// What the form of an offer holds: texts, as people type them. The server reads them as it reads a row of an import.
import type { Schemas } from '../../lib/api-types.ts'

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
}

export const CAPS = [
  ['daily_click_cap', 'Clicks per day'],
  ['total_click_cap', 'Clicks in total'],
  ['daily_conversion_cap', 'Conversions per day'],
  ['total_conversion_cap', 'Conversions in total'],
  ['daily_payout_cap', 'Payout per day, USD'],
  ['total_payout_cap', 'Payout in total, USD'],
] as const
export type CapName = (typeof CAPS)[number][0]

export type OfferValues = Record<CapName, string> & {
  advertiser_id: string
  external_id: string
  name: string
  description: string
  category: string
  countries: string[]
  platforms: string[]
  destination_url: string
  image_url: string
  difficulty: string
  time_estimate: string
  requirements: string
  payment_required: boolean
  conversion_type: string
  goals: GoalValues[]
  starts_at: string
  ends_at: string
  attribution_window: string
  hold: string
  confirm_within: string
  redo_after_reversal: boolean
  over_cap: string
}

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
})

export const NEW_OFFER: OfferValues = {
  advertiser_id: '',
  external_id: '',
  name: '',
  description: '',
  category: 'app',
  countries: [],
  platforms: ['web', 'android', 'ios'],
  destination_url: '',
  image_url: '',
  difficulty: 'easy',
  time_estimate: '',
  requirements: '',
  payment_required: false,
  conversion_type: 'cpa',
  goals: [newGoal('Complete')],
  starts_at: '',
  ends_at: '',
  attribution_window: '30d',
  hold: '0s',
  confirm_within: '30d',
  redo_after_reversal: true,
  over_cap: 'honour',
  daily_click_cap: '',
  total_click_cap: '',
  daily_conversion_cap: '',
  total_conversion_cap: '',
  daily_payout_cap: '',
  total_payout_cap: '',
}

const textOf = (number: number | null) => (number === null ? '' : String(number))

export function valuesOf(offer: OfferData): OfferValues {
  const caps = Object.fromEntries(CAPS.map(([name]) => [name, textOf(offer[name])])) as Record<CapName, string>
  const { description, category, countries, platforms, destination_url, difficulty, time_estimate } = offer
  const { requirements, payment_required, conversion_type, attribution_window, hold, over_cap } = offer
  const { confirm_within, redo_after_reversal } = offer
  return {
    ...caps,
    description,
    category,
    countries,
    platforms,
    destination_url,
    difficulty,
    time_estimate,
    requirements,
    payment_required,
    conversion_type,
    attribution_window,
    hold,
    confirm_within,
    redo_after_reversal,
    over_cap,
    advertiser_id: String(offer.advertiser_id),
    external_id: offer.external_id,
    name: offer.name,
    image_url: offer.image_url ?? '',
    starts_at: localTime(offer.starts_at),
    ends_at: localTime(offer.ends_at),
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
    })),
  }
}

/** As the API takes it. */
export function bodyOf({ advertiser_id: _id, external_id: _externalId, starts_at, ends_at, ...values }: OfferValues) {
  return { ...values, starts_at: zonedTime(starts_at), ends_at: zonedTime(ends_at) }
}

/** For a field of the browser's that has no zone: in that of the viewer. */
function localTime(time: string | null): string {
  if (time === null) return ''
  const at = new Date(time)
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString()
  return shifted.slice(0, shifted.slice(17, 19) === '00' ? 16 : 19)
}

/** What is no time stays as it is, for the server to refuse. */
function zonedTime(text: string): string | null {
  if (text === '') return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? text : time.toISOString()
}

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
