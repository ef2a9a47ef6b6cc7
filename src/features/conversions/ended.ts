// Whether a confirmation is about a conversion that has ended: rejected, or reversed. Advertisers repeat their callbacks;
// what the user has completed since is something else.
import type { Confirmation } from './commands.ts'
import type { Conversion } from './conversions.ts'
import { isStanding, isTurnedDown } from './finality.ts'
import type { ClickSnapshot } from './read-clicks.ts'
import { isDenial } from './resolve-goal.ts'
import { type ClickParts, isExpired } from './terms.ts'

/**
 * The ended conversion that this confirmation is about, so that it changes nothing: by its transaction; or of a goal that
 * pays once by its click, which came before the end. What stands is meant all the same if it has that click or transaction.
 */
export function findEnded(
  ofUser: readonly Conversion[],
  confirmation: Confirmation,
  { click, isRepeatable }: Pick<ClickParts, 'click' | 'isRepeatable'>,
): Conversion | undefined {
  const ofTransaction = ofUser.findLast((one) => isOfTransaction(one, confirmation) && isSettled(one, confirmation, click)) // prettier-ignore
  if (ofTransaction !== undefined || isRepeatable) return ofTransaction
  const standing = ofUser.filter(isStanding)
  if (standing.some((one) => isOfClick(one, click) || isReportOf(one, confirmation))) return undefined
  return ofUser.findLast((one) => {
    if (one.isRepeatable) return false
    if (one.reversedAt !== null) return click.clickedAt < one.reversedAt
    if (one.rejectedAt === null) return false
    if (!isDenial(confirmation)) return isOfClick(one, click) && isFinal(one, confirmation, click)
    const isAdvertisers = one.actor === 'advertiser' || one.toldAt !== null
    // Denied under another transaction while there is nothing else to deny: publishers want to know.
    const isNews = confirmation.transactionId !== null && standing.length === 0
    return isAdvertisers && !isNews && click.clickedAt <= one.rejectedAt
  })
}

const isOfTransaction = (one: Conversion, { transactionId }: Confirmation) =>
  transactionId !== null && one.advertiserTransactionId === transactionId

const isReportOf = (one: Conversion, { transactionId }: Confirmation) =>
  transactionId !== null && one.publisherTransactionId === transactionId

const isOfClick = (one: Conversion, { clickId }: ClickSnapshot) => one.clickId !== null && one.clickId === clickId

/** Whether what has this transaction stays rejected. */
function isSettled(one: Conversion, confirmation: Confirmation, click: ClickSnapshot): boolean {
  if (one.status !== 'rejected') return false
  // Named too late to stop the clock of a report, and no earlier now.
  const isLate = one.statusReason === 'unconfirmed' && isExpired(click, confirmation.call.receivedAt)
  return isDenial(confirmation) || isLate || isFinal(one, confirmation, click)
}

/** Rejected before, and this call does not change that. An advertiser that denied it may still confirm it. */
export function isFinal(one: Conversion, confirmation: Confirmation, click: ClickSnapshot): boolean {
  if (one.status !== 'rejected') return false
  if (one.barsRedo) return !confirmation.isAgain
  if (one.clickId !== click.clickId && !isOfTransaction(one, confirmation)) return false
  // A publisher's report that was refused at once, or expired, does not say what the advertiser thinks of it.
  const wasReported = one.source === 'advertiser' || (one.sequence > 1 && one.statusReason !== 'unconfirmed')
  if (wasReported && !one.isRepeatable && isTurnedDown(one) && !confirmation.isAgain) return true
  if (one.advertiserTransactionId !== confirmation.transactionId) return false
  if (isDenial(confirmation)) return true
  // Processed again, and the advertiser has denied it since it was received: the later call counts.
  const wasDeniedSince =
    one.actor === 'advertiser' && one.rejectedAt !== null && one.rejectedAt > confirmation.call.receivedAt
  if (confirmation.call.before !== null && wasDeniedSince && !confirmation.isAgain) return true
  // Calls can overtake each other: what this same transaction reversed stays reversed.
  const isTakenBack = one.statusReason === 'advertiser_reversed' && confirmation.transactionId !== null
  return wasReported && (one.actor !== 'advertiser' || isTakenBack) && !confirmation.isAgain
}
