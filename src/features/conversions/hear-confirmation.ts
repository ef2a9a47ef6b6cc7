// What an advertiser tells of a conversion that is there. While it is pending, the last amount told counts.
import type { Confirmation } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { ClickParts } from './decide-confirmation.ts'
import type { Facts } from './facts.ts'
import { saysNo } from './goal-meant.ts'
import {
  type Decision,
  duplicate,
  fromClick,
  isExpired,
  isRaisedBeyondCap,
  judgeConversion,
  keep,
  later,
  type Moment,
  move,
  promised,
  promisedShare,
  remember,
} from './making.ts'
import { paysShare, worthOf } from './worth.ts'

export function hear(
  standing: Conversion,
  said: Confirmation,
  parts: ClickParts,
  facts: Facts,
  moment: Moment,
): Decision {
  // Where no share of it is paid, a call means the same with and without an amount.
  const told = paysShare(promised(parts)) ? said : { ...said, amountMicros: null }
  if (saysNo(told)) return hearNo(standing, told, parts, moment)
  if (standing.status === 'pending') {
    if (told.status === 'approved' && standing.confirmed_at === null)
      return confirm(standing, told, parts, facts, moment)
    return hearMore(standing, told, parts, facts, moment)
  }
  if (standing.status !== 'approved') return duplicate(standing)
  const noted = note(standing, told)
  const isConfirmed = told.status === 'approved' && standing.confirmed_at === null
  if (!isConfirmed) return noted === standing ? duplicate(standing) : remember(standing, noted)
  // Approved on the publisher's word, and now confirmed. Its worth is settled.
  const { click_id, click_at, ip, country, device } = fromClick(parts.click)
  return remember(standing, {
    ...noted,
    ...(standing.click_id === null ? { click_id, click_at, ip, country, device } : {}),
    told_at: standing.told_at ?? moment.now,
    confirmed_at: moment.now,
    is_unconfirmed: false,
  })
}

function hearNo(standing: Conversion, told: Confirmation, { offer }: ClickParts, moment: Moment): Decision {
  // A "no" to another transaction is about something that was never paid.
  if (isOtherTransaction(standing, told)) return duplicate(standing)
  const noted = note(standing, told)
  if (standing.status === 'pending') {
    const reason = told.status === 'rejected' ? 'advertiser_rejected' : 'advertiser_reversed'
    return move(standing, noted, { to: 'rejected', reason, actor: 'advertiser' }, offer, moment)
  }
  if (standing.status !== 'approved') return duplicate(standing)
  return move(standing, noted, { to: 'reversed', reason: 'advertiser_reversed', actor: 'advertiser' }, offer, moment)
}

const isOtherTransaction = ({ advertiser_transaction_id: known }: Conversion, { transactionId }: Confirmation) =>
  known !== null && transactionId !== null && known !== transactionId

/** With the advertiser's own id of it, by which it is known from now on. */
const note = (standing: Conversion, { transactionId }: Confirmation): Conversion =>
  standing.advertiser_transaction_id !== null || transactionId === null
    ? standing
    : { ...standing, advertiser_transaction_id: transactionId }

const isTold = ({ told_at, source }: Conversion) => told_at !== null || source === 'advertiser'

/** Its click and what it is worth by what is told now. Without a new amount, what was told before stays. */
function adopt(standing: Conversion, told: Confirmation, parts: ClickParts, now: Date): Conversion {
  const heard = { ...note(standing, told), told_at: standing.told_at ?? now, confirm_by: null }
  if (isTold(standing) && told.amountMicros === null) return heard
  const worth = worthOf(promised(parts), told.amountMicros, promisedShare(parts))
  return {
    ...heard,
    ...fromClick(parts.click),
    payout_micros: worth.payoutMicros,
    revenue_micros: worth.revenueMicros,
  }
}

/** Told as pending, or once more while it is held. */
function hearMore(standing: Conversion, told: Confirmation, parts: ClickParts, facts: Facts, moment: Moment): Decision {
  const noted = note(standing, told)
  const isFirst = !isTold(standing) && !isExpired(parts.click, told.call.receivedAt)
  const isCorrection =
    told.amountMicros !== null &&
    isTold(standing) &&
    !isOtherTransaction(standing, told) &&
    (standing.confirmed_at === null || told.status === 'approved')
  const adopted = isFirst || isCorrection ? adopt(standing, told, parts, moment.now) : noted
  if (
    isFirst ||
    adopted.payout_micros !== standing.payout_micros ||
    adopted.revenue_micros !== standing.revenue_micros
  ) {
    return isRaisedBeyondCap(parts.offer, facts, standing, adopted.payout_micros, moment.now)
      ? move(standing, adopted, { to: 'rejected', reason: 'cap_exceeded', actor: 'system' }, parts.offer, moment)
      : keep(standing, adopted)
  }
  return noted === standing ? duplicate(standing) : remember(standing, noted)
}

/** A pending conversion is confirmed: it is now worth what its click promised, and waits only for its hold. */
function confirm(standing: Conversion, told: Confirmation, parts: ClickParts, facts: Facts, moment: Moment): Decision {
  const { offer, click } = parts
  const { now } = moment
  const confirmed = { ...adopt(standing, told, parts, now), confirmed_at: now, is_unconfirmed: false }
  const verdict = judgeConversion(confirmed, click, told.country, facts, told.call.receivedAt)
  confirmed.signals = [...new Set([...standing.signals, ...verdict.signals])]
  const reject = (reason: 'click_expired' | 'cap_exceeded' | typeof verdict.reason) =>
    move(standing, confirmed, { to: 'rejected', reason, actor: 'system' }, offer, moment)
  // What the advertiser told of in time it may decide later; a publisher's own word does not stop the clock.
  if (!isTold(standing) && isExpired(click, told.call.receivedAt)) return reject('click_expired')
  if (verdict.action === 'reject') return reject(verdict.reason)
  if (isRaisedBeyondCap(offer, facts, standing, confirmed.payout_micros, now)) return reject('cap_exceeded')
  // Held for the operator: a confirmation does not lift that.
  if (standing.status_reason !== null) return keep(standing, confirmed)
  if (verdict.action === 'hold') return keep(standing, { ...confirmed, status_reason: verdict.reason })
  if (offer.hold_s > 0) return keep(standing, { ...confirmed, hold_until: later(now, offer.hold_s) })
  return move(standing, confirmed, { to: 'approved', reason: null, actor: 'advertiser' }, offer, moment)
}
