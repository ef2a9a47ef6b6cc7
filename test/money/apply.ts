// What an action does to the book.
import type { Book } from './book.ts'
import { type Entry, isStanding, move, same } from './entries.ts'
import { confirm, isInvalid, WAITS_MS } from './confirming.ts'
import { type Answer, DAY_MS, type Action, erasedOf, type OfferTerms, PEOPLE } from './actions.ts'
import { report } from './reporting.ts'

/** Longer than any click of these offers is valid, with a week to spare. */
export const DROPPED_AFTER_MS = 10 * DAY_MS

export function apply(book: Book, action: Action, nowMs: number): Answer {
  switch (action.kind) {
    case 'click':
      return click(book, action, nowMs)
    case 'report':
      return report(book, action, nowMs)
    case 'confirm':
      return confirmOrWait(book, action, nowMs)
    case 'arrive':
      return arrive(book, action, nowMs)
    case 'move':
      return decide(book, action, nowMs)
    case 'release':
      return release(book, action.conversion, nowMs)
    case 'round':
      return round(book, nowMs)
    case 'drop':
      book.clicks = book.clicks.filter((one) => nowMs - one.atMs < DROPPED_AFTER_MS)
      return { kind: 'done' }
    case 'ban':
      ban(book, action)
      return { kind: 'done' }
    case 'erase':
      erase(book, action.person)
      return { kind: 'done' }
    case 'caps':
      if (action.isCounting) book.uncounted[action.offer] = book.entries.map(({ label }) => label)
      Object.assign(book.offer(action.offer), { caps: action.caps, overCap: action.overCap })
      return { kind: 'done' }
    case 'counted':
      delete book.uncounted[action.offer]
      return { kind: 'done' }
    case 'import':
      importOffer(book, action.offer, action.terms)
      return { kind: 'done' }
    case 'share':
      book.shares[action.app] = action.sharePpm
      return { kind: 'done' }
    case 'status':
      book.offer(action.offer).status = action.status
      return { kind: 'done' }
  }
}

function ban(book: Book, { person, isBanned }: Extract<Action, { kind: 'ban' }>): void {
  if (!isBanned) book.banned = book.banned.filter((one) => one !== person && one !== erasedOf(person))
  else if (!book.banned.includes(person)) book.banned.push(person)
}

/** "A ban holds for the pseudonym." What was in flight is of the user who comes back, who is another one. */
function erase(book: Book, person: number): void {
  const moved = [...book.entries, ...book.clicks].filter((one) => one.person === person && !one.isTest)
  if (moved.length === 0) return // nothing is known
  const [before, after] = [PEOPLE[person], PEOPLE[erasedOf(person)]]
  for (const one of moved) one.person = erasedOf(person)
  for (const key of book.keys) {
    const [user, ...rest] = JSON.parse(key.request) as unknown[]
    if (key.name.startsWith(`${before?.app} false `) && user === before?.user)
      key.request = JSON.stringify([after?.user, ...rest])
  }
  if (book.banned.includes(person)) book.banned.push(erasedOf(person))
  book.erased.push(person)
}

function importOffer(book: Book, offer: number, terms: OfferTerms): void {
  const known = [...book.offer(offer).goals, ...(book.retired[offer] ?? [])]
  book.retired[offer] = known.filter((goal) => !terms.goals.some((one) => one.key === goal.key))
  book.offers[offer] = structuredClone(terms)
}

/** "Caps close clicks exactly." */
function click(book: Book, action: Extract<Action, { kind: 'click' }>, nowMs: number): Answer {
  const { label, person, offer, isTest, isLate, terms, sharePpm } = action
  const made = { label, person, offer, isTest, atMs: nowMs, terms: structuredClone(terms), sharePpm }
  if (isLate) {
    book.late.push(made)
    return { kind: 'recorded' }
  }
  if (!isTest && book.isFull(offer, nowMs)) return { kind: 'full' }
  book.clicks.push(made)
  book.clicks.sort((a, b) => (a.label ?? 0) - (b.label ?? 0)) // of what came at once, too, the ids say what is the latest
  if (!isTest && book.isCapped(offer)) book.counted.push({ offer, atMs: nowMs })
  return { kind: 'recorded' }
}

type Waiting = Book['waiting'][number]

/** "A confirmation before its click is kept and retried for three days." Calls do not overtake each other. */
function confirmOrWait(book: Book, action: Extract<Action, { kind: 'confirm' }>, nowMs: number): Answer {
  const isNamed = book.clicks.some(({ label }) => label === action.click) && !action.isClickless
  if (isNamed && !isInvalid(action)) hearWaiting(book, action.click, nowMs)
  const answer = confirm(book, action, nowMs)
  if (answer.kind === 'unmatched') book.waiting.push({ action, atMs: nowMs })
  return answer
}

/** One click after the other. */
function arrive(book: Book, { isLookedFor }: Extract<Action, { kind: 'arrive' }>, nowMs: number): Answer {
  const stored = book.clicks.map(({ label }) => label)
  for (const late of book.late.splice(0)) {
    book.clicks.push(late)
    book.clicks.sort((a, b) => (a.label ?? 0) - (b.label ?? 0))
    if (!late.isTest && book.isCapped(late.offer)) book.counted.push({ offer: late.offer, atMs: late.atMs })
    stored.push(late.label)
  }
  if (isLookedFor) for (const label of stored) hearWaiting(book, label, nowMs)
  return { kind: 'done' }
}

/** What waited for a click is heard in turn, as of the time when it came. */
function hearWaiting(book: Book, click: number | null, nowMs: number): void {
  const isForIt = ({ action }: Waiting) => action.click === click && !action.isClickless
  const waited = book.waiting.filter(isForIt)
  book.waiting = book.waiting.filter((one) => !isForIt(one))
  for (const { action, atMs } of waited)
    if (nowMs - atMs <= WAITS_MS) confirm(book, { ...action, isAgain: false }, nowMs, atMs)
}

/** The operator's word. */
function decide(book: Book, { conversion, to, isFraud }: Extract<Action, { kind: 'move' }>, nowMs: number): Answer {
  if (conversion === null) return { kind: 'no_conversion' }
  const one = book.find(conversion)
  if (one.status === to) return same(one)
  const from = to === 'reversed' ? 'approved' : 'pending'
  const reason = isFraud && to !== 'approved' ? 'fraud' : 'operator'
  return one.status === from
    ? move(book, one, { status: to, reason, actor: 'operator', nowMs })
    : { ...same(one), kind: 'illegal' }
}

/** "Bans count at release, too." */
function release(book: Book, label: number | null, nowMs: number): Answer {
  if (label === null) return { kind: 'no_conversion' }
  const one = book.find(label)
  if (!isHeld(one) || (one.holdUntilMs ?? 0) > nowMs) return same(one)
  if (!book.banned.includes(one.person))
    return move(book, one, { status: 'approved', reason: null, actor: 'system', nowMs })
  one.isOfBanned = true
  return move(book, one, { status: 'rejected', reason: 'fraud', actor: 'system', nowMs })
}

const isHeld = (one: Entry) => one.status === 'pending' && one.holdUntilMs !== null

/** What the worker does: holds end, and unconfirmed reports expire. */
function round(book: Book, nowMs: number): Answer {
  const held = book.entries.filter((one) => isHeld(one) && (one.holdUntilMs ?? 0) <= nowMs)
  for (const { label } of held) release(book, label, nowMs)
  const late = book.entries.filter(
    (one) => isStanding(one) && one.status === 'pending' && (one.confirmByMs ?? Infinity) <= nowMs,
  )
  for (const one of late) move(book, one, { status: 'rejected', reason: 'unconfirmed', actor: 'system', nowMs })
  const labels = (some: Entry[]) => some.map((one) => one.label).toSorted((a, b) => a - b)
  return { kind: 'round', released: labels(held), expired: labels(late) }
}
