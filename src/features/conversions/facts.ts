// Everything a batch of commands is decided on. Deciding a command changes the facts for those behind it.
import { type Caps, dayNumber, type Usage } from '../offers/caps.ts'
import type { Change, Confirmation, Report } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { FraudRule } from './fraud.ts'
import type { KnownConversions } from './known.ts'

export type GoalTerms = {
  payout_micros: number
  revenue_micros: number
  payout_ppm: number | null
  revenue_ppm: number | null
}

/** A goal as a click was promised it. Terms of before 0.2 have only what it is worth. */
export type PromisedGoal = GoalTerms & {
  place?: number
  name?: string
  external_id?: string | null
  is_repeatable?: boolean
}

export type GoalFacts = GoalTerms & {
  goal_id: number
  external_id: string | null
  name: string
  is_retired: boolean
  is_repeatable: boolean
}

export type OfferFacts = {
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
  /** In their order, the retired ones among them. */
  goals: GoalFacts[]
}

export type AppFacts = {
  app_id: number
  publisher_id: number
  currency: string
  rate_micros: number
  share_ppm: number
  blocked_categories: string[]
  blocked_keywords: string[]
  payment_offers: boolean
}

/** A click; where it is gone, or a confirmation names none, as its conversion remembers it. */
export type ClickFacts = {
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

export type SubIds = Pick<ClickFacts, 'aff_sub' | 'aff_sub2' | 'aff_sub3' | 'aff_sub4'>

/** Of a capped offer. `earlier`: the payout of past days, where a conversion of theirs may be worth more now. */
export type OfferUsage = { today: Usage; total: Usage; earlier: Map<number, number> }

export type Facts = {
  offers: Map<number, OfferFacts>
  apps: Map<number, AppFacts>
  /** By `click_id`; those that were found by a transaction, by `transactionKey`. */
  clicks: Map<string, ClickFacts>
  /** Transactions, by `transactionKey`, of several users or offers: whose is meant cannot be told. */
  ambiguous: Set<string>
  /** The latest click of a user on an offer that is still good, by `userKey`. */
  latestClicks: Map<string, ClickFacts>
  conversions: KnownConversions
  contexts: Map<string, SubIds>
  trusted: Set<string>
  /** Offers that an app's publisher may not run, by app and offer. */
  denied: Set<string>
  /** By app and user. */
  banned: Set<string>
  keys: Map<string, { request: string; conversionId: string }>
  rules: FraudRule[]
  usage: Map<number, OfferUsage>
  /** By user and by address: how many conversions, how many other users. */
  counts: Map<string, number>
}

export const appUserKey = (of: { app_id: number; is_test: boolean; user_id: string }) =>
  `${of.app_id}|${of.is_test ? 't' : 'l'}|${of.user_id}`

export const transactionKey = ({ advertiserId, transactionId }: Confirmation) =>
  `${advertiserId}|${transactionId ?? ''}`

export const clickOf = (clicks: ReadonlyMap<string, ClickFacts>, told: Confirmation): ClickFacts | undefined =>
  (told.clickId === null ? undefined : clicks.get(told.clickId)) ?? clicks.get(transactionKey(told))

export const idempotencyKey = ({ appId, isTest, idempotencyKey: key }: Report) =>
  `${appId}|${isTest ? 't' : 'l'}|${key ?? ''}`

/** What a command is about, known before anything is locked: clicks never change, nor does what a conversion is of. */
export type Subject = { app_id: number; is_test: boolean; user_id: string; offer_id: number }

export const subjectOf = (report: Report): Subject => ({
  app_id: report.appId,
  is_test: report.isTest,
  user_id: report.userId,
  offer_id: report.offerId,
})

export const userCountKey = (of: { app_id: number; is_test: boolean; user_id: string }) => `user ${appUserKey(of)}`
export const addressCountKey = (click: ClickFacts) => `address ${click.ip} ${appUserKey(click)}`

/** Makes the facts true again after a change, for the commands that follow in the same batch. */
export function takeIn({ conversions, usage, counts }: Facts, { before, after }: Change, day: number): void {
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

/** One more user of an address, for all others of the batch. One who was there before is counted twice: rules are not that fine. */
function countVisitor(counts: Map<string, number>, ip: string, user: string): void {
  for (const [key, count] of counts)
    if (key.startsWith(`address ${ip} `) && key !== `address ${ip} ${user}`) counts.set(key, count + 1)
}

/** What a change adds to the usage of its offer's caps: they count what is neither rejected nor reversed. */
export function usageOf({ before, after }: Change): { conversions: number; payoutMicros: number } {
  const counts = (one: Conversion | null) => (one !== null && ['pending', 'approved'].includes(one.status) ? 1 : 0)
  return {
    conversions: counts(after) - counts(before),
    payoutMicros: counts(after) * after.payout_micros - counts(before) * (before?.payout_micros ?? 0),
  }
}
