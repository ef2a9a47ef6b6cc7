// All offers by slot, a small number each offer keeps for good. What filters and sorts look at stands in typed arrays, the
// rest as bytes in an arena.
import { Arena } from '../../lib/arena.ts'
import { COUNTRIES, countryPlace } from '../../lib/countries.ts'
import { type OfferTarget, readDetails, readTarget, readWords, writeDetails } from './offer-bytes.ts'
import type { OfferRecord } from './offers.ts'
import { CATEGORIES, PLATFORMS, type Sort } from './schema.ts'

/** What filters look at, by slot or by place in a change. */
export type Traits = {
  readonly traits: Uint8Array
  readonly countries: Uint32Array
  readonly stampA: Uint32Array
  readonly stampB: Uint32Array
}

/** An offer as it is shown: everything but what decides when and where it is. */
export type StoredOffer = Omit<
  OfferRecord,
  'status' | 'startsAt' | 'endsAt' | 'fullUntilMs' | 'popularity' | 'changedXid'
>

// A bit for each country, and one that every offer has, for whoever does not ask for a country.
export const COUNTRY_WORDS = 8
export const ANY_COUNTRY = 255
// The bits of `traits`: three for platforms, of which every offer has one, two for the category, then these.
export const ANY_PLATFORM = 0b111
export const CATEGORY_SHIFT = 3
export const CATEGORY_MASK = 0b11 << CATEGORY_SHIFT
const PAID = 0b10_0000
const LISTABLE = 0b100_0000
const MAX_UINT32 = 0xffff_ffff

export class Slots implements Traits {
  readonly capacity: number
  #details = new Arena()
  readonly place: Uint32Array // of its details in the arena, plus one
  readonly ids: Float64Array
  readonly payout: Uint32Array // ten-thousandths of a dollar, as fine as the API shows
  readonly created: Uint32Array // seconds
  readonly popularity: Uint32Array
  readonly traits: Uint8Array
  readonly countries: Uint32Array
  readonly active: Uint8Array
  readonly startsAt: Float64Array
  readonly endsAt: Float64Array
  readonly fullUntil: Float64Array
  readonly xid: Float64Array
  readonly stampA: Uint32Array
  readonly stampB: Uint32Array

  constructor(capacity: number) {
    this.capacity = capacity
    this.place = new Uint32Array(capacity)
    this.ids = new Float64Array(capacity)
    this.payout = new Uint32Array(capacity)
    this.created = new Uint32Array(capacity)
    this.popularity = new Uint32Array(capacity)
    this.traits = new Uint8Array(capacity)
    this.countries = new Uint32Array(capacity * COUNTRY_WORDS)
    this.active = new Uint8Array(capacity)
    this.startsAt = new Float64Array(capacity)
    this.endsAt = new Float64Array(capacity)
    this.fullUntil = new Float64Array(capacity)
    this.xid = new Float64Array(capacity)
    this.stampA = new Uint32Array(capacity)
    this.stampB = new Uint32Array(capacity)
  }

  /** The same with twice the room. */
  grown(): Slots {
    const larger = new Slots(this.capacity * 2)
    for (const name of Object.keys(this) as (keyof Slots)[]) {
      // All typed arrays; whichever kind, the copying is the same.
      if (ArrayBuffer.isView(this[name]))
        (larger[name] as unknown as Uint8Array).set(this[name] as unknown as Uint8Array)
    }
    larger.#details = this.#details
    return larger
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

  set(slot: number, record: OfferRecord, nowMs: number): void {
    const before = this.place[slot] as number
    if (before !== 0) this.#details.remove(before - 1)
    this.place[slot] = this.#details.add(writeDetails(record)) + 1
    this.ids[slot] = record.offerId
    this.payout[slot] = Math.floor(record.payoutMicros / 100)
    this.created[slot] = Math.floor(record.createdAt.getTime() / 1000)
    this.popularity[slot] = record.popularity
    this.active[slot] = record.status === 'active' ? 1 : 0
    this.startsAt[slot] = record.startsAt?.getTime() ?? -Infinity
    this.endsAt[slot] = record.endsAt?.getTime() ?? Infinity
    this.fullUntil[slot] = record.fullUntilMs ?? -Infinity
    this.xid[slot] = Number(record.changedXid)
    this.stampA[slot] = mix(record.offerId, Number(record.changedXid))
    this.stampB[slot] = mix(Number(record.changedXid), record.offerId)
    let traits = CATEGORIES.indexOf(record.category) << CATEGORY_SHIFT
    for (const platform of record.platforms) traits |= 1 << PLATFORMS.indexOf(platform)
    if (record.paymentRequired) traits |= PAID
    this.traits[slot] = traits
    this.setListable(slot, this.isDue(slot, nowMs))
    this.countries.fill(
      record.countries.length === 0 ? MAX_UINT32 : 0,
      slot * COUNTRY_WORDS,
      (slot + 1) * COUNTRY_WORDS,
    )
    for (const place of [ANY_COUNTRY, ...record.countries.map(countryPlace)]) {
      if (place !== undefined) this.countries[slot * COUNTRY_WORDS + (place >> 5)]! |= 1 << (place & 31)
    }
  }

  /** Everything about an offer but what changes with time. */
  record(slot: number): StoredOffer {
    const words = this.countries.subarray(slot * COUNTRY_WORDS, (slot + 1) * COUNTRY_WORDS)
    const runsIn = (place: number) => (((words[place >> 5] as number) >>> (place & 31)) & 1) === 1
    const its = this.traits[slot] as number
    return {
      offerId: this.ids[slot] as number,
      category: CATEGORIES[this.category(slot)] as OfferRecord['category'],
      countries: words.every((word) => word === MAX_UINT32) ? [] : COUNTRIES.filter((_, place) => runsIn(place)),
      platforms: PLATFORMS.filter((_, place) => (its & (1 << place)) !== 0),
      paymentRequired: this.isPaid(slot),
      createdAt: new Date((this.created[slot] as number) * 1000),
      ...readDetails(this.#bytes(slot)),
    }
  }

  target(slot: number): OfferTarget {
    return readTarget(this.#bytes(slot))
  }

  words(slot: number): string {
    return readWords(this.#bytes(slot))
  }

  #bytes(slot: number): Buffer {
    return this.#details.at((this.place[slot] as number) - 1)
  }

  /** Gives back the memory of what was replaced, when that is much. */
  *tidy(count: number): Generator<void, void> {
    if (!this.#details.isWasteful) return
    const details = new Arena()
    const places = new Uint32Array(this.capacity)
    for (let slot = 0; slot < count; slot++) {
      places[slot] = details.add(this.#bytes(slot)) + 1
      if (slot % 1_000 === 999) yield
    }
    this.place.set(places)
    this.#details = details
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

  comparer(sort: Sort): (a: number, b: number) => number {
    const { ids, payout, created, popularity } = this
    const byId = (a: number, b: number) => (ids[a] as number) - (ids[b] as number)
    const [byPayout, byAge, byPopularity] = [by(payout), by(created), by(popularity)]
    if (sort === 'payout_asc') return (a, b) => byPayout(a, b) || byId(a, b)
    if (sort === 'payout_desc') return (a, b) => byPayout(b, a) || byId(a, b)
    if (sort === 'newest') return (a, b) => byAge(b, a) || byId(a, b)
    return (a, b) => byPopularity(b, a) || byAge(b, a) || byId(a, b)
  }

  /** All slots that can be shown, in each order. Their ids must ascend, as they do when read in that order. */
  *sortAll(count: number): Generator<void, Record<Sort, Uint32Array>> {
    const bySlot = Uint32Array.from({ length: count }, (_, slot) => slot)
    const descending = (key: Uint32Array) => key.subarray(0, count).map((value) => MAX_UINT32 - value)
    const listable = (slots: Uint32Array) => slots.filter((slot) => this.isListable(slot))
    const newest = sortByKey(descending(this.created), bySlot)
    const placeInNewest = new Uint32Array(count)
    newest.forEach((slot, place) => (placeInNewest[slot] = place))
    yield
    const popular = listable(sortByKey(descending(this.popularity), placeInNewest))
    yield
    const payout_desc = listable(sortByKey(descending(this.payout), bySlot))
    yield
    const payout_asc = listable(sortByKey(this.payout.subarray(0, count), bySlot))
    return { payout_desc, payout_asc, newest: listable(newest), popular }
  }
}

/** Slots by `key`, then by `tie` (each value once). Sorts 64-bit integers natively: a million in a tenth of a second. */
function sortByKey(key: Uint32Array, tie: Uint32Array): Uint32Array {
  const count = key.length
  const packed = new BigUint64Array(count)
  const words = new Uint32Array(packed.buffer) // low word first, on every platform that Node runs on
  const slotOfTie = new Uint32Array(count)
  for (let slot = 0; slot < count; slot++) {
    words[slot * 2] = tie[slot] as number
    words[slot * 2 + 1] = key[slot] as number
    slotOfTie[tie[slot] as number] = slot
  }
  packed.sort()
  return slotOfTie.map((_, place) => slotOfTie[words[place * 2] as number] as number)
}

export const isListable = ({ traits }: Traits, slot: number) => ((traits[slot] as number) & LISTABLE) !== 0

const by = (key: Uint32Array) => (a: number, b: number) => (key[a] as number) - (key[b] as number)

/** Spreads two numbers over 32 bits. */
function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(b ^ (b / 2 ** 32), 0xc2b2_ae35)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b_3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a_2d39)
  return (h ^ (h >>> 15)) >>> 0
}
