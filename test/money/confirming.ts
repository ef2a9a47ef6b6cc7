// The book's word on advertisers' confirmations (design 3 and 5).
import type { Book, Click } from './book.ts'
import {
  blank,
  type Entry,
  isExpired,
  isRedone,
  isStanding,
  mayBeAbout,
  move,
  same,
  type Worth,
  amountsOf,
} from './entries.ts'
import { findOver, isDenial, isSettled } from './over.ts'
import { AMOUNTS, type Answer, DAY_MS, type Action, type Goal } from './actions.ts'

export type Confirmed = Extract<Action, { kind: 'confirm' }>
type Verdict = Pick<Entry, 'status' | 'reason' | 'actor'> & Partial<Entry>

/** How long a click may be on its way, and a call waits for it. */
export const WAITS_MS = 3 * DAY_MS
const MAX_AMOUNT_MICROS = 100_000_000_000 // a hundred thousand dollars

/** Ambiguous. */
export const isInvalid = (action: Confirmed) =>
  (action.amount !== null && AMOUNTS[action.amount].isNegative === true && !isDenial(action)) ||
  (action.isClickless && action.txn === null)

/** It came at `calledMs`, and is heard now. */
export function confirm(book: Book, action: Confirmed, nowMs: number, calledMs = nowMs): Answer {
  const amount = action.amount === null ? null : AMOUNTS[action.amount]
  if (isInvalid(action)) return { kind: 'invalid' }
  const click = findClick(book, action, nowMs)
  if (typeof click === 'string') return { kind: click }
  if (action.isStranger) return { kind: 'not_yours' }
  const key = action.goal ?? unnamedGoal(book, action, click)
  if (key === null) return { kind: 'ambiguous' }
  const goal = namedGoal(book, action, click, key) ?? renamedGoal(book, action, click)
  if (goal === undefined) return { kind: 'no_goal' }
  const theirs = book.of(click, goal.key).filter(mayBeAbout(action))
  const isRepeatable = book.repeats(goal, click, theirs)
  if (isRepeatable && action.txn === null) return { kind: 'needs_transaction' }
  if (amount?.micros === null && !isDenial(action) && paysShare(goal)) return { kind: 'amount_unclear' }
  const isAbsurd = isDenial(action) && (amount?.micros ?? 0) > MAX_AMOUNT_MICROS
  // "The amount counts only for goals that pay a share."
  const amountMicros = isAbsurd || !paysShare(goal) ? null : (amount?.micros ?? null)
  const worth = amountsOf(goal, amountMicros, click.sharePpm)
  if (Math.max(worth.payoutMicros, worth.revenueMicros) > MAX_AMOUNT_MICROS) return { kind: 'amount_too_large' }
  const heard = { action, click, amountMicros, worth, nowMs, calledMs }
  const ofTxn = findOfTxn(book, click, goal, action.txn)
  if (ofTxn !== undefined && ofTxn.person !== click.person) return same(ofTxn)
  const over = ofTxn === undefined ? findOver(theirs, isRepeatable, heard) : undefined
  if (over !== undefined) return same(over)
  const standing = ofTxn ?? findToAdopt(theirs, isRepeatable, action.txn, click)
  if (standing !== undefined) return hear(book, standing, heard)
  const settled = theirs.findLast((one) => isSettled(one, action, click))
  if (settled !== undefined) return same(settled)
  return book.enter(
    {
      ...blank(click, action.label, goal, nowMs),
      ...worth,
      isRepeatable,
      isFirstGoal: click.terms.goals[0]?.key === goal.key,
      ...judge(book, action, click, worth, { nowMs, calledMs }),
      source: 'advertiser',
      advertiserTxn: action.txn,
      click: click.label,
      isAdvertiserReported: true,
      isOfBanned: book.banned.includes(click.person),
    },
    click,
  )
}

/** The click; where that is gone, what its entries remember of it, or those of the transaction. */
function findClick(book: Book, action: Confirmed, nowMs: number): Click | 'unmatched' | 'ambiguous' {
  const isNamed = action.click !== null && !action.isClickless
  const click = isNamed ? book.clicks.find((one) => one.label === action.click) : undefined
  if (click !== undefined) return click
  const asClick = (one: Entry): Click => {
    const { person, offer, isTest } = one
    const promise = book.promises[one.label] as Pick<Click, 'atMs' | 'terms' | 'sharePpm'>
    return { ...promise, label: one.click, person, offer, isTest }
  }
  const ofClick = isNamed ? book.entries.find((one) => one.click === action.click) : undefined
  if (ofClick !== undefined) return asClick(ofClick)
  // A young click may still come: until then the transaction does not identify it.
  const late = isNamed ? book.late.find((one) => one.label === action.click) : undefined
  if (late !== undefined && nowMs - late.atMs <= WAITS_MS) return 'unmatched'
  const ofTxn = book.entries.filter(
    (one) => action.txn !== null && one.advertiserTxn === action.txn && !action.isStranger,
  )
  const standing = ofTxn.filter((one) => one.status !== 'rejected')
  const [first, ...others] = standing.length > 0 ? standing : ofTxn
  if (first === undefined) return 'unmatched'
  const isOther = (one: Entry) =>
    one.person !== first.person || one.offer !== first.offer || one.isTest !== first.isTest
  return others.some(isOther) ? 'ambiguous' : asClick(first)
}

/** The first that was promised; but a no, or what names no click, is about what there is. */
function unnamedGoal(book: Book, action: Confirmed, click: Click): string | null {
  const first = click.terms.goals[0]?.key ?? ''
  const isKnown = action.click !== null && !action.isClickless && action.click === click.label
  if (isKnown && !isDenial(action)) return first
  const keys = recordedKeys(book, action, click, first)
  if (keys.length === 0 || keys.includes(first)) return first
  return keys.length === 1 ? (keys[0] as string) : isKnown ? first : null
}

/** By what it is called now, or was when the click came; an id stays. */
function namedGoal(book: Book, action: Confirmed, click: Click, key: string): Goal | undefined {
  const goal = book.goal(click, key, click, mayBeAbout(action))
  if (goal === undefined || action.goal === null || action.by !== 'name') return goal
  const now = [...book.offer(click.offer).goals, ...(book.retired[click.offer] ?? [])].find((one) => one.key === key)
  const names = [goal.name, now?.name, book.rules.hasExternalIds ? key : undefined]
  return action.called !== null && names.includes(action.called) ? goal : undefined
}

/** A denial of an unknown goal reaches the only conversion that its transaction has. */
function renamedGoal(book: Book, action: Confirmed, click: Click): Goal | undefined {
  if (!isDenial(action)) return undefined
  const keys = recordedKeys(book, action, click, click.terms.goals[0]?.key ?? '')
  return keys.length === 1 ? book.goal(click, keys[0], click, mayBeAbout(action)) : undefined
}

function recordedKeys(book: Book, action: Confirmed, click: Click, first: string): string[] {
  const { txn } = action
  const recorded = book
    .of(click)
    .filter(mayBeAbout(action))
    .filter((one) =>
      txn === null
        ? one.goal === first || (one.click !== null && one.click === click.label)
        : one.advertiserTxn === txn,
    )
  const standing = recorded.filter((one) => one.status !== 'rejected')
  return [...new Set((standing.length > 0 ? standing : recorded).map((one) => one.goal))]
}

/** "Uniqueness among rows that are not rejected: (advertiser, offer, goal, txn_id)." */
function findOfTxn({ entries }: Book, { offer, isTest }: Click, goal: Goal, txn: string | null): Entry | undefined {
  const ofGoal = entries.filter((one) => one.offer === offer && one.goal === goal.key && one.isTest === isTest)
  return ofGoal.find((one) => txn !== null && one.advertiserTxn === txn && one.status !== 'rejected')
}

/** The only one there can be; else a report that no confirmation has spoken of yet; or what was reversed and not redone. */
function findToAdopt(theirs: Entry[], isRepeatable: boolean, txn: string | null, click: Click): Entry | undefined {
  const standing = theirs.filter(isStanding)
  const reports = standing.filter((one) => one.source === 'publisher' && one.advertiserTxn === null)
  return (
    (isRepeatable ? undefined : standing.find((one) => !one.isRepeatable)) ??
    reports.find((one) => txn !== null && one.publisherTxn === txn) ??
    reports.find((one) => one.status === 'pending') ??
    reports.find((one) => one.status === 'approved') ??
    (isRepeatable
      ? undefined
      : theirs.findLast((one) => one.status === 'reversed' && !one.isRepeatable && !isRedone(one, click)))
  )
}

type Times = { nowMs: number; calledMs: number }
export type HeardCall = {
  action: Confirmed
  click: Click
  amountMicros: number | null
  worth: Worth
  nowMs: number
  calledMs: number
}

/** "The same call with another status is a move, not a row." */
function hear(book: Book, one: Entry, heard: HeardCall): Answer {
  const { action, click, amountMicros, worth, nowMs, calledMs } = heard
  const isOfAnother = action.txn !== null && one.advertiserTxn !== null && action.txn !== one.advertiserTxn
  if (isDenial(action) && isOfAnother) return same(one)
  if (one.status !== 'reversed') one.advertiserTxn ??= action.txn
  if (isDenial(action)) {
    const by = { actor: 'advertiser', nowMs }
    if (one.status === 'approved') return move(book, one, { ...by, status: 'reversed', reason: 'advertiser_reversed' })
    if (one.status !== 'pending') return same(one)
    return move(book, one, { ...by, status: 'rejected', reason: `advertiser_${action.status}` })
  }
  if (one.status === 'approved' && action.status === 'approved' && !one.isConfirmed) {
    // Paid on the publisher's word; now the advertiser owes it.
    if (one.click === null) one.click = click.label
    Object.assign(one, { isConfirmed: true, isAdvertiserReported: true })
    return { ...same(one), kind: 'noted' }
  }
  if (one.status !== 'pending') return same(one)
  if (action.status === 'pending' || one.isConfirmed) return hearMore(book, one, heard, isOfAnother)
  const wasReported = one.isAdvertiserReported
  const takesAll = !wasReported || amountMicros !== null
  const isTooMuch = book.refusesRaise(one, takesAll ? worth : one)
  if (takesAll) adopt(book, one, heard)
  Object.assign(one, { isConfirmed: true, isAdvertiserReported: true, confirmByMs: null })
  const reject = (reason: string) => move(book, one, { status: 'rejected', reason, actor: 'system', nowMs })
  // What the advertiser reported in time it may confirm later; a publisher's report does not stop the clock.
  if (book.banned.includes(one.person)) one.isOfBanned = true
  if (!wasReported && isExpired(click, calledMs)) return reject('click_expired')
  const verdict = book.verdict(one.person, click, calledMs)
  if (verdict === 'reject') return reject('fraud')
  if (isTooMuch) return reject('cap_exceeded')
  // Held for the operator: a confirmation does not lift that.
  if (one.reason !== null || verdict === 'hold') {
    one.reason ??= 'fraud'
    return { ...same(one), kind: 'noted' }
  }
  const { holdS } = book.offer(one.offer)
  if (holdS === 0) return move(book, one, { status: 'approved', reason: null, actor: 'advertiser', nowMs })
  Object.assign(one, { holdUntilMs: nowMs + holdS * 1000 })
  return { ...same(one), kind: 'noted' }
}

/** It is now of this click, and worth what that was promised. */
function adopt(book: Book, one: Entry, { click, worth }: HeardCall): void {
  Object.assign(one, worth, { click: click.label })
  book.promises[one.label] = structuredClone({ atMs: click.atMs, terms: click.terms, sharePpm: click.sharePpm })
}

/** "The latest amount counts", as long as it is pending. */
function hearMore(book: Book, one: Entry, heard: HeardCall, isOfAnother: boolean): Answer {
  const { action, click, amountMicros, worth, nowMs, calledMs } = heard
  const isFirst = !one.isAdvertiserReported && !isExpired(click, calledMs)
  const isLate = one.isConfirmed && action.status !== 'approved'
  const isCorrection = one.isAdvertiserReported && amountMicros !== null && !isOfAnother && !isLate
  const isSame = worth.payoutMicros === one.payoutMicros && worth.revenueMicros === one.revenueMicros
  if (!isFirst && (!isCorrection || isSame)) return same(one)
  const isTooMuch = book.refusesRaise(one, worth)
  adopt(book, one, heard)
  Object.assign(one, { isAdvertiserReported: true, confirmByMs: null })
  if (isTooMuch) return move(book, one, { status: 'rejected', reason: 'cap_exceeded', actor: 'system', nowMs })
  return { ...same(one), kind: 'noted' }
}

/** What a confirmation of something new comes to. */
function judge(book: Book, action: Confirmed, click: Click, worth: Worth, times: Times): Verdict {
  const { nowMs, calledMs } = times
  if (isDenial(action)) return { status: 'rejected', reason: `advertiser_${action.status}`, actor: 'advertiser' }
  const refused = { status: 'rejected', actor: 'system' } as const
  if (isExpired(click, calledMs)) return { ...refused, reason: 'click_expired' }
  if (book.refusesClicked(click, worth, nowMs)) return { ...refused, reason: 'cap_exceeded' }
  const verdict = book.verdict(click.person, click, calledMs)
  if (verdict === 'reject') return { ...refused, reason: 'fraud' }
  const taken = { reason: null, actor: 'advertiser' }
  if (action.status === 'pending') return { ...taken, status: 'pending' }
  if (verdict === 'hold') return { ...taken, status: 'pending', reason: 'fraud', isConfirmed: true }
  const { holdS } = book.offer(click.offer)
  if (holdS === 0) return { ...taken, status: 'approved', isConfirmed: true }
  return { ...taken, status: 'pending', isConfirmed: true, holdUntilMs: nowMs + holdS * 1000 }
}

const paysShare = ({ payoutPpm, revenuePpm }: Goal) => payoutPpm !== null || revenuePpm !== null
