// All offers in memory, arranged so that a page costs the same whatever their number.
//
// For each sort there is one order of all slots that can be shown now; for each filter in use, a list taken from it,
// kept in a bounded cache. A change is applied to the slots at once and recorded in a log. A list knows up to which
// change it is right, and is brought up to date before it is used. Long work is done in slices between requests, and no
// change is applied between the slices of one piece of work.
import { Cache } from '../../lib/cache.ts'
import { Slices } from '../../lib/slices.ts'
import { compileFilter, type Filter, matches } from './filters.ts'
import type { CompletedGoal } from './completions.ts'
import { ListCache } from './list-cache.ts'
import type { OfferList } from './lists.ts'
import type { OfferTarget } from './offer-bytes.ts'
import { writeTemplate } from './offer-text.ts'
import type { AllOffers, OfferRow } from './offer-rows.ts'
import type { ContentRules } from './rule-sets.ts'
import type { Platform, Sort } from './choices.ts'
import { SearchQueue, searchSlots } from './search.ts'
import { Renewal, Shelf } from './shelf.ts'

const MAX_TEMPLATES = 5_000
const PIECE = 100 // changed offers that are worked in at once
const ROOM = 1.05 // for offers to come
const SCAN = 20_000 // slots that are looked at at once for what starts or ends

/** Who wants an offer; null where it is not known or does not matter. */
export type Visit = {
  country: string | null
  /** Any of them will do. */
  platforms: readonly Platform[] | null
  rules: ContentRules | null
}

export type HiddenReason =
  | 'paused'
  | 'not_started'
  | 'ended'
  | 'full'
  | 'country'
  | 'platform'
  | 'content'
  | 'reward'
  | 'not_allowed'

/** An offer ready to be shown: its JSON with holes (see offer-text.ts), and the micros of it and each goal for them. */
export type ShownOffer = { offerId: number; template: string; payouts: number[] }

/** One page of a list, without what is hidden from its reader. */
export type Slice = { offers: ShownOffer[]; total: number }

export class Catalogue {
  /** What links and pictures begin with. */
  readonly publicUrl: string
  readonly #shelf = new Shelf()
  readonly #work = new Slices()
  readonly #lists = new ListCache(this.#shelf, this.#work)
  readonly #templates = new Cache<number, ShownOffer>(MAX_TEMPLATES)
  #nextBoundaryMs = Infinity
  readonly #searches = new SearchQueue()

  constructor(publicUrl: string) {
    this.publicUrl = publicUrl
  }

  /** What the offers take of memory; lists and pages, which are bounded, come on top. */
  get bytes(): number {
    return this.#shelf.slots.bytes
  }

  /** Fills the catalogue, replacing its content. No other change may be applied meanwhile; requests go on. */
  async load(offers: AllOffers, nowMs: number): Promise<void> {
    const renewal = new Renewal(this.#shelf, Math.ceil((await offers.count()) * ROOM))
    try {
      await offers.read((offer) => renewal.take(offer, nowMs))
    } catch (error) {
      renewal.abandon()
      throw error
    }
    await this.#work.urgently(() => this.#replace(renewal, nowMs))
  }

  *#replace(renewal: Renewal, nowMs: number): Generator<void, void> {
    yield* renewal.complete()
    const { slots } = renewal
    const orders = yield* slots.sortAll()
    let nextBoundaryMs = Infinity
    for (const [start, end] of stepsOf(slots.count)) {
      nextBoundaryMs = Math.min(nextBoundaryMs, slots.scan(start, end, nowMs).boundaryMs)
      yield
    }
    this.#shelf.become(renewal, orders)
    this.#lists.clear()
    this.#templates.clear()
    this.#nextBoundaryMs = nextBoundaryMs
    yield* this.#shelf.slots.compact()
  }

  /** Applies changed and new offers. */
  apply(offers: OfferRow[], nowMs: number): Promise<void> {
    return this.#work.urgently(() => this.#apply(offers, nowMs))
  }

  *#apply(offers: OfferRow[], nowMs: number): Generator<void, void> {
    const changed = offers.filter(
      (offer) => this.#shelf.slots.xid[this.#shelf.find(offer.offerId) ?? -1] !== offer.changedXid,
    )
    for (let start = 0; start < changed.length; start += PIECE) {
      const piece = changed.slice(start, start + PIECE)
      const slots = piece.map((offer) => this.#shelf.slotFor(offer.offerId))
      this.#change(slots, () => piece.forEach((offer, i) => this.#shelf.slots.set(slots[i] as number, offer, nowMs)))
      this.#planBoundary(slots, nowMs)
      yield
      yield* this.#shelf.trimLog()
      yield* this.#shelf.slots.compact()
    }
  }

  /** Shows and hides what has reached its starting or ending time. */
  async passTime(nowMs: number): Promise<void> {
    if (nowMs >= this.#nextBoundaryMs) await this.#work.urgently(() => this.#passTime(nowMs))
  }

  *#passTime(nowMs: number): Generator<void, void> {
    this.#nextBoundaryMs = Infinity
    const { slots } = this.#shelf
    for (const [start, end] of stepsOf(slots.count)) {
      const { due, boundaryMs } = slots.scan(start, end, nowMs)
      this.#nextBoundaryMs = Math.min(this.#nextBoundaryMs, boundaryMs)
      if (due.length > 0)
        this.#change(due, () => due.forEach((slot) => slots.setListable(slot, slots.isDue(slot, nowMs))))
      yield
      yield* this.#shelf.trimLog()
    }
  }

  #change(slots: readonly number[], make: () => void): void {
    this.#shelf.change(slots, make)
    for (const slot of slots) this.#templates.delete(slot)
  }

  /** The list for a filter and an order: at once where that takes next to no time. */
  list(filter: Filter, sort: Sort): OfferList | Promise<OfferList> {
    return this.#lists.get(filter, sort)
  }

  /** Those of these offers that are in a list. */
  within(list: OfferList, offerIds: readonly number[]): number[] {
    return offerIds.filter((offerId) => {
      const slot = this.#shelf.find(offerId)
      return slot !== undefined && this.#lists.has(list, slot)
    })
  }

  /** A part of a list without some offers, which are in it. */
  slice(list: OfferList, hidden: readonly number[], offset: number, limit: number): Slice | Promise<Slice> {
    const end = offset + limit + hidden.length // what is hidden before it pushes the page back by one each
    if (end <= list.head.length || offset >= list.total)
      return this.#cut(list.head, list.total, hidden, { offset, limit })
    const whole = this.#lists.whole(list)
    const cut = (slots: Uint32Array) => this.#cut(slots, slots.length, hidden, { offset, limit })
    return whole instanceof Promise ? whole.then(cut) : cut(whole)
  }

  #cut(slots: Uint32Array, length: number, hidden: readonly number[], { offset, limit }: Range): Slice {
    const total = length - hidden.length
    if (hidden.length === 0) return { offers: this.#show(slots.subarray(offset, offset + limit)), total }
    const skipped = new Set(hidden.map((offerId) => this.#shelf.find(offerId)))
    const seen = slots.subarray(0, offset + limit + hidden.length).filter((slot) => !skipped.has(slot))
    return { offers: this.#show(seen.subarray(offset, offset + limit)), total }
  }

  /** Those of a list without some offers that have these words in their name or description, or this as their id. */
  async search(list: OfferList, hidden: readonly number[], text: string, { offset, limit }: Range): Promise<Slice> {
    const whole = await this.#lists.whole(list)
    const skipped = new Set(hidden.map((offerId) => this.#shelf.find(offerId)))
    const found = await this.#searches.run(() => searchSlots(this.#shelf, whole, text, 'words'))
    const seen = found.filter((slot) => !skipped.has(slot))
    return { offers: this.#show(seen.slice(offset, offset + limit)), total: seen.length }
  }

  /** By name only, among the first of a list, which are at hand: cheap enough for a search while a person types. */
  async searchFirst(list: OfferList, text: string, limit: number): Promise<number[]> {
    const found = await searchSlots(this.#shelf, list.head, text, 'name')
    return this.#show(found.slice(0, limit)).map(({ offerId }) => offerId)
  }

  /** Why an offer cannot be shown to, or followed by, such a visitor now; empty when it can. Null: no such offer. */
  hiddenReasons(offerId: number, { country, platforms, rules }: Visit, nowMs: number): HiddenReason[] | null {
    const { slots } = this.#shelf
    const slot = this.#shelf.find(offerId)
    if (slot === undefined) return null
    const reasons: HiddenReason[] = []
    if (slots.active[slot] !== 1) reasons.push('paused')
    if (nowMs < (slots.startsAt[slot] as number)) reasons.push('not_started')
    if (nowMs >= (slots.endsAt[slot] as number)) reasons.push('ended')
    if (nowMs < (slots.fullUntil[slot] as number)) reasons.push('full')
    const fails = (filter: Omit<Filter, 'rules'>) => !matches(compileFilter(filter), slots, slot)
    if (country !== null && fails({ country })) reasons.push('country')
    if (platforms !== null && platforms.every((platform) => fails({ platform }))) reasons.push('platform')
    const ruleSet = this.#lists.ruleSetOf(rules)
    if (ruleSet !== null && !ruleSet.allowsContent(slots, slot)) reasons.push('content')
    if (ruleSet !== null && !ruleSet.allowsReward(slots, slot)) reasons.push('reward')
    if (ruleSet !== null && !ruleSet.allowsOffer(offerId)) reasons.push('not_allowed')
    return reasons
  }

  /** The destination of an offer's link, whatever its status, for a caller that has checked that. */
  target(offerId: number): OfferTarget | undefined {
    const slot = this.#shelf.find(offerId)
    return slot === undefined ? undefined : this.#shelf.slots.target(slot)
  }

  /** The offer whatever its status, for a caller that has checked that. */
  get(offerId: number): ShownOffer | undefined {
    const slot = this.#shelf.find(offerId)
    return slot === undefined ? undefined : this.#present(slot)
  }

  /** Those of the offers with these completed goals that leave nothing required to do. */
  completedOffers(goals: readonly CompletedGoal[]): number[] {
    const done = Map.groupBy(goals, (goal) => goal.offerId)
    return [...done.keys()].filter((offerId) => {
      const required = this.target(offerId)?.requiredGoals ?? null
      return required !== null && required.every((goalId) => done.get(offerId)?.some((goal) => goal.goalId === goalId))
    })
  }

  /** One offer, if it can be shown now under these rules, and the stamp of its present state. */
  find(offerId: number, rules: ContentRules | null): { offer: ShownOffer; stamp: string } | null {
    const { slots } = this.#shelf
    const slot = this.#shelf.find(offerId)
    if (slot === undefined || !slots.isListable(slot) || !this.#lists.isAllowed(rules, slot)) return null
    return { offer: this.#present(slot), stamp: `${slots.stampA[slot]}.${slots.stampB[slot]}` }
  }

  #show(slots: Iterable<number>): ShownOffer[] {
    return Array.from(slots, (slot) => this.#present(slot))
  }

  #present(slot: number): ShownOffer {
    const kept = this.#templates.get(slot)
    if (kept !== undefined) return kept
    const record = this.#shelf.slots.record(slot)
    const shown = {
      offerId: record.offerId,
      template: writeTemplate(record, this.publicUrl),
      payouts: [record.payoutMicros, ...record.goals.map((goal) => goal.payoutMicros)],
    }
    this.#templates.set(slot, shown)
    return shown
  }

  /** Brings the next time at which anything starts or ends forward to what these slots need. */
  #planBoundary(slots: readonly number[], nowMs: number): void {
    for (const slot of slots)
      this.#nextBoundaryMs = Math.min(this.#nextBoundaryMs, this.#shelf.slots.boundaryAfter(slot, nowMs))
  }
}

type Range = { offset: number; limit: number }

/** From the first slot to the last, some at a time. */
function* stepsOf(count: number): Generator<[start: number, end: number]> {
  for (let start = 0; start < count; start += SCAN) yield [start, Math.min(count, start + SCAN)]
}
