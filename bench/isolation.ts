// Figure 12: how much longer postbacks to healthy addresses take while others are in trouble. A hundred addresses, fifty
// of them of one publisher; in trouble are one that takes connections and never answers, with 10,000 postbacks waiting
// for it, and one whose name cannot be resolved.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keepSecretFile } from '../src/db/secret-file.ts'
import { createPublisher } from '../src/features/accounts/publishers.ts'
import { createApp } from '../src/features/apps/apps.ts'
import { DEFAULTS, saveSettings } from '../src/features/postbacks/settings.ts'
import { type Catalogue, prepareCatalogue, type Say, withCopy } from './data.ts'
import { holdPostgres, type Opened, runLong } from './postgres.ts'
import { median } from './rounds.ts'
import { startServe } from './servers.ts'

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
  const postgres = await holdPostgres(catalogue.dataDir)
  const opened = postgres.open()
  await using ended = new AsyncDisposableStack()
  ended.defer(() => postgres.release())
  ended.defer(() => opened.close())
  const arrivals = new Arrivals()
  const [sink, hanging] = [await listen(arrivals.server), await listen(createServer(() => {}))]
  ended.defer(() => [arrivals.server, hanging.server].forEach((one) => (one.closeAllConnections(), one.close())))
  const healthy = await makeApps(catalogue, opened, sink.url)
  const troubled = await makeTroubled(catalogue, opened, hanging.url)
  const worker = await startServe(catalogue.dataDir, ['--only', 'worker'], { POSTBACK_ALLOW: '127.0.0.0/8' })
  ended.defer(() => worker.stop())

  say('Postbacks to healthy addresses, without trouble elsewhere and with it, in turn …')
  const run = async (isTroubled: boolean) => {
    const state = isTroubled
      ? 'paused_at = NULL, pause_reason = NULL, open_until = NULL, failures = 0, width = 4'
      : `paused_at = now(), pause_reason = 'operator'`
    await runLong(opened.pool, `UPDATE postback_lanes SET ${state} WHERE app_id = ANY ($1)`, [troubled])
    if (isTroubled) await sleep(500)
    return arrivals.during(() => makeEvents(opened, healthy, plan.seconds))
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

async function makeApps({ dataDir }: Catalogue, opened: Opened, url: string): Promise<number[]> {
  const big = await createPublisher(opened.db, 'Big')
  const appIds: number[] = []
  for (let i = 0; i < HEALTHY; i++) {
    const { publisher_id } = i < OF_ONE ? big : await createPublisher(opened.db, `Small ${i}`)
    appIds.push(await makeApp(dataDir, opened, publisher_id, `App ${i}`, url))
  }
  return appIds
}

async function makeTroubled({ dataDir }: Catalogue, opened: Opened, hangingUrl: string): Promise<number[]> {
  const { publisher_id } = await createPublisher(opened.db, 'Troubled')
  const hanging = await makeApp(dataDir, opened, publisher_id, 'Hangs', hangingUrl)
  const nameless = await makeApp(dataDir, opened, publisher_id, 'Nameless', 'http://nobody.invalid/')
  await insert(opened, [hanging], BACKLOG)
  await insert(opened, [nameless], 100)
  return [hanging, nameless]
}

async function makeApp(
  dataDir: string,
  { db }: Opened,
  publisherId: number,
  name: string,
  url: string,
): Promise<number> {
  const secretKey = keepSecretFile(join(dataDir, 'secret-key'))
  const { app_id } = await createApp(db, secretKey, {
    publisherId, name, currency: 'Coins', rateMicros: 100_000_000, rateLimit: 100, expiresAt: null, blockedCategories: [],
    blockedKeywords: [], paymentOffers: true,
  }) // prettier-ignore
  await saveSettings(db, secretKey, app_id, { ...DEFAULTS, method: 'POST', url })
  return app_id
}

/** A few conversions now and then, for an even load well below what a worker can do. Returns how many. */
async function makeEvents(opened: Opened, appIds: number[], seconds: number): Promise<number> {
  let made = 0
  for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await sleep(TICK_MS)) {
    const chosen = Array.from({ length: EVENTS_A_TICK }, () => appIds[Math.floor(Math.random() * appIds.length)] ?? 0)
    await insert(opened, chosen, 1)
    await opened.pool.query('NOTIFY postbacks_due')
    made += EVENTS_A_TICK
  }
  return made
}

/** So many approved conversions for each of these apps. */
async function insert({ pool }: Opened, appIds: number[], each: number): Promise<void> {
  await runLong(
    pool,
    `INSERT INTO conversions (conversion_id, app_id, publisher_id, advertiser_id, offer_id, goal_id, user_id, is_test, is_repeatable,
       status, source, payout_micros, revenue_micros, currency, rate_micros, created_at, approved_at, sequence, event_id, actor)
     SELECT uuidv7(), app_id, 1, o.advertiser_id, o.offer_id, g.goal_id, 't-' || $3::bigint || '-' || uuidv7(), false, false,
       'approved', 'publisher', 1500000, 2000000, 'Coins', 100000000, $4::timestamptz, $4::timestamptz, 1, uuidv7(), 'publisher'
     FROM unnest($1::bigint[]) app_id, generate_series(1, $2::integer),
       (SELECT * FROM offers LIMIT 1) o JOIN LATERAL (SELECT goal_id FROM goals WHERE goals.offer_id = o.offer_id LIMIT 1) g ON true`,
    [appIds, each, Date.now(), new Date()],
  )
}

const percentile = (sorted: number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
export const p99Of = (sorted: number[]) => percentile(sorted, 0.99)
export const p50Of = (sorted: number[]) => percentile(sorted, 0.5)
export const isolationOf = ({ rounds }: IsolationMeasured) =>
  median(rounds.map(({ clean, trouble }) => p99Of(trouble) / p99Of(clean)))
