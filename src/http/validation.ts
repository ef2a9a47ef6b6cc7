// Turns a route's schema into its validator: the schema that documents a parameter is the one that checks it.
// All faults are reported at once, each as a sentence under its parameter's name.
import { Ajv, type ErrorObject } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { AppError, type Details } from '../errors.ts'
import { countryPlace } from '../lib/countries.ts'
import { parseTime } from '../lib/time.ts'
import { MALFORMED, type Query } from './query.ts'

/** Text without NUL, which PostgreSQL cannot store, and without half of a surrogate pair, which is no character. */
export const SAFE_TEXT = 'text'
/** The same on one line: no control characters at all. */
export const LINE = 'line'
/** A date, or an RFC 3339 time. Not called "time", which in OpenAPI is a time of day. */
export const DATE_OR_TIME = 'date-or-time'

const ajv = new Ajv({ allErrors: true, strict: true, coerceTypes: false, removeAdditional: false, useDefaults: true })
ajv.addFormat(SAFE_TEXT, (text: string) => !text.includes('\0') && text.isWellFormed())
ajv.addFormat(LINE, (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text))
ajv.addFormat('country', (text: string) => /^[a-z]{2}$/i.test(text) && countryPlace(text.toUpperCase()) !== undefined)
ajv.addFormat(
  DATE_OR_TIME,
  (text: string) => parseTime(text) !== null && /^.{10}$|(Z|[+-]\d{2}:?\d{2})$/.test(text.trim()),
)

type Shape = {
  type?: string
  format?: string
  enum?: unknown[]
  minimum?: number
  maximum?: number
  maxLength?: number
}
type ObjectShape = { properties?: Record<string, Shape> }

export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validate = ajv.compile(schema)
  const shapes = (schema as ObjectShape).properties ?? {}
  const numbers = httpPart === 'body' ? [] : Object.keys(shapes).filter((name) => shapes[name]?.type === 'integer')
  return (data: Query) => {
    for (const name of numbers) readInteger(data, name)
    if (validate(data)) return { value: data }
    return {
      error: new AppError(
        'INVALID_REQUEST',
        'Some parameters are missing or not valid.',
        explain(validate.errors ?? [], shapes, data, httpPart),
      ),
    }
  }
}

const INTEGER = /^-?\d+$/

/** A query string has only text: what looks like a whole number becomes one, anything else is left to fail. */
function readInteger(query: Query, name: string): void {
  const text = query[name]
  if (typeof text === 'string' && INTEGER.test(text)) {
    // Larger ones are beyond any use, and beyond what a double can tell apart.
    ;(query as Record<string, unknown>)[name] = Math.min(Number(text), Number.MAX_SAFE_INTEGER)
  }
}

function explain(
  errors: ErrorObject[],
  shapes: Record<string, Shape>,
  data: unknown,
  httpPart: string | undefined,
): Details {
  const details: Details = {}
  for (const error of errors) {
    const name = nameIn(error)
    if (name === '') return { body: 'Send a JSON object.' }
    const shape = shapes[name] ?? {}
    const value = (data as Record<string, unknown>)[name]
    const shown = httpPart === 'headers' ? headerName(name) : name
    details[shown] ??= `${shown} ${(httpPart === 'body' ? null : queryFault(value)) ?? fault(error, shape)}`
  }
  return details
}

function nameIn({ keyword, instancePath, params }: ErrorObject): string {
  const [, parent] = instancePath.split('/')
  if (keyword === 'required') return String(params['missingProperty'])
  if (keyword === 'additionalProperties' && parent === undefined) return String(params['additionalProperty'])
  return parent ?? ''
}

/** As people write it: idempotency-key is Idempotency-Key. */
const headerName = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** What only a query can have; in a body, a list is a value of the wrong type. */
function queryFault(value: unknown): string | null {
  if (value === MALFORMED || (Array.isArray(value) && value.includes(MALFORMED)))
    return 'is not valid percent-encoded UTF-8.'
  return Array.isArray(value) ? 'must be given only once.' : null
}

function fault(error: ErrorObject, shape: Shape): string {
  if (error.keyword === 'required') return 'is required.'
  if (error.keyword === 'additionalProperties')
    return error.instancePath === ''
      ? 'is not known here: check how it is spelled.'
      : `has a field that is not known here: ${error.params['additionalProperty']}.`
  if (error.keyword === 'minLength') return 'must not be empty.'
  if (error.keyword === 'maxLength') return `must have at most ${shape.maxLength} characters.`
  if (error.keyword === 'format' && shape.format === 'country')
    return 'must be a 2-letter ISO 3166-1 country code, such as US.'
  if (error.keyword === 'format' && shape.format === DATE_OR_TIME)
    return 'must be a date such as 2026-01-31, or a time with its zone such as 2026-01-31T12:00:00Z (write + as %2B).'
  if (error.keyword === 'format' && shape.format === LINE) return 'must be on one line, without control characters.'
  if (error.keyword === 'format') return 'must not contain NUL or unpaired surrogate characters.'
  if (shape.enum) return `must be one of: ${shape.enum.join(', ')}.`
  if (shape.type === 'integer') return wholeNumber(shape)
  return `must be a ${shape.type ?? 'valid value'}.`
}

function wholeNumber({ minimum, maximum }: Shape): string {
  if (maximum !== undefined && maximum < 1e6) return `must be a whole number from ${minimum} to ${maximum}.`
  return `must be a whole number, ${minimum} or more.`
}
