// Parses an advertiser's call: our parameters under our names, or under the advertiser's.
import type { Problem } from '../../../errors.ts'
import { UNCOMPRESSED } from '../../../http/compression.ts'
import { countryPlace } from '../../../lib/countries.ts'
import { findJsonProblem } from '../../../lib/json-problem.ts'
import { isUuid } from '../../../lib/uuid7.ts'
import type { POSTBACK_PARAMETERS } from '../../accounts/advertiser-settings.ts'
import type { CallRules } from '../../accounts/call-rules.ts'
import type { AmountProblem } from '../commands.ts'
import { STATUSES, type Status } from '../conversions.ts'
import { MAX_AMOUNT_MICROS } from '../payout.ts'
import { type Amount, type AmountStyle, readAmount } from './amounts.ts'
import { readStatus } from './status-words.ts'
import { isUnfilled } from './unfilled-macro.ts'

type Parameter = (typeof POSTBACK_PARAMETERS)[number]

/** How an advertiser's calls differ from the usual ones. */
export type Dialect = AmountStyle & {
  aliases: Record<string, string[]>
  statusMap: Record<string, string>
  /** What the transaction ID of a reversal begins with; empty: nothing does. */
  reversalPrefix: string
  callRules: CallRules
}

const USUAL_ALIASES: Partial<Record<Parameter, string[]>> = {
  click_id: ['clickid', 'transaction_id'],
  goal: ['goal_id', 'event_id'],
  txn_id: ['tid', 'action_id', 'order_id'],
  amount: ['sum'],
}

const MAX_VALUE = 256
/**
 * Bytes of a body, characters of a query. Longer ones are stored truncated, and not parsed: half a value is a wrong
 * value.
 */
export const MAX_TEXT = 8_192
export const TOO_LONG = `The query and the body must each have at most ${MAX_TEXT} bytes.`
/** What is stored of a compressed body: its encoding. */
export const compressedBody = (coding: string) => `(compressed: ${coding})`
const COMPRESSED_BODY = /^\(compressed: \w+\)$/
export const COMPRESSED = `The body is compressed. ${UNCOMPRESSED}`
const MAX_PARAMETERS = 200 // of the query, and of the body; no real call has more, and each one costs
const TOO_MANY_PARAMETERS = `The query and the body must each have at most ${MAX_PARAMETERS} parameters.`

export type CallParameters = {
  /** Null: the transaction must identify the conversion. */
  clickId: string | null
  goal: string | null
  transactionId: string | null
  amountMicros: number | null
  /** Of the amount; null: US dollars. */
  currency: string | null
  /** There is an amount, but not one to pay a share of. That matters only where a share of it is paid. */
  amountProblem: AmountProblem | null
  status: Status
  ip: string | null
  country: string | null
  /** Of the offer, at a network whose feed it is of. */
  externalOfferId: string | null
}

/** Names and values, each name once or with several values. */
export type RawParameters = Map<string, string[]>

/** Of a query string or a form: the first parameters, where there are too many. */
export function parseForm(text: string): RawParameters {
  const raw: RawParameters = new Map()
  for (const [name, value] of new URLSearchParams(text.slice(0, endOfParameters(text)))) add(raw, name, [value])
  return raw
}

/** The end of the last parameter that is read. */
function endOfParameters(text: string): number {
  let end = -1
  for (let i = 0; i < MAX_PARAMETERS; i++) {
    end = text.indexOf('&', end + 1)
    if (end === -1) return text.length
  }
  return end
}

/** In place: a name repeated a thousand times must not be copied a thousand times. */
function add(raw: RawParameters, name: string, values: string[]): void {
  const known = raw.get(name)
  if (known === undefined) raw.set(name, values)
  else known.push(...values)
}

/** Of a JSON object whose values are strings, numbers or booleans; null for anything else. */
export function parseJson(text: string): RawParameters | null {
  try {
    const value: unknown = JSON.parse(text, keepDigits as (name: string, value: unknown) => unknown)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    const plain = Object.entries(value).filter(([, one]) => ['string', 'number', 'boolean'].includes(typeof one))
    return new Map(plain.map(([name, one]) => [name, [String(one)]]))
  } catch {
    return null
  }
}

/** A number too large for a double stays a string: two transactions must not become one by losing digits. */
function keepDigits(_name: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? source : value
}

export const looksLikeJson = (text: string) => /^\s*[{[]/.test(text)

/** Query and body together. */
export function parseCall({ query, body }: { query: string; body: string }): RawParameters | null {
  const raw = parseForm(query)
  const more = looksLikeJson(body) ? parseJson(body) : parseForm(body.trim())
  if (more === null) return null
  for (const [name, values] of more) add(raw, name, values)
  return raw
}

type KeptCall = { query: string; body: string; isCut: boolean }

/** The parsed call, or every problem with it. Messages name parameters as they were sent. */
export function readCall(call: KeptCall, dialect: Dialect): CallParameters | { problems: Problem[] } {
  if (call.isCut && COMPRESSED_BODY.test(call.body)) return { problems: [inBody(COMPRESSED)] }
  // Calls logged by earlier versions are not marked as truncated, but are longer.
  if (call.isCut || Math.max(call.query.length, call.body.length) > MAX_TEXT) return { problems: [inBody(TOO_LONG)] }
  const forms = [call.query, looksLikeJson(call.body) ? '' : call.body]
  if (forms.some((form) => endOfParameters(form) < form.length)) return { problems: [inBody(TOO_MANY_PARAMETERS)] }
  const raw = parseCall(call)
  if (raw === null)
    return { problems: [inBody(`The body ${findJsonProblem(call.body) ?? 'is not a JSON object'}. ${ACCEPTED}`)] }
  const parameters = readParameters(raw, dialect)
  const hint = unreadable(call.body)
  return 'problems' in parameters && hint !== null ? { problems: [inBody(hint), ...parameters.problems] } : parameters
}

const inBody = (message: string): Problem => ({ field: 'body', message })

const ACCEPTED = 'Send the parameters as a query, a form (name=value&name=value) or a JSON object.'

/** Why nothing was found in a body. */
function unreadable(body: string): string | null {
  if (/^\s*</.test(body)) return `The body is XML or HTML. ${ACCEPTED}`
  return body.trim() !== '' && !looksLikeJson(body) && !body.includes('=')
    ? `The body is plain text. ${ACCEPTED}`
    : null
}

function readParameters(raw: RawParameters, dialect: Dialect): CallParameters | { problems: Problem[] } {
  const problems: Problem[] = []
  const report = (field: Parameter, message: string) => problems.push({ field, message })
  const read = (name: Parameter): string | null => {
    const { given, values } = valuesOf(raw, name, dialect)
    if (values.length > 1) report(name, `${given} was sent twice with different values.`)
    const [value = null] = values
    if (value === null || isText(value)) return value
    report(name, `${given} must be UTF-8 of at most ${MAX_VALUE} characters, without NUL.`)
    return null
  }
  // What only helps to judge a conversion is no reason to refuse it.
  const readHint = (name: Parameter): string | null => {
    const [value = '', ...others] = valuesOf(raw, name, dialect).values
    return others.length === 0 && value !== '' && isText(value) ? value : null
  }
  const clickId = read('click_id')
  const { transactionId, isReversal } = readTransaction(withoutMacro(read('txn_id')), dialect)
  if (clickId === null && transactionId === null) report('click_id', 'click_id is missing.')
  else if (clickId !== null && !isUuid(clickId)) {
    const what = withoutMacro(clickId) === null ? `the macro ${clickId.slice(0, 40)}, not filled in` : 'not one of ours'
    report('click_id', `click_id is ${what}: send the value you received from our link.`)
  }
  const word = (read('status') ?? '').toLowerCase()
  const status = isReversal ? 'reversed' : readStatus(word, dialect)
  if (status === undefined)
    report(
      'status',
      `status "${word.slice(0, 40)}" is not supported. Send one of ${STATUSES.join(', ')}, or ask the network to map it.`,
    )
  const amount = readAmount(valuesOf(raw, 'amount', dialect).values, dialect.decimalMark)
  const parameters: CallParameters = {
    clickId: clickId?.toLowerCase() ?? null,
    goal: read('goal'),
    transactionId,
    ...withCurrency(
      weighAmount(amount, status ?? 'pending', dialect, problems),
      valuesOf(raw, 'currency', dialect).values,
    ),
    ip: readHint('ip'),
    country: readCountry(readHint('country')),
    externalOfferId: withoutMacro(readHint('external_offer_id')),
  }
  return problems.length > 0 ? { problems } : parameters
}

/** Ours first. */
export const namesOf = (name: Parameter, { aliases }: Pick<Dialect, 'aliases'>): string[] => [
  name,
  ...(aliases[name] ?? USUAL_ALIASES[name] ?? []),
]

/** The distinct values of a parameter, under the first of its names that has any. */
function valuesOf(raw: RawParameters, name: Parameter, dialect: Dialect): { given: string; values: string[] } {
  for (const given of namesOf(name, dialect)) {
    const values = [...new Set((raw.get(given) ?? []).map((value) => value.trim()).filter((value) => value !== ''))]
    if (values.length > 0) return { given, values }
  }
  return { given: name, values: [] }
}

type Weighed = Pick<CallParameters, 'amountMicros' | 'amountProblem' | 'status'>

/**
 * The amount together with the status. A denial needs no amount and accepts any: no reversal is lost for its amount.
 */
function weighAmount(
  amount: Amount | 'unclear' | null,
  status: Status,
  { negativeAmount }: Dialect,
  problems: Problem[],
): Weighed {
  const isDenial = status === 'rejected' || status === 'reversed'
  const none = { amountMicros: null, amountProblem: null, status }
  if (amount === null || amount === 'unclear') return { ...none, amountProblem: isDenial ? null : amount }
  if (isDenial) return { ...none, amountMicros: amount.micros > MAX_AMOUNT_MICROS ? null : amount.micros }
  if (!amount.isNegative) return { ...none, amountMicros: amount.micros }
  if (negativeAmount === 'refuse') problems.push({ field: 'amount', message: NEGATIVE })
  return negativeAmount === 'reversal' ? { ...none, status: 'reversed' } : { ...none, amountProblem: 'unclear' }
}

/** `r-17` is the reversal of 17, where the prefix is `r-`. */
function readTransaction(given: string | null, { reversalPrefix }: Dialect) {
  const isReversal = reversalPrefix !== '' && given !== null && given.length > reversalPrefix.length && given.startsWith(reversalPrefix) // prettier-ignore
  return { transactionId: isReversal ? given.slice(reversalPrefix.length) : given, isReversal }
}

/** Without a currency, amounts are US dollars. What cannot be read as a currency is none of them. */
function withCurrency(weighed: Weighed, currencies: readonly string[]): Weighed & { currency: string | null } {
  const others = currencies.filter((text) => withoutMacro(text) !== null && !/^(usd|us\$|\$)$/i.test(text))
  if (others.length === 0 || weighed.amountMicros === null) return { ...weighed, currency: null }
  const [currency = ''] = others
  if (currencies.length === 1 && /^[a-z]{3}$/i.test(currency)) return { ...weighed, currency: currency.toUpperCase() }
  const isDenial = weighed.status === 'rejected' || weighed.status === 'reversed'
  return { ...weighed, currency: null, amountMicros: null, amountProblem: isDenial ? null : 'other_currency' }
}

const NEGATIVE =
  'amount is negative, but status is not a reversal. If negative amounts mean reversals, ask the network to set that for this advertiser.'

/**
 * {txn_id}, the unfilled macro of our URL, is no transaction ID: all advertisers who forget to fill it in would share
 * it.
 */
const withoutMacro = (value: string | null) => (value !== null && isUnfilled(value) ? null : value)

/** U+FFFD replaces bytes that are not UTF-8. Two IDs that differ only there would look the same. */
const isText = (value: string) =>
  Array.from(value).length <= MAX_VALUE && !/[\0\ufffd]/.test(value) && value.isWellFormed()

/** An unknown country is ignored: it is no reason to refuse a confirmation. */
function readCountry(text: string | null): string | null {
  const code = text?.toUpperCase() ?? ''
  return countryPlace(code) === undefined ? null : code
}
