// The offers that match one filter, in one order: how many, and the first of them, which is all that most requests ask
// for. So thousands of lists fit into memory whatever the size of the catalogue, and bringing one up to date is cheap.
import type { Difference } from './change-log.ts'
import { type CompiledFilter, matches, selectMatching } from './filters.ts'
import type { ContentRules, RuleSet } from './rule-sets.ts'
import type { Sort } from './choices.ts'
import type { Slots } from './slots.ts'
import { isListable } from './traits.ts'

export const HEAD = 1_000

/** What a list is of. */
export type ListKind = {
  readonly key: number
  readonly sort: Sort
  readonly filter: CompiledFilter
  readonly rules: ContentRules | null
}

/** An update that affects it creates a new one, so what was derived from a list is valid as long as the list is. */
export type OfferList = ListKind & {
  readonly total: number
  /** The first of them, at least `HEAD / 2`, or all. */
  readonly head: Uint32Array
  /** Differs when anything in the list does; the same on every node that has the same offers. */
  readonly stamp: { a: number; b: number }
  /** Which rule set found out what its rules allow: with another one, what they allowed before is not known. */
  readonly ruleSet: number
  /** Of the catalogue, up to which the list is known to be right. */
  version: number
}

/** What lists are built from. */
export type Source = { slots: Slots; rules: RuleSet | null; version: number }

export function* buildList(kind: ListKind, order: Uint32Array, source: Source): Generator<void, OfferList> {
  const { slots, rules, version } = source
  const { stampA, stampB } = slots
  const head = new Uint32Array(Math.min(HEAD, order.length))
  let total = 0
  let a = 0
  let b = 0
  for (const some of selectMatching(kind.filter, rules, slots, order)) {
    if (total < head.length) head.set(some.subarray(0, head.length - total), total)
    for (let i = 0; i < some.length; i++) {
      const slot = some[i] as number
      a ^= stampA[slot] as number
      b ^= stampB[slot] as number
    }
    total += some.length
    yield
  }
  return { ...kind, total, head: head.slice(0, total), stamp: { a, b }, ruleSet: rules?.serial ?? 0, version }
}

/** The list after a change: itself if it is not affected, null if it must be rebuilt. */
export function updateList(list: OfferList, source: Source, change: Difference): OfferList | null {
  const { slots, rules, version } = source
  if (list.ruleSet !== (rules?.serial ?? 0)) return null
  let { total } = list
  let { a, b } = list.stamp
  let isAffected = false
  for (let i = 0; i < change.slots.length; i++) {
    const slot = change.slots[i] as number
    const { traits: before, index } = change.before(i)
    if (
      isListable(before, index) &&
      matches(list.filter, before, index) &&
      (rules === null || change.wasAllowed(rules, i))
    ) {
      isAffected = true
      total--
      a ^= before.stampA[index] as number
      b ^= before.stampB[index] as number
    }
    if (isListable(slots, slot) && isIn(list.filter, rules, slots, slot)) {
      isAffected = true
      total++
      a ^= slots.stampA[slot] as number
      b ^= slots.stampB[slot] as number
    }
  }
  if (!isAffected) {
    list.version = version
    return list
  }
  const compare = slots.comparer(list.sort)
  const kept = withoutDirty(list.head, change.isDirty)
  let added = change.added(list.sort).filter((slot) => isIn(list.filter, rules, slots, slot))
  if (list.head.length < list.total) {
    // Behind the last one kept there may be others that the head does not know of.
    const last = kept.at(-1)
    if (last === undefined) return null
    added = added.filter((slot) => compare(slot, last) < 0)
  }
  const head = mergeSlots(kept, added, compare).slice(0, HEAD)
  if (head.length < Math.min(total, HEAD / 2)) return null
  return { ...list, total, head, stamp: { a, b }, version }
}

const isIn = (filter: CompiledFilter, rules: RuleSet | null, slots: Slots, slot: number) =>
  matches(filter, slots, slot) && (rules === null || rules.allows(slot))

/** Those that are not marked. A plain loop: `filter` with a function takes six times as long. */
export function withoutDirty(list: Uint32Array, dirty: Uint8Array): Uint32Array {
  const kept = new Uint32Array(list.length)
  let length = 0
  for (let place = 0; place < list.length; place++) {
    const slot = list[place] as number
    if (dirty[slot] !== 1) kept[length++] = slot
  }
  return kept.subarray(0, length)
}

/** Two sorted lists without a common slot, as one. `added` is the short one: each finds its place by halving. */
export function mergeSlots(
  list: Uint32Array,
  added: readonly number[],
  compare: (a: number, b: number) => number,
): Uint32Array {
  if (added.length === 0) return list
  const merged = new Uint32Array(list.length + added.length)
  let taken = 0
  for (let next = 0; next < added.length; next++) {
    const slot = added[next] as number
    let low = taken
    let high = list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(list[middle] as number, slot) < 0) low = middle + 1
      else high = middle
    }
    merged.set(list.subarray(taken, low), taken + next)
    merged[low + next] = slot
    taken = low
  }
  merged.set(list.subarray(taken), taken + added.length)
  return merged
}
