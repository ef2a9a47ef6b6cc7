// Rate limits among the processes of one machine, without Redis: one process keeps the count, the others ask it. What
// they ask in one turn of their event loop goes out together, so that a busy process sends few messages.
import { type Allowance, allowanceOf, type RateLimiter, Windows, withBudget } from './rate-limit.ts'

const PATIENCE_MS = 1_000

export type Take = [key: string, cost: number]
export type Taken = [used: number, resetAtMs: number]

/** Of the process that keeps the count. */
export function createLimitKeeper(now: () => number = Date.now): (takes: readonly Take[]) => Taken[] {
  const windows = new Windows(now)
  return (takes) =>
    takes.map(([key, cost]) => {
      const { used, resetAtMs } = windows.add(key, cost)
      return [used, resetAtMs]
    })
}

type Waiting = { key: string; limit: number; cost: number; answer: (allowance: Allowance) => void }

/**
 * `ask`: the keeper. Where that does not answer, or not in time, this process counts on by itself from the last answer,
 * and waits for no other one until that comes after all: a pipe loses nothing, so it does once the keeper goes on.
 */
export function createSharedLimiter(
  ask: (takes: Take[]) => Promise<Taken[]>,
  warn: (message: string) => void,
  patienceMs = PATIENCE_MS,
): RateLimiter {
  const windows = new Windows(Date.now)
  let waiting: Waiting[] = []
  let isSilent = false

  async function flush(): Promise<void> {
    const batch = waiting
    waiting = []
    const asked = ask(batch.map(({ key, cost }) => [key, cost]))
    const taken = await withBudget(asked, patienceMs)
    if (taken === null) {
      if (!isSilent) warn('The supervisor does not answer: each process counts its own requests until it does.')
      isSilent = true
      void asked.catch(() => {}).then(() => (isSilent = false))
    }
    for (const [i, { key, limit, cost, answer }] of batch.entries()) {
      const said = taken?.[i]
      answer(allowanceOf(said === undefined ? windows.add(key, cost) : windows.follow(key, cost, ...said), limit))
    }
  }

  return {
    take(key, limit, cost = 1) {
      if (isSilent) return allowanceOf(windows.add(key, cost), limit)
      return new Promise((answer) => {
        if (waiting.push({ key, limit, cost, answer }) === 1) setImmediate(() => void flush())
      })
    },
    peek: (key, limit) => allowanceOf(windows.get(key), limit),
    close: async () => {},
  }
}
