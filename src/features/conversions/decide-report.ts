// What comes of a publisher's report. The first one counts; the same again is answered with the same conversion.
import { isContentAllowed } from '../offers/rule-sets.ts'
import type { Report } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import {
  type AppFacts,
  appUserKey,
  type Facts,
  type GoalFacts,
  idempotencyKey,
  type SubIds,
  subjectOf,
} from './facts.ts'
import { userKey } from './known.ts'
import {
  begin,
  create,
  type Decision,
  duplicate,
  findGoal,
  isOverCap,
  isSpent,
  judgeConversion,
  liveClick,
  makeConversion,
  type Moment,
  type Parts,
  refuse,
} from './making.ts'

const NO_SUB_IDS: SubIds = { aff_sub: null, aff_sub2: null, aff_sub3: null, aff_sub4: null }

export function decideReport(report: Report, facts: Facts, moment: Moment): Decision {
  const offer = facts.offers.get(report.offerId)
  const app = facts.apps.get(report.appId)
  if (offer === undefined || app === undefined) return refuse('no_offer')
  const seen = report.idempotencyKey === null ? undefined : facts.keys.get(idempotencyKey(report))
  if (seen !== undefined) {
    const first = facts.conversions.get(seen.conversionId)
    return seen.request === requestText(report) && first !== undefined ? duplicate(first) : refuse('key_reused')
  }
  const click = liveClick(facts.latestClicks.get(userKey(subjectOf(report))), moment.now)
  const goal = findGoal(offer, report.goalId, click)
  if (goal === undefined) return refuse('no_goal')
  if (goal.is_repeatable && report.transactionId === null) return refuse('needs_transaction')
  const earlier = facts.conversions.ofUser(userKey(subjectOf(report))).filter((one) => one.goal_id === goal.goal_id)
  const standing = earlier.filter((one) => one.status !== 'rejected')
  const same = standing.find((one) => isSameReport(one, goal, report.transactionId))
  if (same !== undefined) return duplicate(same)
  const told = goal.is_repeatable ? standing.find(isToldByAdvertiser) : undefined
  if (told !== undefined) {
    // The advertiser was quicker: it is the same completion, known by the publisher's id from now on.
    const after = { ...told, publisher_transaction_id: report.transactionId }
    return { outcome: { kind: 'duplicate', conversion: after }, change: { before: told, after } }
  }
  const made = makeReported(report, { offer, app, goal, click }, facts, moment)
  const again = earlier.find(
    (one) =>
      one.status === 'rejected' &&
      made.status === 'rejected' &&
      one.status_reason === made.status_reason &&
      (!goal.is_repeatable || one.publisher_transaction_id === report.transactionId),
  )
  return again === undefined ? create(made) : duplicate(again)
}

/** What of a report makes two of them the same request. */
export function requestText({ userId, offerId, goalId, transactionId }: Report): string {
  return JSON.stringify([userId, offerId, goalId, transactionId])
}

const isToldByAdvertiser = (one: Conversion) =>
  one.is_repeatable &&
  one.source === 'advertiser' &&
  one.publisher_transaction_id === null &&
  (one.status === 'pending' || one.status === 'approved')

function isSameReport(one: Conversion, goal: GoalFacts, transactionId: string | null): boolean {
  if (!goal.is_repeatable) return !one.is_repeatable
  if (one.publisher_transaction_id !== null) return one.publisher_transaction_id === transactionId
  return one.advertiser_transaction_id === transactionId
}

function makeReported(report: Report, parts: Parts, facts: Facts, moment: Moment): Conversion {
  const { offer, app, goal, click } = parts
  const subIds = click ?? facts.contexts.get(appUserKey(subjectOf(report))) ?? NO_SUB_IDS
  const conversion = makeConversion({ ...parts, subIds, amountMicros: null }, subjectOf(report), moment)
  conversion.source = 'publisher'
  conversion.publisher_transaction_id = report.transactionId
  conversion.actor = 'publisher'
  const verdict = judgeConversion(conversion, click, null, facts, moment)
  conversion.signals = verdict.signals
  const refusal = reportRefusal(parts, conversion, facts, moment.now)
  if (refusal !== null) return begin(conversion, 'rejected', refusal, moment.now)
  if (verdict.action === 'reject') return begin(conversion, 'rejected', verdict.reason, moment.now)
  if (verdict.action === 'hold') return begin(conversion, 'pending', verdict.reason, moment.now)
  const isTrusted = facts.trusted.has(`${app.app_id}|${offer.offer_id}`) && !goal.is_retired
  return begin(conversion, isTrusted ? 'approved' : 'pending', null, moment.now)
}

/** A user who clicked while the offer was open keeps the promise; without a click the offer must be open now. */
function reportRefusal({ offer, app, click }: Parts, made: Conversion, facts: Facts, now: Date): Reason | null {
  if (click !== null)
    return offer.over_cap === 'reject' && !made.is_test && isSpent(offer, facts) ? 'cap_exceeded' : null
  const isOpen =
    offer.status === 'active' &&
    (offer.starts_at === null || offer.starts_at <= now) &&
    (offer.ends_at === null || now < offer.ends_at)
  const isAllowed = !facts.denied.has(`${app.app_id}|${offer.offer_id}`) && isContentAllowed(contentRules(app), offer)
  if (!isOpen || !isAllowed) return 'not_eligible'
  return !made.is_test && isOverCap(offer, facts, made.payout_micros) ? 'cap_exceeded' : null
}

const contentRules = (app: AppFacts) => ({
  blockedCategories: app.blocked_categories,
  blockedKeywords: app.blocked_keywords,
  paymentOffers: app.payment_offers,
})
