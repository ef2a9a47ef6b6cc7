// The side of a process that the supervisor started: what reaches it, and what it asks.
import { OperatorError, messageOf } from '../../errors.ts'
import type { MetricObject } from 'prom-client'
import { createSharedLimiter, type Take } from '../../http/shared-limit.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { inTime } from '../../lib/in-time.ts'
import { type FromProcess, Questions, type ToProcess } from './messages.ts'
import type { Stopper } from './stopper.ts'

const FIGURES_MS = 5_000

type Taken = Extract<ToProcess, { kind: 'taken' }>
type Figures = Extract<ToProcess, { kind: 'figures' }>
type Start = Extract<ToProcess, { kind: 'start' }>

export class Supervised {
  readonly #takes = new Questions<Taken>()
  readonly #figures = new Questions<Figures>()
  readonly #start = Promise.withResolvers<Start>()
  /** What `collect` reads. */
  readMetrics: () => Promise<MetricObject[]> = async () => []

  constructor(stopper: Stopper) {
    process.on('disconnect', () => stopper.stop(false)) // the supervisor is gone
    process.on('message', (message: ToProcess) => {
      if (message.kind === 'start') this.#start.resolve(message)
      else if (message.kind === 'stop') stopper.stop(message.drains)
      else if (message.kind === 'hurry') stopper.hurry()
      else if (message.kind === 'ping') send({ kind: 'pong' })
      else if (message.kind === 'taken') this.#takes.answered(message)
      else if (message.kind === 'figures') this.#figures.answered(message)
      else void this.#collect(message.id)
    })
  }

  /** What this process is to be. */
  ready(): Promise<Start> {
    send({ kind: 'ready' })
    return this.#start.promise
  }

  started(): void {
    send({ kind: 'started' })
  }

  failed(error: unknown): void {
    send({ kind: 'failed', message: messageOf(error), isExplained: error instanceof OperatorError })
  }

  createLimiter(warn: (message: string) => void): RateLimiter {
    const ask = async (takes: Take[]) => (await this.#takes.ask((id) => send({ kind: 'take', id, takes }))).taken
    return createSharedLimiter(ask, warn)
  }

  /** Of all processes together. */
  async readFigures(): Promise<string> {
    const asked = this.#figures.ask((id) => send({ kind: 'askFigures', id }))
    return (await inTime(asked, FIGURES_MS)).text
  }

  async #collect(id: number): Promise<void> {
    send({ kind: 'collected', id, metrics: await this.readMetrics() })
  }
}

const send = (message: FromProcess): void => {
  if (process.connected) process.send?.(message)
}
