/**
 * A bounded cache that costs one Map look-up on a hit: two generations, the older one dropped whole when the
 * younger one is full. What is in use moves over in time; what is not goes with its generation.
 */
export class Cache<K, V> {
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  #weight = 0
  readonly #capacity: number
  readonly #weigh: (value: V) => number

  /** Holds between `capacity` and twice that, measured by `weigh` (by default, one a value). */
  constructor(capacity: number, weigh: (value: V) => number = () => 1) {
    this.#capacity = capacity
    this.#weigh = weigh
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) {
      this.#old.delete(key)
      this.set(key, old)
    }
    return old
  }

  set(key: K, value: V): void {
    const before = this.#young.get(key)
    if (before !== undefined) this.#weight -= this.#weigh(before)
    else if (this.#old.size > 0) this.#old.delete(key)
    this.#young.set(key, value)
    this.#weight += this.#weigh(value)
    if (this.#weight >= this.#capacity) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
  }

  /** Puts `value` where `before` is, or nothing, unless that has gone meanwhile. */
  replace(key: K, before: V, value: V | null): void {
    const generation = [this.#young, this.#old].find((one) => one.get(key) === before)
    if (generation === undefined) return
    if (generation === this.#young) this.#weight += (value === null ? 0 : this.#weigh(value)) - this.#weigh(before)
    if (value === null) generation.delete(key)
    else generation.set(key, value)
  }

  delete(key: K): void {
    const young = this.#young.get(key)
    if (young !== undefined) this.#weight -= this.#weigh(young)
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#weight = 0
  }

  /** All that is in it now; it may change meanwhile. */
  entries(): [K, V][] {
    return [...this.#young, ...this.#old]
  }
}
