// The path of money as the design tells it, in memory and one thing after the other: what the program is held against.
// Written from the words of the design, not from the program. It counts by looking at everything there is.
import type { Answer, Caps, Deed, Goal, OfferTerms, Status } from './deeds.ts'
import { DAY_MS, PEOPLE, TRUSTED } from './deeds.ts'

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

type Click = { label: number; person: number; offer: number; isTest: boolean; atMs: number; terms: OfferTerms }
type Key = { name: string; request: string; label: number; atMs: number }
type Verdict = { status: Status; reason: string | null; actor: string }
type Reported = Extract<Deed, { kind: 'report' }>
type Confirmed = Extract<Deed, { kind: 'confirm' }>

const MAX_WORTH_MICROS = 100_000_000_000 // a hundred thousand dollars

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
    const copy = new Book(structuredClone(this.offers), this.trusts)
    return Object.assign(copy, structuredClone({ clicks: this.clicks, counted: this.counted, entries: this.entries, keys: this.keys })) // prettier-ignore
  }

  apply(deed: Deed, nowMs: number): Answer {
    switch (deed.kind) {
      case 'click':
        return this.#click(deed, nowMs)
      case 'report':
        return this.#reportOnce(deed, nowMs)
      case 'confirm':
        return this.#confirm(deed, nowMs)
      case 'move':
        return this.#decide(deed, nowMs)
      case 'release':
        return this.#release(deed.conversion, nowMs)
      case 'round': {
        const due = this.entries.filter((one) => isDue(one, nowMs)).map((one) => one.label)
        for (const label of due) this.#release(label, nowMs)
        return { kind: 'released', labels: due.toSorted((a, b) => a - b) }
      }
      case 'caps':
        this.#offer(deed.offer).caps = deed.caps
        return { kind: 'done' }
      case 'import':
        this.offers[deed.offer] = structuredClone(deed.terms)
        return { kind: 'done' }
      case 'status':
        this.#offer(deed.offer).status = deed.status
        return { kind: 'done' }
    }
  }

  #offer(offer: number): OfferTerms {
    return this.offers[offer] as OfferTerms
  }

  find(label: number): Entry {
    return this.entries.find((one) => one.label === label) as Entry
  }

  // Caps.

  isCapped(offer: number): boolean {
    return Object.values(this.#offer(offer).caps).some((cap) => cap !== null)
  }

  /** What counts now: conversions that are pending or approved, and clicks since there were caps. */
  usage(offer: number, nowMs: number) {
    const isToday = (atMs: number) => Math.floor(atMs / DAY_MS) === Math.floor(nowMs / DAY_MS)
    const standing = this.entries.filter(
      (one) => one.offer === offer && !one.isTest && (one.status === 'pending' || one.status === 'approved'),
    )
    const clicks = this.counted.filter((one) => one.offer === offer)
    const sum = (some: Entry[]) => some.reduce((total, one) => total + one.payoutMicros, 0)
    const today = standing.filter((one) => isToday(one.createdAtMs))
    return {
      today: { clicks: clicks.filter((one) => isToday(one.atMs)).length, conversions: today.length, payoutMicros: sum(today) }, // prettier-ignore
      total: { clicks: clicks.length, conversions: standing.length, payoutMicros: sum(standing) },
    }
  }

  /** Whether one of these caps is reached, or this payout does not fit under it. */
  isFull(offer: number, nowMs: number, { counting = 'everything', payoutMicros = 0 } = {}): boolean {
    const { caps } = this.#offer(offer)
    const { today, total } = this.usage(offer, nowMs)
    const isReached = (cap: number | null, used: number) => cap !== null && used >= cap
    const isPassed = (cap: number | null, used: number) => cap !== null && (used >= cap || used + payoutMicros > cap)
    const clicks = isReached(caps.dailyClicks, today.clicks) || isReached(caps.totalClicks, total.clicks)
    return (
      (counting === 'everything' && clicks) ||
      isReached(caps.dailyConversions, today.conversions) ||
      isReached(caps.totalConversions, total.conversions) ||
      isPassed(caps.dailyPayoutMicros, today.payoutMicros) ||
      isPassed(caps.totalPayoutMicros, total.payoutMicros)
    )
  }

  /** "A click taken while the offer was open is honoured beyond the cap, unless the offer says reject." */
  #refusesClicked(offer: number, isTest: boolean, nowMs: number): boolean {
    // It has its place among the clicks: only conversions and payout can be beyond a cap.
    return this.#offer(offer).overCap === 'reject' && !isTest && this.isFull(offer, nowMs, { counting: 'conversions' })
  }

  // Clicks.

  #click(deed: Extract<Deed, { kind: 'click' }>, nowMs: number): Answer {
    if (!deed.isTest && this.isFull(deed.offer, nowMs)) return { kind: 'full' }
    const { label, person, offer, isTest, terms } = deed
    this.clicks.push({ label, person, offer, isTest, atMs: nowMs, terms: structuredClone(terms) })
    if (!isTest && this.isCapped(offer)) this.counted.push({ offer, atMs: nowMs })
    return { kind: 'recorded' }
  }

  #latestLiveClick({ person, offer, isTest }: Reported, nowMs: number): Click | null {
    const theirs = this.clicks.filter(
      (one) => one.person === person && one.offer === offer && one.isTest === isTest && !isExpired(one, nowMs),
    )
    return theirs.at(-1) ?? null
  }

  /** A goal by its name, or the first; one that the offer has no more, if the click was promised it. */
  #goal(offer: number, wanted: string | null, click: Click | null): Goal | undefined {
    const present = this.#offer(offer).goals
    if (wanted === null) return present[0]
    const promised = click?.terms.goals.find((goal) => goal.name === wanted)
    return promised ?? present.find((goal) => goal.name === wanted)
  }

  // Publishers.

  #reportOnce(deed: Reported, nowMs: number): Answer {
    if (deed.key === null) return this.#report(deed, nowMs)
    const name = `${PEOPLE[deed.person]?.app}|${deed.isTest}|${deed.key}`
    const request = JSON.stringify([PEOPLE[deed.person]?.user, deed.offer, deed.goal, deed.txn])
    const seen = this.keys.find((key) => key.name === name && nowMs - key.atMs < DAY_MS)
    if (seen !== undefined) return seen.request === request ? this.#same(this.find(seen.label)) : { kind: 'key_reused' }
    const answer = this.#report(deed, nowMs)
    if ('label' in answer) {
      this.keys = this.keys.filter((key) => key.name !== name)
      this.keys.push({ name, request, label: answer.label, atMs: nowMs })
    }
    return answer
  }

  #report(deed: Reported, nowMs: number): Answer {
    const click = this.#latestLiveClick(deed, nowMs)
    const goal = this.#goal(deed.offer, deed.goal, click)
    if (goal === undefined) return { kind: 'no_goal' }
    if (goal.isRepeatable && deed.txn === null) return { kind: 'needs_transaction' }
    const theirs = this.#of(deed, goal.name)
    const standing = theirs.find(
      (one) =>
        one.status !== 'rejected' && (!goal.isRepeatable || (one.publisherTxn ?? one.advertiserTxn) === deed.txn),
    )
    if (standing !== undefined) return this.#same(standing)
    const worth = worthOf(goal, null)
    const verdict = this.#judgeReport(deed, goal, click, worth.payoutMicros, nowMs)
    const again = theirs.find(
      (one) =>
        verdict.status === 'rejected' &&
        one.status === 'rejected' &&
        one.reason === verdict.reason &&
        one.publisherTxn === deed.txn,
    )
    if (again !== undefined) return this.#same(again)
    return this.#enter({
      ...blank(deed, goal, nowMs),
      ...worth,
      ...verdict,
      source: 'publisher',
      publisherTxn: deed.txn,
      click: click?.label ?? null,
    })
  }

  #judgeReport(deed: Reported, goal: Goal, click: Click | null, payoutMicros: number, nowMs: number): Verdict {
    const rejected = (reason: string): Verdict => ({ status: 'rejected', reason, actor: 'publisher' })
    const { status, goals } = this.#offer(deed.offer)
    if (click !== null && this.#refusesClicked(deed.offer, deed.isTest, nowMs)) return rejected('cap_exceeded')
    if (click === null && status !== 'active') return rejected('not_eligible')
    if (click === null && !deed.isTest && this.isFull(deed.offer, nowMs, { payoutMicros }))
      return rejected('cap_exceeded')
    // What the offer no longer has, nobody is trusted with.
    const isTrusted =
      this.trusts && deed.offer === TRUSTED.offer && PEOPLE[deed.person]?.app === TRUSTED.app &&
      goals.some((one) => one.name === goal.name) // prettier-ignore
    return { status: isTrusted ? 'approved' : 'pending', reason: null, actor: 'publisher' }
  }

  // Advertisers.

  #confirm(deed: Confirmed, nowMs: number): Answer {
    const click = this.clicks.find((one) => one.label === deed.click)
    if (click === undefined) return { kind: 'unmatched' }
    if (deed.isStranger) return { kind: 'not_yours' }
    const goal = this.#goal(click.offer, deed.goal, click)
    if (goal === undefined) return { kind: 'no_goal' }
    if (goal.isRepeatable && deed.txn === null) return { kind: 'needs_transaction' }
    const promised = click.terms.goals.find((one) => one.name === goal.name) ?? goal
    const worth = worthOf(promised, deed.amountMicros)
    if (Math.max(worth.payoutMicros, worth.revenueMicros) > MAX_WORTH_MICROS) return { kind: 'amount_too_large' }
    const ofTxn = this.entries.find(
      (one) =>
        deed.txn !== null && one.advertiserTxn === deed.txn && one.status !== 'rejected' &&
        one.offer === click.offer && one.goal === goal.name && one.isTest === click.isTest,
    ) // prettier-ignore
    if (ofTxn !== undefined && ofTxn.person !== click.person) return this.#same(ofTxn)
    const theirs = this.#of(click, goal.name)
    const standing = ofTxn ?? this.#toAdopt(theirs, goal, deed.txn)
    if (standing !== undefined) return this.#hear(standing, deed, click, worth, nowMs)
    const settled = theirs.find((one) => isSettled(one, deed))
    if (settled !== undefined) return this.#same(settled)
    return this.#enter({
      ...blank({ ...click, label: deed.label }, goal, nowMs),
      ...worth,
      ...this.#judgeConfirmed(deed, click, nowMs),
      source: 'advertiser',
      advertiserTxn: deed.txn,
      click: click.label,
    })
  }

  /** The only one there can be; of a goal that repeats, a report that no confirmation has spoken of yet. */
  #toAdopt(theirs: Entry[], goal: Goal, txn: string | null): Entry | undefined {
    const standing = theirs.filter((one) => one.status !== 'rejected')
    if (!goal.isRepeatable) return standing[0]
    const reports = standing.filter((one) => one.source === 'publisher' && one.advertiserTxn === null)
    return reports.find((one) => one.publisherTxn === txn) ?? reports.find((one) => one.status === 'pending')
  }

  /** "The same call with another status is a move, not a row." */
  #hear(one: Entry, deed: Confirmed, click: Click, worth: Worth, nowMs: number): Answer {
    const isNo = deed.status === 'rejected' || deed.status === 'reversed'
    const isNews =
      isNo ? one.status === 'pending' || one.status === 'approved'
      : deed.status === 'approved' && one.status === 'pending' && !one.isConfirmed // prettier-ignore
    if (one.status !== 'reversed') one.advertiserTxn ??= deed.txn
    if (!isNews) return this.#same(one)
    if (isNo) {
      if (one.status === 'approved') return this.#move(one, 'reversed', 'advertiser_reversed', 'advertiser')
      return this.#move(one, 'rejected', `advertiser_${deed.status}`, 'advertiser')
    }
    Object.assign(one, worth, { click: click.label, isConfirmed: true })
    if (isExpired(click, one.createdAtMs)) return this.#move(one, 'rejected', 'click_expired', 'system')
    const { holdS } = this.#offer(one.offer)
    if (holdS === 0) return this.#move(one, 'approved', null, 'advertiser')
    Object.assign(one, { holdUntilMs: nowMs + holdS * 1000, reason: null })
    return { ...this.#same(one), kind: 'noted' }
  }

  #judgeConfirmed(deed: Confirmed, click: Click, nowMs: number): Verdict & Partial<Entry> {
    const rejected = (reason: string, actor: string) => ({ status: 'rejected' as const, reason, actor })
    if (deed.status === 'rejected' || deed.status === 'reversed')
      return rejected(`advertiser_${deed.status}`, 'advertiser')
    if (isExpired(click, nowMs)) return rejected('click_expired', 'system')
    if (this.#refusesClicked(click.offer, click.isTest, nowMs)) return rejected('cap_exceeded', 'system')
    const { holdS } = this.#offer(click.offer)
    const taken = { reason: null, actor: 'advertiser' }
    if (deed.status === 'pending') return { ...taken, status: 'pending' }
    if (holdS === 0) return { ...taken, status: 'approved', isConfirmed: true }
    return { ...taken, status: 'pending', isConfirmed: true, holdUntilMs: nowMs + holdS * 1000 }
  }

  // The operator, and time.

  #decide({ conversion, to }: Extract<Deed, { kind: 'move' }>, _nowMs: number): Answer {
    if (conversion === null) return { kind: 'no_conversion' }
    const one = this.find(conversion)
    if (one.status === to) return this.#same(one)
    const from = to === 'reversed' ? 'approved' : 'pending'
    return one.status === from ? this.#move(one, to, 'operator', 'operator') : { ...this.#same(one), kind: 'illegal' }
  }

  #release(label: number | null, nowMs: number): Answer {
    if (label === null) return { kind: 'no_conversion' }
    const one = this.find(label)
    return isDue(one, nowMs) ? this.#move(one, 'approved', null, 'system') : this.#same(one)
  }

  // What all of them come to.

  #of({ person, offer, isTest }: { person: number; offer: number; isTest: boolean }, goal: string): Entry[] {
    return this.entries.filter(
      (one) => one.person === person && one.offer === offer && one.isTest === isTest && one.goal === goal,
    )
  }

  #enter(entry: Entry): Answer {
    this.entries.push(entry)
    return { ...this.#same(entry), kind: 'created' }
  }

  #move(one: Entry, status: Status, reason: string | null, actor: string): Answer {
    Object.assign(one, { status, reason, actor, moves: one.moves + 1 })
    return { ...this.#same(one), kind: 'moved' }
  }

  #same({ label, status, reason, payoutMicros }: Entry) {
    return { kind: 'duplicate', label, status, reason, payoutMicros }
  }
}

type Worth = { payoutMicros: number; revenueMicros: number }

/** "Percentages round down"; without an amount there is nothing to take a share of. */
function worthOf(goal: Goal, amountMicros: number | null): Worth {
  const share = (ppm: number | null, fixed: number) =>
    ppm === null || amountMicros === null ? fixed : Number((BigInt(amountMicros) * BigInt(ppm)) / 1_000_000n)
  return {
    payoutMicros: share(goal.payoutPpm, goal.payoutMicros),
    revenueMicros: share(goal.revenuePpm, goal.revenueMicros),
  }
}

const isExpired = (click: Click, atMs: number) => atMs > click.atMs + click.terms.attributionS * 1000
const isDue = (one: Entry, nowMs: number) =>
  one.status === 'pending' && one.holdUntilMs !== null && one.holdUntilMs <= nowMs

/**
 * The same call again, about what was rejected: rejected it stays. But an advertiser may take back a no, and what is done
 * again by hand is judged anew.
 */
function isSettled(one: Entry, deed: Confirmed): boolean {
  if (one.status !== 'rejected' || one.click !== deed.click || one.advertiserTxn !== deed.txn) return false
  if (deed.status === 'rejected' || deed.status === 'reversed') return true
  // A publisher's report that was refused at once says nothing about what the advertiser tells.
  const wasTold = one.source === 'advertiser' || one.moves > 1
  return wasTold && one.actor !== 'advertiser' && !deed.isAgain
}

function blank(of: { label: number; person: number; offer: number; isTest: boolean }, goal: Goal, nowMs: number) {
  return {
    label: of.label,
    person: of.person,
    offer: of.offer,
    isTest: of.isTest,
    goal: goal.name,
    isRepeatable: goal.isRepeatable,
    publisherTxn: null,
    advertiserTxn: null,
    isConfirmed: false,
    holdUntilMs: null,
    createdAtMs: nowMs,
    moves: 1,
  }
}

export const NO_CAPS: Caps = {
  dailyClicks: null,
  totalClicks: null,
  dailyConversions: null,
  totalConversions: null,
  dailyPayoutMicros: null,
  totalPayoutMicros: null,
}
