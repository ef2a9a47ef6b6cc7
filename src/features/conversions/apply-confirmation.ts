// Applies an advertiser's confirmation to an existing conversion. While it is pending, the latest amount counts.
import type { Confirmation } from './commands.ts'
import type { Conversion } from './conversions.ts'
import type { DecisionContext } from './decision-context.ts'
import { isDenial } from './resolve-goal.ts'
import { isRaisedBeyondCap } from '../offers/caps.ts'
import { judgeConversion } from './judge-conversion.ts'
import { fromClick } from './new-conversion.ts'
import { type Decision, duplicate, keep, type Moment, move, remember } from './outcomes.ts'
import { type ClickParts, isExpired, later, promised, promisedShare } from './terms.ts'
import { paysShare, amountsOf } from './payout.ts'

export function applyConfirmation(
  standing: Conversion,
  sent: Confirmation,
  parts: ClickParts,
  context: DecisionContext,
  moment: Moment,
): Decision {
  // Where no share of the amount is paid, a call means the same with and without one.
  const confirmation = paysShare(promised(parts)) ? sent : { ...sent, amountMicros: null }
  if (isDenial(confirmation)) return applyDenial(standing, confirmation, parts, moment)
  if (standing.status === 'pending') {
    if (confirmation.status === 'approved' && standing.confirmedAt === null)
      return confirm(standing, confirmation, parts, context, moment)
    return applyUpdate(standing, confirmation, parts, context, moment)
  }
  if (standing.status !== 'approved') return duplicate(standing)
  const noted = note(standing, confirmation)
  const isConfirmed = confirmation.status === 'approved' && standing.confirmedAt === null
  if (!isConfirmed) return noted === standing ? duplicate(standing) : remember(standing, noted)
  // Approved on the publisher's report, and now confirmed. Its amounts are final.
  const { clickId, clickAt, ip, country, device, lockerId } = fromClick(parts.click)
  return keep(standing, {
    ...noted,
    ...(standing.clickId === null ? { clickId, clickAt, ip, country, device, lockerId } : {}),
    toldAt: standing.toldAt ?? moment.now,
    confirmedAt: moment.now,
    isUnconfirmed: false,
  })
}

function applyDenial(
  standing: Conversion,
  confirmation: Confirmation,
  { offer }: ClickParts,
  moment: Moment,
): Decision {
  // A denial of another transaction is about something that was never paid.
  if (isOtherTransaction(standing, confirmation)) return duplicate(standing)
  const noted = note(standing, confirmation)
  if (standing.status === 'pending') {
    const reason = confirmation.status === 'rejected' ? 'advertiser_rejected' : 'advertiser_reversed'
    return move(standing, noted, { to: 'rejected', reason, actor: 'advertiser' }, offer, moment)
  }
  if (standing.status !== 'approved') return duplicate(standing)
  return move(standing, noted, { to: 'reversed', reason: 'advertiser_reversed', actor: 'advertiser' }, offer, moment)
}

const isOtherTransaction = ({ advertiserTransactionId: known }: Conversion, { transactionId }: Confirmation) =>
  known !== null && transactionId !== null && known !== transactionId

/** Adds the advertiser's transaction ID, by which the conversion can be found from now on. */
const note = (standing: Conversion, { transactionId }: Confirmation): Conversion =>
  standing.advertiserTransactionId !== null || transactionId === null
    ? standing
    : { ...standing, advertiserTransactionId: transactionId }

const isAdvertiserReported = ({ toldAt, source }: Conversion) => toldAt !== null || source === 'advertiser'

/** Takes over the click and the amounts of this confirmation. Without a new amount, the previous one stays. */
function adopt(standing: Conversion, confirmation: Confirmation, parts: ClickParts, now: Date): Conversion {
  const updated: Conversion = { ...note(standing, confirmation), toldAt: standing.toldAt ?? now, confirmBy: null }
  if (isAdvertiserReported(standing) && confirmation.amountMicros === null) return updated
  const amounts = amountsOf(promised(parts), confirmation.amountMicros, promisedShare(parts))
  return {
    ...updated,
    ...fromClick(parts.click),
    payoutMicros: amounts.payoutMicros,
    revenueMicros: amounts.revenueMicros,
  }
}

/** A pending confirmation, or another one while the conversion is on hold. */
function applyUpdate(
  standing: Conversion,
  confirmation: Confirmation,
  parts: ClickParts,
  context: DecisionContext,
  moment: Moment,
): Decision {
  const noted = note(standing, confirmation)
  const isFirst = !isAdvertiserReported(standing) && !isExpired(parts.click, confirmation.call.receivedAt)
  const isCorrection =
    confirmation.amountMicros !== null &&
    isAdvertiserReported(standing) &&
    !isOtherTransaction(standing, confirmation) &&
    (standing.confirmedAt === null || confirmation.status === 'approved')
  const adopted = isFirst || isCorrection ? adopt(standing, confirmation, parts, moment.now) : noted
  if (isFirst || adopted.payoutMicros !== standing.payoutMicros || adopted.revenueMicros !== standing.revenueMicros) {
    return isRaisedBeyondCap(parts.offer, context.usage.get(parts.offer.offerId), standing, adopted, moment.now)
      ? move(standing, adopted, { to: 'rejected', reason: 'cap_exceeded', actor: 'system' }, parts.offer, moment)
      : keep(standing, adopted)
  }
  return noted === standing ? duplicate(standing) : remember(standing, noted)
}

/** A pending conversion is confirmed: it gets the amounts its click promised, and only its hold remains. */
function confirm(
  standing: Conversion,
  confirmation: Confirmation,
  parts: ClickParts,
  context: DecisionContext,
  moment: Moment,
): Decision {
  const { offer, click } = parts
  const { now } = moment
  const confirmed: Conversion = {
    ...adopt(standing, confirmation, parts, now),
    confirmedAt: now,
    isUnconfirmed: false,
  }
  const verdict = judgeConversion(confirmed, click, confirmation.country, context, confirmation.call.receivedAt)
  confirmed.signals = [...new Set([...standing.signals, ...verdict.signals])]
  const reject = (reason: 'click_expired' | 'cap_exceeded' | typeof verdict.reason) =>
    move(standing, confirmed, { to: 'rejected', reason, actor: 'system' }, offer, moment)
  // An advertiser that reported in time may decide later; a publisher's own report does not stop the clock.
  if (!isAdvertiserReported(standing) && isExpired(click, confirmation.call.receivedAt)) return reject('click_expired')
  if (verdict.action === 'reject') return reject(verdict.reason)
  if (isRaisedBeyondCap(offer, context.usage.get(offer.offerId), standing, confirmed, now))
    return reject('cap_exceeded')
  // Held for the operator: a confirmation does not lift that.
  if (standing.statusReason !== null) return keep(standing, confirmed)
  if (verdict.action === 'hold') return keep(standing, { ...confirmed, statusReason: verdict.reason })
  if (offer.holdS > 0) return keep(standing, { ...confirmed, holdUntil: later(now, offer.holdS) })
  return move(standing, confirmed, { to: 'approved', reason: null, actor: 'advertiser' }, offer, moment)
}
