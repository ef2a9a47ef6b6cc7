// The offers that match one filter, in one order: how many, and the first of them, which is all that most requests ask
// for. So thousands of lists fit into memory whatever the size of the catalogue, and bringing one up to date is cheap.
import type { Difference } from './change-log.ts'
import { type CompiledFilter, matches, selectMatching } from './filters.ts'
import type { ContentRules, RuleSet } from './rule-sets.ts'
import type { Order } from './choices.ts'
import type { Ranking, Segment } from './ranking/ranking.ts'
import type { Slots } from './slots.ts'
import { comparerOf } from './sort-slots.ts'
import { mergeSlots, withoutDirty } from './merge-slots.ts'
import { isListable } from './traits.ts'

export const HEAD = 1_000

/** What a list is of. */
export type ListKind = {
  readonly key: number
  readonly order: Order
  /** Of a recommended list: what it follows, and what differs where it is for. */
  readonly ranking: Ranking | null
  readonly segment: Segment | null
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
  /** Where it is a variant of another list, or the only one: see arranged-lists.ts. */
  readonly variantOf?: { list: OfferList; variant: number | null }
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
  const compare = comparerOf(slots, list.order, list.segment)
  const kept = withoutDirty(list.head, change.isDirty)
  let added = change.added(list.order, list.segment).filter((slot) => isIn(list.filter, rules, slots, slot))
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
