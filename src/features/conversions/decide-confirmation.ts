// Decides an advertiser's confirmation. It adopts the publisher's report, updates an existing conversion, or creates a
// new one; a confirmation that changes nothing is a duplicate.
import type { Confirmation } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import { clickOf, type DecisionContext } from './decision-context.ts'
import { findEnded, isFinal } from './ended.ts'
import { isRedone, isStanding } from './finality.ts'
import type { Verdict } from './fraud.ts'
import { judgeConversion } from './judge-conversion.ts'
import { goalOfConfirmation, isRepeatable, isDenial } from './resolve-goal.ts'
import { applyConfirmation } from './apply-confirmation.ts'
import { transactionKey, userKey } from './keys.ts'
import { isSpent } from '../offers/caps.ts'
import { createConversion } from './new-conversion.ts'
import { create, type Decision, duplicate, type Moment, refuse, withStatus } from './outcomes.ts'
import { type ClickParts, isExpired, later, promised, promisedShare } from './terms.ts'
import { MAX_AMOUNT_MICROS, paysShare, amountsOf } from './payout.ts'

export function decideConfirmation(confirmation: Confirmation, context: DecisionContext, moment: Moment): Decision {
  const click = clickOf(context.clicks, confirmation)
  const offer = click === undefined ? undefined : context.offers.get(click.offerId)
  const app = click === undefined ? undefined : context.apps.get(click.appId)
  if (click === undefined && context.ambiguous.has(transactionKey(confirmation))) return refuse('ambiguous')
  if (click === undefined || offer === undefined || app === undefined) return refuse('unmatched')
  if (offer.advertiserId !== confirmation.advertiserId) return refuse('not_yours')
  if (isForOtherOffer(confirmation, offer.feedOfferId) && !isDenialOfKnown(confirmation, context)) return refuse('other_offer') // prettier-ignore
  const ofOffer = context.conversions.about(userKey(click), confirmation.transactionId)
  const goal = goalOfConfirmation(confirmation, offer, click, ofOffer)
  if (typeof goal === 'string') return refuse(goal)
  const ofUser = ofOffer.filter((one) => one.goalId === goal.goalId)
  const parts = { offer, app, goal, click, isRepeatable: isRepeatable(goal, click, ofUser) }
  if (parts.isRepeatable && confirmation.transactionId === null) return refuse('needs_transaction')
  if (confirmation.amountProblem && paysShare(promised(parts))) return refuse(`amount_${confirmation.amountProblem}`)
  const { payoutMicros, revenueMicros } = amountsOf(promised(parts), confirmation.amountMicros, promisedShare(parts))
  if (Math.max(payoutMicros, revenueMicros) > MAX_AMOUNT_MICROS) return refuse('amount_too_large')
  const byTransaction = context.conversions
    .ofTransaction(confirmation.transactionId)
    .find(
      (one) =>
        one.status !== 'rejected' &&
        one.advertiserId === confirmation.advertiserId &&
        one.goalId === goal.goalId &&
        one.isTest === click.isTest,
    )
  // Another user has the same transaction: it was paid there.
  if (byTransaction !== undefined && !ofUser.includes(byTransaction)) return duplicate(byTransaction)
  const ended = byTransaction === undefined ? findEnded(ofUser, confirmation, parts) : undefined
  if (ended !== undefined) return duplicate(ended)
  const standing = byTransaction ?? findStanding(ofUser, parts, confirmation)
  if (standing !== undefined) return applyConfirmation(standing, confirmation, parts, context, moment)
  const final = ofUser.findLast((one) => isFinal(one, confirmation, click))
  return final === undefined ? create(createConfirmed(confirmation, parts, context, moment)) : duplicate(final)
}

/** Networks lead users on to other offers of theirs. `18:FR` is a part of offer 18 of the network. */
const isForOtherOffer = ({ externalOfferId: sent }: Confirmation, known: string | null) =>
  sent != null && known !== null && known !== sent && !known.startsWith(`${sent}:`)

const isDenialOfKnown = (confirmation: Confirmation, { conversions }: DecisionContext) =>
  isDenial(confirmation) && conversions.ofTransaction(confirmation.transactionId).some(({ advertiserId }) => advertiserId === confirmation.advertiserId) // prettier-ignore

/**
 * The conversion that a confirmation is about, if there is one: the user's only one, or for a repeatable goal one to
 * adopt. A reversed conversion counts until the goal is completed again.
 */
function findStanding(ofUser: Conversion[], { click, ...parts }: ClickParts, confirmation: Confirmation) {
  const standing = ofUser.filter(isStanding)
  const once = standing.find((one) => !one.isRepeatable)
  if (!parts.isRepeatable && once !== undefined) return once
  const reports = standing
    .filter((one) => one.source === 'publisher' && one.advertiserTransactionId === null)
    .toSorted((a, b) => (a.conversionId < b.conversionId ? -1 : 1))
  return (
    (confirmation.transactionId === null
      ? undefined
      : reports.find((one) => one.publisherTransactionId === confirmation.transactionId)) ??
    reports.find((one) => one.status === 'pending') ??
    // Approved on the publisher's report: paid already, so the advertiser's confirmation must not pay it again.
    reports.find((one) => one.status === 'approved') ??
    (parts.isRepeatable
      ? undefined
      : ofUser.findLast((one) => one.status === 'reversed' && !one.isRepeatable && !isRedone(one, click)))
  )
}

function createConfirmed(
  confirmation: Confirmation,
  parts: ClickParts,
  context: DecisionContext,
  moment: Moment,
): Conversion {
  const { offer, click } = parts
  const { now } = moment
  const made = createConversion({ ...parts, subIds: click, amountMicros: confirmation.amountMicros }, click, moment)
  made.source = 'advertiser'
  made.advertiserTransactionId = confirmation.transactionId
  made.actor = 'advertiser'
  made.toldAt = now
  const verdict = judgeConversion(made, click, confirmation.country, context, confirmation.call.receivedAt)
  made.signals = verdict.signals
  if (confirmation.status === 'rejected') return withStatus(made, 'rejected', 'advertiser_rejected', now)
  if (confirmation.status === 'reversed') return withStatus(made, 'rejected', 'advertiser_reversed', now)
  const refusal = confirmationRefusal(parts, made, verdict, context, confirmation.call.receivedAt)
  if (refusal !== null) return withStatus({ ...made, actor: 'system' }, 'rejected', refusal, now)
  if (confirmation.status === 'pending') return withStatus(made, 'pending', null, now)
  made.confirmedAt = now
  made.isUnconfirmed = false
  if (verdict.action === 'hold') return withStatus(made, 'pending', verdict.reason, now)
  if (offer.holdS === 0) return withStatus(made, 'approved', null, now)
  return withStatus({ ...made, holdUntil: later(now, offer.holdS) }, 'pending', null, now)
}

function confirmationRefusal(
  { offer, click }: ClickParts,
  made: Conversion,
  verdict: Verdict,
  context: DecisionContext,
  receivedAt: Date,
): Reason | null {
  if (isExpired(click, receivedAt)) return 'click_expired'
  if (offer.overCap === 'reject' && !click.isTest && isSpent(offer.caps, context.usage.get(offer.offerId), made))
    return 'cap_exceeded'
  return verdict.action === 'reject' ? verdict.reason : null
}
