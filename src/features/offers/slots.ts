// All offers by slot, a small number each offer keeps for good. What filters and sorts look at stands in typed arrays, the
// rest as bytes in an arena.
import { Arena } from '../../lib/arena.ts'
import { COUNTRIES } from '../../lib/countries.ts'
import { IdIndex } from '../../lib/id-index.ts'
import { type OfferDetails, type OfferTarget, readDetails, readName, readTarget, readWords } from './offer-bytes.ts'
import type { OfferRow } from './offer-rows.ts'
import { CATEGORIES, type Category, type Platform, PLATFORMS, type Side, SIDES } from './choices.ts'
import type { Placed, Ranking } from './ranking/ranking.ts'
import { Rankings } from './ranking/rankings.ts'
import { CATEGORY_MASK, CATEGORY_SHIFT, COUNTRY_WORDS, EVERY_COUNTRY, isListable, LISTABLE, mix, PAID, type Traits } from './traits.ts' // prettier-ignore

/** An offer as it is shown: everything but what decides when and where it is. */
export type StoredOffer = OfferDetails & {
  offerId: number
  category: Category
  countries: string[]
  platforms: Platform[]
  payment_required: boolean
  createdAt: Date
}

export const MICROS_PER_STEP = 100 // of a payout

export class Slots implements Traits {
  readonly capacity: number
  readonly #details: Arena
  readonly #index: IdIndex
  #count: number
  readonly rankings: Rankings
  readonly place: Uint32Array // of its details in the arena, plus one
  readonly ids: Float64Array
  readonly payout: Uint32Array // ten-thousandths of a dollar, as fine as the API shows
  readonly created: Uint32Array // seconds
  readonly popularity: Uint32Array
  readonly boost: Uint16Array // per cent; 0: excluded
  readonly pin: Uint8Array // its position; 0: none
  readonly recommended_a: Uint32Array // its score in the ranking of that side
  readonly recommended_b: Uint32Array
  readonly traits: Uint8Array
  readonly countries: Uint32Array
  readonly active: Uint8Array
  readonly behind: Uint8Array // another one is listed in its place
  readonly startsAt: Float64Array
  readonly endsAt: Float64Array
  readonly fullUntil: Float64Array
  readonly xid: Float64Array
  readonly stampA: Uint32Array
  readonly stampB: Uint32Array

  constructor(
    capacity: number,
    details = new Arena(),
    index = new IdIndex(capacity),
    count = 0,
    rankings = new Rankings(),
  ) {
    this.capacity = capacity
    this.#details = details
    this.#index = index
    this.#count = count
    this.rankings = rankings
    this.place = new Uint32Array(capacity)
    this.ids = new Float64Array(capacity)
    this.payout = new Uint32Array(capacity)
    this.created = new Uint32Array(capacity)
    this.popularity = new Uint32Array(capacity)
    this.boost = new Uint16Array(capacity)
    this.pin = new Uint8Array(capacity)
    this.recommended_a = new Uint32Array(capacity)
    this.recommended_b = new Uint32Array(capacity)
    this.traits = new Uint8Array(capacity)
    this.countries = new Uint32Array(capacity * COUNTRY_WORDS)
    this.active = new Uint8Array(capacity)
    this.behind = new Uint8Array(capacity)
    this.startsAt = new Float64Array(capacity)
    this.endsAt = new Float64Array(capacity)
    this.fullUntil = new Float64Array(capacity)
    this.xid = new Float64Array(capacity)
    this.stampA = new Uint32Array(capacity)
    this.stampB = new Uint32Array(capacity)
  }

  /** How many slots are given away. */
  get count(): number {
    return this.#count
  }

  /** That it takes, of memory. */
  get bytes(): number {
    const columns = Object.values(this).filter((value) => ArrayBuffer.isView(value))
    return columns.reduce((sum, column) => sum + column.byteLength, this.#details.bytes + this.#index.bytes)
  }

  find(offerId: number): number | undefined {
    return this.#index.find(offerId, this.ids)
  }

  /** Gives an offer that has none a slot, by default the next one, which must be within the capacity. */
  give(offerId: number, slot = this.#count): number {
    this.#count = Math.max(this.#count, slot + 1)
    this.ids[slot] = offerId
    this.#index.add(slot, this.ids)
    return slot
  }

  /** The same with twice the room. */
  grown(): Slots {
    const larger = new Slots(this.capacity * 2, this.#details, this.#index, this.#count, this.rankings)
    for (const name of Object.keys(this) as (keyof Slots)[]) {
      // All typed arrays; whichever kind, the copying is the same.
      if (ArrayBuffer.isView(this[name]))
        (larger[name] as unknown as Uint8Array).set(this[name] as unknown as Uint8Array)
    }
    return larger
  }

  /** Empty, with room for so many, for the same offers in the same slots, with the same bytes where they do not differ. */
  emptied(expected: number): Slots {
    const capacity = Math.max(this.capacity, expected)
    return new Slots(capacity, this.#details, new IdIndex(capacity), this.#count, this.rankings)
  }

  /** What filters see of a few slots, in this order, as they are now. */
  pick(slots: readonly number[]): Traits {
    const countries = new Uint32Array(slots.length * COUNTRY_WORDS)
    slots.forEach((slot, i) => {
      const start = slot * COUNTRY_WORDS
      countries.set(this.countries.subarray(start, start + COUNTRY_WORDS), i * COUNTRY_WORDS)
    })
    return {
      traits: Uint8Array.from(slots, (slot) => this.traits[slot] as number),
      countries,
      stampA: Uint32Array.from(slots, (slot) => this.stampA[slot] as number),
      stampB: Uint32Array.from(slots, (slot) => this.stampB[slot] as number),
    }
  }

  set(slot: number, offer: OfferRow, nowMs: number): void {
    const before = this.place[slot] as number
    this.setAnew(slot, offer, nowMs, before)
    if (before !== 0 && before !== this.place[slot]) this.#details.remove(before - 1)
  }

  /** The same, where the bytes it had at `before` stay. */
  setAnew(slot: number, offer: OfferRow, nowMs: number, before: number): void {
    const isSame = before !== 0 && this.#details.at(before - 1).equals(offer.details)
    this.place[slot] = isSame ? before : this.#details.add(offer.details, slot) + 1
    this.payout[slot] = Math.floor(offer.payoutMicros / MICROS_PER_STEP)
    this.created[slot] = Math.floor(offer.createdMs / 1000)
    this.popularity[slot] = offer.popularity
    this.boost[slot] = offer.boostPercent
    this.pin[slot] = offer.pin
    this.active[slot] = offer.isActive ? 1 : 0
    this.behind[slot] = offer.isBehind ? 1 : 0
    this.startsAt[slot] = offer.startsAtMs
    this.endsAt[slot] = offer.endsAtMs
    this.fullUntil[slot] = offer.fullUntilMs
    this.xid[slot] = offer.changedXid
    this.stampA[slot] = mix(offer.offerId, offer.changedXid)
    this.stampB[slot] = mix(offer.changedXid, offer.offerId)
    this.traits[slot] = offer.traits
    for (const side of SIDES) this.rank(slot, side, this.rankings.on(side))
    this.setListable(slot, this.isDue(slot, nowMs))
    for (let word = 0; word < COUNTRY_WORDS; word++)
      this.countries[slot * COUNTRY_WORDS + word] = offer.countries[word] as number
  }

  /** Gives an offer its score in the ranking of a side. */
  rank(slot: number, side: Side, ranking: Ranking): void {
    this[side][slot] = ranking.score(this.placed(slot))
  }

  /** What decides its place in recommended lists. */
  placed(slot: number): Placed {
    return {
      offerId: this.ids[slot] as number,
      category: CATEGORIES[this.category(slot)] as Category,
      payoutMicros: (this.payout[slot] as number) * MICROS_PER_STEP,
      createdMs: (this.created[slot] as number) * 1_000,
      boostPercent: this.boost[slot] as number,
      pin: this.pin[slot] as number,
    }
  }

  /** Of an offer that is gone: what a page that is being written may still want to read. */
  bury(slot: number, from: Slots): void {
    this.ids[slot] = from.ids[slot] as number
    this.place[slot] = from.place[slot] as number
    this.created[slot] = from.created[slot] as number
    this.traits[slot] = from.traits[slot] as number
    this.setListable(slot, false)
    const start = slot * COUNTRY_WORDS
    this.countries.set(from.countries.subarray(start, start + COUNTRY_WORDS), start)
  }

  /** Notes that the bytes of a slot are not needed any more. */
  dropDetails(slot: number): void {
    this.#details.remove((this.place[slot] as number) - 1)
  }

  /** Everything about an offer but what changes with time. */
  record(slot: number): StoredOffer {
    const words = this.countries.subarray(slot * COUNTRY_WORDS, (slot + 1) * COUNTRY_WORDS)
    const runsIn = (place: number) => (((words[place >> 5] as number) >>> (place & 31)) & 1) === 1
    const its = this.traits[slot] as number
    return {
      offerId: this.ids[slot] as number,
      category: CATEGORIES[this.category(slot)] as Category,
      countries: words.every((word) => word === EVERY_COUNTRY) ? [] : COUNTRIES.filter((_, place) => runsIn(place)),
      platforms: PLATFORMS.filter((_, place) => (its & (1 << place)) !== 0),
      payment_required: this.isPaid(slot),
      createdAt: new Date((this.created[slot] as number) * 1000),
      ...readDetails(this.#bytes(slot)),
    }
  }

  target(slot: number): OfferTarget {
    return readTarget(this.#bytes(slot))
  }

  name(slot: number): string {
    return readName(this.#bytes(slot))
  }

  words(slot: number): string {
    return readWords(this.#bytes(slot))
  }

  #bytes(slot: number): Buffer {
    return this.#details.at((this.place[slot] as number) - 1)
  }

  /** Gives back the memory of what was replaced, where that is much. */
  compact(): Generator<void, void> {
    return this.#details.compact(this.place)
  }

  category(slot: number): number {
    return ((this.traits[slot] as number) & CATEGORY_MASK) >> CATEGORY_SHIFT
  }

  isPaid(slot: number): boolean {
    return ((this.traits[slot] as number) & PAID) !== 0
  }

  /** Should be shown at this time; `isListable` says whether it is. */
  isDue(slot: number, nowMs: number): boolean {
    return (
      this.active[slot] === 1 &&
      this.behind[slot] === 0 &&
      (this.startsAt[slot] as number) <= nowMs &&
      nowMs < (this.endsAt[slot] as number) &&
      (this.fullUntil[slot] as number) <= nowMs
    )
  }

  /** When it next starts, ends or opens again. */
  boundaryAfter(slot: number, nowMs: number): number {
    const later = (ms: number) => (ms > nowMs ? ms : Infinity)
    return Math.min(
      later(this.startsAt[slot] as number),
      later(this.endsAt[slot] as number),
      later(this.fullUntil[slot] as number),
    )
  }

  /** Which of these slots are to be shown or hidden now, and when the next of them will be. */
  scan(start: number, end: number, nowMs: number): { due: number[]; boundaryMs: number } {
    const due: number[] = []
    let boundaryMs = Infinity
    for (let slot = start; slot < end; slot++) {
      if (this.isDue(slot, nowMs) !== this.isListable(slot)) due.push(slot)
      boundaryMs = Math.min(boundaryMs, this.boundaryAfter(slot, nowMs))
    }
    return { due, boundaryMs }
  }

  isListable(slot: number): boolean {
    return isListable(this, slot)
  }

  setListable(slot: number, listable: boolean): void {
    if (listable) this.traits[slot]! |= LISTABLE
    else this.traits[slot]! &= ~LISTABLE
  }
}
