// Turns a route's schema into its validator: the schema that documents a parameter is the one that checks it.
// All faults are reported at once, each as a sentence under its parameter's name.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyRequest, FastifySchemaCompiler, preValidationHookHandler, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { type AppError, badRequest, type Details } from '../errors.ts'
import { countryMeant, countryPlace } from '../lib/countries.ts'
import { parseTime } from '../lib/time.ts'
import { isUuid } from '../lib/uuid7.ts'
import { nameOfPattern } from './forms.ts'
import { MALFORMED, parseNames, type Query, STRAY } from './query.ts'

/** Text without NUL, which PostgreSQL cannot store, and without half of a surrogate pair, which is no character. */
export const SAFE_TEXT = 'text'
/** The same on one line: no control characters at all. */
export const LINE = 'line'
/** A pattern: text that is more than white space. */
export const NOT_BLANK = '\\S'
/** A date, or an RFC 3339 time. Not called "time", which in OpenAPI is a time of day. */
export const DATE_OR_TIME = 'date-or-time'
/** Where a list goes on: a place in a feed, the id of what was last, or its month. */
export const NUMBER_CURSOR = 'number-cursor'
export const UUID_CURSOR = 'uuid-cursor'
export const MONTH_CURSOR = 'month-cursor'
const CURSORS: unknown[] = [NUMBER_CURSOR, UUID_CURSOR, MONTH_CURSOR]

// Verbose: a fault brings the part of the schema that it is a fault of.
const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
})
ajv.addFormat(SAFE_TEXT, (text: string) => !text.includes('\0') && text.isWellFormed())
ajv.addFormat(LINE, (text: string) => text.isWellFormed() && !/\p{Cc}/u.test(text))
ajv.addFormat('country', (text: string) => /^[a-z]{2}$/i.test(text) && countryPlace(text.toUpperCase()) !== undefined)
ajv.addFormat(
  DATE_OR_TIME,
  (text: string) => parseTime(text) !== null && /^.{10}$|(Z|[+-]\d{2}:?\d{2})$/.test(text.trim()),
)
ajv.addFormat(NUMBER_CURSOR, (text: string) => /^\d{1,15}$/.test(text))
ajv.addFormat(UUID_CURSOR, isUuid)
ajv.addFormat(MONTH_CURSOR, (text: string) => /^\d{4}-(0[1-9]|1[0-2])$/.test(text))

type Shape = {
  type?: string
  format?: string
  pattern?: string
  enum?: unknown[]
  anyOf?: Shape[]
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
}
type ObjectShape = { properties?: Record<string, Shape> }

/** Compiled by the first request that needs it: all of them together would be a sixth of a start. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  let compiled: ValidateFunction | undefined
  const shapes = (schema as ObjectShape).properties ?? {}
  const numbers = httpPart === 'body' ? [] : Object.keys(shapes).filter((name) => isNumber(shapes[name]))
  return (data: Query) => {
    for (const name of numbers) readNumber(data, name, shapes[name]?.type === 'integer' ? INTEGER : NUMBER)
    const validate = (compiled ??= ajv.compile(schema))
    const isValid = validate(data) || (httpPart === 'querystring' && lowerChoices(data, shapes) && validate(data))
    const stray = httpPart === 'querystring' ? data[STRAY] : undefined
    if (isValid && stray === undefined) return { value: data }
    const details = isValid ? {} : explain(validate.errors ?? [], data, httpPart)
    for (const name of stray ?? [])
      details[name] = `${name} is not a parameter of this endpoint. ${pagingAdvice(shapes)}`
    return { error: badRequest(details) }
  }
}

/** A choice may be written in any case: Android is android. Returns whether one was not as the schema writes it. */
function lowerChoices(data: Query, shapes: Record<string, Shape>): boolean {
  let isChanged = false
  for (const [name, { enum: choices }] of Object.entries(shapes)) {
    const text = data[name]
    if (typeof text !== 'string' || !choices?.includes(text.toLowerCase()) || choices.includes(text)) continue
    ;(data as Record<string, unknown>)[name] = text.toLowerCase()
    isChanged = true
  }
  return isChanged
}

const PARTS = { params: 'params', body: 'body', querystring: 'query', headers: 'headers' } as const
const IS_VALID = () => () => true

/**
 * Fastify stops at the first part of a request with a problem: for a route that checks more than one, all are reported.
 */
export const validateTogether = (route: RouteOptions): void => {
  const schema = (route.schema ?? {}) as Record<string, TSchema | undefined>
  const checks = Object.entries(PARTS).flatMap(([httpPart, name]) => {
    const part = schema[httpPart]
    return part === undefined ? [] : [{ name, validate: compileValidator({ schema: part, httpPart, method: '', url: '' }) }] // prettier-ignore
  })
  if (checks.length < 2 || route.validatorCompiler === IS_VALID) return // the latter: the same route for HEAD
  route.validatorCompiler = IS_VALID
  const check: preValidationHookHandler = (request, _reply, done) => {
    const details: Details = {}
    for (const { name, validate } of checks) {
      const { error } = validate(request[name] ?? null) as { error?: AppError }
      Object.assign(details, error?.details)
    }
    const error = Object.keys(details).length === 0 ? undefined : badRequest(details)
    if (error === undefined || !route.attachValidation) return done(error)
    request.validationError = error as never
    done()
  }
  route.preValidation = [route.preValidation ?? [], check].flat()
}

/**
 * For routes with `attachValidation`, whose rules a schema cannot express: `more` are the problems by those rules, and
 * all are reported at once. Only check what the schema accepted.
 */
export function refuseProblems(request: FastifyRequest, more: Details): void {
  const details = { ...more, ...problemsOf(request) }
  if (Object.keys(details).length > 0) throw badRequest(details)
}

/** What the schema of such a route found. */
export const problemsOf = ({ validationError }: FastifyRequest<object>): Details =>
  (validationError as Partial<AppError> | undefined)?.details ?? {}

function pagingAdvice(shapes: Record<string, Shape>): string {
  if ('after' in shapes) return 'To continue, send after with the next_cursor of the previous response.'
  if ('cursor' in shapes) return 'To continue, send cursor with the next_cursor of the previous page.'
  if ('offset' in shapes) return 'To continue, send offset: the number of items to skip.'
  return 'This list has a single page; set its size with limit.'
}

const isNumber = (shape: Shape | undefined) => shape?.type === 'integer' || shape?.type === 'number'

const INTEGER = /^-?\d+$/
const NUMBER = /^-?\d+(\.\d+)?$/

/** A query string has only text: what looks like a number becomes one, anything else is left to fail. */
function readNumber(query: Query, name: string, looks: RegExp): void {
  const text = query[name]
  if (typeof text !== 'string' || !looks.test(text)) return
  const number = Number(text)
  // A double cannot represent larger ones exactly: the response would be for another number than requested.
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) (query as Record<string, unknown>)[name] = number
}

function explain(errors: ErrorObject[], data: unknown, httpPart: string | undefined): Details {
  const details: Details = {}
  for (const error of errors) {
    // For a value that may have one of several types, report that it has none, not that it is not the first.
    if (error.keyword === 'type' && /\/anyOf\/\d+\/type$/.test(error.schemaPath)) continue
    if (error.keyword === 'anyOf' && errors.some((other) => isInside(other, error))) continue // that says more
    const place = placeOf(error)
    const [name] = place
    if (name === undefined) return { body: 'Send a JSON object.' }
    const value = (data as Record<string, unknown>)[name]
    // Inside of lists and objects: the second of goals is goals.1.
    const shown = httpPart === 'headers' ? headerName(name) : place.join('.')
    // What is wrong inside of an object says more than that it is neither that object nor null.
    if (error.keyword === 'anyOf' && Object.keys(details).some((one) => one.startsWith(`${shown}.`))) continue
    const own = httpPart === 'body' ? null : (queryProblem(value) ?? sizeProblem(value, error))
    if (Object.hasOwn(details, shown)) continue // not what every object inherits: a name may be toString
    details[shown] = `${shown} ${own ?? problem(error)}${suggestion(error, place.at(-1) ?? '')}`
  }
  return details
}

/** Of something that the value of the other has in it. */
function isInside(one: ErrorObject, other: ErrorObject): boolean {
  return `/${placeOf(one).join('/')}`.startsWith(`${other.instancePath}/`)
}

function placeOf({ keyword, instancePath, params }: ErrorObject): string[] {
  const place = instancePath.split('/').slice(1)
  const own: unknown = params['missingProperty'] ?? params['additionalProperty']
  return keyword === 'required' || keyword === 'additionalProperties' ? [...place, String(own)] : place
}

/** As people write it: idempotency-key is Idempotency-Key. */
const headerName = (name: string) => name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** What only a query can have; in a body, a list is a value of the wrong type. */
function queryProblem(value: unknown): string | null {
  if (value === MALFORMED || (Array.isArray(value) && value.includes(MALFORMED)))
    return 'is not valid percent-encoded UTF-8.'
  return Array.isArray(value) ? 'must be sent only once.' : null
}

/** For parameters that are needed before the others are validated: that each can be read. */
export function refuseUnreadable(query: Query, names: readonly string[]): void {
  const details: Details = {}
  for (const name of names) {
    const problem = queryProblem(query[name])
    if (problem !== null) details[name] = `${name} ${problem}`
  }
  if (Object.keys(details).length > 0) throw badRequest(details)
}

/** Of a number that `readNumber` left as it was. */
function sizeProblem(value: unknown, { parentSchema }: ErrorObject): string | null {
  const shape = parentSchema as Shape
  const isNumeral = isNumber(shape) && shape.maximum === undefined && typeof value === 'string' && NUMBER.test(value)
  return isNumeral && Number(value) > Number.MAX_SAFE_INTEGER ? `must be at most ${Number.MAX_SAFE_INTEGER}.` : null
}

function problem({ keyword, parentSchema = {} }: ErrorObject): string {
  const shape = parentSchema as Shape
  if (keyword === 'required') return 'is required.'
  if (keyword === 'additionalProperties') return 'is not a parameter of this endpoint: check the spelling.'
  if (keyword === 'minLength') return 'must not be empty.'
  if (keyword === 'pattern' && shape.pattern === NOT_BLANK) return 'must not be blank.'
  const name = keyword === 'pattern' ? nameOfPattern(shape.pattern ?? '') : undefined
  if (name !== undefined) return `must be ${name}.`
  if (keyword === 'maxLength') return `must have at most ${shape.maxLength} characters.`
  if (keyword === 'minItems' && shape.minItems === 1) return 'must not be empty.'
  if (keyword === 'minItems') return `must have at least ${shape.minItems} items.`
  if (keyword === 'maxItems') return `must have at most ${shape.maxItems} items.`
  if (keyword === 'maximum' && (shape.maximum ?? 0) >= 1e6) return `must be at most ${shape.maximum}.`
  if (keyword === 'format' && shape.format === 'country')
    return 'must be a 2-letter ISO 3166-1 country code, such as US.'
  if (keyword === 'format' && shape.format === DATE_OR_TIME)
    return 'must be a date such as 2026-01-31, or a time with its zone such as 2026-01-31T12:00:00Z (write + as %2B).'
  if (keyword === 'format' && CURSORS.includes(shape.format)) return 'must be the next_cursor of an earlier response.'
  if (keyword === 'format' && shape.format === LINE) return 'must be on one line, without control characters.'
  if (keyword === 'format') return 'must not contain NUL or unpaired surrogate characters.'
  return `must be ${nameOf(shape)}.`
}

/** What was probably meant, if that can be guessed. */
function suggestion({ keyword, parentSchema, data }: ErrorObject, name: string): string {
  if (keyword === 'format' && (parentSchema as Shape).format === 'country') {
    const code = countryMeant(String(data))
    return code === null ? '' : ` Did you mean ${code}?`
  }
  if (keyword === 'required') {
    return youSent(Object.keys(data as object), name)
  }
  if (keyword === 'additionalProperties') {
    const known = Object.keys((parentSchema as ObjectShape).properties ?? {}).find((one) => isAlike(one, name))
    return known === undefined ? '' : ` Did you mean ${known}?`
  }
  return ''
}

/** Queries are read for the names that a route knows, so what came instead of a required one is looked for in the URL. */
export const pointOutNames = (details: Details, url: string): Details =>
  Object.fromEntries(
    Object.entries(details).map(([name, message]) => [
      name,
      message === `${name} is required.` ? message + youSent(parseNames(url), name) : message,
    ]),
  )

function youSent(names: readonly string[], wanted: string): string {
  const sent = names.find((name) => name !== wanted && isAlike(name, wanted))
  return sent === undefined ? '' : ` You sent ${sent}.`
}

/** But for case, underscores and hyphens. */
const isAlike = (one: string, other: string) => plain(one) === plain(other)
const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '')

const NAMES: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

function nameOf(shape: Shape): string {
  if (shape.anyOf) return [...new Set(shape.anyOf.map(nameOf))].join(', or ')
  if (shape.enum) return `one of: ${shape.enum.join(', ')}`
  if (isNumber(shape)) return numberName(shape)
  return NAMES[shape.type ?? ''] ?? 'a valid value'
}

function numberName({ type, minimum, exclusiveMinimum, maximum }: Shape): string {
  const number = type === 'integer' ? 'a whole number' : 'a number'
  const most = maximum === undefined || maximum >= 1e6 ? '' : `, at most ${maximum}`
  if (exclusiveMinimum !== undefined) return `${number} above ${exclusiveMinimum}${most}`
  if (maximum !== undefined && maximum < 1e6) return `${number} from ${minimum} to ${maximum}`
  return minimum === undefined ? number : `${number}, ${minimum} or more`
}
