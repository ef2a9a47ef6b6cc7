// The path of money as the design describes it, in memory and one thing after the other: what the program is held against.
// Written from the words of the design, not from the program. It counts by looking at everything there is.
import {
  type Answer,
  DAY_MS,
  type Action,
  type Goal,
  type OfferTerms,
  PEOPLE,
  type Start,
  type Status,
} from './actions.ts'
import { type Entry, grouped, isStanding, same, type Worth } from './entries.ts'

export type Click = {
  label: number | null
  person: number
  offer: number
  isTest: boolean
  atMs: number
  terms: OfferTerms
  sharePpm: number
}
/** What an entry was promised: under it a confirmation is heard even when the click is gone. */
type Promise = Pick<Click, 'atMs' | 'terms' | 'sharePpm'>
type Usage = Worth & { clicks: number; conversions: number }
export type OfferUsage = { offer: number; isFull: boolean; today: Usage; total: Usage }
type Key = { name: string; request: string; label: number; atMs: number }
export type Whose = { person: number; offer: number; isTest: boolean }
type Rules = Pick<Start, 'trusts' | 'hasExternalIds' | 'tooFastS' | 'onTooFast'>
/** What each app's publisher is owed, and the advertiser owes. */
export type Money = {
  pending: number[]
  payable: number[]
  receivable: number
  unconfirmed: number
}

export class Book {
  offers: OfferTerms[]
  readonly rules: Rules
  /** Goals that offers have no more, as they were last. */
  retired: Goal[][]
  /** Those that are not dropped. */
  clicks: Click[] = []
  /** Those that are not stored yet, and the calls that wait for them. */
  late: Click[] = []
  waiting: { action: Extract<Action, { kind: 'confirm' }>; atMs: number }[] = []
  /** Of entries, by label. */
  promises: Record<number, Promise> = {}
  banned: number[] = []
  erased: number[] = []
  /** Of each app's publisher. */
  shares: number[] = PEOPLE.map(() => 1_000_000)
  /** Clicks that were taken while their offer had caps. */
  counted: { offer: number; atMs: number }[] = []
  /** By offer, the labels of entries that new caps do not know yet. */
  uncounted: Record<number, number[]> = {}
  entries: Entry[] = []
  keys: Key[] = []

  constructor(offers: OfferTerms[], rules: Rules) {
    this.offers = offers
    this.rules = rules
    this.retired = offers.map(() => [])
  }

  clone(): Book {
    const { offers, rules, ...more } = this
    return Object.assign(new Book(structuredClone(offers), rules), structuredClone(more))
  }

  /** The same text for books that differ in nothing that matters. */
  summary(): string {
    const counted = this.counted.map((one) => `${one.atMs} ${one.offer}`).toSorted()
    const keys = this.keys.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const { offers, retired, clicks, late, waiting, promises, banned, erased, shares } = this
    return JSON.stringify([
      offers,
      retired,
      clicks,
      late,
      waiting,
      promises,
      banned.toSorted((a, b) => a - b),
      erased,
      shares,
      counted,
      grouped(this.entries),
      keys,
    ])
  }

  offer(offer: number): OfferTerms {
    return this.offers[offer] as OfferTerms
  }

  find(label: number): Entry {
    return this.entries.find((one) => one.label === label) as Entry
  }

  shareOf(person: number): number {
    return this.shares[PEOPLE[person]?.app ?? 0] as number
  }

  of({ person, offer, isTest }: Whose, goal?: string): Entry[] {
    return this.entries.filter(
      (one) =>
        one.person === person &&
        one.offer === offer &&
        one.isTest === isTest &&
        (goal === undefined || one.goal === goal),
    )
  }

  /** A goal as the click was promised it, as it is, or as it was last if there is an entry of it that counts. */
  goal(
    whose: Whose,
    key: string | undefined,
    click: Pick<Click, 'terms'> | null,
    counts: (entry: Entry) => boolean = () => true,
  ): Goal | undefined {
    const gone = this.retired[whose.offer]?.filter((goal) => this.of(whose, goal.key).some(counts)) ?? []
    const promised = click?.terms.goals.find((goal) => goal.key === key)
    return promised ?? [...this.offer(whose.offer).goals, ...gone].find((goal) => goal.key === key)
  }

  /** "What was promised takes precedence over what is offered now." */
  repeats(goal: Goal, click: Pick<Click, 'terms' | 'label'> | null, theirs: Entry[]): boolean {
    if (click === null) return goal.isRepeatable
    const promised = click.terms.goals.find((one) => one.key === goal.key)
    const wasOnce = theirs.some((one) => one.click === click.label && !one.isRepeatable)
    return promised?.isRepeatable ?? (goal.isRepeatable && !wasOnce)
  }

  /** What bans and the rule for haste say. */
  verdict(person: number, click: Pick<Click, 'atMs'> | null, nowMs: number): 'reject' | 'hold' | null {
    if (this.banned.includes(person)) return 'reject'
    return click !== null && nowMs - click.atMs < this.rules.tooFastS * 1000 ? this.rules.onTooFast : null
  }

  money(): Money {
    const live = this.entries.filter((one) => !one.isTest && isStanding(one))
    const sum = (some: Entry[], of: 'payoutMicros' | 'revenueMicros') => some.reduce((all, one) => all + one[of], 0)
    const owed = (status: Status) =>
      [...new Set(PEOPLE.map(({ app }) => app))].map((app) =>
        sum(
          live.filter((one) => one.status === status && PEOPLE[one.person]?.app === app),
          'payoutMicros',
        ),
      )
    return {
      pending: owed('pending'),
      payable: owed('approved'),
      receivable: sum(live.filter((one) => one.isConfirmed), 'revenueMicros'),
      unconfirmed: sum(live.filter((one) => !one.isConfirmed), 'revenueMicros'),
    } // prettier-ignore
  }

  isCapped(offer: number): boolean {
    return Object.values(this.offer(offer).caps).some((cap) => cap !== null)
  }

  /** What counts now: conversions that are pending or approved, and clicks since there were caps. */
  usage(offer: number, nowMs: number): Pick<OfferUsage, 'today' | 'total'> {
    const isToday = (atMs: number) => Math.floor(atMs / DAY_MS) === Math.floor(nowMs / DAY_MS)
    const standing = this.entries.filter(
      (one) => one.offer === offer && !one.isTest && isStanding(one) && !this.uncounted[offer]?.includes(one.label),
    )
    const clicks = this.counted.filter((one) => one.offer === offer)
    const count = (some: Entry[], clicked: number) => ({
      clicks: clicked,
      conversions: some.length,
      payoutMicros: some.reduce((total, one) => total + one.payoutMicros, 0),
      revenueMicros: some.reduce((total, one) => total + one.revenueMicros, 0),
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

  /** Whether a cap is reached, or what this is worth does not fit under it. */
  isFull(offer: number, nowMs: number, worth: Worth = NOTHING): boolean {
    const { caps } = this.offer(offer)
    const { today, total } = this.usage(offer, nowMs)
    const isClosed = isReached(caps.dailyClicks, today.clicks) || isReached(caps.totalClicks, total.clicks)
    return isClosed || this.isSpent(offer, nowMs, worth)
  }

  /** The same of conversions and money alone. */
  isSpent(offer: number, nowMs: number, { payoutMicros, revenueMicros }: Worth): boolean {
    const { caps } = this.offer(offer)
    const { today, total } = this.usage(offer, nowMs)
    const isPassed = (cap: number | null, spent: number, more: number) =>
      isReached(cap, spent) || (cap !== null && spent + more > cap)
    return (
      isReached(caps.dailyConversions, today.conversions) ||
      isReached(caps.totalConversions, total.conversions) ||
      isPassed(caps.dailyPayoutMicros, today.payoutMicros, payoutMicros) ||
      isPassed(caps.totalPayoutMicros, total.payoutMicros, payoutMicros) ||
      isPassed(caps.dailyRevenueMicros, today.revenueMicros, revenueMicros) ||
      isPassed(caps.totalRevenueMicros, total.revenueMicros, revenueMicros)
    )
  }

  /**
   * "A click taken while the offer was open is honoured beyond the cap, unless the offer says reject." The click has its
   * place among the clicks: only conversions and money can be beyond a cap.
   */
  refusesClicked({ offer, isTest }: Whose, worth: Worth, nowMs: number): boolean {
    return this.offer(offer).overCap === 'reject' && !isTest && this.isSpent(offer, nowMs, worth)
  }

  /** The same of an entry that counts already, and would be worth more. */
  refusesRaise(one: Entry, worth: Worth): boolean {
    const { caps, overCap } = this.offer(one.offer)
    if (overCap !== 'reject' || one.isTest) return false
    // "What an amount is raised by counts for the day of its conversion."
    const { today: itsDay, total } = this.usage(one.offer, one.createdAtMs)
    const isPassed = (cap: number | null, spent: number, raise: number) =>
      raise > 0 && cap !== null && spent + raise > cap
    const [payout, revenue] = [worth.payoutMicros - one.payoutMicros, worth.revenueMicros - one.revenueMicros]
    return (
      isPassed(caps.totalPayoutMicros, total.payoutMicros, payout) ||
      isPassed(caps.dailyPayoutMicros, itsDay.payoutMicros, payout) ||
      isPassed(caps.totalRevenueMicros, total.revenueMicros, revenue) ||
      isPassed(caps.dailyRevenueMicros, itsDay.revenueMicros, revenue)
    )
  }

  enter(entry: Entry, promise: Promise): Answer {
    if (entry.status === 'rejected') entry.rejectedAtMs = entry.createdAtMs
    this.entries.push(entry)
    this.promises[entry.label] = structuredClone(promise)
    return { ...same(entry), kind: 'created' }
  }
}

const NOTHING: Worth = { payoutMicros: 0, revenueMicros: 0 }
const isReached = (cap: number | null, used: number) => cap !== null && used >= cap
