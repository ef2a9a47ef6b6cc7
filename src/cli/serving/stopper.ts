import type { FastifyBaseLogger } from 'fastify'

const STOP_PATIENCE_MS = 25_000 // a postback under way may take 15 s

export type Stops = {
  drain: (isOver: AbortSignal) => Promise<void>
  close: () => Promise<void>
}

export type Stopper = {
  readonly isAsked: boolean
  /** What was asked for before is done now. */
  started(): void
  stop(drains: boolean): void
  /** Drains no longer. */
  hurry(): void
}

/** supervised: a process that another one stops. Ctrl-C reaches it as well, and is left to that one. */
type StopOptions = { drainSeconds: number; log: FastifyBaseLogger; isSupervised?: boolean; patienceMs?: number }

/**
 * Stops at the first signal, once the start is over; at the next Ctrl-C, or when it takes too long, without waiting. Only
 * SIGTERM drains, and a second one ends that: a person at the terminal waits for the end.
 */
export function createStopper({ drain, close }: Stops, options: StopOptions): Stopper {
  const { drainSeconds, log, isSupervised = false, patienceMs = STOP_PATIENCE_MS } = options
  const started = Promise.withResolvers<void>()
  const isOver = new AbortController()
  let isAsked = false
  const stop = async (drains: boolean) => {
    isAsked = true
    setTimeout(() => process.exit(1), drainSeconds * 1_000 + patienceMs).unref()
    await started.promise
    try {
      if (drains) await drain(isOver.signal)
      await close()
      process.exit(0)
    } catch (error) {
      log.error({ err: error }, 'could not shut down cleanly')
      process.exit(1)
    }
  }
  const ask = (drains: boolean) => {
    if (!isAsked) void stop(drains)
  }
  process.on('SIGINT', () => {
    if (isSupervised) return
    if (isAsked) process.exit(1)
    ask(false)
  })
  process.on('SIGTERM', () => (isAsked ? isOver.abort() : ask(true)))
  return {
    get isAsked() {
      return isAsked
    },
    started: started.resolve,
    stop: ask,
    hurry: () => isOver.abort(),
  }
}
