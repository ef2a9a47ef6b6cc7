// The postback URL, in which macros stand for values of the event.
//
// Invariants, whatever the values are: values appear only where their macros are, so the host is that of the template,
// and no value adds a parameter or a path segment, or climbs out of one. And the result is in the one form that every
// URL parser leaves as it is: it is signed, and must arrive as it was signed.
import { Cache } from '../../lib/cache.ts'
import { percentEncode } from '../../lib/percent-encode.ts'

/** Every macro with its meaning and an example. In the order of the docs. */
export const MACROS = {
  user_id: { description: 'your own id of the user', example: 'user-1' },
  transaction_id: {
    description: 'unique for each event, and the same when a postback is repeated: take each once',
    example: '01a3c5d2-7c40-7d3e-9f57-3a1b2c4d5e6f',
  },
  conversion_id: {
    description: 'the conversion: the same in all its events',
    example: '01a3c5d2-6b1f-7a20-8e46-1f2e3d4c5b6a',
  },
  event_id: {
    description: 'the event, as in the feed of events and in `webhook-id`',
    example: '01a3c5d2-7c40-7d3e-9f57-3a1b2c4d5e6f',
  },
  sequence: {
    description: 'number of the event within its conversion: the highest you have seen is the current one',
    example: '1',
  },
  offer_id: { description: 'the offer', example: '58' },
  offer_name: { description: 'name of the offer', example: 'Castle Quest' },
  goal_id: { description: 'the goal of the offer', example: '91' },
  goal_name: { description: 'name of the goal', example: 'Reach level 10' },
  payout: { description: 'what you earn, in US dollars; negative for a reversal', example: '1.25' },
  reward: { description: "what the user earns, in your app's currency: credit this amount", example: '1250' },
  payout_local: { description: 'the same as `{reward}`, under its name in the API', example: '1250' },
  currency: { description: "your app's currency", example: 'Coins' },
  multiplier: {
    description: 'multiplier of the currency sale at the click, included in `{reward}`; `1` without a sale',
    example: '1',
  },
  locker_id: { description: 'the content or link locker that the user came through, if any', example: '17' },
  ip: { description: "the user's IP address", example: '203.0.113.7' },
  country: { description: "the user's country, a 2-letter ISO code", example: 'US' },
  device: { description: '`desktop`, `mobile`, `tablet` or `tv`', example: 'mobile' },
  status: { description: '`pending`, `approved`, `rejected` or `reversed`', example: 'approved' },
  status_reason: { description: 'the reason for the status, if any', example: 'advertiser_reversed' },
  aff_sub: { description: 'your tracking values', example: 'newsletter' },
  aff_sub2: { description: 'the second', example: 'spring sale' },
  aff_sub3: { description: 'the third', example: 'banner-3' },
  aff_sub4: { description: 'the fourth', example: 'b' },
  timestamp: { description: 'when the event happened, Unix seconds', example: '1794719785' },
  is_test: { description: '`1` for test traffic, else `0`', example: '0' },
  request_id: {
    description:
      'the request that caused the event, as in `X-Request-Id`; empty if there was none, such as at the end of a hold',
    example: 'call_01a3c5d2-7c3f-7b12-a0c4-5d6e7f809182',
  },
  signature: {
    description:
      'proves that we sent the request; only at the end of the URL, unless your receiver has a signature of its own',
    example: '72bf3f7a0d1c5f6c8f0b6a0c1b6b2d4e9a5d7c3e1f8094b2a6d5e7f3c1b09a84',
  },
} as const satisfies Readonly<Record<string, { description: string; example: string }>>

export type MacroName = keyof typeof MACROS

/** A boolean is sent as 1 or 0, null as an empty string. */
export type MacroValues = Readonly<Record<Exclude<MacroName, 'signature'>, string | number | boolean | null>>

const { signature: _made, ...examples } = MACROS

/** One event: an approval, which needs no reason. */
export const EXAMPLE_VALUES = {
  ...Object.fromEntries(Object.entries(examples).map(([name, { example }]) => [name, example])),
  status_reason: null,
} as MacroValues

/** The URL as it is sent. `sign` gets the URL up to {signature}; by a recipe, {signature} can be any parameter. */
export function fillTemplate(
  template: string,
  values: MacroValues,
  sign: (url: string) => string,
  isByRecipe = false,
): string {
  const { origin, segments, query, rest } = compile(template, isByRecipe)
  const path = segments.map((parts) => keepInPlace(fillParts(parts, values))).join('/')
  const url = origin + path + fillParts(query, values)
  return rest === null ? url : url + percentEncode(sign(url)) + fillParts(rest, values)
}

/** The query as it is sent, without the parameter of the signature. */
export function fillQuery(template: string, values: MacroValues): string {
  const { query, rest } = compile(template, true)
  const before = fillParts(query, values).slice(1).split('&')
  if (rest === null) return before.join('&')
  const after = fillParts(rest, values).split('&')
  return [...before.slice(0, -1), ...after.slice(1)].join('&')
}

export type LintOptions = {
  method?: 'GET' | 'POST'
  /** {signature} is made by a recipe of the receiver. */
  isByRecipe?: boolean
  /** All that is sent is a credit, or a reversal with negative amounts. */
  isReversedByAmount?: boolean
}

/**
 * Errors prevent saving; warnings are shown. All at once, each a sentence that says what to do. The body of a POST
 * carries all of this, so its URL need not.
 */
export function lintTemplate(
  template: string,
  { method = 'GET', isByRecipe = false, isReversedByAmount = false }: LintOptions = {},
): { errors: string[]; warnings: string[] } {
  const text = tidy(template)
  const names = new Set(Array.from(text.matchAll(MACRO), ([, name = '']) => name))
  const errors = [...lintNames(names), ...lintPlaces(text), ...lintSignature(text, isByRecipe)]
  if (template.length > MAX_LENGTH) errors.push(`The URL must have at most ${MAX_LENGTH} characters.`)
  const warnings = method === 'GET' ? lintMeaning(names, isReversedByAmount) : []
  if (/[{}]|%7[bd]/i.test(text.replaceAll(MACRO, '')))
    warnings.push('A { or } outside a macro is sent as it is: write macros like {user_id}.')
  if (URL.parse(text)?.hash) warnings.push('The part after # is never sent: remove it.')
  return { errors, warnings }
}

const MAX_LENGTH = 2_000
export const MACRO = /\{([\w .-]*)\}/g

/** What the URL parser would drop anyway is dropped before macros are looked for: it could be in the middle of one. */
const tidy = (template: string) => trimSpaces(template.replaceAll(/[\t\n\r]/g, ''))

/** By hand: a regular expression for the end would start over at every space. */
function trimSpaces(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && text[start] === ' ') start++
  while (end > start && text[end - 1] === ' ') end--
  return text.slice(start, end)
}

const isMacro = (name: string): name is MacroName => Object.hasOwn(MACROS, name)

function lintNames(names: ReadonlySet<string>): string[] {
  return [...names]
    .filter((name) => !isMacro(name))
    .map((name) => `There is no macro {${name}}: did you mean {${nearestName(name, Object.keys(MACROS))}}?`)
}

/** Macros are located by what they change: the text does not show it, as parsers are lenient in front of the path. */
function lintPlaces(template: string): string[] {
  const [one, two] = ['1', '2'].map((value) => URL.parse(template.replaceAll(MACRO, value)))
  const beforePath = /^[^/\\?#]*[/\\]*[^/\\?#]*/.exec(template)?.[0] ?? ''
  const isMoved =
    one && two ? baseOf(one) !== baseOf(two) : beforePath !== '' && beforePath.replaceAll(MACRO, '') !== beforePath
  if (isMoved) return ['Macros are allowed only in the path and the query, not in the scheme, host or port.']
  if (!one || !two || !/^https?:$/.test(one.protocol)) return ['Enter a full URL that begins with https:// or http://.']
  const errors: string[] = []
  if (one.username !== '' || one.password !== '')
    errors.push('The URL cannot contain a user name and password: use a header, whose value is hidden from viewers.')
  if (one.hash !== two.hash) errors.push('A macro after # is never sent: move it to the query.')
  return errors
}

const baseOf = ({ protocol, username, password, host }: URL) => [protocol, username, password, host].join(' ')

/**
 * Only at the end is it certain, for every receiver and without knowing the template, what was signed. A recipe names
 * what it signs.
 */
function lintSignature(template: string, isByRecipe: boolean): string[] {
  const count = template.split('{signature}').length - 1
  if (isByRecipe)
    return count === 0 || (count === 1 && /^[^?#]*\?(?:[^#]*&)?[^&#=]*=\{signature\}(?:[&#].*)?$/s.test(template))
      ? []
      : ['{signature} must appear once, as the whole value of a parameter: add &signature={signature}.']
  if (count === 0 || (count === 1 && /\?.*=\{signature\}(?:#.*)?$/s.test(template))) return []
  return ['{signature} must appear once, as the value of the last parameter: end the URL with &signature={signature}.']
}

function lintMeaning(names: ReadonlySet<string>, isReversedByAmount: boolean): string[] {
  const warnings: string[] = []
  if (!names.has('user_id')) warnings.push('You cannot tell which user to credit: add {user_id}.')
  const isUnique = names.has('transaction_id') || names.has('event_id')
  if (!isUnique && names.has('conversion_id'))
    warnings.push(
      'All events of a conversion have the same {conversion_id}, so a reversal may be dropped as a duplicate: add {transaction_id}.',
    )
  else if (!isUnique)
    warnings.push('A repeated postback cannot be told from a new one, and may be credited twice: add {transaction_id}.')
  const isReversed = isReversedByAmount && ['reward', 'payout', 'payout_local'].some((name) => names.has(name))
  if (!names.has('status') && !isReversed) warnings.push('Reversals and rejections look like credits: add {status}.')
  if (!names.has('is_test')) warnings.push('Test postbacks look like live ones and may be credited: add {is_test}.')
  return warnings
}

export function nearestName(name: string, names: readonly string[]): string {
  const bare = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  const far = new Map(names.map((known) => [known, distance(bare(name), bare(known))]))
  return names.reduce((best, known) => ((far.get(known) ?? 0) < (far.get(best) ?? 0) ? known : best))
}

/** How many letters must be inserted, deleted or changed to turn one into the other. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j++)
      next.push(Math.min((row[j] ?? 0) + (a[i] === b[j] ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    row = next
  }
  return row[b.length] ?? 0
}

/** Literal text, or a macro. */
type Part = string | { macro: MacroName }
/** `rest`: what follows {signature}; null: there is none. */
type Compiled = { origin: string; segments: Part[][]; query: Part[]; rest: Part[] | null }

// Every postback fills a template, and an app has one.
const compiled = new Cache<string, Compiled>(1_000)

function compile(template: string, isByRecipe: boolean): Compiled {
  const key = `${isByRecipe ? '+' : '-'}${template}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const { errors } = lintTemplate(template, { isByRecipe })
  if (errors.length > 0) throw new RangeError(`This is not a valid template: ${errors.join(' ')}`)
  const made = compileSound(tidy(template))
  compiled.set(key, made)
  return made
}

/** Puts placeholder words in place of the macros for the URL parser, and finds them again in its result. */
function compileSound(text: string): Compiled {
  let n = 0
  while (text.includes(`~${n}~`)) n++
  const marked = text
    .replaceAll(MACRO, (_, name: string) => `~${n}~${name}~${n}~`)
    // A lone % would take what follows it, which may be a value, for its digits.
    .replaceAll(/%(?![0-9a-f]{2})/gi, '%25')
    .replaceAll(/[{}]/g, percentEncode)
  const { origin, pathname, search } = new URL(marked)
  const mark = new RegExp(`~${n}~(\\w+)~${n}~`)
  const partsOf = (piece: string): Part[] =>
    piece
      .replaceAll(/[|^`[\]\\]/g, percentEncode) // no part of a URL by RFC 3986, and some servers refuse them
      .split(mark)
      .map((part, i) => (i % 2 === 0 ? part : { macro: part as MacroName }))
      .filter((part) => part !== '')
  const query = partsOf(search)
  const at = query.findIndex((part) => typeof part !== 'string' && part.macro === 'signature')
  return {
    origin,
    segments: pathname.split('/').map(partsOf),
    query: at === -1 ? query : query.slice(0, at),
    rest: at === -1 ? null : query.slice(at + 1),
  }
}

function fillParts(parts: readonly Part[], values: MacroValues): string {
  let text = ''
  for (const part of parts)
    text += typeof part === 'string' ? part : percentEncode(textOf(values[part.macro as keyof MacroValues]))
  return text
}

export function textOf(value: string | number | boolean | null): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  return value === null ? '' : String(value)
}

/**
 * Every parser climbs at a segment named "..", however the dots are encoded, so they are encoded twice: the receiver
 * sees %2E%2E, which is not the value, but is in the right place.
 */
function keepInPlace(segment: string): string {
  return /^(?:\.|%2e){1,2}$/i.test(segment) ? segment.replaceAll(/\.|%2e/gi, '%252E') : segment
}
