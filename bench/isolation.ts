// Figure 12: how much longer postbacks to healthy servers take while others are in trouble. A hundred URLs, fifty of
// them of one publisher; in trouble are one that accepts connections and never answers, with 10,000 postbacks waiting
// for it, and one whose name cannot be resolved.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPublisher } from '../src/features/accounts/publishers.ts'
import { type Catalogue, prepareCatalogue, type Say, withCopy } from './data.ts'
import { type Opened, runLong } from './postgres.ts'
import { median } from './rounds.ts'
import { insertConversions, createPostbackApp, openFor, startWorker } from './postback-apps.ts'
import { TESTER } from '../test/tester.ts'

const OFFERS = 1_000
const HEALTHY = 98
const OF_ONE = 50
const BACKLOG = 10_000
const TICK_MS = 50
const EVENTS_A_TICK = 10

export type IsolationPlan = { rounds: number; seconds: number }
export type IsolationMeasured = { rounds: { clean: number[]; trouble: number[] }[]; log: string[] }

export async function measureIsolation(plan: IsolationPlan, say: Say): Promise<IsolationMeasured> {
  return withCopy(await prepareCatalogue(OFFERS, say), (copy) => measureOn(copy, plan, say))
}

async function measureOn(catalogue: Catalogue, plan: IsolationPlan, say: Say): Promise<IsolationMeasured> {
  await using ended = new AsyncDisposableStack()
  const opened = await openFor(catalogue, ended)
  const arrivals = new Arrivals()
  const [sink, hanging] = [await listen(arrivals.server), await listen(createServer(() => {}))]
  ended.defer(() => [arrivals.server, hanging.server].forEach((one) => (one.closeAllConnections(), one.close())))
  const healthy = await createApps(catalogue, opened, sink.url)
  const troubled = await createTroubled(catalogue, opened, hanging.url)
  const worker = await startWorker(catalogue, ended)

  say('Postbacks to healthy addresses, without trouble elsewhere and with it, in turn …')
  const run = async (isTroubled: boolean) => {
    const state = isTroubled
      ? 'paused_at = NULL, pause_reason = NULL, open_until = NULL, failures = 0, width = 4'
      : `paused_at = now(), pause_reason = 'operator'`
    await runLong(opened.pool, `UPDATE postback_lanes SET ${state} WHERE app_id = ANY ($1)`, [troubled])
    if (isTroubled) await sleep(500)
    return arrivals.during(() => createEvents(opened, healthy, plan.seconds))
  }
  await run(false) // connections, plans and code are warm then
  const rounds: IsolationMeasured['rounds'] = []
  for (let round = 0; round < plan.rounds; round++) rounds.push({ clean: await run(false), trouble: await run(true) })
  return { rounds, log: worker.log }
}

/** Sees when each postback arrives; the event says when it happened. */
class Arrivals {
  #latencies: number[] = []
  readonly server: Server = createServer((request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const [, madeMs] = /"user_id":"t-(\d+)-/.exec(body) ?? []
      this.#latencies.push(Date.now() - Number(madeMs))
      response.end('OK')
    })
  })

  /** Milliseconds, in ascending order. */
  async during(work: () => Promise<number>): Promise<number[]> {
    this.#latencies = []
    const made = await work()
    for (let waited = 0; this.#latencies.length < made && waited < 30_000; waited += 50) await sleep(50)
    if (this.#latencies.length < made) throw new Error(`Of ${made} postbacks ${this.#latencies.length} arrived.`)
    return this.#latencies.toSorted((a, b) => a - b)
  }
}

async function listen(server: Server): Promise<{ server: Server; url: string }> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

async function createApps(catalogue: Catalogue, opened: Opened, url: string): Promise<number[]> {
  const big = await createPublisher(opened.db, TESTER, 'Big')
  const appIds: number[] = []
  for (let i = 0; i < HEALTHY; i++) {
    const { publisher_id } = i < OF_ONE ? big : await createPublisher(opened.db, TESTER, `Small ${i}`)
    appIds.push(await createPostbackApp(catalogue, opened, publisher_id, `App ${i}`, url))
  }
  return appIds
}

async function createTroubled(catalogue: Catalogue, opened: Opened, hangingUrl: string): Promise<number[]> {
  const { publisher_id } = await createPublisher(opened.db, TESTER, 'Troubled')
  const hanging = await createPostbackApp(catalogue, opened, publisher_id, 'Hangs', hangingUrl)
  const nameless = await createPostbackApp(catalogue, opened, publisher_id, 'Nameless', 'http://nameless.invalid/')
  await insertConversions(opened.pool, [hanging], BACKLOG)
  await insertConversions(opened.pool, [nameless], 100)
  return [hanging, nameless]
}

/** A few conversions now and then, for an even load well below what a worker can do. Returns how many. */
async function createEvents(opened: Opened, appIds: number[], seconds: number): Promise<number> {
  let made = 0
  for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await sleep(TICK_MS)) {
    const chosen = Array.from({ length: EVENTS_A_TICK }, () => appIds[Math.floor(Math.random() * appIds.length)] ?? 0)
    await insertConversions(opened.pool, chosen, 1)
    await opened.pool.query('NOTIFY postbacks_due')
    made += EVENTS_A_TICK
  }
  return made
}

const percentile = (sorted: number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
export const p99Of = (sorted: number[]) => percentile(sorted, 0.99)
export const p50Of = (sorted: number[]) => percentile(sorted, 0.5)
export const isolationOf = ({ rounds }: IsolationMeasured) =>
  median(rounds.map(({ clean, trouble }) => p99Of(trouble) / p99Of(clean)))
