// Reads the fields of an import's row, as JSON or CSV gives them: text, numbers, lists, or nothing.
import { countryPlace } from '../../lib/countries.ts'
import { parseDuration } from '../../lib/duration.ts'
import { parseUsd } from '../../lib/money.ts'
import { parseTime } from '../../lib/time.ts'
import { MAX_PAYOUT_MICROS, parseCountCap, parsePayoutCap } from './caps.ts'

export const MAX_NAME = 300
const IN_PLACE_OF_MACRO = 'a-macro-stands-here'
export const MAX_TEXT = 10_000
const NONE: readonly string[] = []

export function secondsOf(text: string): number | null {
  const ms = parseDuration(text)
  return ms === null ? null : ms / 1_000
}

/** `field` is null for a field that is not known. The message begins with the field's name. */
export type FieldProblem = { field: string | null; message: string }

/** The fields of one row. Problems are recorded, and a harmless value returned, so that all are reported at once. */
export class FieldReader {
  readonly problems: FieldProblem[] = []
  readonly #record: Record<string, unknown>

  constructor(record: Record<string, unknown>) {
    this.#record = record
  }

  refuseUnknown(known: object): void {
    const unknown = Object.keys(this.#record).filter((field) => !Object.hasOwn(known, field))
    if (unknown.length > 0)
      this.problems.push({ field: null, message: `unknown field ${unknown.slice(0, 5).join(', ')}` })
  }

  has(field: string): boolean {
    const value = this.#record[field]
    return value !== undefined && value !== null && value !== ''
  }

  /** Empty, too: an empty field clears the value. */
  isGiven(field: string): boolean {
    return this.#record[field] !== undefined
  }

  text(
    field: string,
    { required = false, max = MAX_TEXT }: { required?: boolean; max?: number | undefined } = {},
  ): string {
    if (!this.has(field)) {
      if (required) this.refuse(field, 'is missing')
      return ''
    }
    const value = this.#record[field]
    if (typeof value !== 'string' && typeof value !== 'number') return this.#refuse(field, 'must be text', '')
    // A number beyond 2^53 has lost its last digits already, and with them what it was the id of.
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
      return this.#refuse(field, 'must be written as text: the number is too large', '')
    const text = String(value)
    if (required && text.trim() === '') return this.#refuse(field, 'is missing', '')
    if (text.length > max) return this.#refuse(field, `must have at most ${max} characters`, '')
    if (text.includes('\ufffd')) return this.#refuse(field, 'must be UTF-8', '')
    if (text.includes('\0') || !text.isWellFormed())
      return this.#refuse(field, 'must have no NUL and no unpaired surrogate', '')
    return text
  }

  oneOf(field: string, values: readonly string[], fallback?: string, what?: string): string {
    if (!this.has(field) && fallback !== undefined) return fallback
    const text = String(this.#record[field] ?? '')
      .trim()
      .toLowerCase()
    return values.includes(text) ? text : this.#refuse(field, `must be ${what ?? `one of ${values.join(', ')}`}`, '')
  }

  money(field: string): number | null {
    const value = this.#scalar(field)
    if (value === null) return null
    const micros = parseUsd(value)
    if (micros === null) return this.#refuse(field, 'must be an amount of dollars with at most 4 decimals', null)
    return micros <= MAX_PAYOUT_MICROS ? micros : this.#refuse(field, 'must be at most 100,000 dollars', null)
  }

  flag(field: string, fallback = false): boolean {
    if (!this.has(field)) return fallback
    const text = String(this.#record[field]).trim().toLowerCase()
    if (['true', '1', 'yes'].includes(text)) return true
    return ['false', '0', 'no'].includes(text) ? false : this.#refuse(field, 'must be true or false', false)
  }

  time(field: string): Date | null {
    if (!this.has(field)) return null
    const value = this.#record[field]
    if (value instanceof Date) return value
    return parseTime(String(value)) ?? this.#refuse(field, 'must be a time such as 2026-01-31T12:00:00Z', null)
  }

  /** A JSON array, or in CSV its text, or plain words separated by commas, semicolons, bars or spaces. */
  list(field: string): unknown[] {
    if (!this.has(field)) return []
    const value = this.#record[field]
    if (Array.isArray(value)) return value
    if (typeof value !== 'string') return this.#refuse(field, 'must be a list', [])
    if (!/^\s*[[{]/.test(value)) return value.split(/[\s,;|]+/).filter((word) => word !== '')
    const parsed = parseJson(value)
    return parsed === undefined ? this.#refuse(field, 'must be valid JSON', []) : [parsed].flat()
  }

  /** A JSON object, or in CSV its text. */
  object(field: string): Record<string, unknown> {
    if (!this.has(field)) return {}
    const value = this.#record[field]
    const parsed = typeof value === 'string' ? parseJson(value) : value
    const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    return isObject ? (parsed as Record<string, unknown>) : this.#refuse(field, 'must be a JSON object', {})
  }

  /** In seconds; null when there is none. */
  duration(field: string, atLeast: string, atMost: string): number | null {
    if (!this.has(field)) return null
    const seconds = secondsOf(String(this.#record[field]))
    if (seconds === null) return this.#refuse(field, 'must be a time such as 90s, 15m, 24h or 30d', 0)
    const isInside = seconds >= (secondsOf(atLeast) ?? 0) && seconds <= (secondsOf(atMost) ?? 0)
    return isInside ? seconds : this.#refuse(field, `must be from ${atLeast} to ${atMost}`, 0)
  }

  countCap(field: string): number | null {
    const value = this.#scalar(field)
    if (value === null) return null
    return parseCountCap(value) ?? this.#refuse(field, 'must be a whole number from 1 to 1,000,000,000,000', null)
  }

  payoutCap(field: string): number | null {
    const value = this.#scalar(field)
    if (value === null) return null
    const rule = 'an amount of dollars above 0 and below 1,000,000,000 with at most 4 decimals'
    return parsePayoutCap(value) ?? this.#refuse(field, `must be ${rule}`, null)
  }

  /** In millionths. */
  percent(field: string): number | null {
    const value = this.#scalar(field)
    if (value === null) return null
    const micros = parseUsd(value) // a decimal with at most four places, as an amount is
    const ppm = micros === null ? Infinity : micros / 100
    return ppm <= 1_000_000
      ? ppm
      : this.#refuse(field, 'must be a percentage from 0 to 100 with at most 4 decimals', null)
  }

  /** In per cent; 100 where none is given. */
  factor(field: string): number {
    const value = this.#scalar(field)
    if (value === null) return 100
    const percent = (parseUsd(value) ?? NaN) / 10_000
    const isFactor = Number.isInteger(percent) && percent >= 10 && percent <= 1_000
    return isFactor ? percent : this.#refuse(field, 'must be a number from 0.1 to 10 with at most 2 decimals', 100)
  }

  position(field: string): number | null {
    const value = this.#scalar(field)
    if (value === null) return null
    const isPosition = /^\d{1,3}$/.test(String(value)) && Number(value) >= 1 && Number(value) <= 100
    return isPosition ? Number(value) : this.#refuse(field, 'must be a whole number from 1 to 100', null)
  }

  countries(field: string): string[] {
    const codes = this.list(field).map((code) => String(code).trim().toUpperCase())
    this.#refuseOthers(field, codes, (code) => countryPlace(code) !== undefined, 'an ISO 3166-1 code')
    return [...new Set(codes)].toSorted()
  }

  /** In the order of `values`; all of them when none is given. */
  someOf(field: string, values: readonly string[]): string[] {
    const names = this.list(field).map((name) => String(name).trim().toLowerCase())
    this.#refuseOthers(field, names, (name) => values.includes(name), `one of ${values.join(', ')}`)
    return values.filter((name) => names.length === 0 || names.includes(name))
  }

  #refuseOthers(field: string, given: string[], isKnown: (one: string) => boolean, what: string): void {
    const others = given.filter((one) => !isKnown(one))
    if (others.length > 0) this.refuse(field, `has ${others.slice(0, 5).join(', ')}, not ${what}`)
  }

  url(field: string, { optional = false, local = false, macros = NONE } = {}): string | null {
    if (!this.has(field) && optional) return null
    const text = this.text(field, { required: true }).trim()
    if (text === '') return null
    if (/[\s\p{Cc}]/u.test(text)) return this.#refuse(field, 'must not contain blanks or control characters', null)
    if (local && /^\/[^/\\]/.test(text)) return text
    // Macros such as {click_id} stand in the path and query only; they are no reason to refuse the rest.
    const parsed = URL.parse(text.replaceAll(/\{\w+\}/g, IN_PLACE_OF_MACRO))
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      return this.#refuse(field, 'must be an http or https URL', null)
    if (parsed.username !== '' || parsed.password !== '')
      return this.#refuse(field, 'must not contain credentials', null)
    if (parsed.host.includes(IN_PLACE_OF_MACRO) || parsed.host.includes('{'))
      return this.#refuse(field, 'must not have a macro in its host', null)
    const unknown = [...text.matchAll(/\{([^{}]*)\}/g)]
      .map(([, name = '']) => name)
      .find((name) => !macros.includes(name))
    if (unknown !== undefined && macros.length > 0)
      return this.#refuse(
        field,
        `uses the unknown macro {${unknown}}. Available: ${macros.map((name) => `{${name}}`).join(', ')}`,
        null,
      )
    return text
  }

  /** Null when there is none; what is neither text nor a number is a text that nothing can be read from. */
  #scalar(field: string): string | number | null {
    if (!this.has(field)) return null
    const value = this.#record[field]
    return typeof value === 'string' || typeof value === 'number' ? value : ''
  }

  refuse(field: string, what: string): void {
    this.problems.push({ field, message: `${field} ${what}` })
  }

  #refuse<T>(field: string, what: string, instead: T): T {
    this.refuse(field, what)
    return instead
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
