// All offers by slot, a small number each offer keeps for good. What filters and sorts look at stands in typed arrays.
import { countryPlace } from '../../lib/countries.ts'
import type { OfferRecord } from './offers.ts'
import { CATEGORIES, PLATFORMS, type Sort } from './schema.ts'

export type CatalogueOffer = {
  offerId: number
  /** Its JSON with holes: see offer-text.ts. */
  template: string
  /** Micros of the offer and of each goal, for the holes. */
  payouts: number[]
  /** Where its link leads, with macros. */
  destination: string
  /** What a click on it promises. */
  termsId: number
  /** The goals that complete it; null when it can be completed again and again. */
  requiredGoals: number[] | null
}

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

export class Slots {
  readonly capacity: number
  readonly offers: CatalogueOffer[] = []
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
    for (const [mine, theirs] of this.#columns(larger)) theirs.set(mine)
    for (const offer of this.offers) larger.offers.push(offer)
    return larger
  }

  /** A copy of a few slots, in this order, as they are now. */
  pick(slots: readonly number[]): Slots {
    const picked = new Slots(slots.length)
    for (const [mine, theirs] of this.#columns(picked)) {
      const width = mine.length / this.capacity
      slots.forEach((slot, i) => theirs.set(mine.subarray(slot * width, (slot + 1) * width), i * width))
    }
    for (const slot of slots) picked.offers.push(this.offers[slot] as CatalogueOffer)
    return picked
  }

  *#columns(other: Slots): Generator<[Uint32Array, Uint32Array]> {
    for (const name of Object.keys(this) as (keyof Slots)[]) {
      // All typed arrays; whichever kind, the copying is the same.
      if (ArrayBuffer.isView(this[name])) yield [this[name], other[name]] as unknown as [Uint32Array, Uint32Array]
    }
  }

  set(slot: number, record: OfferRecord, offer: CatalogueOffer, nowMs: number): void {
    this.offers[slot] = offer
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

  isListable(slot: number): boolean {
    return ((this.traits[slot] as number) & LISTABLE) !== 0
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

  /** All slots up to `count` in each order. Their ids must ascend, as they do when read in that order. */
  sortAll(count: number): Record<Sort, Uint32Array> {
    const bySlot = Uint32Array.from({ length: count }, (_, slot) => slot)
    const descending = (key: Uint32Array) => key.subarray(0, count).map((value) => MAX_UINT32 - value)
    const newest = sortByKey(descending(this.created), bySlot)
    const placeInNewest = new Uint32Array(count)
    newest.forEach((slot, place) => (placeInNewest[slot] = place))
    return {
      payout_desc: sortByKey(descending(this.payout), bySlot),
      payout_asc: sortByKey(this.payout.subarray(0, count), bySlot),
      newest,
      popular: sortByKey(descending(this.popularity), placeInNewest),
    }
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

const by = (key: Uint32Array) => (a: number, b: number) => (key[a] as number) - (key[b] as number)

/** Spreads two numbers over 32 bits. */
function mix(a: number, b: number): number {
  let h = Math.imul(a ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(b ^ (b / 2 ** 32), 0xc2b2_ae35)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b_3c6d)
  h = Math.imul(h ^ (h >>> 12), 0x297a_2d39)
  return (h ^ (h >>> 15)) >>> 0
}
