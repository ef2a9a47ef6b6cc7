// Sends requests of all kinds to a server, each made from the seed and its number alone, and checks every answer.
import { createHash } from 'node:crypto'
import { Random } from '../random.ts'
import { Checks, PATIENCE_MS } from './checks.ts'
import { type Answer, Connection, takeAnswer } from './connection.ts'
import type { Described } from './description.ts'
import { draftFor, type Surroundings } from './drafts.ts'
import { finish, mutate } from './mutate.ts'
import { draftPage } from './pages.ts'
import { speak, talk } from './raw.ts'
import { encode, type FuzzRequest } from './request.ts'

const CLIENTS = 16
/** After so many there is enough to look at. */
export const MOST_FAILURES = 20

export type Failure = { number: number; what: string; problem: string; requestId: string; bytes: Buffer }

export type FuzzerOptions = { seed: number; port: number; operations: readonly Described[]; metricsToken: string }

export class Fuzzer {
  readonly failures: Failure[] = []
  readonly checks = new Checks()
  /** How many requests were sent, by kind, and how often each status came. */
  readonly sent = new Map<string, number>()
  readonly statuses = new Map<number, number>()
  /** Operations by their status, with what the last such answer said: to see how far requests get. */
  readonly reached = new Map<string, Map<number, string>>()
  slowestMs = 0
  slowest = ''
  #number = 0
  readonly #options: FuzzerOptions
  readonly #groups: Described[][]
  readonly #connections: Connection[]
  around!: Surroundings

  constructor(options: FuzzerOptions) {
    this.#options = options
    this.#connections = Array.from({ length: CLIENTS }, () => new Connection(options.port))
    const of = (...families: string[]) => options.operations.filter(({ family }) => families.includes(family))
    this.#groups = [of('v1'), of('manage'), of('manage'), of('manage'), of('wall', 'page')]
  }

  get total(): number {
    return this.#number
  }

  /** Until so many were sent, or it is over. */
  async run(count: number, isOver: () => boolean): Promise<void> {
    const end = this.#number + count
    const clients = this.#connections.map(async (connection) => {
      while (this.#number < end && !isOver() && this.failures.length < MOST_FAILURES)
        await this.#sendOne(connection, this.#number++)
    })
    await Promise.all(clients)
    for (const connection of this.#connections) connection.close()
  }

  /** Exactly these bytes. */
  async replay(bytes: Buffer): Promise<Answer | null | 'late'> {
    const method = bytes.toString('latin1', 0, bytes.indexOf(' '))
    const answer = await new Connection(this.#options.port).send(bytes, method, PATIENCE_MS)
    return answer
  }

  async #sendOne(connection: Connection, number: number): Promise<void> {
    const random = new Random(seedOf(this.#options.seed, number))
    if (random.chance(0.1)) return this.#talk(random, number)
    const request = this.#build(random)
    const bytes = encode(request)
    const answer = await connection.send(bytes, request.method, PATIENCE_MS)
    const fail = (problem: string, requestId = '') => this.#fail({ number, what: request.what, problem, requestId, bytes }) // prettier-ignore
    if (answer === 'late') return fail(`no answer within ${PATIENCE_MS} ms`)
    if (answer === null) return fail('the connection was closed without an answer')
    this.#note(request, answer)
    const problem = this.checks.problemOf(request, answer)
    if (problem !== null)
      fail(`${problem}\n${answer.body.toString('utf8').slice(0, 600)}`, answer.headers.get('x-request-id')) // prettier-ignore
    else if (answer.status === 200) this.#learn(answer)
  }

  #build(random: Random): FuzzRequest {
    if (random.chance(0.12)) {
      const draft = draftPage(random, this.around, this.#options.metricsToken)
      if (random.chance(0.5)) mutate(random, draft)
      this.#count('pages')
      return finish(random, draft)
    }
    const draft = draftFor(random, random.pick(random.pick(this.#groups)), this.around)
    const isValid = random.chance(0.4)
    if (!isValid) mutate(random, draft)
    this.#count(isValid ? 'valid' : 'mutated')
    return finish(random, draft)
  }

  async #talk(random: Random, number: number): Promise<void> {
    const conversation = talk(random, () => this.#build(random))
    this.#count('raw')
    const heard = await speak(this.#options.port, conversation)
    const bytes = Buffer.concat(conversation.pieces)
    for (let rest: Buffer = heard; rest.length > 0;) {
      const answer = takeAnswer(rest, 'GET', true)
      if (answer === null) return // cut in the middle of an answer, or one to HEAD
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1)
      if (answer.status >= 500) this.#fail({ number, what: conversation.what, problem: `status ${answer.status}\n${answer.body.toString('utf8').slice(0, 600)}`, requestId: answer.headers.get('x-request-id') ?? '', bytes }) // prettier-ignore
      rest = rest.subarray(answer.length)
    }
  }

  #note({ operation, what }: FuzzRequest, { status, ms, body }: Answer): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (ms > this.slowestMs) [this.slowestMs, this.slowest] = [ms, what]
    if (operation === null) return
    const reached = this.reached.get(operation.name) ?? new Map<number, string>()
    this.reached.set(operation.name, reached.set(status, status < 400 ? '' : body.toString('utf8').slice(0, 300)))
  }

  #learn({ headers, body }: Answer): void {
    if (
      body.length === 0 ||
      body.length > 100_000 ||
      headers.get('content-type')?.startsWith('application/json') !== true
    )
      return
    const { data } = JSON.parse(body.toString('utf8')) as { data?: unknown }
    this.around.harvest.add(data)
  }

  /** The first of its kind: one operation that fails in one way is one thing to look at. */
  #fail(failure: Failure): void {
    const kindOf = ({ what, problem }: Failure) => `${what.split(/ (?:as |, )/)[0]} ${problem.split('\n')[0]}`
    if (!this.failures.some((one) => kindOf(one) === kindOf(failure))) this.failures.push(failure)
  }

  #count(kind: string): void {
    this.sent.set(kind, (this.sent.get(kind) ?? 0) + 1)
  }
}

const seedOf = (seed: number, number: number) => createHash('sha1').update(`${seed} ${number}`).digest().readUInt32BE(0)
