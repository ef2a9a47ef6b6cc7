// What comes of an advertiser's confirmation. It adopts what the publisher reported, moves what stands, or makes a new
// conversion; one that changes nothing is a duplicate.
import type { Confirmation } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import { type ClickFacts, clickOf, type Facts, transactionKey } from './facts.ts'
import { isRedone, isStanding, isTurnedDown } from './finality.ts'
import type { Verdict } from './fraud.ts'
import { goalOfConfirmation, isRepeatable, saysNo } from './goal-meant.ts'
import { hear } from './hear-confirmation.ts'
import { userKey } from './known.ts'
import {
  begin,
  create,
  type Decision,
  duplicate,
  isExpired,
  isSpent,
  judgeConversion,
  later,
  makeConversion,
  type Moment,
  type Parts,
  promised,
  promisedShare,
  refuse,
} from './making.ts'
import { MAX_WORTH_MICROS, paysShare, worthOf } from './worth.ts'

export type ClickParts = Parts & { click: ClickFacts }

export function decideConfirmation(told: Confirmation, facts: Facts, moment: Moment): Decision {
  const click = clickOf(facts.clicks, told)
  const offer = click === undefined ? undefined : facts.offers.get(click.offer_id)
  const app = click === undefined ? undefined : facts.apps.get(click.app_id)
  if (click === undefined && facts.ambiguous.has(transactionKey(told))) return refuse('ambiguous')
  if (click === undefined || offer === undefined || app === undefined) return refuse('unmatched')
  if (offer.advertiser_id !== told.advertiserId) return refuse('not_yours')
  const ofOffer = facts.conversions.ofUser(userKey(click))
  const goal = goalOfConfirmation(told, offer, click, ofOffer)
  if (typeof goal === 'string') return refuse(goal)
  const ofUser = ofOffer.filter((one) => one.goal_id === goal.goal_id)
  const parts = { offer, app, goal, click, isRepeatable: isRepeatable(goal, click, ofUser) }
  if (parts.isRepeatable && told.transactionId === null) return refuse('needs_transaction')
  if (told.amountProblem && paysShare(promised(parts))) return refuse(`amount_${told.amountProblem}`)
  const { payoutMicros, revenueMicros } = worthOf(promised(parts), told.amountMicros, promisedShare(parts))
  if (Math.max(payoutMicros, revenueMicros) > MAX_WORTH_MICROS) return refuse('amount_too_large')
  const byTransaction = facts.conversions
    .ofTransaction(told.transactionId)
    .find(
      (one) =>
        one.status !== 'rejected' &&
        one.advertiser_id === told.advertiserId &&
        one.goal_id === goal.goal_id &&
        one.is_test === click.is_test,
    )
  // The same transaction of somebody else: it was paid there.
  if (byTransaction !== undefined && !ofUser.includes(byTransaction)) return duplicate(byTransaction)
  const standing = byTransaction ?? findStanding(ofUser, parts, told)
  if (standing !== undefined) return hear(standing, told, parts, facts, moment)
  const final = ofUser.findLast((one) => isFinal(one, told, click))
  return final === undefined ? create(makeConfirmed(told, parts, facts, moment)) : duplicate(final)
}

/**
 * The conversion that a confirmation is about, if there is one: the user's only one, or of what repeats one to adopt. What
 * was reversed counts as long as it is not done again.
 */
function findStanding(ofUser: Conversion[], { click, ...parts }: ClickParts, told: Confirmation) {
  const standing = ofUser.filter(isStanding)
  const once = standing.find((one) => !one.is_repeatable)
  if (!parts.isRepeatable && once !== undefined) return once
  const reports = standing
    .filter((one) => one.source === 'publisher' && one.advertiser_transaction_id === null)
    .toSorted((a, b) => (a.conversion_id < b.conversion_id ? -1 : 1))
  return (
    (told.transactionId === null
      ? undefined
      : reports.find((one) => one.publisher_transaction_id === told.transactionId)) ??
    reports.find((one) => one.status === 'pending') ??
    // Taken on the publisher's word: paid already, so it must not be paid again on the advertiser's.
    reports.find((one) => one.status === 'approved') ??
    (parts.isRepeatable
      ? undefined
      : ofUser.findLast((one) => one.status === 'reversed' && !one.is_repeatable && !isRedone(one, click)))
  )
}

/** Rejected before, and this call changes nothing about that. An advertiser who had said no may still say yes. */
function isFinal(one: Conversion, told: Confirmation, click: ClickFacts): boolean {
  if (one.status !== 'rejected') return false
  if (one.bars_redo) return !told.isAgain
  if (one.click_id !== click.click_id) return false
  // A publisher's report that was refused at once or expired says nothing about what the advertiser tells.
  const wasTold = one.source === 'advertiser' || (one.sequence > 1 && one.status_reason !== 'unconfirmed')
  if (wasTold && !one.is_repeatable && isTurnedDown(one) && !told.isAgain) return true
  if (one.advertiser_transaction_id !== told.transactionId) return false
  if (saysNo(told)) return true
  // Processed again, and since it came the advertiser has said no: the later word counts.
  const saidNoSince = one.actor === 'advertiser' && one.rejected_at !== null && one.rejected_at > told.call.receivedAt
  if (told.call.before !== null && saidNoSince && !told.isAgain) return true
  // Calls can overtake each other: what was taken back by this very transaction stays so.
  const isTakenBack = one.status_reason === 'advertiser_reversed' && told.transactionId !== null
  return wasTold && (one.actor !== 'advertiser' || isTakenBack) && !told.isAgain
}

function makeConfirmed(told: Confirmation, parts: ClickParts, facts: Facts, moment: Moment): Conversion {
  const { offer, click } = parts
  const { now } = moment
  const made = makeConversion({ ...parts, subIds: click, amountMicros: told.amountMicros }, click, moment)
  made.source = 'advertiser'
  made.advertiser_transaction_id = told.transactionId
  made.actor = 'advertiser'
  made.told_at = now
  const verdict = judgeConversion(made, click, told.country, facts, told.call.receivedAt)
  made.signals = verdict.signals
  if (told.status === 'rejected') return begin(made, 'rejected', 'advertiser_rejected', now)
  if (told.status === 'reversed') return begin(made, 'rejected', 'advertiser_reversed', now)
  const refusal = confirmationRefusal(parts, made, verdict, facts, told.call.receivedAt)
  if (refusal !== null) return begin({ ...made, actor: 'system' }, 'rejected', refusal, now)
  if (told.status === 'pending') return begin(made, 'pending', null, now)
  Object.assign(made, { confirmed_at: now, is_unconfirmed: false })
  if (verdict.action === 'hold') return begin(made, 'pending', verdict.reason, now)
  if (offer.hold_s === 0) return begin(made, 'approved', null, now)
  return begin({ ...made, hold_until: later(now, offer.hold_s) }, 'pending', null, now)
}

function confirmationRefusal(
  { offer, click }: ClickParts,
  made: Conversion,
  verdict: Verdict,
  facts: Facts,
  toldAt: Date,
): Reason | null {
  if (isExpired(click, toldAt)) return 'click_expired'
  if (offer.over_cap === 'reject' && !click.is_test && isSpent(offer, facts, made.payout_micros)) return 'cap_exceeded'
  return verdict.action === 'reject' ? verdict.reason : null
}
