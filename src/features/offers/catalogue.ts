// All offers in memory, arranged so that a page costs the same whatever their number.
//
// For each sort there is one order of all slots that can be shown now; for each filter in use, a list taken from it,
// kept in a bounded cache. A change makes new orders and lists from the old ones, a few at a time between requests.
import { setImmediate as breathe } from 'node:timers/promises'
import { Cache } from '../../lib/cache.ts'
import { compileFilter, type ContentRules, type Filter, listKey, matches, selectMatching } from './filters.ts'
import type { CompletedGoal } from './completions.ts'
import { buildList, mergeSlots, type OfferList, updateList, withoutDirty } from './lists.ts'
import { writeTemplate } from './offer-text.ts'
import type { OfferRecord } from './offers.ts'
import { type Platform, type Sort, SORTS } from './schema.ts'
import { type CatalogueOffer, Slots } from './slots.ts'

const MAX_LISTS = 20_000 // of at most 4 kB each
const MAX_DEEP_SLOTS = 4_000_000
const SLICE_MS = 4 // how long an update may keep requests waiting
const NONE = new Uint32Array(0)

/** Who wants an offer; null where it is not known or does not matter. */
export type Visit = {
  country: string | null
  /** Any of them will do. */
  platforms: readonly Platform[] | null
  rules: ContentRules | null
}

export type OfferFault =
  | 'paused'
  | 'not_started'
  | 'ended'
  | 'full'
  | 'country'
  | 'platform'
  | 'content'
  | 'not_allowed'

export class Catalogue {
  /** What links and pictures begin with. */
  readonly publicUrl: string
  readonly #slotOf = new Map<number, number>()
  #slots = new Slots(1024)
  #orders: Record<Sort, Uint32Array> = { payout_desc: NONE, payout_asc: NONE, newest: NONE, popular: NONE }
  readonly #lists = new Cache<number, OfferList>(MAX_LISTS)
  /** Whole lists, for whoever pages further than a list's head reaches. */
  readonly #deep = new Cache<OfferList, Uint32Array>(MAX_DEEP_SLOTS, (slots) => slots.length)
  #nextBoundaryMs = Infinity
  #turn: Promise<void> = Promise.resolve()

  constructor(publicUrl: string) {
    this.publicUrl = publicUrl
  }

  get size(): number {
    return this.#slotOf.size
  }

  /** Fills the empty catalogue; the offers come in the order of their ids. */
  async load(offers: AsyncIterable<OfferRecord[]>, nowMs: number): Promise<void> {
    for await (const batch of offers) for (const offer of batch) this.#store(offer, nowMs)
    const orders = this.#slots.sortAll(this.size)
    for (const sort of SORTS) this.#orders[sort] = orders[sort].filter((slot) => this.#slots.isListable(slot))
    this.#planBoundary(this.#slotOf.values(), nowMs)
  }

  /** Takes in changed and new offers. */
  apply(offers: OfferRecord[], nowMs: number): Promise<void> {
    return this.#queue(() => this.#apply(offers, nowMs))
  }

  /** Shows and hides what has reached its starting or ending time. */
  passTime(nowMs: number): Promise<void> {
    return this.#queue(() => this.#passTime(nowMs))
  }

  /** One update at a time: each makes new lists from those of the update before it. */
  #queue(update: () => Promise<void>): Promise<void> {
    const next = this.#turn.then(update)
    this.#turn = next.catch(() => {})
    return next
  }

  async #apply(offers: OfferRecord[], nowMs: number): Promise<void> {
    const changed = offers.filter(
      (offer) => this.#slots.xid[this.#slotOf.get(offer.offerId) ?? -1] !== Number(offer.changedXid),
    )
    if (changed.length === 0) return
    // New ones get their slots first: empty, they are in no list, which is what they were before.
    const slots = changed.map((offer) => this.#slotFor(offer.offerId))
    const before = this.#slots.pick(slots)
    for (const offer of changed) this.#store(offer, nowMs)
    this.#planBoundary(slots, nowMs)
    await this.#rearrange(slots, before)
  }

  async #passTime(nowMs: number): Promise<void> {
    if (nowMs < this.#nextBoundaryMs) return
    const slots: number[] = []
    for (let slot = 0; slot < this.size; slot++) {
      if (this.#slots.isDue(slot, nowMs) !== this.#slots.isListable(slot)) slots.push(slot)
    }
    const before = this.#slots.pick(slots)
    for (const slot of slots) this.#slots.setListable(slot, this.#slots.isDue(slot, nowMs))
    this.#nextBoundaryMs = Infinity
    this.#planBoundary(this.#slotOf.values(), nowMs)
    await this.#rearrange(slots, before)
  }

  /** The list for a filter and an order. */
  list(filter: Filter, sort: Sort): OfferList {
    const key = listKey(filter, sort)
    const cached = this.#lists.get(key)
    if (cached !== undefined) return cached
    const list = buildList(this.#slots, this.#orders[sort], { key, sort, filter: compileFilter(filter) })
    this.#lists.set(key, list)
    return list
  }

  /** A part of a list. */
  slice(list: OfferList, offset: number, limit: number): CatalogueOffer[] {
    const slots = offset >= list.total ? NONE : this.#reaching(list, offset + limit)
    return Array.from(slots.subarray(offset, offset + limit), (slot) => this.#slots.offers[slot] as CatalogueOffer)
  }

  #wholeList(list: OfferList): Uint32Array {
    const cached = this.#deep.get(list)
    if (cached !== undefined) return cached
    const slots = selectMatching(list.filter, this.#slots, this.#orders[list.sort]).slice()
    this.#deep.set(list, slots)
    return slots
  }

  /** A part of a list as it is without some offers: what there is of it, and how many are left in all. */
  sliceWithout(
    list: OfferList,
    hiddenOffers: readonly number[],
    offset: number,
    limit: number,
  ): { offers: CatalogueOffer[]; total: number } {
    const hidden = new Set<number>()
    for (const offerId of hiddenOffers) {
      const slot = this.#slotOf.get(offerId)
      if (slot !== undefined && this.#slots.isListable(slot) && matches(list.filter, this.#slots, slot))
        hidden.add(slot)
    }
    const total = list.total - hidden.size
    // What is hidden before it pushes the page back by one each.
    const slots = this.#reaching(list, offset + limit + hidden.size)
    const taken: CatalogueOffer[] = []
    let skip = offset
    for (let place = 0; place < slots.length && taken.length < limit; place++) {
      const slot = slots[place] as number
      if (hidden.has(slot)) continue
      if (skip > 0) skip--
      else taken.push(this.#slots.offers[slot] as CatalogueOffer)
    }
    return { offers: taken, total }
  }

  /** The list, at least as far as this place if it goes that far. */
  #reaching(list: OfferList, end: number): Uint32Array {
    return end <= list.head.length || list.head.length === list.total ? list.head : this.#wholeList(list)
  }

  /** Why an offer cannot be shown to, or followed by, such a visitor now; empty when it can. Null: no such offer. */
  faultsOf(offerId: number, { country, platforms, rules }: Visit, nowMs: number): OfferFault[] | null {
    const slots = this.#slots
    const slot = this.#slotOf.get(offerId)
    if (slot === undefined) return null
    const faults: OfferFault[] = []
    if (slots.active[slot] !== 1) faults.push('paused')
    if (nowMs < (slots.startsAt[slot] as number)) faults.push('not_started')
    if (nowMs >= (slots.endsAt[slot] as number)) faults.push('ended')
    if (nowMs < (slots.fullUntil[slot] as number)) faults.push('full')
    const fails = (filter: Filter) => !matches(compileFilter(filter), slots, slot)
    if (country !== null && fails({ country, rules: null })) faults.push('country')
    if (platforms !== null && platforms.every((platform) => fails({ platform, rules: null }))) faults.push('platform')
    if (rules !== null && fails({ rules: { ...rules, listed: null } })) faults.push('content')
    if (rules !== null && rules.listed !== null && rules.listed.offerIds.includes(offerId) !== rules.listed.only)
      faults.push('not_allowed')
    return faults
  }

  /** The offer whatever its state, for whoever has checked that. */
  get(offerId: number): CatalogueOffer | undefined {
    const slot = this.#slotOf.get(offerId)
    return slot === undefined ? undefined : this.#slots.offers[slot]
  }

  /** Those of the offers with these completed goals that leave nothing required to do. */
  completedOffers(goals: readonly CompletedGoal[]): number[] {
    const done = Map.groupBy(goals, (goal) => goal.offerId)
    return [...done.keys()].filter((offerId) => {
      const required = this.get(offerId)?.requiredGoals ?? null
      return required !== null && required.every((goalId) => done.get(offerId)?.some((goal) => goal.goalId === goalId))
    })
  }

  /** One offer, if it can be shown now under these rules, and the stamp of its present state. */
  find(offerId: number, rules: ContentRules | null): { offer: CatalogueOffer; stamp: string } | null {
    const slots = this.#slots
    const slot = this.#slotOf.get(offerId)
    if (slot === undefined || !slots.isListable(slot) || !matches(compileFilter({ rules }), slots, slot)) return null
    return { offer: slots.offers[slot] as CatalogueOffer, stamp: `${slots.stampA[slot]}.${slots.stampB[slot]}` }
  }

  #slotFor(offerId: number): number {
    const known = this.#slotOf.get(offerId)
    if (known !== undefined) return known
    const slot = this.size
    if (slot === this.#slots.capacity) this.#slots = this.#slots.grown()
    this.#slotOf.set(offerId, slot)
    return slot
  }

  #store(record: OfferRecord, nowMs: number): void {
    const required = record.goals.filter((goal) => !goal.isOptional)
    const offer: CatalogueOffer = {
      offerId: record.offerId,
      template: writeTemplate(record, this.publicUrl),
      payouts: [record.payoutMicros, ...record.goals.map((goal) => goal.payoutMicros)],
      destination: record.destinationUrl,
      termsId: record.termsId,
      requiredGoals: required.some((goal) => goal.isRepeatable) ? null : required.map((goal) => goal.goalId),
    }
    const slot = this.#slotFor(record.offerId) // may make room, in other arrays
    this.#slots.set(slot, record, offer, nowMs)
  }

  /** Brings the next time at which anything starts or ends forward to what these slots need. */
  #planBoundary(slots: Iterable<number>, nowMs: number): void {
    const { startsAt, endsAt, fullUntil } = this.#slots
    for (const slot of slots) {
      const starts = startsAt[slot] as number
      const ends = endsAt[slot] as number
      const opens = fullUntil[slot] as number
      if (starts > nowMs && starts < this.#nextBoundaryMs) this.#nextBoundaryMs = starts
      if (ends > nowMs && ends < this.#nextBoundaryMs) this.#nextBoundaryMs = ends
      if (opens > nowMs && opens < this.#nextBoundaryMs) this.#nextBoundaryMs = opens
    }
  }

  /** Makes all orders and lists true again after these slots changed. */
  async #rearrange(changed: readonly number[], before: Slots): Promise<void> {
    const slots = this.#slots
    const dirty = new Uint8Array(slots.capacity)
    for (const slot of changed) dirty[slot] = 1
    const listable = changed.filter((slot) => slots.isListable(slot))
    const added = {} as Record<Sort, number[]>
    for (const sort of SORTS) {
      const compare = slots.comparer(sort)
      added[sort] = listable.toSorted(compare)
      const kept = withoutDirty(this.#orders[sort], dirty)
      this.#orders[sort] = mergeSlots(kept, added[sort], compare).slice()
    }
    let sliceEndsMs = performance.now() + SLICE_MS
    for (const [key, list] of this.#lists.entries()) {
      if (performance.now() > sliceEndsMs) {
        await breathe()
        sliceEndsMs = performance.now() + SLICE_MS
      }
      const updated = updateList(list, slots, { slots: changed, before, dirty, added })
      if (updated !== list) this.#lists.replace(key, list, updated)
    }
  }
}
