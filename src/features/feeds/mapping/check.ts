// Whether something is a mapping and a request that can be used: every problem with its place, as a sentence that says
// what would be right.
import type { Problem } from '../../../errors.ts'
import type { FeedRequest } from '../feed-request.ts'
import type { Mapping } from './mapping.ts'
import { parsePath } from './paths.ts'

type Report = (place: string, message: string) => void
type Check = (value: unknown, place: string, report: Report) => void

const MOST_TEXT = 2_000
const MOST_ENTRIES = 500

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value) // prettier-ignore

const text: Check = (value, place, report) => {
  if (typeof value !== 'string' || value.length > MOST_TEXT) report(place, `must be text of at most ${MOST_TEXT.toLocaleString('en')} characters`) // prettier-ignore
}
const yesOrNo: Check = (value, place, report) => {
  if (typeof value !== 'boolean') report(place, 'must be true or false')
}
const whole =
  (least: number, most: number): Check =>
  (value, place, report) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) report(place, `must be a whole number from ${least} to ${most.toLocaleString('en')}`) // prettier-ignore
  }
const oneOf =
  (...words: string[]): Check =>
  (value, place, report) => {
    if (typeof value !== 'string' || !words.includes(value)) report(place, `must be ${listWords(words)}`)
  }
const path: Check = (value, place, report) => {
  if (typeof value !== 'string' || value.length > 300) return report(place, 'must be a path such as offers[].name')
  const parsed = parsePath(value)
  if (typeof parsed === 'string') report(place, `is not a path: ${parsed.replace(/\.$/, '')}`)
}
const listOf =
  (check: Check, most = MOST_ENTRIES): Check =>
  (value, place, report) => {
    if (!Array.isArray(value) || value.length > most)
      return report(place, `must be a list with at most ${most} entries`)
    for (const [i, one] of value.entries()) check(one, `${place}[${i}]`, report)
  }
const either =
  (plain: Check, full: Check): Check =>
  (value, place, report) =>
    (isRecord(value) ? full : plain)(value, place, report)
const oneOrMore =
  (check: Check): Check =>
  (value, place, report) =>
    (Array.isArray(value) ? listOf(check, 20) : check)(value, place, report)
const recordOf =
  (check: Check): Check =>
  (value, place, report) => {
    if (!isRecord(value) || Object.keys(value).length > MOST_ENTRIES) return report(place, `must be an object with at most ${MOST_ENTRIES} names`) // prettier-ignore
    for (const [name, one] of Object.entries(value)) check(one, `${place}.${name}`, report)
  }
const anything: Check = (value, place, report) => {
  if (JSON.stringify(value).length > 10_000) report(place, 'must have at most 10,000 characters')
}

/** Names with `?` may be missing. */
const object =
  (names: Record<string, Check>): Check =>
  (value, place, report) => {
    if (!isRecord(value)) return report(place, 'must be an object')
    const known = Object.keys(names).map((name) => name.replace('?', ''))
    const at = (name: string) => (place === '' ? name : `${place}.${name}`)
    for (const name of Object.keys(value)) if (!known.includes(name)) report(at(name), `is not a known name here. Use ${listWords(known)}`) // prettier-ignore
    for (const [written, check] of Object.entries(names)) {
      const name = written.replace('?', '')
      if (value[name] !== undefined) check(value[name], at(name), report)
      else if (name === written) report(at(name), 'is missing')
    }
  }

const listWords = (words: readonly string[], between: 'and' | 'or' = 'or') =>
  new Intl.ListFormat('en-GB', { type: between === 'and' ? 'conjunction' : 'disjunction' }).format(words)

const paths = oneOrMore(path)
const readOrConstant =
  (names: Record<string, Check>): Check =>
  (value, place, report) => {
    object({ 'path?': paths, ...names })(value, place, report)
    if (isRecord(value) && value['path'] === undefined && value['default'] === undefined) report(place, 'must have a path, or a default for all offers') // prettier-ignore
  }
const words = oneOrMore(text)
const CONDITION = { path, 'is?': words, 'not?': words, 'empty?': yesOrNo }
const condition: Check = (value, place, report) => {
  object(CONDITION)(value, place, report)
  saysSomething(value, place, report)
}
const saysSomething: Check = (value, place, report) => {
  if (isRecord(value) && ['is', 'not', 'empty'].filter((name) => value[name] !== undefined).length !== 1) report(place, 'must have one of is, not and empty') // prettier-ignore
}
const skip: Check = (value, place, report) => {
  object({ ...CONDITION, reason: text })(value, place, report)
  saysSomething(value, place, report)
}
const textSource = either(
  path,
  readOrConstant({ 'html?': either(yesOrNo, condition), 'join?': text, 'default?': text }),
)
const listSource = either(path, readOrConstant({ 'split?': text, 'default?': listOf(text) }))
const LOOKUP = { path: paths, 'split?': text, words: recordOf(text), 'otherwise?': text }
const lookup = object(LOOKUP)
const money = either(
  path,
  readOrConstant({ 'cents?': yesOrNo, 'take?': oneOf('first', 'only', 'sum', 'highest'), 'default?': text }),
)
const goals = object({
  list: path,
  'id?': textSource,
  name: textSource,
  'description?': textSource,
  payout: money,
  'currency?': textSource,
  'join?': object({ list: path, goal: path, is: path }),
  'optional?': condition,
  'base?': object({ name: text, payout: money }),
  'only_one?': yesOrNo,
})
const cap = object({ value: path, 'where?': listOf(condition, 20), period: oneOf('day', 'total'), of: oneOf('clicks', 'conversions', 'revenue', 'payout'), 'currency?': textSource }) // prettier-ignore
/** A list, or one in each entry of another. */
const list: Check = (value, place, report) => {
  path(value, place, report)
  if (typeof value === 'string' && !/^[^[\]]*(\[\]\.[^[\]]*)?$/.test(value)) report(place, 'must be a list, such as payouts or goals[].payouts') // prettier-ignore
}
const link = object({ path: paths, 'set?': recordOf(text), 'replace?': recordOf(text), 'append?': text })

const mapping = object({
  offers: path,
  'success?': condition,
  'skip?': listOf(skip, 50),
  id: textSource,
  name: textSource,
  'description?': textSource,
  'requirements?': textSource,
  'image?': textSource,
  'time_estimate?': textSource,
  'time_seconds?': textSource,
  'category?': lookup,
  'platforms?': object({ ...LOOKUP, 'exclude?': paths }),
  'difficulty?': lookup,
  'conversion_type?': lookup,
  'language?': textSource,
  'product?': textSource,
  'countries?': object({ 'include?': listSource, 'exclude?': listSource }),
  'starts_at?': textSource,
  'ends_at?': textSource,
  'currency?': textSource,
  'not_fixed?': listOf(condition, 20),
  'payout?': money,
  'goals?': goals,
  'by_country?': object({ list: oneOrMore(list), countries: listSource, 'exclude?': listSource, 'negated?': condition, 'platforms?': lookup, 'of?': textSource }), // prettier-ignore
  'caps?': listOf(cap, 20),
  link,
})

const url: Check = (value, place, report) => {
  const parsed = typeof value === 'string' ? URL.parse(value.replaceAll(/[{}]/g, '')) : null
  if (parsed === null || !['https:', 'http:'].includes(parsed.protocol)) report(place, 'must be a URL that begins with https://') // prettier-ignore
  else if (parsed.username !== '' || parsed.password !== '') report(place, 'must not have a password in it: use auth')
  else if (/^[^/]*\/\/[^/?#]*[{}]/.test(value as string) && !/^https?:\/\/[\w.{}-]+(:\d+)?([/?#]|$)/.test(value as string)) report(place, 'must be a URL that begins with https://') // prettier-ignore
}
const TEMPLATE = { method: oneOf('GET', 'POST'), url, 'query?': recordOf(text), 'headers?': recordOf(text), 'json?': recordOf(anything), 'form?': recordOf(text) } // prettier-ignore
const kinds =
  (byKind: Record<string, Check>): Check =>
  (value, place, report) => {
    const check = isRecord(value) && typeof value['kind'] === 'string' ? byKind[value['kind']] : undefined
    if (check === undefined) report(`${place}.kind`, `must be ${listWords(Object.keys(byKind))}`)
    else check(value, place, report)
  }
const size = object({ parameter: text, value: whole(1, 10_000) })
const place = oneOf('query', 'body')
const request = object({
  ...TEMPLATE,
  'auth?': kinds({
    basic: object({ kind: text, user: text, password: text }),
    bearer: object({ kind: text, token: text }),
    exchange: object({ kind: text, request: object(TEMPLATE), token: path, lives_s: whole(1, 86_400) }),
    signature: object({ kind: text, parameter: text, hash: oneOf('md5', 'sha1', 'sha256'), of: listOf(text, 20) }),
  }),
  paging: kinds({
    one: object({ kind: text }),
    page: object({ kind: text, parameter: text, first: whole(0, 1), 'size?': size, 'total?': path, 'pages?': path, 'in?': place }), // prettier-ignore
    offset: object({ kind: text, parameter: text, size, 'total?': path, 'in?': place }),
    next: object({ kind: text, path }),
  }),
  'pause_ms?': whole(0, 60_000),
})

function run(check: Check, value: unknown, field: string): Problem[] {
  const problems: Problem[] = []
  check(value, '', (place, message) => {
    if (problems.length < 50) problems.push({ field: place === '' ? field : `${field}.${place}`, message: `${place === '' ? field : place} ${message}.` }) // prettier-ignore
  })
  return problems
}

/** What is missing that another part needs. */
function meaning(value: Mapping): Problem[] {
  const say = (place: string, message: string) => ({ field: `mapping.${place}`, message: `${place} ${message}.` })
  return [
    ...(value.payout === undefined && value.goals === undefined ? [say('payout', 'is missing, and so is goals: add one of them')] : []), // prettier-ignore
    ...(JSON.stringify([value.link.set ?? {}, value.link.replace ?? {}, value.link.append ?? '']).includes('{click_id}') ? [] : [say('link', 'must put {click_id} somewhere, by set, replace or append: without it, conversions cannot be confirmed')]), // prettier-ignore
  ]
}

export function checkMapping(value: unknown): Problem[] {
  const problems = run(mapping, value, 'mapping')
  return problems.length > 0 ? problems : meaning(value as Mapping)
}

/** `credentials`: the names that are given. */
export function checkRequest(value: unknown, credentials: readonly string[]): Problem[] {
  const problems = run(request, value, 'request')
  if (problems.length > 0) return problems
  const { paging, method } = value as FeedRequest
  if ('in' in paging && paging.in === 'body' && method !== 'POST') return [{ field: 'request.paging.in', message: 'paging.in can be body only where the method is POST.' }] // prettier-ignore
  const named = [...JSON.stringify(value as FeedRequest).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const missing = [...new Set(named)].filter((name) => name !== 'timestamp' && !credentials.includes(name))
  return missing.map((name) => ({ field: 'credentials', message: `The request needs {${name}}, and there is no such credential.` })) // prettier-ignore
}
