// What decisions are made of.
import { WHOLE_PPM } from '../../lib/money.ts'
import { dayNumber, isFull } from '../offers/caps.ts'
import type { Change, Outcome, Refusal } from './commands.ts'
import type { ActorKind, Conversion, Reason, Status } from './conversions.ts'
import {
  addressCountKey,
  type AppFacts,
  type ClickFacts,
  type Facts,
  type GoalFacts,
  type OfferFacts,
  type SubIds,
  userCountKey,
} from './facts.ts'
import { barsRedo } from './finality.ts'
import { judge, type Verdict } from './fraud.ts'
import { firstGoal } from './goal-meant.ts'
import { worthOf } from './worth.ts'

export type Moment = { now: Date; makeId: () => string }
export type Decision = { outcome: Outcome; change: Change | null }

export type Parts = {
  offer: OfferFacts
  app: AppFacts
  goal: GoalFacts
  click: ClickFacts | null
  /** As the click was promised it. */
  isRepeatable: boolean
}

/** What the click promised for the goal; without one, or for a goal that came later, what holds now. */
export const promised = ({ goal, click }: Parts) => click?.terms[goal.goal_id] ?? goal

/** The publisher's share of it, then or now. */
export const promisedShare = ({ app, click }: Parts) =>
  click === null ? app.share_ppm : (click.share_ppm ?? WHOLE_PPM)

export const later = (time: Date, seconds: number) => new Date(time.getTime() + seconds * 1000)

export const isExpired = (click: ClickFacts, at: Date) =>
  at.getTime() > click.clicked_at.getTime() + click.attribution_s * 1000

export const liveClick = (click: ClickFacts | undefined, now: Date) =>
  click === undefined || isExpired(click, now) ? null : click

export function judgeConversion(
  made: Conversion,
  click: ClickFacts | null,
  country: string | null,
  facts: Facts,
  toldAt: Date,
): Verdict {
  if (facts.banned.has(`${made.app_id}|${made.user_id}`))
    return { action: 'reject', reason: 'fraud', signals: ['banned_user'] }
  const isNew = facts.conversions.get(made.conversion_id) === undefined
  return judge(facts.rules, made.offer_id, {
    secondsFromClick: click === null ? null : (toldAt.getTime() - click.clicked_at.getTime()) / 1000,
    usersOfAddress: 1 + (click === null ? 0 : (facts.counts.get(addressCountKey(click)) ?? 0)),
    conversionsOfUser: (isNew ? 1 : 0) + (facts.counts.get(userCountKey(made)) ?? 0),
    clickCountry: click?.country ?? null,
    conversionCountry: country,
    clickSignals: click?.signals ?? [],
  })
}

export const fromClick = (click: ClickFacts) => ({
  click_id: click.click_id,
  click_at: click.clicked_at,
  ip: click.ip,
  country: click.country,
  device: click.device,
  currency: click.currency,
  rate_micros: click.rate_micros,
  share_ppm: click.share_ppm,
  terms_id: click.terms_id,
  aff_sub: click.aff_sub,
  aff_sub2: click.aff_sub2,
  aff_sub3: click.aff_sub3,
  aff_sub4: click.aff_sub4,
})

export function makeConversion(
  parts: Parts & { subIds: SubIds; amountMicros: number | null },
  of: { is_test: boolean; user_id: string },
  { now, makeId }: Moment,
): Conversion {
  const { offer, app, goal, click, isRepeatable, subIds } = parts
  const worth = worthOf(promised(parts), parts.amountMicros, promisedShare(parts))
  return {
    conversion_id: makeId(),
    app_id: app.app_id,
    publisher_id: app.publisher_id,
    advertiser_id: offer.advertiser_id,
    offer_id: offer.offer_id,
    goal_id: goal.goal_id,
    user_id: of.user_id,
    is_test: of.is_test,
    is_repeatable: isRepeatable,
    is_first_goal: goal.goal_id === firstGoal(offer, click)?.goal_id,
    status: 'pending',
    status_reason: null,
    source: 'publisher',
    publisher_transaction_id: null,
    advertiser_transaction_id: null,
    payout_micros: worth.payoutMicros,
    revenue_micros: worth.revenueMicros,
    currency: app.currency,
    rate_micros: app.rate_micros,
    share_ppm: app.share_ppm === WHOLE_PPM ? null : app.share_ppm,
    terms_id: offer.terms_id,
    aff_sub: subIds.aff_sub,
    aff_sub2: subIds.aff_sub2,
    aff_sub3: subIds.aff_sub3,
    aff_sub4: subIds.aff_sub4,
    click_id: null,
    click_at: null,
    ip: null,
    country: null,
    device: null,
    ...(click === null ? {} : fromClick(click)),
    signals: [],
    told_at: null,
    confirm_by: null,
    confirmed_at: null,
    is_unconfirmed: true,
    bars_redo: false,
    hold_until: null,
    created_at: now,
    approved_at: null,
    rejected_at: null,
    reversed_at: null,
    sequence: 1,
    event_id: makeId(),
    actor: 'system',
  }
}

export const begin = (made: Conversion, status: Status, reason: Reason | null, now: Date): Conversion => ({
  ...made,
  status,
  status_reason: reason,
  approved_at: status === 'approved' ? now : null,
  rejected_at: status === 'rejected' ? now : null,
})

export const create = (after: Conversion): Decision => ({
  outcome: { kind: 'created', conversion: after },
  change: { before: null, after },
})

/** What becomes of a conversion, why, and by whose word. */
export type Verb = { to: 'approved' | 'rejected' | 'reversed'; reason: Reason | null; actor: ActorKind }

export function move(
  before: Conversion,
  base: Conversion,
  { to, reason, actor }: Verb,
  offer: OfferFacts | undefined,
  { now, makeId }: Moment,
): Decision {
  const after: Conversion = {
    ...base,
    bars_redo: barsRedo(base, { to, reason, actor }, offer),
    status: to,
    status_reason: reason,
    [`${to}_at`]: now,
    actor,
    sequence: before.sequence + 1,
    event_id: makeId(),
  }
  return { outcome: { kind: 'moved', conversion: after }, change: { before, after } }
}

/** Changed, but still pending. */
export const keep = (before: Conversion, after: Conversion): Decision => ({
  outcome: { kind: 'noted', conversion: after },
  change: { before, after },
})

/** Nothing new for whoever told, but something to remember. */
export const remember = (before: Conversion, after: Conversion): Decision => ({
  outcome: { kind: 'duplicate', conversion: after },
  change: { before, after },
})

export const duplicate = (conversion: Conversion): Decision => ({
  outcome: { kind: 'duplicate', conversion },
  change: null,
})

export const refuse = (kind: Refusal): Decision => ({ outcome: { kind, conversion: null }, change: null })

/** Whether the offer is closed by a cap, or this payout would pass one. */
export function isOverCap(offer: OfferFacts, facts: Facts, payoutMicros: number): boolean {
  const used = facts.usage.get(offer.offer_id)
  return (
    used !== undefined && (isFull(offer.caps, used.today, used.total) !== 'no' || isSpent(offer, facts, payoutMicros))
  )
}

/**
 * Whether an offer that refuses what is beyond its caps has no room for so much more payout of what it has counted before:
 * in total, and on the day of the conversion, for which it counts.
 */
export function isRaisedBeyondCap(offer: OfferFacts, facts: Facts, one: Conversion, payoutMicros: number, now: Date) {
  const used = facts.usage.get(offer.offer_id)
  const raise = payoutMicros - one.payout_micros
  if (used === undefined || raise <= 0 || offer.over_cap !== 'reject' || one.is_test) return false
  const isPassed = (cap: number | null, spent: number) => cap !== null && spent + raise > cap
  const day = dayNumber(one.created_at)
  const ofDay = day === dayNumber(now) ? used.today.payoutMicros : (used.earlier.get(day) ?? 0)
  return (
    isPassed(offer.caps.totalPayoutMicros, used.total.payoutMicros) || isPassed(offer.caps.dailyPayoutMicros, ofDay)
  )
}

/** The same for whoever has clicked, and so has a place among the clicks: only conversions and payout can be beyond a cap. */
export function isSpent({ offer_id, caps }: OfferFacts, facts: Facts, payoutMicros = 0): boolean {
  const used = facts.usage.get(offer_id)
  if (used === undefined) return false
  const isReached = (cap: number | null, count: number) => cap !== null && count >= cap
  const isPassed = (cap: number | null, spent: number) =>
    isReached(cap, spent) || (cap !== null && spent + payoutMicros > cap)
  return (
    isReached(caps.dailyConversions, used.today.conversions) ||
    isReached(caps.totalConversions, used.total.conversions) ||
    isPassed(caps.dailyPayoutMicros, used.today.payoutMicros) ||
    isPassed(caps.totalPayoutMicros, used.total.payoutMicros)
  )
}
