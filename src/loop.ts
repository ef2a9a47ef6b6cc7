// Runs something again and again: one run at a time, a pause after each, a longer one after a failure. Stops cleanly.
import type { FastifyBaseLogger } from 'fastify'
import { messageOf } from './errors.ts'

const MAX_PAUSE_MS = 5_000

/** What a run may return that found nothing to try: whether what failed works again is not known. */
export const NOTHING_TRIED = Symbol('nothing tried')

export type Work = { run(): Promise<unknown>; onFailure?(): Promise<void> }

export type Loop = {
  readonly name: string
  /** In a row. */
  readonly failures: number
  /** Called after each run, where traces are wanted. */
  onRun: ((run: { tookMs: number; error: unknown }) => void) | null
  start(): void
  stop(): Promise<void>
}

export function createLoop(
  name: string,
  pauseMs: number,
  log: Pick<FastifyBaseLogger, 'warn' | 'info'>,
  work: Work,
): Loop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false
  let failures = 0

  async function runOnce(): Promise<void> {
    const startedMs = performance.now()
    try {
      const done = await work.run()
      loop.onRun?.({ tookMs: performance.now() - startedMs, error: null })
      if (done === NOTHING_TRIED) return
      if (failures > 0) log.info(`${name} works again`)
      failures = 0
    } catch (error) {
      loop.onRun?.({ tookMs: performance.now() - startedMs, error })
      // One line when it starts to fail; an outage of an hour is not worth ten thousand.
      if (failures++ === 0) log.warn(`${name} failed (${messageOf(error)}); trying again until it works`)
      await work.onFailure?.().catch(() => {}) // the next run shows whether it helped
    }
  }
  function schedule(delayMs: number): void {
    timer = setTimeout(() => {
      running = runOnce().then(() => {
        if (!isStopped) schedule(Math.min(pauseMs * 2 ** Math.min(failures, 8), Math.max(pauseMs, MAX_PAUSE_MS)))
      })
    }, delayMs)
  }
  const loop: Loop = {
    name,
    onRun: null,
    get failures() {
      return failures
    },
    start: () => schedule(0),
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
  return loop
}
