// Figures 9 and 10: postbacks delivered a second to a sink on the same machine, each with its log, by one worker process;
// over BullMQ on Redis with a worker that keeps no log, over a sender with a log in the same PostgreSQL, and over a bare
// loop of undici. And how long after its conversion a single postback arrives.
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createPublisher } from '../src/features/accounts/publishers.ts'
import { type Catalogue, FOLDER, plainEnv, prepareCatalogue, type Say, withCopy } from './data.ts'
import { type Opened, runLong } from './postgres.ts'
import { ensureProgram } from './programs.ts'
import { median, type Plan } from './rounds.ts'
import { freePort, startBare, startServe } from './servers.ts'
import { insertConversions, createPostbackApp, openFor, startWorker, setPostbackUrl } from './postback-apps.ts'
import { TESTER } from '../test/tester.ts'

const OFFERS = 1_000
const APPS = 10
const QUEUED_A_SECOND = 8_000
const SINGLES = 60

export type Contender = 'bullmq' | 'logged' | 'undici'

export type PostbacksMeasured = {
  rounds: Record<'ours' | Contender, number>[]
  /** Milliseconds from the answer to the report until the postback arrives, in ascending order. */
  latencies: number[]
  /** Attempts in the log and deliveries in the queue, which must be equal in number. */
  delivered: number
  logged: number
  log: string[]
}

export async function measurePostbacks(plan: Plan, say: Say): Promise<PostbacksMeasured> {
  ensureProgram('redis-server', 'redis-server')
  return withCopy(await prepareCatalogue(OFFERS, say), (copy) => measureOn(copy, plan, say))
}

async function measureOn(catalogue: Catalogue, plan: Plan, say: Say): Promise<PostbacksMeasured> {
  await using ended = new AsyncDisposableStack()
  const opened = await openFor(catalogue, ended)
  const sink = await startBare({ status: 200, headers: ['Content-Length', '2'], body: 'OK' }, join(FOLDER, 'sink.json'))
  ended.defer(() => sink.stop())
  const url = `http://127.0.0.1:${sink.port}/`
  const appIds = await createApps(catalogue, opened, url)
  await pauseLanes(opened.pool)
  const worker = await startWorker(catalogue, ended)
  const redisPort = await freePort()
  const redis = spawn('redis-server', ['--port', String(redisPort), '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  })
  ended.defer(() => end(redis))
  await sleep(500)
  const bullmq = await startOnCommand('bullmq-worker.ts', [url, String(redisPort)])
  ended.defer(() => end(bullmq.child))
  const logged = await startOnCommand('logged-sender.ts', [url, catalogue.dataDir])
  ended.defer(() => end(logged.child))
  const undici = await startOnCommand('undici-loop.ts', [url])
  ended.defer(() => end(undici.child))

  say('Postbacks by Offerdeck, by BullMQ, by a sender with a log and by a loop of undici, in turn …')
  const runOurs = (seconds: number) => deliver(opened.pool, appIds, seconds)
  const rounds: PostbacksMeasured['rounds'] = []
  for (const run of [runOurs, bullmq.run, logged.run, undici.run]) await run(plan.warmUpSeconds)
  await runLong(opened.pool, 'ANALYZE')
  for (let round = 0; round < plan.rounds; round++) {
    const { seconds } = plan
    const ours = await runOurs(seconds)
    rounds.push({ ours, bullmq: await bullmq.run(seconds), logged: await logged.run(seconds), undici: await undici.run(seconds) }) // prettier-ignore
  }
  const [counts] = await runLong<{ delivered: number; logged: number }>(
    opened.pool,
    `SELECT (SELECT count(*) FROM postbacks WHERE state = 'delivered') AS delivered, (SELECT count(*) FROM postback_attempts WHERE ok) AS logged`,
  )
  await runLong(opened.pool, 'TRUNCATE postback_queue')
  say('Single postbacks, one at a time …')
  const latencies = await measureLatency(catalogue, opened)
  return { rounds, latencies, delivered: counts?.delivered ?? 0, logged: counts?.logged ?? 0, log: worker.log }
}

async function createApps(catalogue: Catalogue, opened: Opened, url: string): Promise<number[]> {
  const appIds: number[] = []
  for (let i = 0; i < APPS; i++) {
    const { publisher_id } = await createPublisher(opened.db, TESTER, `Bench ${i}`)
    appIds.push(await createPostbackApp(catalogue, opened, publisher_id, 'Bench', url))
  }
  return appIds
}

const pauseLanes = (pool: pg.Pool) =>
  runLong(pool, `UPDATE postback_lanes SET paused_at = now(), pause_reason = 'operator'`)

/** Fills the queue with conversions while the lanes are paused, then lets them go for a while. */
async function deliver(pool: pg.Pool, appIds: number[], seconds: number): Promise<number> {
  const missing = Math.max(0, QUEUED_A_SECOND * seconds - (await countQueued(pool)))
  await insertConversions(pool, appIds, Math.ceil(missing / APPS))
  const before = await countDelivered(pool)
  const startedMs = performance.now()
  await runLong(pool, 'UPDATE postback_lanes SET paused_at = NULL, pause_reason = NULL')
  await pool.query('NOTIFY postbacks_due')
  await sleep(seconds * 1000)
  const elapsedMs = performance.now() - startedMs
  const after = await countDelivered(pool)
  await pauseLanes(pool)
  await sleep(300) // what is under way arrives
  return ((after - before) * 1000) / elapsedMs
}

const countDelivered = (pool: pg.Pool) => count(pool, `SELECT count(*) FROM postbacks WHERE state = 'delivered'`)
const countQueued = (pool: pg.Pool) => count(pool, 'SELECT count(*) FROM postback_queue')

async function count(pool: pg.Pool, query: string): Promise<number> {
  const [row] = await runLong<{ count: number }>(pool, query)
  return row?.count ?? 0
}

/** One conversion at a time, through the door, on a server that does nothing else. */
async function measureLatency(catalogue: Catalogue, opened: Opened): Promise<number[]> {
  const { dataDir, apiKey, apiSecret } = catalogue
  const { db, pool } = opened
  let onArrival: (atMs: number) => void = () => {}
  const sink = createServer((request, response) => {
    onArrival(performance.now())
    request.resume().on('end', () => response.end('OK'))
  })
  await new Promise<void>((done) => sink.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(sink.address() as AddressInfo).port}/`
  const server = await startServe(dataDir, ['--only', 'api'], {})
  try {
    const { app_id } = await db
      .selectFrom('credentials')
      .select('app_id')
      .where('api_key', '=', apiKey)
      .executeTakeFirstOrThrow()
    await setPostbackUrl(catalogue, opened, app_id, url)
    await pool.query('INSERT INTO trusted_offers (app_id, offer_id) SELECT $1, offer_id FROM offers', [app_id])
    const [offer] = (
      await pool.query<{ offer_id: number }>(
        "SELECT offer_id FROM offers WHERE status = 'active' AND starts_at IS NULL AND ends_at IS NULL AND NOT is_capped ORDER BY offer_id LIMIT 1",
      )
    ).rows
    const latencies: number[] = []
    for (let i = 0; i < SINGLES; i++) {
      const arrived = new Promise<number>((arrive) => (onArrival = arrive))
      const answer = await fetch(`http://127.0.0.1:${server.port}/v1/conversions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': apiKey, 'x-api-secret': apiSecret },
        body: JSON.stringify({ userId: `single-${i}`, offerId: offer?.offer_id }),
      })
      const answeredMs = performance.now()
      if (answer.status !== 201) throw new Error(`A report was answered with ${answer.status}: ${await answer.text()}`)
      await answer.arrayBuffer()
      latencies.push(Math.max(0, (await arrived) - answeredMs))
      await sleep(20 + Math.random() * 80)
    }
    return latencies.toSorted((a, b) => a - b)
  } finally {
    await server.stop()
    sink.closeAllConnections()
    sink.close()
  }
}

type OnCommand = { child: ChildProcess; run: (seconds: number) => Promise<number> }

/** A process that works on command. */
async function startOnCommand(script: string, args: string[]): Promise<OnCommand> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    env: plainEnv({}),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string) as { rate?: number }
  await next()
  return {
    child,
    async run(seconds) {
      child.stdin.write(`${seconds}\n`)
      await next() // it has filled its queue
      return (await next()).rate ?? 0
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  await ended
}

export const ratioOf = (rounds: PostbacksMeasured['rounds'], to: Contender) =>
  median(rounds.map((round) => round.ours / round[to]))
