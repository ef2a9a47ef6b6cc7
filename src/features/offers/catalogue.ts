// All offers in memory, arranged so that a page costs the same whatever their number.
//
// For each sort there is one order of all slots that can be shown now; for each filter in use, a list taken from it,
// kept in a bounded cache. A change is applied to the slots at once and recorded in a log. A list knows up to which
// change it is right, and is brought up to date before it is used. Long work is done in slices between requests, and no
// change is applied between the slices of one piece of work.
import { Slices, stepsOf } from '../../lib/slices.ts'
import type { Filter } from './filters.ts'
import { findReasons, type HiddenReason, type Visit } from './hidden-reasons.ts'
import type { CompletedGoal } from './completions.ts'
import { ListCache } from './list-cache.ts'
import type { OfferList } from './lists.ts'
import type { OfferTarget } from './offer-bytes.ts'
import type { AllOffers, OfferRow } from './offer-rows.ts'
import type { ContentRules } from './rule-sets.ts'
import type { Platform, Sort } from './choices.ts'
import { explainRank, type RankExplanation } from './ranking/explain.ts'
import type { Ranking } from './ranking/ranking.ts'
import { sortAll, sortSide } from './sort-slots.ts'
import { goOn } from '../../lib/go-on.ts'
import { type Picked, pickSlots, SearchQueue, searchSlots } from './search.ts'
import { Renewal, Shelf } from './shelf.ts'
import { type ShownOffer, ShownOffers } from './shown-offers.ts'

const PIECE = 100 // changed offers that are worked in at once
const ROOM = 1.05 // for offers to come
const SCAN = 20_000 // slots that are looked at at once for what starts or ends

/** What is recommended to a user: by this ranking, if it is still held, or by the one in effect. */
export type Recommended = { rankingId: number | undefined; seed: number; nowMs: number }
/** What a list is sorted by. */
export type Wanted = Sort | Recommended

/** One page of a list, without what is hidden from its reader. */
export type Slice = { offers: ShownOffer[]; total: number }

export class Catalogue {
  /** What links and pictures begin with. */
  readonly publicUrl: string
  readonly #shelf = new Shelf()
  readonly #work = new Slices()
  readonly #lists = new ListCache(this.#shelf, this.#work)
  readonly #shown: ShownOffers
  #nextBoundaryMs = Infinity
  readonly #searches = new SearchQueue()

  constructor(publicUrl: string) {
    this.publicUrl = publicUrl
    this.#shown = new ShownOffers(this.#shelf, publicUrl)
  }

  /** Also of offers that cannot be seen now. */
  get count(): number {
    return this.#shelf.slots.count
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
    const orders = yield* sortAll(slots)
    let nextBoundaryMs = Infinity
    for (const [start, end] of stepsOf(slots.count, SCAN)) {
      nextBoundaryMs = Math.min(nextBoundaryMs, slots.scan(start, end, nowMs).boundaryMs)
      yield
    }
    this.#shelf.become(renewal, orders)
    this.#lists.clear()
    this.#shown.clear()
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
    for (const [start, end] of stepsOf(slots.count, SCAN)) {
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
    this.#shown.forget(slots)
  }

  /** Takes up a ranking, in place of the older one of two; requests go on. */
  takeRanking(ranking: Ranking, nowMs: number): Promise<void> {
    return this.#work.urgently(() => this.#takeRanking(ranking, nowMs))
  }

  *#takeRanking(ranking: Ranking, nowMs: number): Generator<void, void> {
    const { slots, orders, log } = this.#shelf
    const side = slots.rankings.free(nowMs)
    for (const [start, end] of stepsOf(slots.count, SCAN)) {
      for (let slot = start; slot < end; slot++) slots.rank(slot, side, ranking)
      yield
    }
    const newest = yield* orders.current('newest', slots, log)
    orders.replace(side, yield* sortSide(slots, side, newest), log)
    slots.rankings.set(side, ranking)
  }

  /** The list for a filter and an order: at once where that takes next to no time. */
  list(filter: Filter, wanted: Wanted): OfferList | Promise<OfferList> {
    if (typeof wanted === 'string') return this.#lists.get(filter, wanted)
    const side = this.#shelf.slots.rankings.choose(wanted.rankingId, wanted.nowMs)
    return goOn(this.#lists.get(filter, side), (list) => this.#lists.arranged(list, wanted.seed))
  }

  /** Those of these offers that are in a list. */
  within(list: OfferList, offerIds: readonly number[]): number[] {
    return offerIds.filter((offerId) => {
      const slot = this.#shelf.find(offerId)
      return slot !== undefined && this.#lists.has(list, slot)
    })
  }

  /** A part of a list without some offers, which are in it. */
  slice(list: OfferList, hidden: readonly number[], range: Range): Slice | Promise<Slice> {
    const { offset, limit } = range
    const end = offset + limit + hidden.length // what is hidden before it pushes the page back by one each
    if (end <= list.head.length || offset >= list.total) return this.#cut(list.head, list.total, hidden, range)
    const whole = this.#lists.whole(list)
    const cut = (slots: Uint32Array) => this.#cut(slots, slots.length, hidden, range)
    return whole instanceof Promise ? whole.then(cut) : cut(whole)
  }

  #cut(slots: Uint32Array, length: number, hidden: readonly number[], { offset, limit, language }: Range): Slice {
    const total = length - hidden.length
    if (hidden.length === 0) return { offers: this.#shown.all(slots.subarray(offset, offset + limit), language), total }
    const skipped = new Set(hidden.map((offerId) => this.#shelf.find(offerId)))
    const seen = slots.subarray(0, offset + limit + hidden.length).filter((slot) => !skipped.has(slot))
    return { offers: this.#shown.all(seen.subarray(offset, offset + limit), language), total }
  }

  /** Those of a list without some offers that have these words in their name or description, or this as their id. */
  async search(list: OfferList, hidden: readonly number[], text: string, range: Range): Promise<Slice> {
    const { offset, limit, language } = range
    const whole = await this.#lists.whole(list)
    const found = await this.#searches.run(() => searchSlots(this.#shelf, whole, text, 'words'))
    const seen = this.#without(hidden, found)
    return { offers: this.#shown.all(seen.slice(offset, offset + limit), language), total: seen.length }
  }

  /** The first of a list without some offers that are wanted, however far down they are. */
  async pick(list: OfferList, hidden: readonly number[], wanted: Picked, { limit, language }: Omit<Range, 'offset'>) {
    const whole = await this.#lists.whole(list)
    const found = pickSlots(this.#shelf.slots, whole, wanted, limit + hidden.length)
    return this.#shown.all(this.#without(hidden, found).slice(0, limit), language)
  }

  /** Whether an offer is of these, whatever its status. */
  isOf(offerId: number, wanted: Picked): boolean {
    const slot = this.#shelf.find(offerId)
    return slot !== undefined && pickSlots(this.#shelf.slots, Uint32Array.of(slot), wanted, 1).length === 1
  }

  #without(hidden: readonly number[], slots: readonly number[]): number[] {
    const skipped = new Set(hidden.map((offerId) => this.#shelf.find(offerId)))
    return slots.filter((slot) => !skipped.has(slot))
  }

  /** By name only, among the first of a list, which are at hand: cheap enough for a search while a person types. */
  async searchFirst(list: OfferList, text: string, limit: number): Promise<number[]> {
    const found = await searchSlots(this.#shelf, list.head, text, 'name')
    return this.#shown.all(found.slice(0, limit)).map(({ offerId }) => offerId)
  }

  /** Why an offer cannot be shown to, or followed by, such a visitor now; empty when it can. Null: no such offer. */
  hiddenReasons(offerId: number, visit: Visit, nowMs: number): HiddenReason[] | null {
    const slot = this.#shelf.find(offerId)
    if (slot === undefined) return null
    return findReasons(this.#shelf.slots, slot, { ...visit, rules: this.#lists.ruleSetOf(visit.rules) }, nowMs)
  }

  /** Whether another offer for the same product is listed in its place. Its links lead on. */
  isBehind(offerId: number): boolean {
    return this.#shelf.slots.behind[this.#shelf.find(offerId) ?? -1] === 1
  }

  /** Why an offer stands where it stands in recommended lists, by the ranking in effect. */
  explainRank(
    offerId: number,
    where: { country?: string; platform?: Platform },
    nowMs: number,
  ): RankExplanation | null {
    const { slots } = this.#shelf
    const slot = this.#shelf.find(offerId)
    if (slot === undefined) return null
    return explainRank(slots.rankings.on(slots.rankings.choose(undefined, nowMs)), slots.placed(slot), where)
  }

  /** The destination of an offer's link, whatever its status, for a caller that has checked that. */
  target(offerId: number): OfferTarget | undefined {
    const slot = this.#shelf.find(offerId)
    return slot === undefined ? undefined : this.#shelf.slots.target(slot)
  }

  /** The offer whatever its status, for a caller that has checked that. */
  get(offerId: number): ShownOffer | undefined {
    const slot = this.#shelf.find(offerId)
    return slot === undefined ? undefined : this.#shown.of(slot)
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
  find(offerId: number, rules: ContentRules | null, language?: string): { offer: ShownOffer; stamp: string } | null {
    const { slots } = this.#shelf
    const slot = this.#shelf.find(offerId)
    if (slot === undefined || !slots.isListable(slot) || !this.#lists.isAllowed(rules, slot)) return null
    return { offer: this.#shown.of(slot, language), stamp: `${slots.stampA[slot]}.${slots.stampB[slot]}` }
  }

  /** Brings the next time at which anything starts or ends forward to what these slots need. */
  #planBoundary(slots: readonly number[], nowMs: number): void {
    for (const slot of slots)
      this.#nextBoundaryMs = Math.min(this.#nextBoundaryMs, this.#shelf.slots.boundaryAfter(slot, nowMs))
  }
}

/** A part of a list. Texts are in this language as far as offers have them in it. */
type Range = { offset: number; limit: number; language?: string | undefined }
