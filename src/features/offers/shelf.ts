// All offers and what lists are made from: the slots, their orders, and what changed lately.
import { ChangeLog } from './change-log.ts'
import { Orders } from './orders.ts'
import type { Sort } from './schema.ts'
import { Slots } from './slots.ts'

const NONE = new Uint32Array(0)
const LOGGED = 8_000 // slots; a list that missed more is built anew

export class Shelf {
  readonly log = new ChangeLog()
  slots = new Slots(1024)
  #slotOf = new Map<number, number>()
  orders = new Orders({ payout_desc: NONE, payout_asc: NONE, newest: NONE, popular: NONE }, 0)

  get size(): number {
    return this.#slotOf.size
  }

  find(offerId: number): number | undefined {
    return this.#slotOf.get(offerId)
  }

  /** The slot of an offer; a new one gets an empty slot, which is in no list. */
  slotFor(offerId: number): number {
    const known = this.#slotOf.get(offerId)
    if (known !== undefined) return known
    const slot = this.size
    if (slot === this.slots.capacity) this.slots = this.slots.grown()
    this.#slotOf.set(offerId, slot)
    return slot
  }

  /** The one way to change slots: some at once, and noted. */
  change(slots: readonly number[], make: () => void): void {
    const before = this.slots.pick(slots)
    make()
    this.log.add(slots, before)
  }

  /** Forgets what is not needed any more, now and then. */
  *tidyUp(): Generator<void, void> {
    if (this.log.size > LOGGED) {
      yield* this.orders.follow(this.slots, this.log)
      this.log.trim(LOGGED / 2)
    }
    yield* this.slots.tidy(this.size)
  }

  /** All orders, of offers that came in the order of their ids. */
  *sorted(): Generator<void, Record<Sort, Uint32Array>> {
    return yield* this.slots.sortAll(this.size)
  }

  /** Takes over everything from another one. */
  become(other: Shelf, orders: Record<Sort, Uint32Array>): void {
    this.slots = other.slots
    this.#slotOf = other.#slotOf
    this.log.forget()
    this.orders = new Orders(orders, this.log.version)
  }
}
