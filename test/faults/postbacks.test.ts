// kill -9 on the way of postbacks: whatever was acknowledged is sent to the publisher's server, signed, in order and
// with one id however often; nothing is sent that did not happen, and nothing counts as delivered that was not
// received.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Database, openDatabase } from '../../src/db/open.ts'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { applyCommands } from '../../src/features/conversions/apply-commands.ts'
import { LEASE_MS } from '../../src/features/postbacks/queue.ts'
import { Installation, type Running, until } from '../installation.ts'
import { compareOrder, compareWithAcknowledged, compareWithQueue } from './compare-postbacks.ts'
import { none } from './none.ts'
import { hurryPostbacks } from './hurry-postbacks.ts'
import { MoodyReceiver, QUERY } from './moody-receiver.ts'
import { FAULT_ROUNDS } from '../tier.ts'
import { TESTER } from '../tester.ts'

const CLIENTS = 4
const PAUSE_MS = 15
const REVERSED_SHARE = 0.2
const METHODS = ['POST', 'GET'] as const
const ENV = { POSTBACK_ALLOW: '127.0.0.0/8' }
const TIMEOUT_S = 1
const PATIENCE_MS = 60_000
const MAX_UNTOLD = 200 // more would only prolong the end

type App = { app_id: number; live: IssuedCredentials }

const program = new Installation()
const apps: App[] = []
let database: Database
let api: Running & { url: string }
let worker: Running
let offerId: number

const attempted = new Set<string>()
/** Conversions that were acknowledged: as approved, and as reversed. */
const approved = new Set<string>()
const reversed = new Set<string>()
/** Unexpected responses. */
const strange: unknown[] = []
const receiver = new MoodyReceiver(
  TIMEOUT_S * 1_000,
  (method) => apps[METHODS.indexOf(method)]?.live.signing_secret ?? '',
)

before(async () => {
  await receiver.open()
  // Held from the start: else each command would start PostgreSQL and stop it.
  database = await openDatabase({ databaseUrl: null, dataDir: program.dataDir, connections: 2 })
  await program.json('seed', '--offers', '1')
  for (const method of METHODS) {
    await program.json('publisher', 'create', '--name', method)
    const create = ['app', 'create', '--publisher', method, '--name', method, '--rate-limit', '1000000']
    const app = await program.json<App>(...create)
    await program.json('app', 'trust', String(app.app_id), '--all', '--yes')
    const query = method === 'GET' ? QUERY : ''
    const set = ['--method', method, '--url', `${receiver.url}/${query}`, '--timeout', `${TIMEOUT_S}s`]
    const { status, err } = await program.run(['app', 'set-postback', String(app.app_id), ...set], ENV)
    assert.equal(status, 0, err)
    apps.push(app)
  }
  offerId = (await program.json<{ offer_id: number }[]>('offer', 'list'))[0]?.offer_id ?? 0
})
after(async () => {
  await database.close()
  receiver.close()
  await program.remove()
})

const startApi = async () => (api = await program.serve(ENV, ['--only', 'api']))

async function startWorker(): Promise<void> {
  worker = program.start(['serve', '--only', 'worker'], ENV)
  await worker.prints('worker is running')
}

/** Reports conversions, one after the other; some of those that were acknowledged are handed on to be reversed. */
async function reportUntil(name: string, doomed: string[], isOver: () => boolean): Promise<void> {
  for (let i = 0; !isOver(); i++) {
    while (approved.size + reversed.size - receiver.notified.size > MAX_UNTOLD && !isOver()) await sleep(PAUSE_MS)
    const userId = `${name}-${i}`
    const app = apps[i % apps.length]
    attempted.add(userId)
    try {
      const answer = await fetch(`${api.url}/v1/conversions`, {
        method: 'POST',
        headers: {
          'x-api-key': app?.live.api_key ?? '',
          'x-api-secret': app?.live.api_secret ?? '',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ userId, offerId }),
        signal: AbortSignal.timeout(10_000),
      })
      const { data } = (await answer.json()) as { data?: { conversion: { conversion_id: string; status: string } } }
      if (answer.status === 201 && data !== undefined) {
        if (data.conversion.status !== 'approved') strange.push(data)
        approved.add(data.conversion.conversion_id)
        if (Math.random() < REVERSED_SHARE) doomed.push(data.conversion.conversion_id)
      }
    } catch {
      // The server is gone, or the database: so it was not acknowledged.
    }
    await sleep(PAUSE_MS)
  }
}

/** Reverses them as soon as it can, so that many an approval is still on its way. */
async function reverseUntil(doomed: string[], isOver: () => boolean): Promise<void> {
  while (!isOver() || doomed.length > 0) {
    const ids = doomed.splice(0, 20)
    const commands = ids.map((conversionId) => ({ kind: 'move', by: TESTER, conversionId, to: 'reversed' }) as const)
    try {
      const outcomes = ids.length === 0 ? [] : await applyCommands(database.db, commands, new Date())
      for (const [i, { kind, conversion }] of outcomes.entries()) {
        if (conversion?.status === 'reversed') reversed.add(conversion.conversionId)
        else strange.push([ids[i], kind])
      }
    } catch {
      doomed.push(...ids) // perhaps it was done, perhaps not
    }
    await sleep(PAUSE_MS)
  }
}

/** Long enough that everything runs again, then a while more: the kill comes at a random moment. */
async function someTraffic(): Promise<void> {
  const [acknowledged, came] = [approved.size, receiver.arrivals.length]
  await until(async () => {
    // What a server that died had granted, and could not report any more. Attempts are over long before.
    await endLeases(20 * TIMEOUT_S).catch(() => {})
    return approved.size > acknowledged + 20 && receiver.arrivals.length > came + 20
  }, PATIENCE_MS)
  await sleep(Math.random() * 500)
}

/** As time would do, but sooner: with all that were given so long ago. At once only when no worker runs. */
const endLeases = (agoS: number) =>
  sql`UPDATE postback_queue SET lease_until = now() - interval '1 second'
    WHERE state = 'sending' AND lease_until BETWEEN now() AND now() + ${LEASE_MS / 1_000 - agoS} * interval '1 second'`.execute(
    database.db,
  )

const FAULTS = {
  async worker() {
    await worker.kill('SIGKILL')
    await endLeases(0)
    await startWorker()
  },
  async api() {
    await api.kill('SIGKILL')
    await startApi()
  },
  async postgres() {
    const killed = postmaster()
    process.kill(killed, 'SIGKILL')
    await until(() => ![killed, 0].includes(postmaster()))
  },
}

function postmaster(): number {
  try {
    return Number(readFileSync(join(program.dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return 0 // between one and the next
  }
}

/** Until nothing is queued or under way. */
async function deliverAll(): Promise<void> {
  await worker.kill('SIGTERM')
  await endLeases(0)
  await startWorker()
  await until(async () => {
    const isDone = await hurryPostbacks(database.db)
    await sleep(100)
    return isDone
  }, PATIENCE_MS)
}

test(`after kill -9 of the worker, the API or PostgreSQL under load, every event is sent, in order and with one id (${FAULT_ROUNDS} rounds)`, async () => {
  await startApi()
  await startWorker()
  let isOver = false
  const doomed: string[] = []
  const clients = Array.from({ length: CLIENTS }, (_, i) => reportUntil(`user-${i}`, doomed, () => isOver))
  const reverser = reverseUntil(doomed, () => isOver)
  const faults = Object.values(FAULTS)
  try {
    for (let round = 0; round < FAULT_ROUNDS; round++) {
      await someTraffic()
      // Each of them once, and then any of them.
      await faults[round < faults.length ? round : Math.floor(Math.random() * faults.length)]?.()
    }
    await someTraffic()
  } finally {
    isOver = true
  }
  await Promise.all([...clients, reverser])
  await deliverAll()
  assert.ok(approved.size > FAULT_ROUNDS * 20 && reversed.size > FAULT_ROUNDS)
  none([...strange, ...receiver.strange], 'unexpected answers or messages')
  compareWithAcknowledged(receiver.arrivals, { attempted, approved, reversed })
  compareOrder(receiver.arrivals)
  await compareWithQueue(database.db, receiver.arrivals)
})
