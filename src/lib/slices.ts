// Long work in short slices, so that requests are answered in between. Work is a generator that yields wherever it may
// be interrupted; one piece of work runs at a time, and urgent work takes precedence.
import { setImmediate as breathe } from 'node:timers/promises'

const SLICE_MS = 4

type Work<T> = () => Generator<void, T>
type Task = () => Promise<void>

export class Slices {
  readonly #urgent: Task[] = []
  readonly #others: Task[] = []
  #isRunning = false
  #sliceEndsMs = 0

  urgently<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(this.#urgent, work)
  }

  eventually<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(this.#others, work)
  }

  #enqueue<T>(queue: Task[], work: Work<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    queue.push(() => this.#perform(work).then(resolve, reject))
    if (!this.#isRunning) void this.#run()
    return promise
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let task; (task = this.#urgent.shift() ?? this.#others.shift()) !== undefined;) await task()
    this.#isRunning = false
  }

  async #perform<T>(work: Work<T>): Promise<T> {
    for (const steps = work(); ;) {
      if (performance.now() >= this.#sliceEndsMs) {
        await breathe()
        this.#sliceEndsMs = performance.now() + SLICE_MS
      }
      const { done, value } = steps.next()
      if (done === true) return value
    }
  }
}

/** All of it at once, for work that is known to be short. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** From the first to the last of so many, some at a time. */
export function* stepsOf(count: number, size: number): Generator<[start: number, end: number]> {
  for (let start = 0; start < count; start += size) yield [start, Math.min(count, start + size)]
}
