// kill -9 of workers during a bulk replay: everything that matched is resent, and live postbacks take precedence.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { readReplay, startReplay } from '../../src/features/postbacks/replays.ts'
import { type Deal, createConversion } from '../conversion-rows.ts'
import { until } from '../installation.ts'
import {
  endLeasesOf,
  hurryRetries,
  isQueueEmpty,
  createDealWithLane,
  useTwoWorkers,
  WorkerProcess,
} from '../worker-world.ts'
import { none } from './none.ts'
import { FAULT_ROUNDS } from '../tier.ts'
import { TESTER } from '../tester.ts'

const REPLAYED = Math.max(520, 100 * FAULT_ROUNDS) // more than a replay queues in one step
const REVERSED = 20
const WIDTH = 8
const LIVE_EVERY_MS = 100
const PATIENCE_MS = 30_000

const { server, world, first, second } = useTwoWorkers('replays_killed')

type Status = 'approved' | 'reversed'

async function createOne(deal: Deal, status: Status): Promise<string> {
  const row = { status, payoutMicros: 1_000_000, revenueMicros: 2_000_000, at: new Date() }
  return (await createConversion(world, deal, row)).conversionId
}

async function createMany(deal: Deal): Promise<void> {
  const statuses = Array.from({ length: REPLAYED }, (_, i): Status => (i < REVERSED ? 'reversed' : 'approved'))
  const make = async () => {
    for (let status; (status = statuses.pop()) !== undefined;) await createOne(deal, status)
  }
  await Promise.all(Array.from({ length: 8 }, make))
}

/** What is live while the replay runs: the conversion, and how many requests had come when it was created. */
type Live = { conversionId: string; madeAfter: number }

async function createLiveUntil(deal: Deal, isOver: () => boolean): Promise<Live[]> {
  const made: Live[] = []
  while (!isOver()) {
    const conversionId = await createOne(deal, 'approved')
    made.push({ conversionId, madeAfter: server.arrivals.length })
    await sleep(LIVE_EVERY_MS)
  }
  return made
}

async function killAndRestart(workers: readonly WorkerProcess[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.kill('SIGKILL')))
  for (const worker of workers) await endLeasesOf(world.database.db, worker)
  await Promise.all(workers.map((worker) => worker.start()))
}

test(`a bulk replay goes on through kill -9 of its workers, and live postbacks take precedence (${FAULT_ROUNDS} rounds)`, async () => {
  const { db } = world.database
  const deal = await createDealWithLane(world, server, WIDTH)
  await Promise.all([first.start(), second.start()])
  await createMany(deal)
  await until(() => isQueueEmpty(db), PATIENCE_MS)
  const before = await db.selectFrom('postbacks').select(['postback_id', 'conversion_id', 'status']).execute()
  const reversed = new Set(before.filter((row) => row.status === 'reversed').map((row) => row.conversion_id))
  // An approval after its delivered reversal would be the last word: these are left out.
  const isMeant = (row: (typeof before)[number]) => row.status === 'approved' && !reversed.has(row.conversion_id)
  const matching = new Set(before.filter(isMeant).map((row) => row.postback_id))
  assert.equal(matching.size, REPLAYED - REVERSED)
  const began = server.arrivals.length
  assert.equal(began, REPLAYED + REVERSED)

  const again = new Set<string>()
  server.answer = async ({ webhookId }) => {
    if (matching.has(webhookId)) again.add(webhookId)
    await sleep(10 + Math.random() * 40)
    return 200
  }
  const waitFor = (isSo: () => boolean | Promise<boolean>) =>
    until(async () => {
      await hurryRetries(db)
      return isSo()
    }, PATIENCE_MS)
  const replayId = await startReplay(db, TESTER, deal.appId, { state: 'delivered', status: 'approved' })
  let isOver = false
  const living = createLiveUntil(deal, () => isOver || again.size === matching.size)
  try {
    for (let round = 0; round < FAULT_ROUNDS; round++) {
      await waitFor(() => again.size > (matching.size * (round + 0.5)) / FAULT_ROUNDS)
      // One, the other, both.
      await killAndRestart([[first], [second], [first, second]][round % 3] ?? [])
    }
    await waitFor(() => again.size === matching.size)
  } finally {
    isOver = true
  }
  const lives = await living
  await waitFor(() => isQueueEmpty(db))

  const { state, queued, skipped, waiting } = await readReplay(db, replayId)
  assert.deepEqual([state, queued, skipped, waiting], ['done', matching.size, REVERSED, 0])
  const { rows: wrong } = await sql`
    SELECT p.postback_id, p.state, p.attempts, count(a.*) AS logged
    FROM postbacks p LEFT JOIN postback_attempts a USING (postback_id) GROUP BY p.postback_id
    HAVING p.state <> 'delivered' OR count(a.*) <> p.attempts OR count(DISTINCT a.attempt) <> p.attempts`.execute(db)
  none(wrong, 'not delivered, or without a line in the log for each try')
  const others = new Set(before.map((row) => row.postback_id)).difference(matching)
  const uncalledFor = server.arrivals.slice(began).filter((one) => others.has(one.webhookId))
  none(uncalledFor, 'sent again that did not match')
  await compareLive(lives, matching)
})

/** However much was to be replayed, little of it came before them. What a killed worker held had to wait for its lease. */
async function compareLive(lives: readonly Live[], replayed: ReadonlySet<string>): Promise<void> {
  const { db } = world.database
  const rows = await db.selectFrom('postbacks').select('conversion_id').where('attempts', '=', 1).execute()
  const unhurt = new Set(rows.map((row) => row.conversion_id))
  const looked = lives.filter((one) => unhurt.has(one.conversionId))
  assert.ok(looked.length > FAULT_ROUNDS * 5)
  const { arrivals } = server
  const late = looked.filter(({ conversionId, madeAfter }) => {
    const place = arrivals.findIndex((one) => one.conversionId === conversionId)
    return arrivals.slice(madeAfter, place).filter((one) => replayed.has(one.webhookId)).length > 4 * WIDTH
  })
  none(late, 'live ones that came after much of the replay')
}
