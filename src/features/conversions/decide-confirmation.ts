// What comes of an advertiser's confirmation. It adopts what the publisher reported, moves what stands, or makes a new
// conversion; what it brings nothing new to is a duplicate.
import type { Confirmation } from './commands.ts'
import type { Conversion, Reason } from './conversions.ts'
import type { ClickFacts, Facts, GoalFacts } from './facts.ts'
import type { Verdict } from './fraud.ts'
import { userKey } from './known.ts'
import {
  begin,
  create,
  type Decision,
  duplicate,
  findGoal,
  fromClick,
  isExpired,
  isSpent,
  judgeConversion,
  keep,
  makeConversion,
  type Moment,
  move,
  type Parts,
  promised,
  promisedShare,
  refuse,
} from './making.ts'
import { MAX_WORTH_MICROS, worthOf } from './worth.ts'

const later = (time: Date, seconds: number) => new Date(time.getTime() + seconds * 1000)

export function decideConfirmation(told: Confirmation, facts: Facts, moment: Moment): Decision {
  const click = facts.clicks.get(told.clickId)
  const offer = click === undefined ? undefined : facts.offers.get(click.offer_id)
  const app = click === undefined ? undefined : facts.apps.get(click.app_id)
  if (click === undefined || offer === undefined || app === undefined) return refuse('unmatched')
  if (offer.advertiser_id !== told.advertiserId) return refuse('not_yours')
  const goal = findGoal(offer, told.goal, click)
  if (goal === undefined) return refuse('no_goal')
  if (goal.is_repeatable && told.transactionId === null) return refuse('needs_transaction')
  const parts = { offer, app, goal, click }
  const { payoutMicros, revenueMicros } = worthOf(promised(parts), told.amountMicros, promisedShare(parts))
  if (Math.max(payoutMicros, revenueMicros) > MAX_WORTH_MICROS) return refuse('amount_too_large')
  const ofUser = facts.conversions.ofUser(userKey(click)).filter((one) => one.goal_id === goal.goal_id)
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
  const standing = byTransaction ?? findStanding(ofUser, goal, told)
  if (standing !== undefined) return decideStanding(standing, told, parts, facts, moment)
  const rejected = ofUser.find((one) => isSettledRejection(one, told, click))
  return rejected === undefined ? create(makeConfirmed(told, parts, facts, moment)) : duplicate(rejected)
}

/** The conversion that a confirmation is about, if there is one: the user's only one, or of what repeats one to adopt. */
function findStanding(ofUser: Conversion[], goal: GoalFacts, told: Confirmation): Conversion | undefined {
  const standing = ofUser.filter((one) => one.status !== 'rejected')
  if (!goal.is_repeatable) return standing.find((one) => !one.is_repeatable)
  const reports = standing
    .filter((one) => one.source === 'publisher' && one.advertiser_transaction_id === null)
    .toSorted((a, b) => (a.conversion_id < b.conversion_id ? -1 : 1))
  return (
    reports.find((one) => one.publisher_transaction_id === told.transactionId) ??
    reports.find((one) => one.status === 'pending') ??
    // Taken on the publisher's word: paid already, so it must not be paid again on the advertiser's.
    reports.find((one) => one.status === 'approved')
  )
}

/** Rejected before, and this call brings nothing new. An advertiser who had said no may still say yes. */
function isSettledRejection(one: Conversion, told: Confirmation, click: ClickFacts): boolean {
  if (one.status !== 'rejected' || one.click_id !== click.click_id) return false
  if (one.advertiser_transaction_id !== told.transactionId) return false
  const saysNo = told.status === 'rejected' || told.status === 'reversed'
  if (saysNo) return true
  // Calls can overtake each other: what was taken back by this very transaction stays so.
  const isTakenBack = one.status_reason === 'advertiser_reversed' && told.transactionId !== null
  // A publisher's report that was refused at once says nothing about what the advertiser tells.
  const wasTold = one.source === 'advertiser' || one.sequence > 1
  return wasTold && (one.actor !== 'advertiser' || isTakenBack) && !told.isAgain
}

type ClickParts = Parts & { click: ClickFacts }

function decideStanding(
  standing: Conversion,
  told: Confirmation,
  parts: ClickParts,
  facts: Facts,
  moment: Moment,
): Decision {
  const saysNo = told.status === 'rejected' || told.status === 'reversed'
  // A no to another transaction is about something that was never paid.
  if (saysNo && isOtherTransaction(standing, told)) return duplicate(standing)
  if (standing.status === 'pending' && saysNo) {
    const reason = told.status === 'rejected' ? 'advertiser_rejected' : 'advertiser_reversed'
    return move(standing, note(standing, told), 'rejected', reason, 'advertiser', moment)
  }
  if (standing.status === 'approved' && saysNo)
    return move(standing, note(standing, told), 'reversed', 'advertiser_reversed', 'advertiser', moment)
  if (standing.status === 'pending' && told.status === 'approved' && standing.confirmed_at === null)
    return confirm(standing, told, parts, facts, moment)
  // Nothing new, but the advertiser's own id of it, by which it is known from now on.
  if (standing.status !== 'reversed' && standing.advertiser_transaction_id === null && told.transactionId !== null) {
    const after = note(standing, told)
    return { outcome: { kind: 'duplicate', conversion: after }, change: { before: standing, after } }
  }
  return duplicate(standing)
}

const isOtherTransaction = ({ advertiser_transaction_id: known }: Conversion, { transactionId }: Confirmation) =>
  known !== null && transactionId !== null && known !== transactionId

const note = (standing: Conversion, told: Confirmation): Conversion => ({
  ...standing,
  advertiser_transaction_id: standing.advertiser_transaction_id ?? told.transactionId,
})

/** A pending conversion is confirmed: it is now worth what its click promised, and waits only for its hold. */
function confirm(standing: Conversion, told: Confirmation, parts: ClickParts, facts: Facts, moment: Moment): Decision {
  const { offer, click } = parts
  const worth = worthOf(promised(parts), told.amountMicros, promisedShare(parts))
  const confirmed: Conversion = {
    ...note(standing, told),
    ...fromClick(click),
    payout_micros: worth.payoutMicros,
    revenue_micros: worth.revenueMicros,
    confirmed_at: moment.now,
  }
  // The amount was told before, while it was pending.
  if (told.amountMicros === null && standing.source === 'advertiser' && standing.click_id === click.click_id)
    Object.assign(confirmed, { payout_micros: standing.payout_micros, revenue_micros: standing.revenue_micros })
  const verdict = judgeConversion(confirmed, click, told.country, facts, moment)
  confirmed.signals = [...new Set([...standing.signals, ...verdict.signals])]
  // The advertiser may take its time to make up its mind; a publisher's own word does not stop the clock.
  if (isExpired(click, standing.source === 'advertiser' ? standing.created_at : moment.now))
    return move(standing, confirmed, 'rejected', 'click_expired', 'system', moment)
  if (verdict.action === 'reject') return move(standing, confirmed, 'rejected', verdict.reason, 'system', moment)
  // Held for the operator: a confirmation does not lift that.
  if (standing.status_reason !== null) return keep(standing, confirmed)
  if (verdict.action === 'hold') return keep(standing, { ...confirmed, status_reason: verdict.reason })
  if (offer.hold_s > 0) return keep(standing, { ...confirmed, hold_until: later(moment.now, offer.hold_s) })
  return move(standing, confirmed, 'approved', null, 'advertiser', moment)
}

function makeConfirmed(told: Confirmation, parts: ClickParts, facts: Facts, moment: Moment): Conversion {
  const { offer, click } = parts
  const { now } = moment
  const made = makeConversion({ ...parts, subIds: click, amountMicros: told.amountMicros }, click, moment)
  made.source = 'advertiser'
  made.advertiser_transaction_id = told.transactionId
  made.actor = 'advertiser'
  const verdict = judgeConversion(made, click, told.country, facts, moment)
  made.signals = verdict.signals
  if (told.status === 'rejected') return begin(made, 'rejected', 'advertiser_rejected', now)
  if (told.status === 'reversed') return begin(made, 'rejected', 'advertiser_reversed', now)
  const refusal = confirmationRefusal(parts, verdict, facts, now)
  if (refusal !== null) return begin({ ...made, actor: 'system' }, 'rejected', refusal, now)
  if (told.status === 'pending') return begin(made, 'pending', null, now)
  made.confirmed_at = now
  if (verdict.action === 'hold') return begin(made, 'pending', verdict.reason, now)
  if (offer.hold_s === 0) return begin(made, 'approved', null, now)
  return begin({ ...made, hold_until: later(now, offer.hold_s) }, 'pending', null, now)
}

function confirmationRefusal({ offer, click }: ClickParts, verdict: Verdict, facts: Facts, now: Date): Reason | null {
  if (isExpired(click, now)) return 'click_expired'
  if (offer.over_cap === 'reject' && !click.is_test && isSpent(offer, facts)) return 'cap_exceeded'
  return verdict.action === 'reject' ? verdict.reason : null
}
