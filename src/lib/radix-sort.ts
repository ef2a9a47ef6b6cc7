// Sorts numbers of things by a key of 32 bits, a million in a twentieth of a second, and can be interrupted everywhere.

const BITS = 11
const BUCKETS = 2 ** BITS
const STEP = 32_768 // between two places where it may be interrupted

/** `items` in the order of their keys; equal keys stay in the order they are in. `flip`: a key is compared after XOR with it. */
export function* sortByKey(items: Uint32Array, key: Uint32Array, flip = 0): Generator<void, Uint32Array> {
  let sorted = items
  for (let shift = 0; shift < 32; shift += BITS) {
    const digits = new Digits(key, flip, shift)
    const ends = yield* digits.count(sorted)
    if (ends !== null) sorted = yield* digits.scatter(sorted, ends)
  }
  return sorted
}

class Digits {
  readonly #key: Uint32Array
  readonly #flip: number
  readonly #shift: number

  constructor(key: Uint32Array, flip: number, shift: number) {
    this.#key = key
    this.#flip = flip
    this.#shift = shift
  }

  /** Where the items of each digit go, or null when all have the same. */
  *count(items: Uint32Array): Generator<void, Uint32Array | null> {
    const counts = new Uint32Array(BUCKETS)
    for (let start = 0; start < items.length; start += STEP) {
      this.#countSome(items.subarray(start, start + STEP), counts)
      yield
    }
    if (counts.includes(items.length)) return null
    let sum = 0
    return counts.map((count) => (sum += count) - count)
  }

  #countSome(items: Uint32Array, counts: Uint32Array): void {
    const [key, flip, shift] = [this.#key, this.#flip, this.#shift]
    for (let i = 0; i < items.length; i++) {
      const digit = (((key[items[i] as number] as number) ^ flip) >>> shift) & (BUCKETS - 1)
      counts[digit]!++
    }
  }

  *scatter(items: Uint32Array, places: Uint32Array): Generator<void, Uint32Array> {
    const scattered = new Uint32Array(items.length)
    for (let start = 0; start < items.length; start += STEP) {
      this.#scatterSome(items.subarray(start, start + STEP), places, scattered)
      yield
    }
    return scattered
  }

  #scatterSome(items: Uint32Array, places: Uint32Array, scattered: Uint32Array): void {
    const [key, flip, shift] = [this.#key, this.#flip, this.#shift]
    for (let i = 0; i < items.length; i++) {
      const item = items[i] as number
      const digit = (((key[item] as number) ^ flip) >>> shift) & (BUCKETS - 1)
      scattered[places[digit]!++] = item
    }
  }
}
