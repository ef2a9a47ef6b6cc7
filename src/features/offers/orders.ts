// For each sort, the order of all slots that can be shown. Needed to rebuild a list; it follows changes then, or before
// they are dropped from the log.
import type { ChangeLog } from './change-log.ts'
import { mergeSlots, withoutDirty } from './lists.ts'
import { type Sort, SORTS } from './choices.ts'
import type { Slots } from './slots.ts'

export class Orders {
  readonly #orders: Record<Sort, { slots: Uint32Array; version: number }>

  constructor(orders: Record<Sort, Uint32Array>, version: number) {
    const entries = SORTS.map((sort) => [sort, { slots: orders[sort], version }] as const)
    this.#orders = Object.fromEntries(entries) as Record<Sort, { slots: Uint32Array; version: number }>
  }

  size(sort: Sort): number {
    return this.#orders[sort].slots.length
  }

  /** The order as it is now. */
  *current(sort: Sort, slots: Slots, log: ChangeLog): Generator<void, Uint32Array> {
    const known = this.#orders[sort]
    if (known.version === log.version) return known.slots
    const change = log.differenceSince(known.version, slots)
    if (change === null) throw new Error('The order of offers has missed changes.')
    yield
    const kept = withoutDirty(known.slots, change.isDirty)
    yield
    const merged = mergeSlots(kept, change.added(sort), slots.comparer(sort)).slice()
    this.#orders[sort] = { slots: merged, version: log.version }
    return merged
  }

  /** Brings all of them up to date, so that changes can be forgotten. */
  *follow(slots: Slots, log: ChangeLog): Generator<void, void> {
    for (const sort of SORTS) {
      yield* this.current(sort, slots, log)
      yield
    }
  }
}
