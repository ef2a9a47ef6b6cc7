// The book's word on advertisers' confirmations (design 3 and 5).
import { blank, type Book, type Click, type Entry, isExpired, move, same, type Worth, worthOf } from './book.ts'
import type { Answer, Deed, Goal } from './deeds.ts'

type Confirmed = Extract<Deed, { kind: 'confirm' }>
type Verdict = Pick<Entry, 'status' | 'reason' | 'actor'> & Partial<Entry>

const MAX_WORTH_MICROS = 100_000_000_000 // a hundred thousand dollars

export function confirm(book: Book, deed: Confirmed, nowMs: number): Answer {
  const click = book.clicks.find((one) => one.label === deed.click)
  if (click === undefined) return { kind: 'unmatched' }
  if (deed.isStranger) return { kind: 'not_yours' }
  const goal = book.goal(click.offer, deed.goal, click)
  if (goal === undefined) return { kind: 'no_goal' }
  if (goal.isRepeatable && deed.txn === null) return { kind: 'needs_transaction' }
  const worth = worthOf(goal, deed.amountMicros)
  if (Math.max(worth.payoutMicros, worth.revenueMicros) > MAX_WORTH_MICROS) return { kind: 'amount_too_large' }
  const ofTxn = findOfTxn(book, click, goal, deed.txn)
  if (ofTxn !== undefined && ofTxn.person !== click.person) return same(ofTxn)
  const theirs = book.of(click, goal.name)
  const standing = ofTxn ?? findToAdopt(theirs, goal, deed.txn)
  if (standing !== undefined) return hear(book, standing, { deed, click, worth, nowMs })
  const settled = theirs.find((one) => isSettled(one, deed))
  if (settled !== undefined) return same(settled)
  return book.enter({
    ...blank(click, deed.label, goal, nowMs),
    ...worth,
    ...judge(book, deed, click, nowMs),
    source: 'advertiser',
    advertiserTxn: deed.txn,
    click: click.label,
  })
}

/** "Uniqueness among rows that are not rejected: (advertiser, offer, goal, txn_id)." */
function findOfTxn({ entries }: Book, { offer, isTest }: Click, goal: Goal, txn: string | null): Entry | undefined {
  const ofGoal = entries.filter((one) => one.offer === offer && one.goal === goal.name && one.isTest === isTest)
  return ofGoal.find((one) => txn !== null && one.advertiserTxn === txn && one.status !== 'rejected')
}

/** The only one there can be; of a goal that repeats, a report that no confirmation has spoken of yet. */
function findToAdopt(theirs: Entry[], goal: Goal, txn: string | null): Entry | undefined {
  const standing = theirs.filter((one) => one.status !== 'rejected')
  if (!goal.isRepeatable) return standing[0]
  const reports = standing.filter((one) => one.source === 'publisher' && one.advertiserTxn === null)
  return (
    reports.find((one) => one.publisherTxn === txn) ??
    reports.find((one) => one.status === 'pending') ??
    reports.find((one) => one.status === 'approved')
  )
}

type Told = { deed: Confirmed; click: Click; worth: Worth; nowMs: number }

/** "The same call with another status is a move, not a row." */
function hear(book: Book, one: Entry, { deed, click, worth, nowMs }: Told): Answer {
  const isOfAnother = deed.txn !== null && one.advertiserTxn !== null && deed.txn !== one.advertiserTxn
  if (saysNo(deed) && isOfAnother) return same(one)
  if (one.status !== 'reversed') one.advertiserTxn ??= deed.txn
  if (saysNo(deed)) {
    if (one.status === 'approved') return move(one, 'reversed', 'advertiser_reversed', 'advertiser')
    return one.status === 'pending' ? move(one, 'rejected', `advertiser_${deed.status}`, 'advertiser') : same(one)
  }
  if (deed.status === 'pending' || one.status !== 'pending' || one.isConfirmed) return same(one)
  const wasTold = one.source === 'advertiser' && one.click === click.label && deed.amountMicros === null
  Object.assign(one, wasTold ? {} : worth, { click: click.label, isConfirmed: true })
  // What the advertiser told in time it may confirm later; a publisher's word does not stop the clock.
  if (isExpired(click, one.source === 'advertiser' ? one.createdAtMs : nowMs))
    return move(one, 'rejected', 'click_expired', 'system')
  const { holdS } = book.offer(one.offer)
  if (holdS === 0) return move(one, 'approved', null, 'advertiser')
  Object.assign(one, { holdUntilMs: nowMs + holdS * 1000, reason: null })
  return { ...same(one), kind: 'noted' }
}

/** What a confirmation of something new comes to. */
function judge(book: Book, deed: Confirmed, click: Click, nowMs: number): Verdict {
  if (saysNo(deed)) return { status: 'rejected', reason: `advertiser_${deed.status}`, actor: 'advertiser' }
  if (isExpired(click, nowMs)) return { status: 'rejected', reason: 'click_expired', actor: 'system' }
  if (book.refusesClicked(click, nowMs)) return { status: 'rejected', reason: 'cap_exceeded', actor: 'system' }
  const taken = { reason: null, actor: 'advertiser' }
  if (deed.status === 'pending') return { ...taken, status: 'pending' }
  const { holdS } = book.offer(click.offer)
  if (holdS === 0) return { ...taken, status: 'approved', isConfirmed: true }
  return { ...taken, status: 'pending', isConfirmed: true, holdUntilMs: nowMs + holdS * 1000 }
}

const saysNo = ({ status }: Confirmed) => status === 'rejected' || status === 'reversed'

/**
 * The same call again, about what was rejected: rejected it stays. But an advertiser may take back a no, unless a reversal
 * of the same transaction overtook its yes, and what is done again by hand is judged anew.
 */
function isSettled(one: Entry, deed: Confirmed): boolean {
  if (one.status !== 'rejected' || one.click !== deed.click || one.advertiserTxn !== deed.txn) return false
  if (saysNo(deed)) return true
  // A publisher's report that was refused at once says nothing about what the advertiser tells.
  const wasTold = one.source === 'advertiser' || one.moves > 1
  const isTakenBack = one.reason === 'advertiser_reversed' && deed.txn !== null
  return wasTold && (one.actor !== 'advertiser' || isTakenBack) && !deed.isAgain
}
