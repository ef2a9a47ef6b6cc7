// Recent changes, by which an outdated list is brought up to date when it is used: nothing is spent on lists that are
// not used, and whatever happens meanwhile, a list only goes from one right state to another.
import type { Order } from './choices.ts'
import type { Segment } from './ranking/ranking.ts'
import type { Slots } from './slots.ts'
import { comparerOf } from './sort-slots.ts'
import type { Traits } from './traits.ts'

/** What judges offers: the rules of an app. */
type Rules = { allows: (slot: number) => boolean }

/** One update: its slots, and what filters saw of them before it. */
export type Change = {
  readonly slots: readonly number[]
  readonly before: Traits
  /** What rules said about each of them before it, noted when the rules follow it. */
  readonly allowedBefore: WeakMap<Rules, Uint8Array>
}

const MAX_DIFFERENCES = 4 // kept at hand: most lists were right at the same time
const NOTHING = new Uint8Array(0)

export class ChangeLog {
  /** Of the catalogue: how many changes there were. */
  #version = 0
  #changes: Change[] = []
  #size = 0
  readonly #differences = new Map<number, Difference>()

  get version(): number {
    return this.#version
  }

  /** How many slots the changes have that it remembers. */
  get size(): number {
    return this.#size
  }

  add(slots: readonly number[], before: Traits): void {
    this.#changes.push({ slots, before, allowedBefore: new WeakMap() })
    this.#size += slots.length
    this.#version++
    this.#differences.clear()
  }

  /** Lets go of the oldest, until so many slots are left. */
  trim(size: number): void {
    let count = 0
    while (this.#size > size) this.#size -= (this.#changes[count++] as Change).slots.length
    this.#changes = this.#changes.slice(count)
  }

  /** Nothing that was right before can be brought up to date. */
  forget(): void {
    this.#changes = []
    this.#size = 0
    this.#version++
    this.#differences.clear()
  }

  /** The changes since that version, or null if they are not remembered. */
  readonly since = (version: number): readonly Change[] | null => {
    const count = this.#version - version
    return count > this.#changes.length ? null : this.#changes.slice(this.#changes.length - count)
  }

  /** The changes since that version as one, or null if they are not remembered. */
  differenceSince(version: number, slots: Slots): Difference | null {
    const known = this.#differences.get(version)
    if (known !== undefined) return known
    const changes = this.since(version)
    if (changes === null) return null
    if (this.#differences.size >= MAX_DIFFERENCES) this.#differences.clear()
    const difference = new Difference(changes, slots)
    this.#differences.set(version, difference)
    return difference
  }
}

/** Several changes as one: each slot once, with what filters saw of it before the first of them. */
export class Difference {
  readonly slots: number[] = []
  readonly isDirty: Uint8Array
  readonly #from: { change: Change; index: number }[] = []
  readonly #now: Slots
  readonly #added = new Map<Order, number[]>()

  constructor(changes: readonly Change[], now: Slots) {
    this.isDirty = new Uint8Array(now.capacity)
    this.#now = now
    for (const change of changes) {
      for (const [index, slot] of change.slots.entries()) {
        if (this.isDirty[slot] === 1) continue
        this.isDirty[slot] = 1
        this.slots.push(slot)
        this.#from.push({ change, index })
      }
    }
  }

  before(i: number): { traits: Traits; index: number } {
    const { change, index } = this.#from[i] as { change: Change; index: number }
    return { traits: change.before, index }
  }

  wasAllowed(rules: Rules, i: number): boolean {
    const { change, index } = this.#from[i] as { change: Change; index: number }
    return (change.allowedBefore.get(rules) ?? NOTHING)[index] === 1
  }

  /** Those of the slots that can be shown now, in this order. */
  added(order: Order, segment: Segment | null = null): readonly number[] {
    const known = this.#added.get(order)
    if (known !== undefined && segment === null) return known
    const added = this.slots
      .filter((slot) => this.#now.isListable(slot))
      .toSorted(comparerOf(this.#now, order, segment))
    if (segment === null) this.#added.set(order, added)
    return added
  }
}
