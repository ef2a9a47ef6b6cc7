// Times in buckets whose width grows with the time: none is off by more than a 64th, however many are recorded.
const STEPS = 64 // buckets for each doubling

export class Histogram {
  readonly #counts = new Float64Array(STEPS * 27)
  #count = 0
  #maxMicros = 0

  record(ms: number): void {
    const micros = Math.max(0, Math.min(2 ** 31 - 1, Math.round(ms * 1000)))
    const bucket = bucketOf(micros)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#count++
    this.#maxMicros = Math.max(this.#maxMicros, micros)
  }

  get count(): number {
    return this.#count
  }

  get maxMs(): number {
    return this.#maxMicros / 1000
  }

  /** The time that so many in a hundred did not exceed, in milliseconds; 0 when there are none. */
  percentileMs(percent: number): number {
    const rank = Math.ceil((percent / 100) * this.#count)
    let seen = 0
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count
      if (count > 0 && seen >= rank) return Math.min(upperEndOf(bucket), this.#maxMicros) / 1000
    }
    return 0
  }
}

/** Up to twice the steps, each has its own bucket; from there on, each doubling has as many as the one before. */
function bucketOf(micros: number): number {
  const shift = Math.max(0, 31 - Math.clz32(micros) - Math.log2(STEPS))
  return shift * STEPS + (micros >> shift)
}

function upperEndOf(bucket: number): number {
  if (bucket < 2 * STEPS) return bucket
  const shift = Math.floor(bucket / STEPS) - 1
  return (bucket - shift * STEPS + 1) * 2 ** shift - 1
}
