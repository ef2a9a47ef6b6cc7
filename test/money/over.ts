// The book's word on confirmations of what has been rejected or reversed.
import type { Click } from './book.ts'
import type { Confirmed, HeardCall } from './confirming.ts'
import { type Entry, isExpired, isStanding, isTurnedDown } from './entries.ts'

export const isDenial = ({ status }: Confirmed) => status === 'rejected' || status === 'reversed'

/**
 * "The same callback again changes nothing": it speaks of what is over, and what was completed since is something else,
 * unless that has its click or its transaction.
 */
export function findOver(theirs: Entry[], isRepeatable: boolean, heard: HeardCall): Entry | undefined {
  const { action, click, calledMs } = heard
  const ofTxn = theirs.filter(
    (one) => one.status === 'rejected' && action.txn !== null && one.advertiserTxn === action.txn,
  )
  // A word that came too late to stop the clock is still too late when it comes again.
  const wasLate = (one: Entry) => one.reason === 'unconfirmed' && isExpired(click, calledMs)
  const denied = ofTxn.findLast((one) => isDenial(action) || wasLate(one) || isSettled(one, action, click))
  if (denied !== undefined || isRepeatable) return denied
  const standing = theirs.filter(isStanding)
  const isOfClick = (one: Entry) => one.click !== null && one.click === click.label
  if (standing.some((one) => isOfClick(one) || (action.txn !== null && one.publisherTxn === action.txn)))
    return undefined
  return theirs.findLast((one) => {
    if (one.isRepeatable) return false
    if (one.status === 'reversed') return click.atMs < (one.reversedAtMs ?? 0)
    if (one.status !== 'rejected') return false
    if (!isDenial(action)) return isOfClick(one) && isSettled(one, action, click)
    // "A `rejected` for a completion we never heard of is recorded": by another transaction, where nothing else is meant.
    const isNews = action.txn !== null && standing.length === 0
    const isOfAdvertiser = one.isAdvertiserReported || one.actor === 'advertiser'
    return isOfAdvertiser && !isNews && click.atMs <= (one.rejectedAtMs ?? 0)
  })
}

/**
 * The same call again, about a rejected conversion: rejected it stays. But an advertiser may withdraw a denial, unless
 * a reversal of the same transaction overtook its approval, and what is processed again by hand is judged anew.
 */
export function isSettled(one: Entry, action: Confirmed, click: Click): boolean {
  if (one.status !== 'rejected') return false
  if (one.barsRedo) return !action.isAgain
  const isOfTxn = action.txn !== null && one.advertiserTxn === action.txn
  if (one.click !== click.label && !isOfTxn) return false
  // A publisher's report that was refused at once, or expired, does not say what the advertiser thinks of it.
  const wasReported = one.source === 'advertiser' || (one.moves > 1 && one.reason !== 'unconfirmed')
  // "A fraud rejection is not undone by a new txn_id."
  if (wasReported && isTurnedDown(one) && !one.isRepeatable && !action.isAgain) return true
  if (one.advertiserTxn !== action.txn) return false
  if (isDenial(action)) return true
  const isTakenBack = one.reason === 'advertiser_reversed' && action.txn !== null
  return wasReported && (one.actor !== 'advertiser' || isTakenBack) && !action.isAgain
}
