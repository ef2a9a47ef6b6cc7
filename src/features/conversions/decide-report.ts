// Decides a publisher's report. The first one counts; a repeat is answered with the same conversion.
import { isContentAllowed } from '../offers/rule-sets.ts'
import type { Report } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import type { DecisionContext, SubIds } from './decision-context.ts'
import { isRedone, isStanding, isTurnedDown } from './finality.ts'
import { goalOfReport, isRepeatable } from './resolve-goal.ts'
import { appOfferKey, appUserKey, idempotencyKey, requestText, userKey } from './keys.ts'
import { isOverCap, isSpent } from '../offers/caps.ts'
import { judgeConversion } from './judge-conversion.ts'
import { createConversion } from './new-conversion.ts'
import { create, type Decision, duplicate, type Moment, refuse, remember, withStatus } from './outcomes.ts'
import { later, liveClick, type Parts } from './terms.ts'

const NO_SUB_IDS: SubIds = { affSub: null, affSub2: null, affSub3: null, affSub4: null }

export function decideReport(report: Report, context: DecisionContext, moment: Moment): Decision {
  const offer = context.offers.get(report.offerId)
  const app = context.apps.get(report.appId)
  if (offer === undefined || app === undefined) return refuse('no_offer')
  const seen = report.idempotencyKey === null ? undefined : context.keys.get(idempotencyKey(report))
  if (seen !== undefined) {
    const first = context.conversions.get(seen.conversionId)
    return seen.request === requestText(report) && first !== undefined ? duplicate(first) : refuse('key_reused')
  }
  const click = liveClick(context.latestClicks.get(userKey(report)), moment.now)
  const ofOffer = context.conversions.about(userKey(report), report.transactionId)
  const goal = goalOfReport(report, offer, click, ofOffer)
  if (goal === undefined) return refuse('no_goal')
  const earlier = ofOffer.filter((one) => one.goalId === goal.goalId)
  const parts = { offer, app, goal, click, isRepeatable: isRepeatable(goal, click, earlier) }
  const same = findSame(earlier, parts, report)
  if (same !== undefined) return duplicate(same)
  if (parts.isRepeatable && report.transactionId === null) return refuse('needs_transaction')
  const unreported = parts.isRepeatable ? earlier.find(isUnreported) : undefined
  // The advertiser was quicker: it is the same completion, and gets the publisher's transaction ID.
  if (unreported !== undefined)
    return remember(unreported, { ...unreported, publisherTransactionId: report.transactionId })
  // A retired goal can still be reported, but not completed again without a click that promised it.
  const isOver = goal.isRetired && click?.terms[goal.goalId] === undefined
  const last = isOver ? earlier.at(-1) : undefined
  if (last !== undefined) return duplicate(last)
  const made = createReported(report, parts, context, moment)
  const again = earlier.find((one) => isSameRefusal(one, made))
  return again === undefined ? create(made) : duplicate(again)
}

const isUnreported = (one: Conversion) =>
  one.isRepeatable &&
  one.source === 'advertiser' &&
  one.publisherTransactionId === null &&
  (one.status === 'pending' || one.status === 'approved')

/** The conversion that this report has led to before: a standing one, or one that is final. */
function findSame(earlier: readonly Conversion[], parts: Parts, { transactionId }: Report): Conversion | undefined {
  const { click } = parts
  const isOnce = (one: Conversion) => !one.isRepeatable && (!parts.isRepeatable || transactionId === null)
  const isNamed = (one: Conversion) =>
    transactionId !== null && (one.publisherTransactionId ?? one.advertiserTransactionId) === transactionId
  return (
    earlier.find((one) => isStanding(one) && (isOnce(one) || isNamed(one))) ??
    earlier.findLast((one) => one.status === 'reversed' && (isNamed(one) || (isOnce(one) && !isDoneAgain(one)))) ??
    earlier.findLast((one) => one.status === 'rejected' && (one.barsRedo || isFinal(one)))
  )

  function isDoneAgain(one: Conversion): boolean {
    const isOther = transactionId !== null && one.publisherTransactionId !== null
    return isRedone(one, click) || (isOther && !one.barsRedo)
  }

  function isFinal(one: Conversion): boolean {
    if (!isTurnedDown(one) && one.statusReason !== 'unconfirmed') return false
    const isByTransaction = one.isRepeatable || one.clickId === null || click === null
    return isByTransaction ? one.publisherTransactionId === transactionId : one.clickId === click.clickId
  }
}

/** Refused again, for the same reason. */
const isSameRefusal = (one: Conversion, made: Conversion) =>
  one.status === 'rejected' &&
  made.status === 'rejected' &&
  one.statusReason === made.statusReason &&
  (!made.isRepeatable || one.publisherTransactionId === made.publisherTransactionId)

function createReported(report: Report, parts: Parts, context: DecisionContext, moment: Moment): Conversion {
  const { offer, goal, click } = parts
  const subIds = click ?? context.subIds.get(appUserKey(report)) ?? NO_SUB_IDS
  const conversion = createConversion({ ...parts, subIds, amountMicros: null }, report, moment)
  conversion.source = 'publisher'
  conversion.publisherTransactionId = report.transactionId
  conversion.actor = 'publisher'
  const verdict = judgeConversion(conversion, click, null, context, moment.now)
  conversion.signals = verdict.signals
  const refusal = reportRefusal(parts, conversion, context, moment.now)
  if (refusal !== null) return withStatus(conversion, 'rejected', refusal, moment.now)
  if (verdict.action === 'reject') return withStatus(conversion, 'rejected', verdict.reason, moment.now)
  // No advertiser confirms a test, and a developer wants to see its postback.
  const isTrusted = (report.isTest || context.trusted.has(appOfferKey(conversion))) && !goal.isRetired
  if (isTrusted && verdict.action !== 'hold') return withStatus(conversion, 'approved', null, moment.now)
  conversion.confirmBy = later(moment.now, offer.confirmWithinS)
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
    return offer.overCap === 'reject' && !made.isTest && isSpent(offer.caps, context.usage.get(offer.offerId), made)
      ? 'cap_exceeded'
      : null
  const isOpen =
    offer.status === 'active' &&
    (offer.startsAt === null || offer.startsAt <= now) &&
    (offer.endsAt === null || now < offer.endsAt)
  const isAllowed = !context.denied.has(appOfferKey(made)) && isContentAllowed(app, offer)
  if (!isOpen || !isAllowed) return 'not_eligible'
  const isOutOfBudget = offer.budgetUntil !== null && now < offer.budgetUntil
  if (isOutOfBudget && !made.isTest) return 'cap_exceeded'
  return !made.isTest && isOverCap(offer.caps, context.usage.get(offer.offerId), made) ? 'cap_exceeded' : null
}
