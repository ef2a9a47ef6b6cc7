// Decides a publisher's report. The first one counts; a repeat is answered with the same conversion.
import { isContentAllowed } from '../offers/rule-sets.ts'
import type { Report } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import {
  type AppSnapshot,
  appUserKey,
  type DecisionContext,
  idempotencyKey,
  type SubIds,
  subjectOf,
} from './decision-context.ts'
import { isRedone, isStanding, isTurnedDown } from './finality.ts'
import { goalOfReport, isRepeatable } from './resolve-goal.ts'
import { userKey } from './conversion-index.ts'
import { isOverCap, isSpent } from '../offers/caps.ts'
import { judgeConversion } from './fraud.ts'
import { createConversion } from './new-conversion.ts'
import { create, type Decision, duplicate, type Moment, refuse, remember, withStatus } from './outcomes.ts'
import { later, liveClick, type Parts } from './terms.ts'

const NO_SUB_IDS: SubIds = { aff_sub: null, aff_sub2: null, aff_sub3: null, aff_sub4: null }

export function decideReport(report: Report, context: DecisionContext, moment: Moment): Decision {
  const offer = context.offers.get(report.offerId)
  const app = context.apps.get(report.appId)
  if (offer === undefined || app === undefined) return refuse('no_offer')
  const seen = report.idempotencyKey === null ? undefined : context.keys.get(idempotencyKey(report))
  if (seen !== undefined) {
    const first = context.conversions.get(seen.conversionId)
    return seen.request === requestText(report) && first !== undefined ? duplicate(first) : refuse('key_reused')
  }
  const click = liveClick(context.latestClicks.get(userKey(subjectOf(report))), moment.now)
  const ofOffer = context.conversions.ofUser(userKey(subjectOf(report)))
  const goal = goalOfReport(report, offer, click, ofOffer)
  if (goal === undefined) return refuse('no_goal')
  const earlier = ofOffer.filter((one) => one.goal_id === goal.goal_id)
  const parts = { offer, app, goal, click, isRepeatable: isRepeatable(goal, click, earlier) }
  const same = findSame(earlier, parts, report)
  if (same !== undefined) return duplicate(same)
  if (parts.isRepeatable && report.transactionId === null) return refuse('needs_transaction')
  const unreported = parts.isRepeatable ? earlier.find(isUnreported) : undefined
  // The advertiser was quicker: it is the same completion, and gets the publisher's transaction ID.
  if (unreported !== undefined)
    return remember(unreported, { ...unreported, publisher_transaction_id: report.transactionId })
  // A retired goal can still be reported, but not completed again without a click that promised it.
  const isOver = goal.is_retired && click?.terms[goal.goal_id] === undefined
  const last = isOver ? earlier.at(-1) : undefined
  if (last !== undefined) return duplicate(last)
  const made = createReported(report, parts, context, moment)
  const again = earlier.find((one) => isSameRefusal(one, made))
  return again === undefined ? create(made) : duplicate(again)
}

/** Two reports with the same text are the same request. */
export function requestText({ userId, offerId, goalId, transactionId }: Report): string {
  return JSON.stringify([userId, offerId, goalId, transactionId])
}

const isUnreported = (one: Conversion) =>
  one.is_repeatable &&
  one.source === 'advertiser' &&
  one.publisher_transaction_id === null &&
  (one.status === 'pending' || one.status === 'approved')

/** The conversion that this report has led to before: a standing one, or one that is final. */
function findSame(earlier: readonly Conversion[], parts: Parts, { transactionId }: Report): Conversion | undefined {
  const { click } = parts
  const isOnce = (one: Conversion) => !one.is_repeatable && (!parts.isRepeatable || transactionId === null)
  const isNamed = (one: Conversion) =>
    transactionId !== null && (one.publisher_transaction_id ?? one.advertiser_transaction_id) === transactionId
  return (
    earlier.find((one) => isStanding(one) && (isOnce(one) || isNamed(one))) ??
    earlier.findLast((one) => one.status === 'reversed' && (isNamed(one) || (isOnce(one) && !isDoneAgain(one)))) ??
    earlier.findLast((one) => one.status === 'rejected' && (one.bars_redo || isFinal(one)))
  )

  function isDoneAgain(one: Conversion): boolean {
    const isOther = transactionId !== null && one.publisher_transaction_id !== null
    return isRedone(one, click) || (isOther && !one.bars_redo)
  }

  function isFinal(one: Conversion): boolean {
    if (!isTurnedDown(one) && one.status_reason !== 'unconfirmed') return false
    const isByTransaction = one.is_repeatable || one.click_id === null || click === null
    return isByTransaction ? one.publisher_transaction_id === transactionId : one.click_id === click.click_id
  }
}

/** Refused again, for the same reason. */
const isSameRefusal = (one: Conversion, made: Conversion) =>
  one.status === 'rejected' &&
  made.status === 'rejected' &&
  one.status_reason === made.status_reason &&
  (!made.is_repeatable || one.publisher_transaction_id === made.publisher_transaction_id)

function createReported(report: Report, parts: Parts, context: DecisionContext, moment: Moment): Conversion {
  const { offer, app, goal, click } = parts
  const subIds = click ?? context.subIds.get(appUserKey(subjectOf(report))) ?? NO_SUB_IDS
  const conversion = createConversion({ ...parts, subIds, amountMicros: null }, subjectOf(report), moment)
  conversion.source = 'publisher'
  conversion.publisher_transaction_id = report.transactionId
  conversion.actor = 'publisher'
  const verdict = judgeConversion(conversion, click, null, context, moment.now)
  conversion.signals = verdict.signals
  const refusal = reportRefusal(parts, conversion, context, moment.now)
  if (refusal !== null) return withStatus(conversion, 'rejected', refusal, moment.now)
  if (verdict.action === 'reject') return withStatus(conversion, 'rejected', verdict.reason, moment.now)
  const isTrusted = context.trusted.has(`${app.app_id}|${offer.offer_id}`) && !goal.is_retired
  if (isTrusted && verdict.action !== 'hold') return withStatus(conversion, 'approved', null, moment.now)
  conversion.confirm_by = later(moment.now, offer.confirm_within_s)
  return withStatus(conversion, 'pending', verdict.action === 'hold' ? verdict.reason : null, moment.now)
}

/** A user who clicked while the offer was open keeps the promise; without a click the offer must be open now. */
function reportRefusal(
  { offer, app, click }: Parts,
  made: Conversion,
  context: DecisionContext,
  now: Date,
): Reason | null {
  if (click !== null)
    return offer.over_cap === 'reject' &&
      !made.is_test &&
      isSpent(offer.caps, context.usage.get(offer.offer_id), made.payout_micros)
      ? 'cap_exceeded'
      : null
  const isOpen =
    offer.status === 'active' &&
    (offer.starts_at === null || offer.starts_at <= now) &&
    (offer.ends_at === null || now < offer.ends_at)
  const isAllowed = !context.denied.has(`${app.app_id}|${offer.offer_id}`) && isContentAllowed(contentRules(app), offer)
  if (!isOpen || !isAllowed) return 'not_eligible'
  return !made.is_test && isOverCap(offer.caps, context.usage.get(offer.offer_id), made.payout_micros)
    ? 'cap_exceeded'
    : null
}

const contentRules = (app: AppSnapshot) => ({
  blockedCategories: app.blocked_categories,
  blockedKeywords: app.blocked_keywords,
  paymentOffers: app.payment_offers,
})
