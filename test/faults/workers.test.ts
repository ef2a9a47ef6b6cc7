// Two worker processes on one database: they share the lanes, send nothing twice, and take over from one that stalls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { LEASE_MS } from '../../src/features/postbacks/queue.ts'
import { type Deal, createConversion } from '../conversion-rows.ts'
import { until } from '../installation.ts'
import {
  countClaims,
  endLeasesOf,
  findDisorder,
  hurryRetries,
  isQueueEmpty,
  createDealWithLane,
  useTwoWorkers,
} from '../worker-world.ts'
import { none } from './none.ts'
import { FAULT_ROUNDS } from '../tier.ts'

const IS_LONG = FAULT_ROUNDS >= 30
const ROUNDS = Math.max(3, FAULT_ROUNDS) // the first two seldom fill the widest lane
const WIDTHS = [1, 2, 3, 5, 8]
const CONVERSIONS = 24 // of each lane, in each round
const PATIENCE_MS = 30_000

const { server, world, first, second } = useTwoWorkers('workers')

/** So many conversions, every fourth of them reversed at once; returns the number of their postbacks. */
async function createConversions(deal: Deal, count: number): Promise<number> {
  const statuses = Array.from({ length: count }, (_, i) => (i % 4 === 3 ? 'reversed' : 'approved'))
  for (const status of statuses)
    await createConversion(world, deal, { status, payoutMicros: 1_000_000, revenueMicros: 2_000_000, at: new Date() })
  return count + statuses.filter((status) => status === 'reversed').length
}

const idsOf = (deals: readonly Deal[]) => deals.map((deal) => deal.appId)

const setPaused = (deals: readonly Deal[], isPaused: boolean) =>
  world.database.db
    .updateTable('postback_lanes')
    .set(isPaused ? { paused_at: new Date(), pause_reason: 'operator' } : { paused_at: null, pause_reason: null })
    .where('app_id', 'in', idsOf(deals))
    .execute()

const readPostbacks = (deals: readonly Deal[]) =>
  world.database.db
    .selectFrom('postbacks')
    .selectAll()
    .where('app_id', 'in', idsOf(deals))
    .orderBy('postback_id')
    .execute()

/** For each postback, by lane and status, its attempts in the log: which one, and the response. */
async function readLog(deals: readonly Deal[]): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    SELECT concat(p.status, ': ', string_agg(concat_ws(' ', a.attempt, coalesce(a.status::text, 'lost')), ', '
      ORDER BY a.attempt, a.status NULLS FIRST)) AS line
    FROM postbacks p JOIN postback_attempts a USING (postback_id) WHERE p.app_id = ANY (${idsOf(deals)})
    GROUP BY p.postback_id ORDER BY p.app_id, p.status, p.postback_id`.execute(world.database.db)
  return rows.map((row) => row.line)
}

test(`two workers send a backlog over several lanes once, in order, and never more at once than a lane is wide (${ROUNDS} rounds)`, async () => {
  const { db } = world.database
  const deals: Deal[] = []
  for (const width of WIDTHS) deals.push(await createDealWithLane(world, server, width))
  let slownessMs = 20
  server.answer = async () => {
    await sleep(5 + Math.random() * slownessMs)
    return 200
  }
  await Promise.all([first.start(), second.start()])
  let made = 0
  for (let round = 0; round < ROUNDS; round++) {
    await setPaused(deals, true)
    const counts = await Promise.all(deals.map((deal) => createConversions(deal, CONVERSIONS)))
    const sent = made
    made += counts.reduce((sum, count) => sum + count, 0)
    await setPaused(deals, false)
    if (round > 0) {
      // Who is asked to stop finishes what it has begun, also when that takes a while.
      await until(() => server.arrivals.length > sent + (made - sent) / 4, PATIENCE_MS)
      slownessMs = 1_500
      await until(() => server.atOnce > WIDTHS.length)
      const leaving = round % 2 === 0 ? first : second
      assert.equal(await leaving.kill('SIGTERM'), 0)
      slownessMs = 20
      await leaving.start()
    }
    await until(() => isQueueEmpty(db), PATIENCE_MS)
  }
  await Promise.all([first.kill('SIGTERM'), second.kill('SIGTERM')])

  const rows = await readPostbacks(deals)
  const unsettled = rows.filter((row) => row.state !== 'delivered' || row.attempts !== 1)
  none(unsettled, 'not delivered by their first try')
  const byId = Map.groupBy(server.arrivals, (one) => one.webhookId)
  const doubles = [...byId.values()].filter((all) => all.length > 1)
  none(doubles, 'sent more than once')
  const unsent = rows.filter((row) => !byId.has(row.postback_id))
  none(unsent, 'delivered, but never sent')
  assert.deepEqual([rows.length, server.arrivals.length], [made, made])
  none(findDisorder(server.arrivals), 'conversions whose reversal came before the approval was accepted')
  const most = idsOf(deals).map((appId) => server.mostAtOnce.get(appId))
  assert.deepEqual(most, WIDTHS, 'as many at once as lanes are wide, and no more')
  const claims = await countClaims(db)
  for (const { name } of [first, second]) assert.ok((claims.get(name) ?? 0) > made / 20, `${name} did its share`)
})

test('what a worker held that stalled past its lease is sent by another under the same id, and its late results are only logged', async () => {
  const { db } = world.database
  const [well, badly] = [await createDealWithLane(world, server, 4), await createDealWithLane(world, server, 4)]
  const began = server.arrivals.length
  const arrivals = () => server.arrivals.slice(began)
  const release = Promise.withResolvers<void>()
  // The first request of each approval is answered late: well in one lane, badly in the other.
  server.answer = async ({ webhookId, status, appId, came }) => {
    const isRepeated = arrivals().some((one) => one.webhookId === webhookId && one.came < came)
    if (isRepeated || status !== 'approved') return 200
    await release.promise
    return appId === well.appId ? 200 : 500
  }
  await first.start()
  for (const deal of [well, badly]) assert.equal(await createConversions(deal, 4), 5)
  await until(() => arrivals().length === 8)
  first.freeze()
  if (IS_LONG) await sleep(LEASE_MS)
  else await endLeasesOf(db, first)
  await second.start()
  await until(async () => {
    await hurryRetries(db)
    return isQueueEmpty(db)
  }, PATIENCE_MS)
  const taken = await readPostbacks([well, badly])

  release.resolve()
  first.thaw()
  const tries = (late: string) => [...Array<string>(4).fill(`approved: 1 lost, ${late}2 200`), 'reversed: 1 200']
  // After so long its own deadline has passed, too, and it does not look at the answer.
  const expected = IS_LONG ? [...tries('1 lost, '), ...tries('1 lost, ')] : [...tries('1 200, '), ...tries('1 500, ')]
  const countTries = (lines: string[]) => lines.join(',').split(',').length
  await until(async () => countTries(await readLog([well, badly])) === countTries(expected))
  assert.deepEqual(await readLog([well, badly]), expected)
  assert.deepEqual(await readPostbacks([well, badly]), taken)
  for (const { status, state, attempts } of taken)
    assert.deepEqual([state, attempts], ['delivered', status === 'approved' ? 2 : 1])
  const sent = arrivals().map((one) => `${one.webhookId} ${one.status} ${one.conversionId}`)
  const counted = taken.flatMap((row) => Array<string>(row.attempts).fill(`${row.postback_id} ${row.status} ${row.conversion_id}`)) // prettier-ignore
  assert.deepEqual(sent.toSorted(), counted.toSorted())
  none(findDisorder(arrivals()), 'conversions whose reversal came before the approval was accepted')

  // The one that stalled goes on.
  await second.kill('SIGTERM')
  const count = await createConversions(well, 4)
  await until(() => isQueueEmpty(db), PATIENCE_MS)
  assert.equal(arrivals().length, sent.length + count)
})
