// The book's word on publishers' reports (design 2.13).
import type { Book, Click } from './book.ts'
import {
  blank,
  type Entry,
  isExpired,
  isRedone,
  isStanding,
  isTurnedDown,
  mayBeAbout,
  same,
  amountsOf,
  type Worth,
} from './entries.ts'
import { type Answer, DAY_MS, type Action, PEOPLE, TRUSTED } from './actions.ts'

type Reported = Extract<Action, { kind: 'report' }>

/** "`Idempotency-Key` is honoured for 24 h." */
export function report(book: Book, action: Reported, nowMs: number): Answer {
  if (action.key === null) return reportAnew(book, action, nowMs)
  const { app, user } = PEOPLE[action.person] ?? {}
  const name = `${app} ${action.isTest} ${action.key}`
  const request = JSON.stringify([user, action.offer, action.goal, action.txn])
  const seen = book.keys.find((key) => key.name === name && nowMs - key.atMs < DAY_MS)
  if (seen !== undefined) return seen.request === request ? same(book.find(seen.label)) : { kind: 'key_reused' }
  const answer = reportAnew(book, action, nowMs)
  if ('label' in answer) {
    book.keys = book.keys.filter((key) => key.name !== name)
    book.keys.push({ name, request, label: answer.label, atMs: nowMs })
  }
  return answer
}

function reportAnew(book: Book, action: Reported, nowMs: number): Answer {
  const click = latestLiveClick(book, action, nowMs)
  const goal = book.goal(action, action.goal ?? unnamedGoal(book, action, click), click, mayBeAbout(action))
  if (goal === undefined) return { kind: 'no_goal' }
  const theirs = book.of(action, goal.key).filter(mayBeAbout(action))
  const isRepeatable = book.repeats(goal, click, theirs)
  const before = findSame(theirs, action, click, isRepeatable)
  if (before !== undefined) return same(before)
  if (isRepeatable && action.txn === null) return { kind: 'needs_transaction' }
  const confirmed = theirs.find((one) => isRepeatable && isOfAdvertiser(one))
  if (confirmed !== undefined) {
    confirmed.publisherTxn = action.txn
    return same(confirmed)
  }
  const isOffered = [...book.offer(action.offer).goals, ...(click?.terms.goals ?? [])].some(
    (one) => one.key === goal.key,
  )
  const last = theirs.at(-1)
  if (!isOffered && last !== undefined) return same(last)
  const sharePpm = click?.sharePpm ?? book.shareOf(action.person)
  const worth = amountsOf(goal, null, sharePpm)
  const verdict = book.verdict(action.person, click, nowMs)
  const refusal = refusalOf(book, action, click, worth, nowMs) ?? (verdict === 'reject' ? 'fraud' : null)
  const again = theirs.find(
    (one) => one.status === 'rejected' && one.reason === refusal && (!isRepeatable || one.publisherTxn === action.txn),
  )
  if (again !== undefined) return same(again)
  const { confirmWithinS, goals } = book.offer(action.offer)
  const accepted = isTrusted(book, action, goal.key) && verdict !== 'hold' ? 'approved' : 'pending'
  const status = refusal === null ? accepted : 'rejected'
  const terms = click?.terms ?? book.offer(action.offer)
  return book.enter(
    {
      ...blank(action, action.label, goal, nowMs),
      ...worth,
      isRepeatable,
      isFirstGoal: (click?.terms.goals ?? goals)[0]?.key === goal.key,
      status,
      reason: refusal ?? (verdict === 'hold' ? 'fraud' : null),
      actor: 'publisher',
      source: 'publisher',
      publisherTxn: action.txn,
      click: click?.label ?? null,
      isOfBanned: book.banned.includes(action.person),
      confirmByMs: status === 'pending' ? nowMs + confirmWithinS * 1000 : null,
    },
    { atMs: click?.atMs ?? nowMs, terms, sharePpm },
  )
}

/** "The same report again is about the same goal." Otherwise the first that was promised, or is offered. */
function unnamedGoal(book: Book, action: Reported, click: Click | null): string | undefined {
  const before = book
    .of(action)
    .findLast((one) => one.isFirstGoal && one.source === 'publisher' && one.publisherTxn === action.txn)
  if (before !== undefined && (action.txn !== null || click === null)) return before.goal
  return (click?.terms ?? book.offer(action.offer)).goals[0]?.key
}

/** What stands for this report, or was reversed or rejected in a way that it cannot bypass. */
function findSame(theirs: Entry[], { txn }: Reported, click: Click | null, isRepeatable: boolean): Entry | undefined {
  const isOf = (one: Entry) => !one.isRepeatable && (!isRepeatable || txn === null)
  const isNamed = (one: Entry) => txn !== null && (one.publisherTxn ?? one.advertiserTxn) === txn
  const isNew = (one: Entry) => isRedone(one, click) || (!one.barsRedo && txn !== null && one.publisherTxn !== null)
  const staysRejected = (one: Entry) => {
    if (one.barsRedo) return true
    if (!isTurnedDown(one) && one.reason !== 'unconfirmed') return false
    return one.isRepeatable || one.click === null || click === null
      ? one.publisherTxn === txn
      : one.click === click.label
  }
  return (
    theirs.find((one) => isStanding(one) && (isOf(one) || isNamed(one))) ??
    theirs.findLast((one) => one.status === 'reversed' && (isNamed(one) || (isOf(one) && !isNew(one)))) ??
    theirs.findLast((one) => one.status === 'rejected' && staysRejected(one))
  )
}

/** The advertiser was quicker: the publisher reports the same completion. */
const isOfAdvertiser = (one: Entry) =>
  one.isRepeatable && one.source === 'advertiser' && one.publisherTxn === null && isStanding(one)

function latestLiveClick(book: Book, { person, offer, isTest }: Reported, nowMs: number): Click | null {
  const theirs = book.clicks.filter(
    (one) => one.person === person && one.offer === offer && one.isTest === isTest && !isExpired(one, nowMs),
  )
  return theirs.at(-1) ?? null
}

/** "A user who started keeps the promise"; who did not needs an offer that is open, with room for the payout. */
function refusalOf(book: Book, action: Reported, click: Click | null, worth: Worth, nowMs: number) {
  if (click !== null) return book.refusesClicked(action, worth, nowMs) ? 'cap_exceeded' : null
  if (book.offer(action.offer).status !== 'active') return 'not_eligible'
  return !action.isTest && book.isFull(action.offer, nowMs, worth) ? 'cap_exceeded' : null
}

/** Whether a report needs no confirmation. With a retired goal, each does. */
function isTrusted(book: Book, action: Reported, goal: string): boolean {
  const isTheirs = action.offer === TRUSTED.offer && PEOPLE[action.person]?.app === TRUSTED.app
  const isBelieved = action.isTest || (book.rules.trusts && isTheirs)
  return isBelieved && book.offer(action.offer).goals.some((one) => one.key === goal)
}
