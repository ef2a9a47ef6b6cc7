// Random choices that a seed repeats.

/** From 0 to 1; the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t ^= t + Math.imul(t ^ (t >>> 7), 61 | t)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

export class Random {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = createRandom(seed)
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  /** Both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.#next() * (to - from + 1))
  }

  pick<T>(some: readonly T[]): T {
    return some[this.int(0, some.length - 1)] as T
  }

  text(letters: string, length: number): string {
    return Array.from({ length }, () => letters[this.int(0, letters.length - 1)]).join('')
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.int(0, 255)))
  }
}
