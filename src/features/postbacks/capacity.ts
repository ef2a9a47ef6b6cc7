// Limits how many postbacks a worker sends at once.
import { setTimeout as sleep } from 'node:timers/promises'

const WORTH_A_CLAIM = 64 // free capacity worth a claim: a claim is expensive, a row in it is cheap
const WORTH_A_WAIT_MS = 20 // but not worth waiting for what slow receivers hold

export class Capacity {
  readonly total: number
  #taken = 0
  #isClosed = false
  readonly #waiting = new Set<{ count: number; go: () => void }>()

  constructor(total: number) {
    this.total = total
  }

  get free(): number {
    return this.total - this.#taken
  }

  take(count: number): void {
    this.#taken += count
  }

  release(count: number): void {
    this.#taken -= count
    for (const waiter of this.#waiting) if (this.free >= waiter.count || this.#isClosed) waiter.go()
  }

  /** Resolves when some capacity is free, and waits a moment for more. */
  async some(): Promise<void> {
    if (this.free >= WORTH_A_CLAIM || this.#isClosed) return
    const timer = new AbortController()
    await Promise.race([
      this.#until(WORTH_A_CLAIM, timer.signal),
      sleep(WORTH_A_WAIT_MS, undefined, { signal: timer.signal }).catch(() => {}),
    ])
    timer.abort()
    if (this.free === 0 && !this.#isClosed) await this.#until(1)
  }

  /** Releases everything that waits for capacity, and resolves when all of it is free. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { go } of this.#waiting) go()
    if (this.#taken > 0) await new Promise<void>((done) => this.#onceAllFree(done))
  }

  #onceAllFree(done: () => void): void {
    const waiter = { count: this.total, go: () => {} }
    waiter.go = () => {
      if (this.#taken > 0) return
      this.#waiting.delete(waiter)
      done()
    }
    this.#waiting.add(waiter)
  }

  #until(count: number, signal?: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const go = () => {
        this.#waiting.delete(waiter)
        done()
      }
      const waiter = { count, go }
      this.#waiting.add(waiter)
      signal?.addEventListener('abort', () => this.#waiting.delete(waiter), { once: true })
    })
  }
}
