// The orders that lists come in.
import { sortByKey } from '../../lib/radix-sort.ts'
import { type Order, type Side, SIDES } from './choices.ts'
import { placeIn, scoreWithin, type Segment } from './ranking/ranking.ts'
import { mergeSlots, withoutDirty } from './merge-slots.ts'
import type { Slots } from './slots.ts'

const STEP = 32_768 // slots between two places where work may be interrupted
const DESCENDING = 0xffff_ffff // flips the bits of a key

/** Of two slots, which one comes first. A segment is that of a recommended list. */
export function comparerOf(
  slots: Slots,
  order: Order,
  segment: Segment | null = null,
): (a: number, b: number) => number {
  const { ids, payout, created, popularity } = slots
  const byId = (a: number, b: number) => (ids[a] as number) - (ids[b] as number)
  const [byPayout, byAge] = [by(payout), by(created)]
  if (order === 'payout_asc') return (a, b) => byPayout(a, b) || byId(a, b)
  if (order === 'payout_desc') return (a, b) => byPayout(b, a) || byId(a, b)
  if (order === 'newest') return (a, b) => byAge(b, a) || byId(a, b)
  if (order === 'popular') return (a, b) => by(popularity)(b, a) || byAge(b, a) || byId(a, b)
  return compareByScore(slots, scorerOf(slots, order, segment))
}

const compareByScore =
  ({ ids, created }: Slots, score: (slot: number) => number) =>
  (a: number, b: number) =>
    score(b) - score(a) || by(created)(b, a) || (ids[a] as number) - (ids[b] as number)

const by = (key: Uint32Array) => (a: number, b: number) => (key[a] as number) - (key[b] as number)

/** What slots of a recommended list are sorted by. */
export function scorerOf(slots: Slots, side: Side, segment: Segment | null): (slot: number) => number {
  const { ids, [side]: scores } = slots
  if (segment === null) return (slot) => scores[slot] as number
  return (slot) => {
    const place = placeIn(segment, ids[slot] as number)
    const score = scores[slot] as number
    return place === -1 ? score : scoreWithin(score, segment.factors[place] as number)
  }
}

export const isRecommended = (order: Order): order is Side => SIDES.some((side) => side === order)

/** A recommended order as it is in a segment: those that differ there are taken out and put in at their place. */
export function* mergeSegment(
  slots: Slots,
  side: Side,
  segment: Segment,
  sorted: Uint32Array,
): Generator<void, Uint32Array> {
  const scoreOf = scorerOf(slots, side, segment)
  const differs = new Uint8Array(slots.capacity)
  const moved: { slot: number; score: number }[] = []
  for (const offerId of segment.offerIds) {
    const slot = slots.find(offerId)
    if (slot === undefined || !slots.isListable(slot)) continue
    differs[slot] = 1
    moved.push({ slot, score: scoreOf(slot) })
  }
  yield
  const kept = withoutDirty(sorted, differs)
  yield
  const scores = new Map(moved.map(({ slot, score }) => [slot, score]))
  const compare = compareByScore(slots, (slot) => (differs[slot] === 1 ? (scores.get(slot) ?? 0) : (slots[side][slot] as number))) // prettier-ignore
  const added = moved.map(({ slot }) => slot).toSorted(compare)
  return mergeSlots(kept, added, compare)
}

/** All slots that can be shown, in each order. */
export function* sortAll(slots: Slots): Generator<void, Record<Order, Uint32Array>> {
  const byId = yield* listableById(slots)
  const newest = yield* sortByKey(byId, slots.created, DESCENDING)
  const [side, other] = SIDES
  return {
    newest,
    popular: yield* sortByKey(newest, slots.popularity, DESCENDING),
    payout_desc: yield* sortByKey(byId, slots.payout, DESCENDING),
    payout_asc: yield* sortByKey(byId, slots.payout),
    [side]: yield* sortByKey(newest, slots[side], DESCENDING),
    [other]: yield* sortByKey(newest, slots[other], DESCENDING),
  }
}

/** The same for one that has changed. `newest` are all that can be shown. */
export const sortSide = (slots: Slots, side: Side, newest: Uint32Array) => sortByKey(newest, slots[side], DESCENDING)

function* listableById(slots: Slots): Generator<void, Uint32Array> {
  const { ids, count } = slots
  const listable = new Uint32Array(count)
  let length = 0
  let isAscending = true
  for (let slot = 0; slot < count; slot++) {
    if (slot % STEP === 0) yield
    if (!slots.isListable(slot)) continue
    isAscending &&= length === 0 || (ids[listable[length - 1] as number] as number) < (ids[slot] as number)
    listable[length++] = slot
  }
  const found = listable.subarray(0, length)
  if (isAscending) return found // as after a start; later, an offer may come before one with a lower id
  const low = yield* sortByKey(found, Uint32Array.from(ids.subarray(0, count)))
  yield
  return yield* sortByKey(
    low,
    Uint32Array.from(ids.subarray(0, count), (id) => id / 2 ** 32),
  )
}
