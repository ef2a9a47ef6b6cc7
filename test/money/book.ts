// The path of money as the design tells it, in memory and one thing after the other: what the program is held against.
// Written from the words of the design, not from the program. It counts by looking at everything there is.
import { type Answer, DAY_MS, type Goal, type OfferTerms, type Status } from './deeds.ts'

/** A conversion, by the label of the deed that made it. */
export type Entry = {
  label: number
  person: number
  offer: number
  goal: string
  isTest: boolean
  isRepeatable: boolean
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
  holdUntilMs: number | null
  createdAtMs: number
  moves: number
}

export type Click = { label: number; person: number; offer: number; isTest: boolean; atMs: number; terms: OfferTerms }
type Usage = { clicks: number; conversions: number; payoutMicros: number }
export type OfferUsage = { offer: number; isFull: boolean; today: Usage; total: Usage }
type Key = { name: string; request: string; label: number; atMs: number }
type Whose = { person: number; offer: number; isTest: boolean }

export class Book {
  offers: OfferTerms[]
  trusts: boolean
  clicks: Click[] = []
  /** Clicks that were taken while their offer had caps. */
  counted: { offer: number; atMs: number }[] = []
  entries: Entry[] = []
  keys: Key[] = []

  constructor(offers: OfferTerms[], trusts: boolean) {
    this.offers = offers
    this.trusts = trusts
  }

  clone(): Book {
    const { offers, trusts, clicks, counted, entries, keys } = this
    return Object.assign(new Book(structuredClone(offers), trusts), structuredClone({ clicks, counted, entries, keys }))
  }

  /** The same text for books that differ in nothing that matters. */
  summary(): string {
    const counted = this.counted.map((one) => `${one.atMs} ${one.offer}`).toSorted()
    const keys = this.keys.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return JSON.stringify([this.offers, this.clicks, counted, grouped(this.entries), keys])
  }

  offer(offer: number): OfferTerms {
    return this.offers[offer] as OfferTerms
  }

  find(label: number): Entry {
    return this.entries.find((one) => one.label === label) as Entry
  }

  of({ person, offer, isTest }: Whose, goal: string): Entry[] {
    return this.entries.filter(
      (one) => one.person === person && one.offer === offer && one.isTest === isTest && one.goal === goal,
    )
  }

  /** A goal by its name, or the first, as the click was promised it; also one that the offer has no more. */
  goal(offer: number, wanted: string | null, click: Click | null): Goal | undefined {
    const present = this.offer(offer).goals
    const name = wanted ?? present[0]?.name
    return [...(click?.terms.goals ?? []), ...present].find((goal) => goal.name === name)
  }

  isCapped(offer: number): boolean {
    return Object.values(this.offer(offer).caps).some((cap) => cap !== null)
  }

  /** What counts now: conversions that are pending or approved, and clicks since there were caps. */
  usage(offer: number, nowMs: number): Pick<OfferUsage, 'today' | 'total'> {
    const isToday = (atMs: number) => Math.floor(atMs / DAY_MS) === Math.floor(nowMs / DAY_MS)
    const standing = this.entries.filter(
      (one) => one.offer === offer && !one.isTest && (one.status === 'pending' || one.status === 'approved'),
    )
    const clicks = this.counted.filter((one) => one.offer === offer)
    const count = (some: Entry[], clicked: number) => ({
      clicks: clicked,
      conversions: some.length,
      payoutMicros: some.reduce((total, one) => total + one.payoutMicros, 0),
    })
    const ofToday = standing.filter((one) => isToday(one.createdAtMs))
    return {
      today: count(ofToday, clicks.filter((one) => isToday(one.atMs)).length),
      total: count(standing, clicks.length),
    }
  }

  /** Of those that have caps. */
  allUsage(nowMs: number): OfferUsage[] {
    const capped = [...this.offers.keys()].filter((offer) => this.isCapped(offer))
    return capped.map((offer) => ({ offer, isFull: this.isFull(offer, nowMs), ...this.usage(offer, nowMs) }))
  }

  /** Whether a cap is reached, or this payout does not fit under it. */
  isFull(offer: number, nowMs: number, payoutMicros = 0): boolean {
    const { caps } = this.offer(offer)
    const { today, total } = this.usage(offer, nowMs)
    const isClosed = isReached(caps.dailyClicks, today.clicks) || isReached(caps.totalClicks, total.clicks)
    return isClosed || this.isSpent(offer, nowMs, payoutMicros)
  }

  /** The same of conversions and payout alone. */
  isSpent(offer: number, nowMs: number, payoutMicros = 0): boolean {
    const { caps } = this.offer(offer)
    const { today, total } = this.usage(offer, nowMs)
    const isPassed = (cap: number | null, spent: number) =>
      isReached(cap, spent) || (cap !== null && spent + payoutMicros > cap)
    return (
      isReached(caps.dailyConversions, today.conversions) ||
      isReached(caps.totalConversions, total.conversions) ||
      isPassed(caps.dailyPayoutMicros, today.payoutMicros) ||
      isPassed(caps.totalPayoutMicros, total.payoutMicros)
    )
  }

  /**
   * "A click taken while the offer was open is honoured beyond the cap, unless the offer says reject." The click has its
   * place among the clicks: only conversions and payout can be beyond a cap.
   */
  refusesClicked({ offer, isTest }: Whose, nowMs: number): boolean {
    return this.offer(offer).overCap === 'reject' && !isTest && this.isSpent(offer, nowMs)
  }

  enter(entry: Entry): Answer {
    this.entries.push(entry)
    return { ...same(entry), kind: 'created' }
  }
}

/** Of what was made at once, the order matters where it is of the same: there it is kept. */
export function grouped(entries: Entry[]): Entry[] {
  const groupOf = (one: Entry) => `${one.createdAtMs} ${one.person} ${one.offer} ${one.goal} ${one.isTest}`
  return entries.toSorted((a, b) => (groupOf(a) < groupOf(b) ? -1 : groupOf(a) > groupOf(b) ? 1 : 0))
}

const isReached = (cap: number | null, used: number) => cap !== null && used >= cap

export const isExpired = (click: Click, atMs: number) => atMs > click.atMs + click.terms.attributionS * 1000

export function move(one: Entry, status: Status, reason: string | null, actor: string): Answer {
  Object.assign(one, { status, reason, actor, moves: one.moves + 1 })
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

/** "Percentages round down"; without an amount there is nothing to take a share of. */
export function worthOf(goal: Goal, amountMicros: number | null): Worth {
  const share = (ppm: number | null, fixed: number) =>
    ppm === null || amountMicros === null ? fixed : Number((BigInt(amountMicros) * BigInt(ppm)) / 1_000_000n)
  return {
    payoutMicros: share(goal.payoutPpm, goal.payoutMicros),
    revenueMicros: share(goal.revenuePpm, goal.revenueMicros),
  }
}

/** What an entry has in the beginning, whoever tells of it. */
export const blank = ({ person, offer, isTest }: Whose, label: number, goal: Goal, nowMs: number) => ({
  label,
  person,
  offer,
  isTest,
  goal: goal.name,
  isRepeatable: goal.isRepeatable,
  publisherTxn: null,
  advertiserTxn: null,
  isConfirmed: false,
  holdUntilMs: null,
  createdAtMs: nowMs,
  moves: 1,
})
