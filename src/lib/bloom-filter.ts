const BITS_EACH = 16
const MIN_BITS = 2 ** 17
const MAX_BITS = 2 ** 29 // 64 MiB
const PROBES = 4

/**
 * A set of whole numbers below 2^53 that may say yes to one that is not in it, and never no to one that is. It takes two
 * bytes a number, and wrongly says yes to about one in four hundred. Beyond its largest size, for 34 million numbers, it
 * grows no more, and is wrong more often.
 */
export class BloomFilter {
  readonly #words: Uint32Array
  readonly #mask: number
  #size = 0

  constructor(expected: number) {
    const wanted = 2 ** Math.ceil(Math.log2(Math.max(expected, 1) * BITS_EACH))
    const bits = Math.min(Math.max(wanted, MIN_BITS), MAX_BITS)
    this.#words = new Uint32Array(bits / 32)
    this.#mask = bits - 1
  }

  /** About how many numbers are in it. */
  get size(): number {
    return this.#size
  }

  /** A larger one would be right more often. */
  get isCrowded(): boolean {
    const bits = this.#mask + 1
    return bits < MAX_BITS && this.#size * BITS_EACH > bits
  }

  get bytes(): number {
    return this.#words.byteLength
  }

  has(number: number): boolean {
    const step = stepOf(number)
    let bit = Math.floor(number / 0x20_0000)
    for (let i = 0; i < PROBES; i++, bit += step) if (!this.#isSet(bit)) return false
    return true
  }

  add(number: number): void {
    const step = stepOf(number)
    let bit = Math.floor(number / 0x20_0000)
    let isNew = false
    for (let i = 0; i < PROBES; i++, bit += step) {
      if (this.#isSet(bit)) continue
      const place = bit & this.#mask
      this.#words[place >>> 5] = (this.#words[place >>> 5] ?? 0) | (1 << (place & 31))
      isNew = true
    }
    if (isNew) this.#size++
  }

  #isSet(bit: number): boolean {
    const place = bit & this.#mask
    return (((this.#words[place >>> 5] ?? 0) >>> (place & 31)) & 1) === 1
  }
}

const stepOf = (number: number) => (number % 0x20_0000) | 1
