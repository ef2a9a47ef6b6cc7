// How many requests a key (or an IP address that guesses keys) has left in its window of 60 s.
//
// In memory the count is exact for this process, and for those of one machine where one of them keeps it
// (shared-limit.ts). With Redis it is exact over all of them: Redis has 30 ms to answer; a late or failed answer opens a
// breaker for a second, during which the count in memory decides. That count follows Redis while Redis answers, so an
// outage of Redis gives no caller a fresh allowance.
import { Cache } from '../lib/cache.ts'
import { openRedis } from './redis-client.ts'

const WINDOW_MS = 60_000
const REDIS_BUDGET_MS = 30
const BREAKER_MS = 1_000
const MAX_KEYS = 100_000

export type Allowance = { limit: number; remaining: number; resetAtMs: number; exceeded: boolean }

export type RateLimiter = {
  /** Takes one, or `cost`, from the allowance of `key`. A promise only where another process must be asked. */
  take(key: string, limit: number, cost?: number): Allowance | Promise<Allowance>
  /** The allowance as this process knows it, taking nothing. */
  peek(key: string, limit: number): Allowance
  close(): Promise<void>
}

type Window = { used: number; resetAtMs: number }

export type MemoryLimiter = Omit<RateLimiter, 'take'> & { take(key: string, limit: number): Allowance }

export function createMemoryLimiter(now: () => number = Date.now): MemoryLimiter {
  const windows = new Windows(now)
  return {
    take: (key, limit, cost = 1) => allowanceOf(windows.add(key, cost), limit),
    peek: (key, limit) => allowanceOf(windows.get(key), limit),
    close: async () => {},
  }
}

export async function createRedisLimiter(
  url: string,
  warn: (message: string) => void,
  budgetMs = REDIS_BUDGET_MS,
): Promise<RateLimiter> {
  const { RateLimiterRedis } = await import('rate-limiter-flexible') // half a thousand modules, for those who have Redis
  const windows = new Windows(Date.now)
  let closedUntil = 0 // while the breaker is open
  let isDown = false
  const fail = (reason: string) => {
    closedUntil = Date.now() + BREAKER_MS
    if (!isDown) warn(`Redis does not answer (${reason}): each process counts its own requests until it does.`)
    isDown = true
  }
  const { client, connected, close } = await openRedis(url, (error) => fail(error.message))
  await Promise.race([connected, wait(budgetMs * 10)])
  const counter = new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: true,
    points: Number.MAX_SAFE_INTEGER,
    duration: WINDOW_MS / 1000,
    keyPrefix: 'offerdeck:rate',
  })

  async function ask(key: string, limit: number, cost: number): Promise<Allowance> {
    const answer = await withBudget(counter.penalty(key, cost), budgetMs)
    if (answer === null) {
      fail(`no answer within ${budgetMs} ms`)
      return allowanceOf(windows.add(key, cost), limit)
    }
    isDown = false
    return allowanceOf(windows.follow(key, cost, answer.consumedPoints, Date.now() + answer.msBeforeNext), limit)
  }
  return {
    take(key, limit, cost = 1) {
      if (Date.now() < closedUntil || !client.isReady) return allowanceOf(windows.add(key, cost), limit)
      return ask(key, limit, cost)
    },
    peek: (key, limit) => allowanceOf(windows.get(key), limit),
    close,
  }
}

function wait(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null))
}

/** What `work` gives, or null when it fails or takes longer than it may. */
export async function withBudget<T>(work: Promise<T>, budgetMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, budgetMs, null)))
  try {
    return await Promise.race([work.catch(() => null), late])
  } finally {
    clearTimeout(timer)
  }
}

export function allowanceOf({ used, resetAtMs }: Window, limit: number): Allowance {
  return { limit, remaining: Math.max(0, limit - used), resetAtMs, exceeded: used > limit }
}

/** Fixed windows that start with a key's first request. Bounded: what is forgotten under a flood of keys is the oldest. */
export class Windows {
  readonly #windows = new Cache<string, Window>(MAX_KEYS)
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  get(key: string): Window {
    const window = this.#windows.get(key)
    const now = this.#now()
    // One that ends later than a window lasts began before the clock was set back.
    const isCurrent = window !== undefined && now < window.resetAtMs && window.resetAtMs <= now + WINDOW_MS
    return isCurrent ? window : { used: 0, resetAtMs: now + WINDOW_MS }
  }

  add(key: string, cost: number): Window {
    const window = this.get(key)
    if (window.used === 0) this.#windows.set(key, window)
    window.used += cost
    return window
  }

  /** Counts it, and takes over what was counted for all where that is more: after an outage Redis knows less than we do. */
  follow(key: string, cost: number, used: number, resetAtMs: number): Window {
    const window = this.add(key, cost)
    if (used >= window.used) {
      window.used = used
      window.resetAtMs = resetAtMs
    }
    return window
  }
}
