// All offers and what lists are built from: the slots, their orders, and recent changes.
import { ChangeLog } from './change-log.ts'
import type { OfferRow } from './offer-rows.ts'
import { Orders } from './orders.ts'
import { type Order, ORDERS } from './choices.ts'
import { Slots } from './slots.ts'

const NONE = new Uint32Array(0)
const FEWEST = 1_024
const LOGGED = 8_000 // slots; a list that missed more is rebuilt
const STEP = 20_000 // slots that are looked at at once

export class Shelf {
  readonly log = new ChangeLog()
  slots = new Slots(FEWEST)
  orders = new Orders(Object.fromEntries(ORDERS.map((order) => [order, NONE])) as Record<Order, Uint32Array>, 0)

  /** How many slots there are. */
  get count(): number {
    return this.slots.count
  }

  find(offerId: number): number | undefined {
    return this.slots.find(offerId)
  }

  /** The slot of an offer; a new one gets an empty slot, which is in no list. */
  slotFor(offerId: number): number {
    const known = this.slots.find(offerId)
    if (known !== undefined) return known
    this.slots = withRoom(this.slots)
    return this.slots.give(offerId)
  }

  /** The one way to change slots: some at once, and noted. */
  change(slots: readonly number[], make: () => void): void {
    const before = this.slots.pick(slots)
    make()
    this.log.add(slots, before)
  }

  /** Forgets what is not needed any more, now and then. */
  *trimLog(): Generator<void, void> {
    if (this.log.size <= LOGGED) return
    yield* this.orders.follow(this.slots, this.log)
    this.log.trim(LOGGED / 2)
  }

  /** Takes over everything from a renewal, at once. */
  become({ slots }: Renewal, orders: Record<Order, Uint32Array>): void {
    this.slots = slots
    this.log.forget()
    this.orders = new Orders(orders, this.log.version)
  }
}

/**
 * All offers reloaded, beside the previous ones and invisible until complete. An offer keeps its slot, so work in
 * progress reads the same offers before and after; and unchanged bytes are not kept twice.
 */
export class Renewal {
  slots: Slots
  readonly #before: Slots

  constructor({ slots }: Shelf, expected: number) {
    this.#before = slots
    this.slots = slots.emptied(expected)
  }

  take(offer: OfferRow, nowMs: number): void {
    const known = this.#before.find(offer.offerId)
    if (known === undefined) this.slots = withRoom(this.slots)
    const slot = this.slots.give(offer.offerId, known)
    this.slots.setAnew(slot, offer, nowMs, known === undefined ? 0 : (this.#before.place[known] as number))
  }

  /** Buries the offers that are gone, and says whose bytes have been replaced. */
  *complete(): Generator<void, void> {
    const [before, { slots }] = [this.#before, this]
    for (let slot = 0; slot < before.count; slot++) {
      if (slot % STEP === 0) yield
      if (slots.place[slot] === 0) slots.bury(slot, before)
      else if (slots.place[slot] !== before.place[slot]) before.dropDetails(slot)
    }
  }

  /** Lets go of everything: it did not come to its end. */
  abandon(): void {
    for (let slot = 0; slot < this.slots.count; slot++) {
      const place = this.slots.place[slot]
      if (place !== 0 && place !== this.#before.place[slot]) this.slots.dropDetails(slot)
    }
  }
}

const withRoom = (slots: Slots) => (slots.count < slots.capacity ? slots : slots.grown())
