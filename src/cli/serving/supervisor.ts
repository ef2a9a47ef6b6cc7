// One process that starts the others: as many APIs as PROCESSES says, and the worker apart. All APIs listen on the one
// port, and the kernel shares connections out among them (SO_REUSEPORT): nothing hangs on a process that has just died,
// as it would if this one passed connections on. One that ends unasked is replaced, later each time; one that cannot
// start at the beginning ends the whole, with its message.
//
// It also keeps what the others must share without Redis, the counts of rate limits, and adds up their figures.
import { type ChildProcess, fork } from 'node:child_process'
import type { FastifyBaseLogger } from 'fastify'
import type { MetricObject } from 'prom-client'
import type { DemoSite } from '../../demo/site.ts'
import { OperatorError } from '../../errors.ts'
import { createLimitKeeper } from '../../http/shared-limit.ts'
import { inTime } from '../../lib/in-time.ts'
import { type FromProcess, type Part, Questions, type ToProcess } from './messages.ts'

/** Set for the processes that it starts: their name. */
export const SUPERVISED = 'OFFERDECK_PROCESS'
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
const STEADY_MS = 60_000 // after this long, the next wait is the first one again
const COLLECT_MS = 2_000

type Collected = Extract<FromProcess, { kind: 'collected' }>
type Child = {
  part: Part
  name: string
  process: ChildProcess
  startedMs: number
  questions: Questions<Collected>
  ended: Promise<void>
}
type SupervisorOptions = {
  log: FastifyBaseLogger
  demoSite: DemoSite | null
  /** The figures of all, for Prometheus at an API. */
  readFigures: (() => Promise<string>) | null
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #children = new Map<string, Child>()
  readonly #keepLimits = createLimitKeeper()
  readonly #waits = new Map<string, NodeJS.Timeout>()
  #isStopping = false
  /** How many were replaced. */
  restarts = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Resolves when all of them have started. */
  async start(parts: readonly { part: Part; name: string }[]): Promise<void> {
    await Promise.all(parts.map(({ part, name }) => this.#start(part, name, FIRST_WAIT_MS, true)))
  }

  async #start(part: Part, name: string, waitMs: number, isFirst: boolean): Promise<void> {
    const ended = Promise.withResolvers<void>()
    const child: Child = {
      part,
      name,
      process: fork(process.argv[1] ?? '', process.argv.slice(2), { env: { ...process.env, [SUPERVISED]: name } }),
      startedMs: Date.now(),
      questions: new Questions(),
      ended: ended.promise,
    }
    this.#children.set(name, child)
    const started = Promise.withResolvers<void>()
    child.process.on('message', (message: FromProcess) => {
      if (message.kind === 'ready') this.#tell(child, { kind: 'start', part, name, demoSite: this.#options.demoSite })
      else if (message.kind === 'started') started.resolve()
      else if (message.kind === 'failed') started.reject(failureOf(message))
      else this.#answer(child, message)
    })
    child.process.on('error', () => {}) // a message that did not reach it: its end is noticed below
    child.process.once('exit', (code, signal) => {
      this.#children.delete(name)
      child.questions.abandon()
      ended.resolve()
      const how = signal === null ? `with status ${code}` : `by ${signal}`
      started.reject(new Error(`The process "${name}" ended ${how} while it started.`))
      if (!this.#isStopping && !isFirst) this.#replace(child, how, waitMs)
    })
    await started.promise
    isFirst = false
  }

  #replace({ part, name, startedMs }: Child, how: string, lastWaitMs: number): void {
    const waitMs = Date.now() - startedMs > STEADY_MS ? FIRST_WAIT_MS : lastWaitMs
    this.#options.log.error(`the process "${name}" ended ${how}; it is started again in ${waitMs / 1000} s`)
    this.restarts++
    const again = () => {
      this.#waits.delete(name)
      this.#start(part, name, Math.min(waitMs * 2, LONGEST_WAIT_MS), false).catch((error: Error) =>
        this.#options.log.error(error.message),
      )
    }
    this.#waits.set(name, setTimeout(again, waitMs))
  }

  #tell(child: Child, message: ToProcess): void {
    if (child.process.connected) child.process.send(message)
  }

  #answer(child: Child, message: FromProcess): void {
    if (message.kind === 'take')
      this.#tell(child, { kind: 'taken', id: message.id, taken: this.#keepLimits(message.takes) })
    else if (message.kind === 'collected') child.questions.answered(message)
    else if (message.kind === 'askFigures')
      void this.#options
        .readFigures?.()
        .then((text) => this.#tell(child, { kind: 'figures', id: message.id, text }))
        .catch(() => {}) // Prometheus asks again
  }

  /** What each process has counted. One that does not answer in time is left out. */
  async collect(): Promise<MetricObject[][]> {
    const asked = [...this.#children.values()].map((child) =>
      inTime(
        child.questions.ask((id) => this.#tell(child, { kind: 'collect', id })),
        COLLECT_MS,
      ).then(
        ({ metrics }) => [metrics],
        () => [],
      ),
    )
    return (await Promise.all(asked)).flat()
  }

  /** Ends those of a part, and resolves when they are gone. */
  async stop(part: Part, drains: boolean, isOver?: AbortSignal): Promise<void> {
    this.#isStopping = true
    for (const wait of this.#waits.values()) clearTimeout(wait)
    const children = [...this.#children.values()].filter((child) => child.part === part)
    for (const child of children) this.#tell(child, { kind: 'stop', drains })
    const hurry = () => {
      for (const child of children) this.#tell(child, { kind: 'hurry' })
    }
    isOver?.addEventListener('abort', hurry)
    await Promise.all(children.map(({ ended }) => ended))
  }
}

const failureOf = ({ message, isExplained }: { message: string; isExplained: boolean }): Error =>
  isExplained ? new OperatorError(message) : new Error(message)
