// One row of an import, from JSON or CSV, read strictly: what cannot be understood is refused with a sentence.
import { type Caps, OVER_CAP } from './caps.ts'
import { FieldReader, MAX_NAME, MAX_PAYOUT_MICROS } from './field-reader.ts'
import { CATEGORIES, CONVERSION_TYPES, DESTINATION_MACROS, DIFFICULTIES, STATUSES } from './schema.ts'

export const IMPORT_FIELDS = [
  'external_id', 'advertiser', 'name', 'description', 'category', 'payout', 'revenue', 'countries', 'platforms',
  'destination_url', 'image_url', 'difficulty', 'time_estimate', 'requirements', 'payment_required', 'conversion_type',
  'goals', 'status', 'starts_at', 'ends_at', 'attribution_window', 'hold', 'confirm_within', 'redo_after_reversal', 'over_cap', 'daily_click_cap', 'total_click_cap',
  'daily_conversion_cap', 'total_conversion_cap', 'daily_payout_cap', 'total_payout_cap',
] as const // prettier-ignore

export type NewGoal = {
  /** The advertiser's own id of it. Null: it has none. Absent: one that it has stays. */
  externalId?: string | null | undefined
  name: string
  description: string
  payoutMicros: number
  revenueMicros: number
  isOptional: boolean
  isRepeatable: boolean
  /** Of the amount that the advertiser confirms, in millionths; null: `payoutMicros`, whatever the amount. */
  payoutPpm: number | null
  revenuePpm: number | null
}

export type NewOffer = {
  externalId: string
  advertiser: string
  name: string
  description: string
  category: string
  payoutMicros: number
  revenueMicros: number
  countries: string[]
  platforms: string[]
  destinationUrl: string
  imageUrl: string | null
  difficulty: string
  timeEstimate: string
  requirements: string
  paymentRequired: boolean
  conversionType: string
  goals: NewGoal[]
  status: string
  startsAt: Date | null
  endsAt: Date | null
  attributionSeconds: number
  holdSeconds: number
  /** A report that its advertiser does not confirm for so long expires. */
  confirmWithinSeconds: number
  /** Whether a user whose completion was reversed, but not for fraud, may complete it again. */
  redoAfterReversal: boolean
  overCap: string
  caps: Caps
}

const KNOWN = new Set<string>(IMPORT_FIELDS)
const GOAL_FIELDS = new Set([
  'external_id',
  'name',
  'description',
  'payout',
  'revenue',
  'is_optional',
  'is_repeatable',
  'payout_percent',
  'revenue_percent',
])
const MAX_GOALS = 50
const ONLY_GOAL = {
  name: 'Complete',
  description: '',
  isOptional: false,
  isRepeatable: false,
  payoutPpm: null,
  revenuePpm: null,
}

/** Reads a row; either the offer or everything that is wrong with it. */
export function readImportRecord(record: unknown): { offer: NewOffer } | { problems: string[] } {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return { problems: ['not an object'] }
  const reader = new FieldReader(record as Record<string, unknown>)
  const payout = reader.money('payout')
  const revenue = reader.money('revenue')
  const goals = readGoals(reader, payout, revenue)
  const payoutMicros = goals.reduce((sum, goal) => sum + goal.payoutMicros, 0)
  const revenueMicros = goals.reduce((sum, goal) => sum + goal.revenueMicros, 0)
  if (payout !== null && payout !== payoutMicros) reader.problems.push('payout is not the sum over its goals')
  if (revenue !== null && revenue !== revenueMicros) reader.problems.push('revenue is not the sum over its goals')
  reader.refuseUnknown(KNOWN)
  if (Math.max(payoutMicros, revenueMicros) > MAX_PAYOUT_MICROS)
    reader.problems.push('its goals are worth more than 100,000 dollars together')
  const startsAt = reader.time('starts_at')
  const endsAt = reader.time('ends_at')
  if (startsAt !== null && endsAt !== null && startsAt >= endsAt) reader.problems.push('ends_at is not after starts_at')
  const offer: NewOffer = {
    externalId: reader.text('external_id', { required: true, max: MAX_NAME }),
    advertiser: reader.text('advertiser', { required: true, max: MAX_NAME }),
    name: reader.text('name', { required: true, max: MAX_NAME }),
    description: reader.text('description'),
    category: reader.oneOf('category', CATEGORIES),
    payoutMicros,
    revenueMicros,
    countries: reader.countries(),
    platforms: reader.platforms(),
    destinationUrl: reader.url('destination_url', { macros: DESTINATION_MACROS }) ?? '',
    imageUrl: reader.url('image_url', { optional: true, local: true }),
    difficulty: reader.oneOf('difficulty', DIFFICULTIES, 'easy'),
    timeEstimate: reader.text('time_estimate', { max: MAX_NAME }),
    requirements: reader.text('requirements'),
    paymentRequired: reader.flag('payment_required'),
    conversionType: reader.oneOf('conversion_type', CONVERSION_TYPES, 'cpa'),
    goals,
    status: reader.oneOf('status', STATUSES, 'active'),
    startsAt,
    endsAt,
    attributionSeconds: reader.duration('attribution_window', { atLeast: '60s', atMost: '365d', fallback: '30d' }),
    holdSeconds: reader.duration('hold', { atLeast: '0s', atMost: '365d', fallback: '0s' }),
    confirmWithinSeconds: reader.duration('confirm_within', { atLeast: '1h', atMost: '365d', fallback: '30d' }),
    redoAfterReversal: reader.flag('redo_after_reversal', true),
    overCap: reader.oneOf('over_cap', OVER_CAP, 'honour'),
    caps: readCaps(reader),
  }
  return reader.problems.length > 0 ? { problems: reader.problems } : { offer }
}

const readCaps = (reader: FieldReader): Caps => ({
  dailyClicks: reader.countCap('daily_click_cap'),
  totalClicks: reader.countCap('total_click_cap'),
  dailyConversions: reader.countCap('daily_conversion_cap'),
  totalConversions: reader.countCap('total_conversion_cap'),
  dailyPayoutMicros: reader.payoutCap('daily_payout_cap'),
  totalPayoutMicros: reader.payoutCap('total_payout_cap'),
})

/** The goals given, or the one goal that an offer without any consists of. */
function readGoals(reader: FieldReader, payout: number | null, revenue: number | null): NewGoal[] {
  const given = reader.list('goals')
  if (given.length === 0) {
    if (payout === null && !reader.has('payout')) reader.problems.push('payout is missing')
    const payoutMicros = payout ?? 0
    return [{ ...ONLY_GOAL, payoutMicros, revenueMicros: revenue ?? payoutMicros }]
  }
  if (given.length > MAX_GOALS) reader.problems.push(`goals has more than ${MAX_GOALS} entries`)
  const goals = given.map((entry, i) => {
    const goal = new FieldReader((typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>)
    const read = readGoal(goal)
    reader.problems.push(...goal.problems.map((problem) => `goals[${i + 1}].${problem}`))
    return read
  })
  if (new Set(goals.map(({ name }) => name)).size < goals.length) reader.problems.push('goals has two of the same name')
  const externalIds = goals.flatMap(({ externalId }) => externalId ?? [])
  if (new Set(externalIds).size < externalIds.length) reader.problems.push('goals has two of the same external_id')
  if (goals.every(({ isOptional }) => isOptional)) reader.problems.push('goals has none that is required')
  return goals
}

/** Missing revenue equals the payout, as an amount and as a share. */
function readGoal(goal: FieldReader): NewGoal {
  goal.refuseUnknown(GOAL_FIELDS)
  if (!goal.has('payout')) goal.problems.push('payout is missing')
  const payoutMicros = goal.money('payout') ?? 0
  const payoutPpm = goal.percent('payout_percent')
  return {
    externalId: goal.isGiven('external_id') ? goal.text('external_id', { max: MAX_NAME }) || null : undefined,
    name: goal.text('name', { required: true, max: MAX_NAME }),
    description: goal.text('description'),
    payoutMicros,
    revenueMicros: goal.money('revenue') ?? payoutMicros,
    isOptional: goal.flag('is_optional'),
    isRepeatable: goal.flag('is_repeatable'),
    payoutPpm,
    revenuePpm: goal.percent('revenue_percent') ?? payoutPpm,
  }
}
