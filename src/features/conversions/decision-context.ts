// Everything a batch of commands is decided on. Each decision updates the context for the commands after it.
import { type Caps, dayNumber, type OfferUsage } from '../offers/caps.ts'
import type { Change, Confirmation, Report } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { FraudRule } from './fraud.ts'
import type { ConversionIndex } from './conversion-index.ts'

export type GoalTerms = {
  payout_micros: number
  revenue_micros: number
  payout_ppm: number | null
  revenue_ppm: number | null
}

/** A goal as promised to a click. Terms from before 0.2 have only its amounts. */
export type PromisedGoal = GoalTerms & {
  place?: number
  name?: string
  external_id?: string | null
  is_repeatable?: boolean
}

export type GoalSnapshot = GoalTerms & {
  goal_id: number
  external_id: string | null
  name: string
  is_retired: boolean
  is_repeatable: boolean
}

export type OfferSnapshot = {
  offer_id: number
  advertiser_id: number
  name: string
  description: string
  category: string
  payment_required: boolean
  status: string
  starts_at: Date | null
  ends_at: Date | null
  over_cap: string
  hold_s: number
  confirm_within_s: number
  redo_after_reversal: boolean
  terms_id: number | null
  is_capped: boolean
  caps: Caps
  /** In their order, retired ones included. */
  goals: GoalSnapshot[]
}

export type AppSnapshot = {
  app_id: number
  publisher_id: number
  currency: string
  rate_micros: number
  share_ppm: number
  blocked_categories: string[]
  blocked_keywords: string[]
  payment_offers: boolean
}

/** A click; where it was dropped, or a confirmation names none, rebuilt from its conversion. */
export type ClickSnapshot = {
  /** Null: the conversion never had one. */
  click_id: string | null
  clicked_at: Date
  app_id: number
  is_test: boolean
  user_id: string
  offer_id: number
  currency: string
  rate_micros: number
  /** Null: all of it. */
  share_ppm: number | null
  aff_sub: string | null
  aff_sub2: string | null
  aff_sub3: string | null
  aff_sub4: string | null
  ip: string | null
  country: string | null
  device: string | null
  signals: string[] | null
  attribution_s: number
  terms_id: number | null
  terms: Record<string, PromisedGoal>
}

export type SubIds = Pick<ClickSnapshot, 'aff_sub' | 'aff_sub2' | 'aff_sub3' | 'aff_sub4'>

export type DecisionContext = {
  offers: Map<number, OfferSnapshot>
  apps: Map<number, AppSnapshot>
  /** By `click_id`; those found by a transaction, by `transactionKey`. */
  clicks: Map<string, ClickSnapshot>
  /** Transactions, by `transactionKey`, shared by several users or offers: which one is meant is unknown. */
  ambiguous: Set<string>
  /** The latest click of a user on an offer within its attribution window, by `userKey`. */
  latestClicks: Map<string, ClickSnapshot>
  conversions: ConversionIndex
  /** Of a user's latest request that carried any, by `appUserKey`. */
  subIds: Map<string, SubIds>
  trusted: Set<string>
  /** Offers that an app's publisher may not run, by app and offer. */
  denied: Set<string>
  /** By app and user. */
  banned: Set<string>
  keys: Map<string, { request: string; conversionId: string }>
  rules: FraudRule[]
  usage: Map<number, OfferUsage>
  /** Counts for fraud rules: conversions by user, other users by IP address. */
  counts: Map<string, number>
}

export const appUserKey = (of: { app_id: number; is_test: boolean; user_id: string }) =>
  `${of.app_id}|${of.is_test ? 't' : 'l'}|${of.user_id}`

export const transactionKey = ({ advertiserId, transactionId }: Confirmation) =>
  `${advertiserId}|${transactionId ?? ''}`

export const clickOf = (
  clicks: ReadonlyMap<string, ClickSnapshot>,
  confirmation: Confirmation,
): ClickSnapshot | undefined =>
  (confirmation.clickId === null ? undefined : clicks.get(confirmation.clickId)) ??
  clicks.get(transactionKey(confirmation))

export const idempotencyKey = ({ appId, isTest, idempotencyKey: key }: Report) =>
  `${appId}|${isTest ? 't' : 'l'}|${key ?? ''}`

/**
 * The user and offer of a command, known before anything is locked: clicks never change, nor do these columns of a
 * conversion.
 */
export type Subject = { app_id: number; is_test: boolean; user_id: string; offer_id: number }

export const subjectOf = (report: Report): Subject => ({
  app_id: report.appId,
  is_test: report.isTest,
  user_id: report.userId,
  offer_id: report.offerId,
})

export const userCountKey = (of: { app_id: number; is_test: boolean; user_id: string }) => `user ${appUserKey(of)}`
export const addressCountKey = (click: ClickSnapshot) => `address ${click.ip} ${appUserKey(click)}`

/** Updates the context after a change, for the commands that follow in the same batch. */
export function applyChange(
  { conversions, usage, counts }: DecisionContext,
  { before, after }: Change,
  day: number,
): void {
  conversions.set(after)
  if (before === null) {
    counts.set(userCountKey(after), (counts.get(userCountKey(after)) ?? 0) + 1)
    if (after.ip !== null && !after.is_test) countVisitor(counts, after.ip, appUserKey(after))
  }
  const used = usage.get(after.offer_id)
  if (used === undefined || after.is_test) return
  const { conversions: more, payoutMicros } = usageOf({ before, after })
  used.total.conversions += more
  used.total.payoutMicros += payoutMicros
  const itsDay = dayNumber(after.created_at)
  const earlier = used.earlier.get(itsDay)
  if (earlier !== undefined) used.earlier.set(itsDay, earlier + payoutMicros)
  if (itsDay !== day) return
  used.today.conversions += more
  used.today.payoutMicros += payoutMicros
}

/**
 * Counts one more user of an IP address for all others of the batch. A user counted before is counted twice, which is
 * exact enough for fraud rules.
 */
function countVisitor(counts: Map<string, number>, ip: string, user: string): void {
  for (const [key, count] of counts)
    if (key.startsWith(`address ${ip} `) && key !== `address ${ip} ${user}`) counts.set(key, count + 1)
}

/** What a change adds to its offer's cap usage: pending and approved conversions count. */
export function usageOf({ before, after }: Change): { conversions: number; payoutMicros: number } {
  const counts = (one: Conversion | null) => (one !== null && ['pending', 'approved'].includes(one.status) ? 1 : 0)
  return {
    conversions: counts(after) - counts(before),
    payoutMicros: counts(after) * after.payout_micros - counts(before) * (before?.payout_micros ?? 0),
  }
}
