// How much a worker has under way at once.
import { setTimeout as sleep } from 'node:timers/promises'

const WORTH_A_CLAIM = 64 // free slots: a claim costs much, a row in it little
const WORTH_A_WAIT_MS = 20 // but not for slots that slow receivers hold

export class Slots {
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

  /** Resolves when one is free; when more come within a moment, then with those. */
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

  /** Lets everybody who waits for slots go, and resolves when all are free. */
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
