// One row of an import, from JSON or CSV, read strictly: what cannot be understood is refused with a sentence.
import { countryPlace } from '../../lib/countries.ts'
import { parseUsd } from '../../lib/money.ts'
import { parseTime } from '../../lib/time.ts'
import { CATEGORIES, CONVERSION_TYPES, DIFFICULTIES, PLATFORMS, STATUSES } from './schema.ts'

export const IMPORT_FIELDS = [
  'external_id', 'advertiser', 'name', 'description', 'category', 'payout', 'revenue', 'countries', 'platforms',
  'destination_url', 'image_url', 'difficulty', 'time_estimate', 'requirements', 'payment_required', 'conversion_type',
  'goals', 'status', 'starts_at', 'ends_at',
] as const // prettier-ignore

export type NewGoal = {
  name: string
  description: string
  payoutMicros: number
  revenueMicros: number
  isOptional: boolean
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
}

const KNOWN = new Set<string>(IMPORT_FIELDS)
const GOAL_FIELDS = new Set(['name', 'description', 'payout', 'revenue', 'is_optional'])
const MAX_TEXT = 10_000
const MAX_NAME = 300
const MAX_PAYOUT_MICROS = 100_000 * 1_000_000
const MAX_GOALS = 50

/** Reads a row; either the offer or everything that is wrong with it. */
export function readImportRecord(record: unknown): { offer: NewOffer } | { problems: string[] } {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return { problems: ['not an object'] }
  const reader = new Reader(record as Record<string, unknown>)
  const payout = reader.money('payout')
  const revenue = reader.money('revenue')
  const goals = readGoals(reader, payout, revenue)
  const sum = (pick: (goal: NewGoal) => number) => goals.reduce((total, goal) => total + pick(goal), 0)
  if (payout !== null && payout !== sum((goal) => goal.payoutMicros))
    reader.problems.push('payout is not the sum over its goals')
  if (revenue !== null && revenue !== sum((goal) => goal.revenueMicros))
    reader.problems.push('revenue is not the sum over its goals')
  reader.refuseUnknown(KNOWN)
  if (
    Math.max(
      sum((goal) => goal.payoutMicros),
      sum((goal) => goal.revenueMicros),
    ) > MAX_PAYOUT_MICROS
  ) {
    reader.problems.push('its goals are worth more than 100,000 dollars together')
  }
  const startsAt = reader.time('starts_at')
  const endsAt = reader.time('ends_at')
  if (startsAt !== null && endsAt !== null && startsAt >= endsAt) reader.problems.push('ends_at is not after starts_at')
  const offer: NewOffer = {
    externalId: reader.text('external_id', { required: true, max: MAX_NAME }),
    advertiser: reader.text('advertiser', { required: true, max: MAX_NAME }),
    name: reader.text('name', { required: true, max: MAX_NAME }),
    description: reader.text('description'),
    category: reader.oneOf('category', CATEGORIES),
    payoutMicros: sum((goal) => goal.payoutMicros),
    revenueMicros: sum((goal) => goal.revenueMicros),
    countries: reader.countries(),
    platforms: reader.platforms(),
    destinationUrl: reader.url('destination_url') ?? '',
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
  }
  return reader.problems.length > 0 ? { problems: reader.problems } : { offer }
}

/** The goals given, or the one goal that an offer without any consists of. */
function readGoals(reader: Reader, payout: number | null, revenue: number | null): NewGoal[] {
  const given = reader.list('goals')
  if (given.length === 0) {
    if (payout === null && !reader.has('payout')) reader.problems.push('payout is missing')
    const payoutMicros = payout ?? 0
    return [
      { name: 'Complete', description: '', payoutMicros, revenueMicros: revenue ?? payoutMicros, isOptional: false },
    ]
  }
  if (given.length > MAX_GOALS) reader.problems.push(`goals has more than ${MAX_GOALS} entries`)
  const goals = given.map((entry, i) => {
    const goal = new Reader((typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>)
    goal.refuseUnknown(GOAL_FIELDS)
    if (!goal.has('payout')) goal.problems.push('payout is missing')
    const payoutMicros = goal.money('payout') ?? 0
    const read = {
      name: goal.text('name', { required: true, max: MAX_NAME }),
      description: goal.text('description'),
      payoutMicros,
      revenueMicros: goal.money('revenue') ?? payoutMicros,
      isOptional: goal.flag('is_optional'),
    }
    reader.problems.push(...goal.problems.map((problem) => `goals[${i + 1}].${problem}`))
    return read
  })
  if (new Set(goals.map(({ name }) => name)).size < goals.length) reader.problems.push('goals has two of the same name')
  if (goals.every(({ isOptional }) => isOptional)) reader.problems.push('goals has none that is required')
  return goals
}

class Reader {
  readonly problems: string[] = []
  readonly #record: Record<string, unknown>

  constructor(record: Record<string, unknown>) {
    this.#record = record
  }

  refuseUnknown(known: Set<string>): void {
    const unknown = Object.keys(this.#record).filter((field) => !known.has(field))
    if (unknown.length > 0) this.problems.push(`unknown field ${unknown.slice(0, 5).join(', ')}`)
  }

  has(field: string): boolean {
    const value = this.#record[field]
    return value !== undefined && value !== null && value !== ''
  }

  text(field: string, { required = false, max = MAX_TEXT } = {}): string {
    if (!this.has(field)) {
      if (required) this.problems.push(`${field} is missing`)
      return ''
    }
    const value = this.#record[field]
    if (typeof value !== 'string' && typeof value !== 'number') return this.#refuse(`${field} is not text`, '')
    // A number beyond 2^53 has lost its last digits already, and with them what it was the id of.
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      return this.#refuse(`${field} is too large a number; write it as text`, '')
    const text = String(value)
    if (required && text.trim() === '') return this.#refuse(`${field} is missing`, '')
    if (text.length > max) return this.#refuse(`${field} is longer than ${max} characters`, '')
    if (text.includes('\ufffd')) return this.#refuse(`${field} has bytes that are not UTF-8`, '')
    if (text.includes('\0') || !text.isWellFormed())
      return this.#refuse(`${field} has a NUL or an unpaired surrogate`, '')
    return text
  }

  oneOf(field: string, values: readonly string[], fallback?: string): string {
    if (!this.has(field) && fallback !== undefined) return fallback
    const text = String(this.#record[field] ?? '')
      .trim()
      .toLowerCase()
    return values.includes(text) ? text : this.#refuse(`${field} is not one of ${values.join(', ')}`, '')
  }

  money(field: string): number | null {
    if (!this.has(field)) return null
    const value = this.#record[field]
    const micros = typeof value === 'string' || typeof value === 'number' ? parseUsd(value) : null
    if (micros === null) return this.#refuse(`${field} is not an amount of dollars with at most 4 decimals`, null)
    return micros <= MAX_PAYOUT_MICROS ? micros : this.#refuse(`${field} is more than 100,000 dollars`, null)
  }

  flag(field: string): boolean {
    if (!this.has(field)) return false
    const text = String(this.#record[field]).trim().toLowerCase()
    if (['true', '1', 'yes'].includes(text)) return true
    return ['false', '0', 'no'].includes(text) ? false : this.#refuse(`${field} is not true or false`, false)
  }

  time(field: string): Date | null {
    if (!this.has(field)) return null
    return (
      parseTime(String(this.#record[field])) ??
      this.#refuse(`${field} is not a time such as 2026-01-31T12:00:00Z`, null)
    )
  }

  /** A JSON array, or in CSV its text, or plain words separated by commas, semicolons, bars or spaces. */
  list(field: string): unknown[] {
    if (!this.has(field)) return []
    const value = this.#record[field]
    if (Array.isArray(value)) return value
    if (typeof value !== 'string') return this.#refuse(`${field} is not a list`, [])
    if (!/^\s*[[{]/.test(value)) return value.split(/[\s,;|]+/).filter((word) => word !== '')
    try {
      return [JSON.parse(value) as unknown].flat()
    } catch {
      return this.#refuse(`${field} is not valid JSON`, [])
    }
  }

  countries(): string[] {
    const codes = this.list('countries').map((code) => String(code).trim().toUpperCase())
    const unknown = codes.filter((code) => countryPlace(code) === undefined)
    if (unknown.length > 0)
      this.problems.push(`countries has ${unknown.slice(0, 5).join(', ')}, not an ISO 3166-1 code`)
    return [...new Set(codes)].toSorted()
  }

  platforms(): string[] {
    const names = this.list('platforms').map((name) => String(name).trim().toLowerCase())
    if (names.length === 0) return [...PLATFORMS]
    const unknown = names.filter((name) => !PLATFORMS.some((known) => known === name))
    if (unknown.length > 0)
      this.problems.push(`platforms has ${unknown.slice(0, 5).join(', ')}, not one of ${PLATFORMS.join(', ')}`)
    return PLATFORMS.filter((name) => names.includes(name))
  }

  url(field: string, { optional = false, local = false } = {}): string | null {
    if (!this.has(field) && optional) return null
    const text = this.text(field, { required: true }).trim()
    if (text === '') return null
    if (/[\s\p{Cc}]/u.test(text)) return this.#refuse(`${field} has blanks or control characters in it`, null)
    if (local && /^\/[^/\\]/.test(text)) return text
    // Macros such as {click_id} stand in the path and query only; they are no reason to refuse the rest.
    const parsed = URL.parse(text.replaceAll(/\{\w+\}/g, 'x'))
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      return this.#refuse(`${field} is not an http or https URL`, null)
    if (parsed.username !== '' || parsed.password !== '') return this.#refuse(`${field} has credentials in it`, null)
    if (/^[a-z]+:\/\/[^/?#]*\{/i.test(text)) return this.#refuse(`${field} has a macro in its host`, null)
    return text
  }

  #refuse<T>(problem: string, instead: T): T {
    this.problems.push(problem)
    return instead
  }
}
