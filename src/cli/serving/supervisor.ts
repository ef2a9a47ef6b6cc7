// One process that starts the others: as many APIs as PROCESSES says, and the worker apart. All APIs listen on the one
// port, and the kernel distributes connections among them (SO_REUSEPORT): no connection waits for a process that has just
// died, as it would if this one passed connections on. One that exits unexpectedly, or does not answer for half a minute
// (two, while it loads), is replaced, later each time; if one cannot start at the beginning, all end, with its message.
//
// It also keeps what the others must share without Redis, the counts of rate limits, and adds up their figures.
import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { MetricObject } from 'prom-client'
import type { DemoSite } from '../../demo/site.ts'
import { messageOf, OperatorError } from '../../errors.ts'
import { createLimitKeeper } from '../../http/shared-limit.ts'
import { inTime } from '../../lib/in-time.ts'
import { type FromProcess, type Part, Questions, type ToProcess } from './messages.ts'

/** Set for the processes that it starts: their name. */
export const SUPERVISED = 'OFFERDECK_PROCESS'
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000
const STEADY_MS = 60_000 // after this long, the next wait is the first one again
const COLLECT_MS = 2_000
const PING_MS = 5_000
const MAX_UNANSWERED = 6
/** Loading the program takes seconds, on a busy machine many. */
const MAX_UNANSWERED_AT_START = 24

type Collected = Extract<FromProcess, { kind: 'collected' }>
type Role = { part: Part; name: string }
type Child = Role & {
  process: ChildProcess
  questions: Questions<Collected>
  /** It has loaded, and answers. */
  isReady: boolean
  /** Pings since anything came from it. */
  unanswered: number
  ended: Promise<unknown>
}
type SupervisorOptions = {
  log: FastifyBaseLogger
  demoSite: DemoSite | null
  /** The figures of all, for Prometheus at an API. */
  readFigures: (() => Promise<string>) | null
  /** What each of them runs. */
  program?: readonly string[]
  pingMs?: number
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #children = new Map<string, Child>()
  readonly #keepLimits = createLimitKeeper()
  readonly #stopping = new AbortController()
  /** How many were replaced. */
  restarts = 0

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Resolves when all of them have started. */
  async start(roles: readonly Role[]): Promise<void> {
    const startOne = async (role: Role) => {
      const started = Promise.withResolvers<void>()
      const ended = this.#run(role, started.resolve)
      await Promise.race([started.promise, ended])
      void this.#keep(role, ended)
    }
    await Promise.all(roles.map(startOne))
  }

  /** Starts it again whenever it has ended, until all are stopped. */
  async #keep(role: Role, firstEnd: Promise<string>): Promise<void> {
    const { signal } = this.#stopping
    for (let ended = firstEnd, startedMs = Date.now(), waitMs = 0; ; ended = this.#run(role), startedMs = Date.now()) {
      const how = await ended.catch((error: unknown) => `could not start (${messageOf(error)})`)
      if (signal.aborted) return
      waitMs = nextWait(waitMs, Date.now() - startedMs)
      this.#options.log.error(`the process "${role.name}" ${how}; it is started again in ${waitMs / 1000} s`)
      this.restarts++
      await sleep(waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
    }
  }

  /** Resolves to how it ended, once it has; rejects if it did not start. */
  async #run({ part, name }: Role, onStarted = () => {}): Promise<string> {
    const { demoSite, program = process.argv.slice(1), pingMs = PING_MS } = this.#options
    const [file = '', ...args] = program
    const ended = Promise.withResolvers<string>()
    const forked = fork(file, args, { env: { ...process.env, [SUPERVISED]: name } })
    const child: Child = { part, name, process: forked, questions: new Questions(), isReady: false, unanswered: 0, ended: ended.promise.catch(() => {}) } // prettier-ignore
    this.#children.set(name, child)
    const pings = setInterval(() => this.#ping(child), pingMs)
    let hasStarted = false
    let failure: Error | null = null
    forked.on('message', (message: FromProcess) => {
      child.unanswered = 0
      if (message.kind === 'ready') {
        child.isReady = true
        this.#send(child, { kind: 'start', part, name, demoSite })
      } else if (message.kind === 'started') {
        hasStarted = true
        onStarted()
      } else if (message.kind === 'failed') failure = failureOf(message)
      else this.#answer(child, message)
    })
    forked.on('error', (error) => {
      if (forked.pid === undefined) ended.reject(error) // else a message did not reach it: its end is noticed
    })
    forked.once('exit', (code, signal) => {
      const how = `ended ${signal === null ? `with status ${code}` : `by ${signal}`}`
      if (hasStarted) ended.resolve(how)
      else ended.reject(failure ?? new Error(`The process "${name}" ${how} while it started.`))
    })
    try {
      return await ended.promise
    } finally {
      clearInterval(pings)
      this.#children.delete(name)
      child.questions.abandon()
    }
  }

  /**
   * One that is frozen would keep its share of the connections, and answer none of them. Pings are counted, not seconds:
   * while this process was frozen itself, or the whole machine asleep, it could hear of none.
   */
  #ping(child: Child): void {
    if (child.unanswered++ === (child.isReady ? MAX_UNANSWERED : MAX_UNANSWERED_AT_START)) {
      this.#options.log.error(`the process "${child.name}" does not answer any more, and is killed`)
      child.process.kill('SIGKILL')
    } else this.#send(child, { kind: 'ping' })
  }

  #send(child: Child, message: ToProcess): void {
    if (child.process.connected) child.process.send(message)
  }

  #answer(child: Child, message: FromProcess): void {
    if (message.kind === 'take')
      this.#send(child, { kind: 'taken', id: message.id, taken: this.#keepLimits(message.takes) })
    else if (message.kind === 'collected') child.questions.answered(message)
    else if (message.kind === 'askFigures')
      void this.#options
        .readFigures?.()
        .then((text) => this.#send(child, { kind: 'figures', id: message.id, text }))
        .catch(() => {}) // Prometheus asks again
  }

  /** What each process has counted. One that does not answer in time is left out. */
  async collect(): Promise<MetricObject[][]> {
    const asked = [...this.#children.values()].map((child) =>
      inTime(
        child.questions.ask((id) => this.#send(child, { kind: 'collect', id })),
        COLLECT_MS,
      ).then(
        ({ metrics }) => [metrics],
        () => [],
      ),
    )
    return (await Promise.all(asked)).flat()
  }

  /** Stops the processes of a part, and resolves when they have exited. */
  async stop(part: Part, drains: boolean, isOver?: AbortSignal): Promise<void> {
    this.#stopping.abort()
    const children = [...this.#children.values()].filter((child) => child.part === part)
    for (const child of children) this.#send(child, { kind: 'stop', drains })
    const hurry = () => {
      for (const child of children) this.#send(child, { kind: 'hurry' })
    }
    isOver?.addEventListener('abort', hurry)
    await Promise.all(children.map(({ ended }) => ended))
  }
}

/** How long to wait until one that has ended is started again, after the wait before that. */
export const nextWait = (lastMs: number, ranMs: number): number =>
  ranMs > STEADY_MS ? FIRST_WAIT_MS : Math.min(Math.max(FIRST_WAIT_MS, lastMs * 2), LONGEST_WAIT_MS)

const failureOf = ({ message, isExplained }: { message: string; isExplained: boolean }): Error =>
  isExplained ? new OperatorError(message) : new Error(message)
