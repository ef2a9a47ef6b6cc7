// What comes of a publisher's report. The first one counts; the same again is answered with the same conversion.
import { isContentAllowed } from '../offers/rule-sets.ts'
import type { Report } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import { type AppFacts, appUserKey, type Facts, idempotencyKey, type SubIds, subjectOf } from './facts.ts'
import { isRedone, isStanding, isTurnedDown } from './finality.ts'
import { goalOfReport, isRepeatable } from './goal-meant.ts'
import { userKey } from './known.ts'
import {
  begin,
  create,
  type Decision,
  duplicate,
  isOverCap,
  isSpent,
  judgeConversion,
  later,
  liveClick,
  makeConversion,
  type Moment,
  type Parts,
  refuse,
  remember,
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
  const ofOffer = facts.conversions.ofUser(userKey(subjectOf(report)))
  const goal = goalOfReport(report, offer, click, ofOffer)
  if (goal === undefined) return refuse('no_goal')
  const earlier = ofOffer.filter((one) => one.goal_id === goal.goal_id)
  const parts = { offer, app, goal, click, isRepeatable: isRepeatable(goal, click, earlier) }
  const same = findSame(earlier, parts, report)
  if (same !== undefined) return duplicate(same)
  if (parts.isRepeatable && report.transactionId === null) return refuse('needs_transaction')
  const told = parts.isRepeatable ? earlier.find(isToldByAdvertiser) : undefined
  // The advertiser was quicker: it is the same completion, known by the publisher's id from now on.
  if (told !== undefined) return remember(told, { ...told, publisher_transaction_id: report.transactionId })
  // A goal that the offer has no more can still be told of, but not completed anew without a click that promised it.
  const isOver = goal.is_retired && click?.terms[goal.goal_id] === undefined
  const last = isOver ? earlier.at(-1) : undefined
  if (last !== undefined) return duplicate(last)
  const made = makeReported(report, parts, facts, moment)
  const again = earlier.find((one) => isSameRefusal(one, made))
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

/** What this report has come to before: what stands, or what is over for good. */
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

function makeReported(report: Report, parts: Parts, facts: Facts, moment: Moment): Conversion {
  const { offer, app, goal, click } = parts
  const subIds = click ?? facts.contexts.get(appUserKey(subjectOf(report))) ?? NO_SUB_IDS
  const conversion = makeConversion({ ...parts, subIds, amountMicros: null }, subjectOf(report), moment)
  conversion.source = 'publisher'
  conversion.publisher_transaction_id = report.transactionId
  conversion.actor = 'publisher'
  const verdict = judgeConversion(conversion, click, null, facts, moment.now)
  conversion.signals = verdict.signals
  const refusal = reportRefusal(parts, conversion, facts, moment.now)
  if (refusal !== null) return begin(conversion, 'rejected', refusal, moment.now)
  if (verdict.action === 'reject') return begin(conversion, 'rejected', verdict.reason, moment.now)
  const isTrusted = facts.trusted.has(`${app.app_id}|${offer.offer_id}`) && !goal.is_retired
  if (isTrusted && verdict.action !== 'hold') return begin(conversion, 'approved', null, moment.now)
  conversion.confirm_by = later(moment.now, offer.confirm_within_s)
  return begin(conversion, 'pending', verdict.action === 'hold' ? verdict.reason : null, moment.now)
}

/** A user who clicked while the offer was open keeps the promise; without a click the offer must be open now. */
function reportRefusal({ offer, app, click }: Parts, made: Conversion, facts: Facts, now: Date): Reason | null {
  if (click !== null)
    return offer.over_cap === 'reject' && !made.is_test && isSpent(offer, facts, made.payout_micros)
      ? 'cap_exceeded'
      : null
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
