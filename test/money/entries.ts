// Conversions as the book has them, and what the design says of one alone.
import type { Book, Click, Whose } from './book.ts'
import type { Answer, Goal, Status } from './actions.ts'

/** A conversion, by the label of the action that created it. */
export type Entry = {
  label: number
  person: number
  offer: number
  /** Its key. */
  goal: string
  isTest: boolean
  isRepeatable: boolean
  isFirstGoal: boolean
  status: Status
  reason: string | null
  source: 'publisher' | 'advertiser'
  actor: string
  publisherTxn: string | null
  advertiserTxn: string | null
  payoutMicros: number
  revenueMicros: number
  click: number | null
  isConfirmed: boolean
  /** Its advertiser has reported it. */
  isAdvertiserReported: boolean
  isOfBanned: boolean
  barsRedo: boolean
  holdUntilMs: number | null
  confirmByMs: number | null
  rejectedAtMs: number | null
  reversedAtMs: number | null
  createdAtMs: number
  moves: number
}

/** Of entries created at once, the order matters where they exclude each other: there it is kept. */
export function grouped(entries: Entry[]): Entry[] {
  const groupOf = (one: Entry) => `${one.createdAtMs} ${one.person} ${one.offer} ${one.goal} ${one.isTest}`
  return entries.toSorted((a, b) => (groupOf(a) < groupOf(b) ? -1 : groupOf(a) > groupOf(b) ? 1 : 0))
}

export const isExpired = (click: Pick<Click, 'atMs' | 'terms'>, atMs: number) =>
  atMs > click.atMs + click.terms.attributionS * 1000

export const isStanding = ({ status }: Entry) => status === 'pending' || status === 'approved'

/** Of what repeats, a word is about what its transaction has, and what has no word of one side yet. */
export const mayBeAbout =
  ({ txn }: { txn: string | null }) =>
  (one: Entry) =>
    !one.isRepeatable ||
    one.barsRedo ||
    (txn !== null && (one.publisherTxn === txn || one.advertiserTxn === txn)) ||
    (isStanding(one) && (one.publisherTxn === null || one.advertiserTxn === null))

/** What operators and fraud rules said no to; a ban that is lifted is over. */
export const isTurnedDown = (one: Entry) => one.actor === 'operator' || (one.reason === 'fraud' && !one.isOfBanned)

/** "A reversed completion may be done again", by a click that came after it. */
export const isRedone = (one: Entry, click: Pick<Click, 'atMs'> | null) =>
  !one.barsRedo && click !== null && one.reversedAtMs !== null && click.atMs >= one.reversedAtMs

type Verb = { status: Status; reason: string | null; actor: string; nowMs: number }

export function move(book: Book, one: Entry, { nowMs, ...verb }: Verb): Answer {
  const isFraud = verb.reason === 'fraud' && verb.actor === 'operator'
  const isOver = verb.status === 'reversed' && !book.offer(one.offer).redo
  const barsRedo = !one.isRepeatable && verb.status !== 'approved' && (isFraud || isOver)
  Object.assign(one, verb, { moves: one.moves + 1, barsRedo })
  if (verb.status === 'rejected') one.rejectedAtMs = nowMs
  if (verb.status === 'reversed') one.reversedAtMs = nowMs
  return { ...same(one), kind: 'moved' }
}

export const same = ({ label, status, reason, payoutMicros }: Entry) => ({
  kind: 'duplicate',
  label,
  status,
  reason,
  payoutMicros,
})

export type Worth = { payoutMicros: number; revenueMicros: number }

const partOf = (micros: number, ppm: number) => Number((BigInt(micros) * BigInt(ppm)) / 1_000_000n)

/** "Percentages round down"; without an amount there is nothing to take a share of. The publisher gets its own share. */
export function amountsOf(goal: Goal, amountMicros: number | null, sharePpm: number): Worth {
  const share = (ppm: number | null, fixed: number) =>
    ppm === null || amountMicros === null ? fixed : partOf(amountMicros, ppm)
  return {
    payoutMicros: partOf(share(goal.payoutPpm, goal.payoutMicros), sharePpm),
    revenueMicros: share(goal.revenuePpm, goal.revenueMicros),
  }
}

/** The initial state of an entry, whatever its source. */
export const blank = ({ person, offer, isTest }: Whose, label: number, goal: Goal, nowMs: number) => ({
  isAdvertiserReported: false,
  isOfBanned: false,
  barsRedo: false,
  confirmByMs: null,
  rejectedAtMs: null,
  reversedAtMs: null,
  label,
  person,
  offer,
  isTest,
  goal: goal.key,
  publisherTxn: null,
  advertiserTxn: null,
  isConfirmed: false,
  holdUntilMs: null,
  createdAtMs: nowMs,
  moves: 1,
})
