// The book's word on publishers' reports (design 2.13).
import { blank, type Book, type Click, type Entry, isExpired, same, worthOf } from './book.ts'
import { type Answer, DAY_MS, type Deed, type Goal, PEOPLE, TRUSTED } from './deeds.ts'

type Reported = Extract<Deed, { kind: 'report' }>

/** "`Idempotency-Key` is honoured for 24 h." */
export function report(book: Book, deed: Reported, nowMs: number): Answer {
  if (deed.key === null) return reportAnew(book, deed, nowMs)
  const { app, user } = PEOPLE[deed.person] ?? {}
  const name = `${app} ${deed.isTest} ${deed.key}`
  const request = JSON.stringify([user, deed.offer, deed.goal, deed.txn])
  const seen = book.keys.find((key) => key.name === name && nowMs - key.atMs < DAY_MS)
  if (seen !== undefined) return seen.request === request ? same(book.find(seen.label)) : { kind: 'key_reused' }
  const answer = reportAnew(book, deed, nowMs)
  if ('label' in answer) {
    book.keys = book.keys.filter((key) => key.name !== name)
    book.keys.push({ name, request, label: answer.label, atMs: nowMs })
  }
  return answer
}

function reportAnew(book: Book, deed: Reported, nowMs: number): Answer {
  const click = latestLiveClick(book, deed, nowMs)
  const goal = book.goal(deed.offer, deed.goal, click)
  if (goal === undefined) return { kind: 'no_goal' }
  if (goal.isRepeatable && deed.txn === null) return { kind: 'needs_transaction' }
  const theirs = book.of(deed, goal.name)
  const standing = theirs.find(
    (one) => one.status !== 'rejected' && (!goal.isRepeatable || (one.publisherTxn ?? one.advertiserTxn) === deed.txn),
  )
  if (standing !== undefined) return same(standing)
  const told = theirs.find((one) => goal.isRepeatable && isToldByAdvertiser(one))
  if (told !== undefined) {
    told.publisherTxn = deed.txn
    return same(told)
  }
  const worth = worthOf(goal, null)
  const refusal = refusalOf(book, deed, click, worth.payoutMicros, nowMs)
  const again = theirs.find(
    (one) =>
      one.status === 'rejected' && one.reason === refusal && (!goal.isRepeatable || one.publisherTxn === deed.txn),
  )
  if (again !== undefined) return same(again)
  const accepted = isTrusted(book, deed, goal) ? 'approved' : 'pending'
  return book.enter({
    ...blank(deed, deed.label, goal, nowMs),
    ...worth,
    status: refusal === null ? accepted : 'rejected',
    reason: refusal,
    actor: 'publisher',
    source: 'publisher',
    publisherTxn: deed.txn,
    click: click?.label ?? null,
  })
}

/** The advertiser was quicker: what the publisher tells is the same completion. */
const isToldByAdvertiser = ({ source, status, publisherTxn }: Entry) =>
  source === 'advertiser' && publisherTxn === null && (status === 'pending' || status === 'approved')

function latestLiveClick(book: Book, { person, offer, isTest }: Reported, nowMs: number): Click | null {
  const theirs = book.clicks.filter(
    (one) => one.person === person && one.offer === offer && one.isTest === isTest && !isExpired(one, nowMs),
  )
  return theirs.at(-1) ?? null
}

/** "A user who started keeps the promise"; who did not needs an offer that is open, with room for the payout. */
function refusalOf(book: Book, deed: Reported, click: Click | null, payoutMicros: number, nowMs: number) {
  if (click !== null) return book.refusesClicked(deed, nowMs) ? 'cap_exceeded' : null
  if (book.offer(deed.offer).status !== 'active') return 'not_eligible'
  return !deed.isTest && book.isFull(deed.offer, nowMs, payoutMicros) ? 'cap_exceeded' : null
}

/** With a goal that the offer has no more, nobody is trusted. */
function isTrusted(book: Book, deed: Reported, goal: Goal): boolean {
  const isTheirs = deed.offer === TRUSTED.offer && PEOPLE[deed.person]?.app === TRUSTED.app
  return book.trusts && isTheirs && book.offer(deed.offer).goals.some((one) => one.name === goal.name)
}
