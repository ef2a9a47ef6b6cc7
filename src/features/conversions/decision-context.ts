// Everything a batch of commands is decided on. Each decision updates the context for the commands after it.
import type { Selected } from '../../db/camel-case.ts'
import type { Apps } from '../../db/tables.ts'
import type { OfferUsage } from '../offers/caps.ts'
import type { Confirmation } from './commands.ts'
import type { ConversionIndex } from './conversion-index.ts'
import type { FraudRule } from './fraud.ts'
import { transactionKey } from './keys.ts'
import type { OfferSnapshot } from './offer-cache.ts'
import type { ClickSnapshot } from './read-clicks.ts'

export const APP_COLUMNS = [
  'app_id', 'publisher_id', 'currency', 'rate_micros', 'rounding', 'blocked_categories', 'blocked_keywords', 'payment_offers',
] as const satisfies (keyof Apps)[] // prettier-ignore

/**
 * `sharePpm` is the publisher's, `multiplierPpm` of the sale that is on: null without one. `postbackEvents` are the
 * statuses that it gets postbacks for: null without any.
 */
export type AppSnapshot = Selected<Apps, typeof APP_COLUMNS> & {
  sharePpm: number
  multiplierPpm: number | null
  postbackEvents: string[] | null
}

export type SubIds = Pick<ClickSnapshot, 'affSub' | 'affSub2' | 'affSub3' | 'affSub4'>

export type DecisionContext = {
  /** How often users had been erased when this was loaded. */
  moves: number
  offers: Map<number, OfferSnapshot>
  apps: Map<number, AppSnapshot>
  /** By `clickId`; those found by a transaction, by `transactionKey`. */
  clicks: Map<string, ClickSnapshot>
  /** Transactions, by `transactionKey`, shared by several users or offers: which one is meant is unknown. */
  ambiguous: Set<string>
  /** The latest click of a user on an offer within its attribution window, by `userKey`. */
  latestClicks: Map<string, ClickSnapshot>
  conversions: ConversionIndex
  /** Of a user's latest request that carried any, by `appUserKey`. */
  subIds: Map<string, SubIds>
  /** Offers for which an app's reports need no confirmation, by `appOfferKey`. */
  trusted: Set<string>
  /** Offers that an app's publisher may not run, by `appOfferKey`. */
  denied: Set<string>
  /** By `banKey`. */
  banned: Set<string>
  /** What Idempotency-Keys of the last 24 hours came to, by `idempotencyKey`. */
  keys: Map<string, { request: string; conversionId: string }>
  rules: FraudRule[]
  usage: Map<number, OfferUsage>
  /** Counts for fraud rules: conversions by `userCountKey`, other users of an IP address by `addressCountKey`. */
  counts: Map<string, number>
}

/** The click of a confirmation, among these: by its ID, or by its transaction. */
export const clickOf = (
  clicks: ReadonlyMap<string, ClickSnapshot>,
  confirmation: Confirmation,
): ClickSnapshot | undefined =>
  (confirmation.clickId === null ? undefined : clicks.get(confirmation.clickId)) ??
  clicks.get(transactionKey(confirmation))
