// Costs of a wall with a long past: the pages of 8 kB that PostgreSQL reads for what users and publishers ask of it grow
// with none of it, also for a user with very many clicks, conversions, balance entries and tickets.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import type { Static } from 'typebox'
import { ensurePartitions } from '../src/db/partitions.ts'
import { changeRewardSettings } from '../src/features/apps/reward-settings.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { searchClicks } from '../src/features/clicks/clicks.ts'
import { debitUser, listEntries, readBalance } from '../src/features/users/balances.ts'
import { rollUpBalances } from '../src/features/users/rollup.ts'
import { listRecentUsers } from '../src/features/users/users.ts'
import type { Activity, WallOfferList } from '../src/features/wall/schema.ts'
import { countOpenTickets, listTickets, readTicket } from '../src/features/wall/ticket-list.ts'
import { type Crowd, daysOf, fillClicks, fillConversions, run } from './crowd.ts'
import { assertBelow, type CostArguments, type ExplainedApp, readCost, startExplained } from './explain.ts'
import { until } from './installation.ts'
import { TESTER } from './tester.ts'
import { signed } from './wall/wall-url.ts'
import { BROWSER, useWorld } from './world.ts'

const DAY_MS = 86_400_000
const SIZE = 20_000 // with 150,000, no request reads 100 pages more

let appId = 0
let live: IssuedCredentials
let [often, once] = [0, 0]
let explained: ExplainedApp
after(() => explained.close()) // before the world does
const world = useWorld('wall_growth', fill)
const BUSY = 'busy-0'

/** A user with a long past, who has started a second offer just now, among many others. */
async function fill(): Promise<void> {
  const { db, pool } = world.database
  const app = await world.createApp()
  ;({ appId, live } = app)
  await changeRewardSettings(db, TESTER, appId, { keepsBalance: true, dailyLimit: 1_000_000 })
  const goals = [{ name: 'Buy', payout: '1', is_repeatable: true }]
  ;[often = 0, once = 0] = await world.createOffers({ payout: undefined, goals }, {})
  await world.app.refresh()
  const { advertiser_id } = await db.selectFrom('offers').selectAll().where('offer_id', '=', often).executeTakeFirstOrThrow() // prettier-ignore
  const { publisher_id } = await db.selectFrom('apps').selectAll().where('app_id', '=', appId).executeTakeFirstOrThrow()
  const nowMs = Date.now()
  const crowd: Crowd = { appId, publisherId: publisher_id, advertiserId: advertiser_id, offerIds: [often], name: 'busy', users: 1, fromMs: nowMs - 40 * DAY_MS, toMs: nowMs - DAY_MS } // prettier-ignore
  await ensurePartitions(db, 'clicks', daysOf(crowd))
  for (const one of [crowd, { ...crowd, name: 'other', users: SIZE / 4 }]) {
    await fillConversions(pool, one, SIZE, { repeatable: true })
    await fillClicks(pool, one, SIZE)
  }
  const userOf = `CASE WHEN n % 2 = 0 THEN '${BUSY}' ELSE 'other-' || n END`
  await run(
    pool,
    `INSERT INTO user_entries (app_id, is_test, user_id, kind, amount_steps, conversion_id, created_at)
       SELECT ${appId}, false, ${userOf}, 'reward', 1, gen_random_uuid(), now() FROM generate_series(1, ${SIZE} * 2) n`,
    `INSERT INTO tickets (ticket_id, app_id, is_test, user_id, submit_key, kind, offer_id, status, created_at, updated_at)
       SELECT gen_random_uuid(), ${appId}, false, ${userOf}, gen_random_uuid(), 'question', ${once}, 'closed', at, at
       FROM (SELECT n, now() - n * interval '1 minute' AS at FROM generate_series(1, ${SIZE}) n) AS times`,
  )
  await pool.query('VACUUM ANALYZE')
  await until(async () => {
    await rollUpBalances(db)
    return (await pool.query('SELECT FROM user_entries WHERE entry_id > (SELECT entry_id FROM user_balances_rollup) LIMIT 1')).rowCount === 0 // prettier-ignore
  })
  await world.click(once, live, `userId=${BUSY}`)
  explained = await startExplained(world)
}

async function costs(most: number, what: string, ...of: CostArguments): Promise<void> {
  assertBelow(most, what, await readCost(explained, ...of))
}

type Asked = Pick<Static<typeof Activity>, 'items' | 'started' | 'next_cursor'> &
  Pick<Static<typeof WallOfferList>, 'offers'>

async function ask(path: string, more: Record<string, string> = {}, init: object = {}) {
  const query = new URLSearchParams({ apiKey: live.api_key, ...signed(live, BUSY), ...more }).toString()
  const answer = await explained.app.server.inject({ url: `${path}?${query}`, headers: { 'user-agent': BROWSER }, ...init }) // prettier-ignore
  assert.ok([200, 201].includes(answer.statusCode), answer.body)
  return answer.json<{ data: Asked }>()
}

test('what a user with a long past asks of a wall costs the same', async () => {
  const { data } = await ask('/wall/v1/activity')
  assert.deepEqual([data.started.map(({ offer_id }) => offer_id), data.items.length], [[once, often], 20])
  // Of very many clicks and conversions, the latest thousand are looked at.
  await costs(600, 'what was started and earned', () => ask('/wall/v1/activity'))
  await costs(60, 'the next page', () => ask('/wall/v1/activity', { cursor: data.next_cursor ?? '' }))
  await costs(30, 'the tickets', () => ask('/wall/v1/tickets'))
  const payload = () => ({ key: randomUUID(), kind: 'question', offer_id: once, text: 'How?' })
  await costs(120, 'a new ticket', () => ask('/wall/v1/tickets', {}, { method: 'POST', payload: payload() }))
  const offers = (await ask('/wall/v1/offers')).data.offers
  const link = offers.find(({ offer_id }) => offer_id === once)?.link.replace(world.config.publicUrl, '') ?? ''
  await costs(60, 'a click', () => explained.app.server.inject({ url: link, headers: { 'user-agent': BROWSER } }))
})

test('what a publisher asks about users, balances and tickets costs the same', async () => {
  const { db } = explained
  const user = { appId, isTest: false, userId: BUSY }
  const debit = { amountSteps: 1, note: null }
  const now = { now: new Date(), isClosed: false }
  await costs(40, 'a balance', () => readBalance(db, user))
  await costs(30, 'its entries', () => listEntries(db, user, null, 20))
  await costs(80, 'a debit', (i) => debitUser(db, user, { ...debit, key: `order ${i}` }, now))
  await costs(600, 'the latest clicks', () => searchClicks(db, user, 20))
  await costs(1_100, 'the latest users', () => listRecentUsers(db, user, 50)) // a thousand conversions
  for (const status of [undefined, 'open', 'closed'] as const)
    for (const userId of [undefined, BUSY])
      await costs(30, `tickets ${status} of ${userId}`, () => listTickets(db, { appId, isTest: false, ...(status && { status }), ...(userId && { userId }) }, 20)) // prettier-ignore
  await costs(30, 'the number of open tickets', () => countOpenTickets(db, appId, false))
  const { page } = await listTickets(db, user, 1)
  await costs(150, 'a ticket', () => readTicket(db, appId, page[0]?.ticket_id ?? ''))
})
