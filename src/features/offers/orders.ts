// All slots that can be shown, in each order. Needed to rebuild a list; it follows changes then, or before
// they are dropped from the log.
import type { ChangeLog } from './change-log.ts'
import { mergeSlots, withoutDirty } from './merge-slots.ts'
import { type Order, ORDERS } from './choices.ts'
import { comparerOf } from './sort-slots.ts'
import type { Slots } from './slots.ts'

export class Orders {
  readonly #orders: Record<Order, { slots: Uint32Array; version: number }>

  constructor(orders: Record<Order, Uint32Array>, version: number) {
    const entries = ORDERS.map((order) => [order, { slots: orders[order], version }] as const)
    this.#orders = Object.fromEntries(entries) as Record<Order, { slots: Uint32Array; version: number }>
  }

  size(order: Order): number {
    return this.#orders[order].slots.length
  }

  /** The order as it is now. */
  *current(order: Order, slots: Slots, log: ChangeLog): Generator<void, Uint32Array> {
    const known = this.#orders[order]
    if (known.version === log.version) return known.slots
    const change = log.differenceSince(known.version, slots)
    if (change === null) throw new Error('The order of offers has missed changes.')
    yield
    const kept = withoutDirty(known.slots, change.isDirty)
    yield
    const merged = mergeSlots(kept, change.added(order), comparerOf(slots, order)).slice()
    this.#orders[order] = { slots: merged, version: log.version }
    return merged
  }

  /** Puts another one in its place, which is right now. */
  replace(order: Order, slots: Uint32Array, { version }: ChangeLog): void {
    this.#orders[order] = { slots, version }
  }

  /** Brings all of them up to date, so that changes can be forgotten. */
  *follow(slots: Slots, log: ChangeLog): Generator<void, void> {
    for (const order of ORDERS) {
      yield* this.current(order, slots, log)
      yield
    }
  }
}
