// The process that makes the load, at a constant rate: every request has its time by plan, whatever became of those
// before it, and its latency counts from that time. So a server that stalls for a second has made all the requests of
// that second wait, as it would have with users, who do not know of each other. (wrk sends its next request when an
// answer has come: a stall is one slow request to it.)
//
// It takes commands as lines of JSON on its input, and answers each with a report. It speaks HTTP by itself, because
// it shares the machine with the server, and what it spends the server lacks.
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from './histogram.ts'
import type { LoadStep, StepReport } from './load.ts'
import { createChooser, createWriter, EXPECTED, type Kind, KINDS, type Sources } from './requests.ts'

const MAX_CONNECTIONS = 128
const IDLE_MS = 30_000 // sooner than the server ends it: a request that crosses with its end would fail
const RECONNECT_MS = 100
const DRAIN_MS = 10_000

type Request = { kind: Kind; plannedMs: number }

const sources = JSON.parse(process.argv[2] ?? '') as Sources
const write = createWriter(sources)
const idle: Connection[] = []
const connections = new Set<Connection>()
const waiting: Request[] = []
let waitingFrom = 0 // those before it were sent
let step = createStep()

function createStep() {
  const all = new Histogram()
  const ofKind = Object.fromEntries(KINDS.map((kind) => [kind, new Histogram()])) as Record<Kind, Histogram>
  return { all, ofKind, lateness: new Histogram(), unexpected: {} as Record<number, number>, broken: 0, bytes: 0, underWay: 0 } // prettier-ignore
}

class Connection {
  readonly #socket: Socket
  #request: Request | null = null
  #head: Buffer | null = null
  #status = 0
  #missing = 0

  constructor() {
    this.#socket = connect({ host: '127.0.0.1', port: sources.port, noDelay: true, timeout: IDLE_MS })
    this.#socket.once('connect', () => release(this))
    this.#socket.on('data', (chunk) => this.#read(chunk))
    this.#socket.on('timeout', () => this.#request ?? this.#socket.destroy())
    this.#socket.on('error', () => {}) // 'close' follows
    this.#socket.once('close', () => this.#forget())
  }

  send(request: Request): void {
    this.#request = request
    this.#socket.write(write(request.kind), 'latin1')
  }

  #read(chunk: Buffer): void {
    step.bytes += chunk.length
    if (this.#missing > 0) this.#missing -= chunk.length
    else if (!this.#readHead(this.#head === null ? chunk : Buffer.concat([this.#head, chunk]))) return
    if (this.#missing > 0) return
    if (this.#request === null) return // not an answer to a request of ours
    const { kind, plannedMs } = this.#request
    this.#request = null
    step.underWay--
    const ms = performance.now() - plannedMs
    step.all.record(ms)
    step.ofKind[kind].record(ms)
    if (this.#status !== EXPECTED[kind]) step.unexpected[this.#status] = (step.unexpected[this.#status] ?? 0) + 1
    release(this)
  }

  /** False until the head is complete. */
  #readHead(bytes: Buffer): boolean {
    const end = bytes.indexOf('\r\n\r\n')
    this.#head = end === -1 ? bytes : null
    if (end === -1) return false
    const head = bytes.toString('latin1', 0, end)
    const [, length] = /\r\ncontent-length: (\d+)/i.exec(head) ?? []
    if (length === undefined) throw new Error(`An answer does not say how long it is:\n${head}`)
    this.#status = Number(head.slice(9, 12))
    this.#missing = end + 4 + Number(length) - bytes.length
    return true
  }

  #forget(): void {
    connections.delete(this)
    const at = idle.indexOf(this)
    if (at !== -1) idle.splice(at, 1)
    if (this.#request !== null) {
      step.broken++
      step.underWay--
    }
    setTimeout(connectForWaiting, RECONNECT_MS)
  }

  /** What is still under way here stays unanswered. */
  reset(): void {
    if (this.#request === null) return
    this.#request = null
    this.#socket.destroy()
  }
}

/** Opens a connection for what waits, as far as there may be more. */
function connectForWaiting(): void {
  if (waiting.length > waitingFrom && connections.size < MAX_CONNECTIONS) connections.add(new Connection())
}

/** Requests that found no free connection have waited; that is part of their latency. */
function release(connection: Connection): void {
  const next = waiting[waitingFrom]
  if (next === undefined) {
    idle.push(connection)
    return
  }
  if (++waitingFrom === waiting.length) waiting.length = waitingFrom = 0
  connection.send(next)
}

async function run({ load, rate, seconds, patienceSeconds }: LoadStep): Promise<StepReport> {
  step = createStep()
  const choose = createChooser(load)
  const planned = Math.round(rate * seconds)
  const cpuBefore = process.cpuUsage()
  const startMs = performance.now() + 1
  let sent = 0
  while (sent < planned && waiting.length - waitingFrom <= rate * patienceSeconds) {
    const nowMs = performance.now()
    for (; sent < planned; sent++) {
      const plannedMs = startMs + (sent * 1000) / rate
      if (plannedMs > nowMs) break
      step.lateness.record(nowMs - plannedMs)
      step.underWay++
      const request = { kind: choose(), plannedMs }
      const connection = idle.pop()
      if (connection !== undefined) {
        connection.send(request)
        continue
      }
      waiting.push(request)
      connectForWaiting()
    }
    await sleep(1)
  }
  if (sent < planned) step.underWay -= forgetWaiting()
  const endMs = performance.now() + DRAIN_MS
  while (step.underWay > 0 && performance.now() < endMs) await sleep(1)
  forgetWaiting()
  for (const connection of connections) connection.reset()
  const { user, system } = process.cpuUsage(cpuBefore)
  const elapsedSeconds = (performance.now() - startMs) / 1000
  return describe(planned, elapsedSeconds, (user + system) / 1e6 / elapsedSeconds)
}

function forgetWaiting(): number {
  const forgotten = waiting.length - waitingFrom
  waiting.length = waitingFrom = 0
  return forgotten
}

function describe(planned: number, elapsedSeconds: number, cpuShare: number): StepReport {
  const { all, ofKind, lateness, unexpected, broken, bytes } = step
  const timesOf = (times: Histogram) => ({
    answers: times.count,
    p50Ms: times.percentileMs(50),
    p99Ms: times.percentileMs(99),
    maxMs: times.maxMs,
  })
  return {
    ...timesOf(all),
    planned,
    elapsedSeconds,
    unexpected,
    broken,
    unanswered: planned - all.count - broken,
    bytes,
    connections: connections.size,
    lateP99Ms: lateness.percentileMs(99),
    generatorCpuShare: cpuShare,
    kinds: Object.fromEntries(KINDS.map((kind) => [kind, timesOf(ofKind[kind])])) as StepReport['kinds'],
  }
}

for await (const line of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await run(JSON.parse(line) as LoadStep)))
process.exit(0)
