// Postback settings as the form has them: every field is a text or a choice.
import { readAmount } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { type HeaderRow, isEmpty } from './headers-input.tsx'

export type SettingsData = Schemas['PostbackSettings']
type Saved = NonNullable<SettingsData['settings']>
type Dialect = Saved['dialect']
type Recipe = NonNullable<Dialect['signature']>
type Preset = SettingsData['presets'][number]
type NewDialect = NonNullable<BodyOf<'PUT /apps/{app_id}/postback'>['dialect']>

export type Values = {
  url: string
  method: Saved['method']
  events: Saved['events']
  headers: HeaderRow[]
  timeout_s: string
  success: Saved['success']
  negative_reversals: boolean
  dialect: DialectValues
  receiver_secret: string
}

export type DialectValues = {
  statuses: { pending: string; approved: string; rejected: string; reversed: string }
  reward_decimals: string
  payout_decimals: string
  times: Dialect['times']
  transaction_id: Dialect['transaction_id']
  ids: Dialect['ids']
  post_body: Dialect['post_body']
  answers: string[]
  /** `algorithm`: none where {signature} is ours. */
  signature: { algorithm: Recipe['algorithm'] | 'none'; of: string; encoding: Recipe['encoding']; header: string }
}

const NO_WORDS = { pending: '', approved: '', rejected: '', reversed: '' }

/** Offerdeck's own. */
const PLAIN: DialectValues = {
  statuses: NO_WORDS,
  reward_decimals: 'any',
  payout_decimals: 'any',
  times: 'unix',
  transaction_id: 'event',
  ids: 'uuid',
  post_body: 'json',
  answers: ['1', 'OK', 'DUP'],
  signature: { algorithm: 'none', of: '', encoding: 'hex', header: '' },
}

/** But for its answers, which are elsewhere in the form. */
export const isPlain = (dialect: DialectValues) =>
  Object.entries(PLAIN).every(
    ([name, value]) => name === 'answers' || JSON.stringify(value) === JSON.stringify(dialect[name as keyof DialectValues]), // prettier-ignore
  )

function valuesOfDialect({ statuses, reward_decimals, payout_decimals, signature, ...rest }: Dialect): DialectValues {
  const { times, transaction_id, ids, post_body, answers } = rest
  return {
    statuses: { ...NO_WORDS, ...statuses },
    reward_decimals: String(reward_decimals ?? 'any'),
    payout_decimals: String(payout_decimals ?? 'any'),
    times,
    transaction_id,
    ids,
    post_body,
    signature: signature === null ? PLAIN.signature : { algorithm: signature.algorithm, of: signature.of, encoding: signature.encoding, header: signature.header ?? '' }, // prettier-ignore
    answers,
  }
}

const countOf = (text: string) => (text === 'any' ? null : Number(text))

export function dialectOf({
  statuses,
  reward_decimals,
  payout_decimals,
  signature,
  ...rest
}: DialectValues): NewDialect {
  const { algorithm, of, encoding, header } = signature
  return {
    ...rest,
    statuses: Object.fromEntries(Object.entries(statuses).filter(([, word]) => word !== '')),
    reward_decimals: countOf(reward_decimals),
    payout_decimals: countOf(payout_decimals),
    signature: algorithm === 'none' ? null : { algorithm, of, encoding, header: header.trim() === '' ? null : header.trim() }, // prettier-ignore
  }
}

export const EMPTY: Values = {
  url: '',
  method: 'GET',
  events: ['approved', 'reversed'],
  headers: [],
  timeout_s: '15',
  success: '2xx',
  negative_reversals: true,
  dialect: PLAIN,
  receiver_secret: '',
}

export function valuesOf({ settings }: SettingsData): Values {
  if (settings === null) return EMPTY
  const { timeout_ms, headers, dialect, has_receiver_secret: _kept, ...rest } = settings
  return {
    ...rest,
    timeout_s: String(timeout_ms / 1000),
    headers: headers.map((name) => ({ name, value: '', isKept: true })),
    dialect: valuesOfDialect(dialect),
    receiver_secret: '',
  }
}

export function bodyOf({ headers, timeout_s, dialect, receiver_secret, ...rest }: Values) {
  return {
    ...rest,
    timeout_ms: Math.round((readAmount(timeout_s) ?? 0) * 1000),
    headers: Object.fromEntries(
      headers
        .filter((row) => !isEmpty(row))
        .map(({ name, value, isKept }) => [name.trim(), isKept && value === '' ? null : value]),
    ),
    dialect: dialectOf(dialect),
    ...(receiver_secret === '' ? {} : { receiver_secret }),
  }
}

/** What a receiver written for Offerdeck has in place of a preset. */
export const OWN = { success: EMPTY.success, negative_reversals: EMPTY.negative_reversals, dialect: PLAIN }

/** What a preset fills. */
export const valuesOfPreset = (
  { query, method, events, success, negative_reversals, dialect }: Preset,
  url: string,
) => ({
  url: applyQuery(url, query),
  method,
  events,
  success,
  negative_reversals,
  dialect: valuesOfDialect(dialect),
})

/** The URL with the parameters of a preset, in place of those with macros. */
function applyQuery(url: string, query: string): string {
  const [, base = '', own = ''] = /^([^?#]*)\??([^#]*)/s.exec(url.trim()) ?? []
  const kept = own.split('&').filter((pair) => pair !== '' && !pair.includes('{'))
  return `${base === '' ? 'https://' : base}?${[...kept, query].join('&')}`
}
