// What pages call the values of the API. Each list is keyed by the values themselves: one that the API gets and that has no
// name here fails the type check.
import type { Operations, Schemas } from './api-types.ts'
import type { Labels } from './statuses.ts'

type Asked<N extends keyof Operations, K extends keyof Operations[N]['query']> = NonNullable<Operations[N]['query'][K]>

export type Mode = Asked<'GET /conversions', 'mode'>
export type StatusReason = NonNullable<Schemas['Conversion']['status_reason']>
export type PaymentKind = Asked<'GET /ledger/payments', 'kind'>
export type Signal = Exclude<Asked<'GET /conversions', 'signal'>, 'any'>
export type Platform = Asked<'GET /apps/{app_id}/offers', 'platform'>
export type Category = Asked<'GET /apps/{app_id}/offers', 'category'>
export type OfferSort = Asked<'GET /apps/{app_id}/offers', 'sort'>

export const STATUS_REASONS: Labels<StatusReason> = {
  cap_exceeded: 'over a cap',
  click_expired: 'click expired',
  not_eligible: 'not eligible',
  geo_mismatch: 'other country',
  fraud: 'fraud',
  unconfirmed: 'not confirmed in time',
  advertiser_rejected: 'rejected by advertiser',
  advertiser_reversed: 'reversed by advertiser',
  operator: 'operator decision',
}
export const SIGNALS: Labels<Signal> = {
  too_fast: 'Too fast',
  ip_users: 'Many users from one IP',
  user_velocity: 'User velocity',
  geo_mismatch: 'Country mismatch',
  listed_ip: 'Listed IP',
  bot: 'Bot',
  claimed_country: 'Claimed country',
  banned_user: 'Banned user',
}
/** As a filter. */
export const ANY_SIGNAL: Labels<Asked<'GET /conversions', 'signal'>> = { any: 'At least one', ...SIGNALS }
export const PLATFORMS: Labels<Platform> = { web: 'Web', android: 'Android', ios: 'iOS' }
export const CATEGORIES: Labels<Category> = { survey: 'Survey', app: 'App', game: 'Game', video: 'Video' }
export const DIFFICULTIES: Labels<Schemas['AppOfferReply']['offer']['difficulty']> = {
  easy: 'Easy',
  medium: 'Medium',
  hard: 'Hard',
}
type CallSignature = Schemas['CallbackSignature']
/** How requests are signed, here and by others. */
export const SIGNATURE_ALGORITHMS: Labels<CallSignature['algorithm']> = {
  md5: 'MD5 (weak)',
  sha1: 'SHA-1 (weak)',
  sha256: 'SHA-256',
  'hmac-md5': 'HMAC-MD5',
  'hmac-sha1': 'HMAC-SHA1',
  'hmac-sha256': 'HMAC-SHA256',
}
export const SIGNATURE_ENCODINGS: Labels<CallSignature['encoding']> = {
  hex: 'Hex, lower case',
  hex_upper: 'Hex, upper case',
  base64: 'Base64',
}
export const APP_KINDS: Labels<Schemas['RewardSettings']['kind']> = { reward: 'Rewards', tracking: 'Tracking' }
export const ROUNDINGS: Labels<Schemas['RewardSettings']['rounding']> = {
  down: 'Down',
  nearest: 'To the nearest',
  up: 'Up',
}
export const ENTRY_KINDS: Labels<Schemas['BalanceEntry']['kind']> = {
  reward: 'Reward',
  reversal: 'Reversal',
  debit: 'Debit',
}
export const TICKET_KINDS: Labels<Schemas['Ticket']['kind']> = {
  not_credited: 'Not credited',
  question: 'Question',
  other: 'Other',
}
export const OFFER_SORTS: Labels<OfferSort> = {
  popular: 'Popular',
  recommended: 'Recommended',
  payout_desc: 'Highest payout',
  payout_asc: 'Lowest payout',
  newest: 'Newest',
}

export const TRUSTED: Labels<Asked<'GET /apps/{app_id}/trust', 'trusted'>> = {
  yes: 'trusted only',
  no: 'untrusted only',
}
export const REQUEST_RESULTS: Labels<Asked<'GET /apps/{app_id}/requests', 'outcome'>> = {
  error: 'Errors',
  success: 'Successful',
}
export const PAYMENT_KINDS: Labels<PaymentKind> = { payout: 'Paid', receipt: 'Received', adjustment: 'Adjusted' }

/** What can be chosen of a list, in its order. */
export const choicesOf = <T extends string>(labels: Labels<T>): { value: T; label: string }[] =>
  (Object.entries(labels) as [T, string][]).map(([value, label]) => ({ value, label }))

/** One of the list, as an address or an input has it. The server refuses what is not on it, and the page says so. */
export const oneOf = <T extends string>(_labels: Labels<T>, text: string | null | undefined): T | undefined =>
  text === null || text === undefined || text === '' ? undefined : (text as T)

/** The name of a value; that of one that is not on the list, such as a former one, is itself. */
export const labelOf = (labels: Labels<string>, value: string): string => labels[value] ?? value
