// What capacity and soak are measured on: an API process and a worker with one PostgreSQL, a receiver of postbacks, and the
// load generator, each a process of its own.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createLinks } from '../clicks.ts'
import { type Catalogue, FILTERS, FOLDER } from '../data.ts'
import { setPostbackUrl } from '../postback-apps.ts'
import { holdPostgres, type Opened, type Postgres } from '../postgres.ts'
import { fetchFrom, freePort, type Running, startBare, startServe } from '../servers.ts'
import { type Generator, startGenerator } from './load.ts'

const REPORTED = 100
const QUEUE_PATIENCE_MS = 120_000

/** A process of Offerdeck and where its figures are. */
export type Watched = Running & { metricsPort: number }

export type Setting = {
  api: Watched
  worker: Watched
  postgres: Postgres
  pool: pg.Pool
  generator: Generator
}

export async function openSetting(catalogue: Catalogue, ended: AsyncDisposableStack): Promise<Setting> {
  const postgres = await holdPostgres(catalogue.dataDir)
  ended.defer(() => postgres.release())
  const opened = postgres.open()
  ended.defer(() => opened.close())
  const receiver = await startBare({ status: 200, headers: ['Content-Length', '2'], body: 'OK' }, file('receiver.json'))
  ended.defer(() => receiver.stop())
  await preparePostbacks(catalogue, opened, receiver)
  await writeSources(catalogue, opened.pool)
  // A trusted proxy, so that users can come from IP addresses of their own.
  const api = await startWatched(catalogue, 'api', { TRUST_PROXY: '127.0.0.1' }, ended)
  const worker = await startWatched(catalogue, 'worker', { POSTBACK_ALLOW: '127.0.0.0/8' }, ended)
  for (const filter of FILTERS) await expectList(api, catalogue, filter) // now every list exists
  const { apiKey, apiSecret } = catalogue
  const generator = startGenerator({ port: api.port, apiKey, apiSecret, filters: file('filters.txt'), links: file('links.txt'), offers: file('reported.txt'), run: String(Date.now()) }) // prettier-ignore
  ended.defer(() => generator.stop())
  return { api, worker, postgres, pool: opened.pool, generator }
}

const file = (name: string) => join(FOLDER, name)

async function startWatched(
  { dataDir }: Catalogue,
  part: 'api' | 'worker',
  env: Record<string, string>,
  ended: AsyncDisposableStack,
): Promise<Watched> {
  // prettier-ignore
  const metricsPort = await freePort()
  const running = await startServe(dataDir, ['--only', part], { ...env, METRICS_PORT: String(metricsPort) })
  ended.defer(() => running.stop())
  return { ...running, metricsPort }
}

/** The receiver gets what becomes of reports; the operator takes the app's word, so each is approved at once. */
async function preparePostbacks(catalogue: Catalogue, opened: Opened, { port }: Running): Promise<void> {
  const { app_id } = await opened.db
    .selectFrom('credentials')
    .select('app_id')
    .where('api_key', '=', catalogue.apiKey)
    .executeTakeFirstOrThrow()
  await setPostbackUrl(catalogue, opened, app_id, `http://127.0.0.1:${port}/`)
  const { rows } = await opened.pool.query<{ offer_id: number }>(
    `INSERT INTO trusted_offers (app_id, offer_id)
     SELECT $1, offer_id FROM offers WHERE status = 'active' AND NOT is_capped AND starts_at IS NULL AND ends_at IS NULL
       AND NOT EXISTS (SELECT FROM goals WHERE goals.offer_id = offers.offer_id AND is_repeatable)
     ORDER BY random() LIMIT $2 RETURNING offer_id`,
    [app_id, REPORTED],
  )
  writeFileSync(file('reported.txt'), rows.map((row) => `${row.offer_id}\n`).join(''))
}

async function writeSources(catalogue: Catalogue, pool: pg.Pool): Promise<void> {
  writeFileSync(file('filters.txt'), `${FILTERS.join('\n')}\n`)
  const links = await createLinks(pool, catalogue)
  writeFileSync(file('links.txt'), links.map(({ path, agent }) => `${path}\t${agent}\n`).join(''))
}

async function expectList(api: Running, { apiKey, apiSecret }: Catalogue, filter: string): Promise<void> {
  const { status, body } = await fetchFrom(api, `/api/v1/offers?apiKey=${apiKey}&apiSecret=${apiSecret}&${filter}&userId=user-0`) // prettier-ignore
  if (status !== 200) throw new Error(`A list was answered with ${status}: ${body}`)
}

/** Until events have their place in the feed and postbacks are delivered: what is left of one step burdens the next. */
export async function waitForQueues({ pool }: Setting): Promise<number> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < QUEUE_PATIENCE_MS) {
    const { rows } = await pool.query('SELECT FROM waiting_events UNION ALL SELECT FROM postback_queue LIMIT 1')
    if (rows.length === 0) break
    await sleep(100)
  }
  return (performance.now() - startedAt) / 1000
}
