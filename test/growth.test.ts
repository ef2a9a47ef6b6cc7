// Costs in a network with many conversions, clicks and days: the pages of 8 kB that PostgreSQL reads for each request
// grow neither with the age of the network nor with another publisher's size.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { LOCKS } from '../src/db/locks.ts'
import { ensurePartitions } from '../src/db/partitions.ts'
import { readPartitions } from '../src/db/diagnostics.ts'
import { openPool } from '../src/db/open.ts'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { numberEvents, Passed } from '../src/features/conversions/events.ts'
import { readEntries } from '../src/features/conversions/history.ts'
import { type ConversionFilter, searchConversions } from '../src/features/conversions/search.ts'
import { readBalances } from '../src/features/ledger/ledger.ts'
import { rollUp } from '../src/features/ledger/rollup.ts'
import { readNetworkDays } from '../src/features/ledger/periods.ts'
import { countCaps } from '../src/features/offers/cap-counts.ts'
import { setCaps } from '../src/features/offers/edit-offers.ts'
import { showCaps } from '../src/features/offers/caps.ts'
import { readOperatorCounts } from '../src/features/reports/operator-counts.ts'
import { readQueues } from '../src/features/reports/queues.ts'
import { rollUpStats } from '../src/features/reports/rollup.ts'
import { type Crowd, daysOf, fillClicks, fillConversions, fillHistory, run } from './crowd.ts'
import { assertBelow, type CostArguments, type ExplainedApp, pagesIn, readCost, startExplained } from './explain.ts'
import { until } from './installation.ts'
import { BROWSER, type Envelope, useWorld } from './world.ts'
import { TESTER } from './tester.ts'

const DAY_MS = 86_400_000
const CONVERSIONS = 24_000
const CLICKS = 24_000
const BUSY = 16_000 // of one user
const YEAR = `/v1/stats?from=${new Date(Date.now() - 365 * DAY_MS).toISOString().slice(0, 10)}`

let live: IssuedCredentials
let crowd: Crowd
let repeatable = 0
let explained: ExplainedApp
after(() => explained.close()) // before the world does
const world = useWorld('growth', fill)

async function fill(): Promise<void> {
  const { db, pool } = world.database
  const { appId, live: keys } = await world.createApp()
  live = keys
  const offerIds = await world.createOffers(...Array.from({ length: 20 }, () => ({})))
  const buy = { name: 'Buy', payout: '1', is_repeatable: true }
  ;[repeatable = 0] = await world.createOffers({ payout: undefined, goals: [buy] })
  const advertiserOf = async (offerId = 0) => (await db.selectFrom('offers').selectAll().where('offer_id', '=', offerId).executeTakeFirstOrThrow()).advertiser_id // prettier-ignore
  const { publisher_id } = await db.selectFrom('apps').selectAll().where('app_id', '=', appId).executeTakeFirstOrThrow()
  const nowMs = Date.now()
  const whose = { appId, publisherId: publisher_id, fromMs: nowMs - 120 * DAY_MS, toMs: nowMs - 1_000 }
  crowd = { ...whose, advertiserId: await advertiserOf(offerIds[0]), offerIds, name: 'crowd', users: 20_000 }
  const busy = {
    ...whose,
    advertiserId: await advertiserOf(repeatable),
    offerIds: [repeatable],
    name: 'busy',
    users: 1,
  }
  await ensurePartitions(db, 'clicks', daysOf(crowd))
  await fillConversions(pool, crowd, CONVERSIONS)
  await fillConversions(pool, busy, BUSY, { repeatable: true })
  await fillHistory(pool)
  await fillClicks(pool, crowd, CLICKS)
  await run(pool, 'ANALYZE')
  // Only entries that no open transaction could precede are rolled up, and the server has those of other tests, too.
  await until(async () => {
    await rollUp(db)
    return (await pool.query('SELECT FROM ledger_entries WHERE entry_id > (SELECT entry_id FROM ledger_rollup) LIMIT 1')).rowCount === 0 // prettier-ignore
  })
  await rollUpStats(db, new Date())
  explained = await startExplained(world)
}

const ask = (url: string, more: object = {}) =>
  explained.app.server.inject({
    url,
    headers: { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret },
    ...more,
  })

const report = async (userId: string, offerId: number, transactionId: string) => {
  const reply = await ask('/v1/conversions', { method: 'POST', payload: { userId, offerId, transactionId } })
  assert.ok([200, 201].includes(reply.statusCode), reply.body)
}

const costOf = (...given: CostArguments) => readCost(explained, ...given)
const pagesFor = async (...given: CostArguments) => (await costOf(...given)).pages

test('lists, clicks, confirmations and reports read a bounded number of pages beside 130 partitions', async () => {
  const [clicked = 0, reported = 0] = await world.createOffers({}, {})
  await explained.app.refresh()
  assertBelow(60, 'A list', await costOf((i) => ask(`/v1/offers?userId=crowd-7${i}`)))
  const clickIds: string[] = []
  const click = await costOf(async (i) => {
    const offer = (await ask(`/v1/offers/${clicked}?userId=new${i}`)).json<Envelope>().data.offer
    const headers = { 'user-agent': BROWSER }
    const reply = await explained.app.server.inject({ url: offer.link.replace(world.config.publicUrl, ''), headers })
    clickIds.push(URL.parse(String(reply.headers.location))?.searchParams.get('c') ?? '')
  })
  assertBelow(100, 'A click', click)
  const confirmation = await costOf(async (i) => {
    const { body } = await explained.app.server.inject(`/postback?click_id=${clickIds[i]}&token=${world.tokenOf(clicked)}`) // prettier-ignore
    assert.match(body, /approved/)
  })
  assertBelow(400, 'A confirmation', confirmation)
  assertBelow(400, 'A report', await costOf((i) => report(`crowd-5${i}`, reported, `r${i}`)))
})

test('a user with very many conversions costs as much as any other', async () => {
  const other = await costOf((i) => report('calm', repeatable, `calm-${i}`))
  assertBelow(other.pages + 60, 'A report', await costOf((i) => report('busy-0', repeatable, `busy-report-${i}`)))
  const otherList = await costOf((i) => ask(`/v1/offers?userId=calm-${i}`))
  const list = await costOf(() => ask('/v1/offers?userId=busy-0')) // read once, then remembered
  assert.ok(list.pages < otherList.pages + 30, list.dearest)
})

test('a search reads what an index finds, or a bounded part of the table', async () => {
  const { db } = explained
  const { appId, publisherId } = crowd
  const look = (filter: ConversionFilter) => costOf(() => searchConversions(db, { isTest: false, ...filter }, 20))
  assertBelow(100, 'A sub-ID that nothing has', await look({ appId, subId: 'nothing has it' }))
  assertBelow(400, 'A sub-ID that many have', await look({ appId, subId: 'campaign-7' }))
  assertBelow(100, 'A user of any app', await look({ userId: 'crowd-77' }))
  assertBelow(200, 'A publisher', await look({ publisherId }))
  assertBelow(200, 'What was reversed of an app', await look({ appId, status: 'reversed' }))
  assertBelow(200, 'What is pending', await look({ status: 'pending' }))
  assertBelow(100, 'An app without any', await look({ appId: (await world.createApp()).appId }))
  // What has no index: at most a page for each of the 10,000 rows that are walked, once more to see where the walk ended.
  assertBelow(21_000, 'A reason that nothing has', await look({ reason: 'not_eligible' }))
})

test('a search that ends before its page is full goes on from there, and misses nothing', async () => {
  const { db } = world.database
  const filter = { isTest: false, offerId: crowd.offerIds[0] as number, status: 'reversed' } as const
  const found: string[] = []
  let [pages, before] = [0, undefined as string | undefined]
  do {
    const { rows, next } = await searchConversions(
      db,
      { ...filter, ...(before === undefined ? {} : { before }) },
      1_000,
    )
    found.push(...rows.map((row) => row.conversion_id))
    before = next ?? undefined
    pages++
  } while (before !== undefined)
  const all = await db.selectFrom('conversions').select('conversion_id').where('offer_id', '=', filter.offerId).where('status', '=', 'reversed').orderBy('conversion_id', 'desc').execute() // prettier-ignore
  assert.ok(pages > 3 && all.length > 0, `${pages} pages`)
  assert.deepEqual(found, all.map((row) => row.conversion_id)) // prettier-ignore
})

test('the pages of the operator count up to a limit, and ask for no size of a partition', async () => {
  const { db } = explained
  assertBelow(1_100, 'Attention', await costOf(() => readOperatorCounts(db)))
  assertBelow(
    200,
    'Queues',
    await costOf(
      () => readQueues(db),
      ({ text }) => text.includes('open_calls'),
    ),
  )
  const partitions = await readPartitions(world.database.db)
  assert.ok((partitions.find(({ table }) => table === 'clicks')?.bytes ?? 0) > 1_000_000)
})

test('a confirmation is planned and run for the one partition of its click', async () => {
  const [offerId = 0] = await world.createOffers({})
  await explained.app.refresh()
  const { clickId } = await world.click(offerId, live, 'userId=one')
  const statements = await explained.explain(() =>
    explained.app.server.inject(`/postback?click_id=${clickId}&token=${world.tokenOf(offerId)}`),
  )
  const scans = statements.flatMap(({ nodes }) => nodes.filter((node) => node['Node Type'].includes('Scan')))
  const read = scans.map((node) => node['Relation Name'] ?? '')
  const partitions = new Set(read.filter((name) => /^clicks_\d+$/.test(name)))
  assert.equal(partitions.size, 1, [...partitions].join(' '))
  assert.ok(!read.some((name) => name.startsWith('inbound_calls')), 'what waits is not looked for in the log')
})

test('statistics of a year read what is rolled up, and say the same', async () => {
  for (const query of ['', '&groupBy=offer', '&groupBy=country']) {
    const pages = await pagesFor(
      () => ask(`${YEAR}${query}`),
      ({ text }) => text.includes('facts'),
    )
    assert.ok(pages < 1_500, `${query}: ${pages}`)
  }
  const { data } = (await ask(YEAR)).json<{ data: { totals: { clicks: number } } }>()
  assert.ok(data.totals.clicks >= CLICKS * 0.98)
})

test('the days of a year are read from a few pages, among those of all other apps', async () => {
  const { pool } = world.database
  await run(
    pool,
    `INSERT INTO stats_days (app_id, dims, day, offer_id, country, device, clicks, pending, approved, rejected, reversed,
       payout_micros, revenue_micros, local_steps)
     SELECT app_id, 0, current_date - days, 0, '*', '*', 1, 0, 0, 0, 0, 0, 0, 0
     FROM generate_series(1, 365) AS days, LATERAL (SELECT ${crowd.appId} AS app_id UNION ALL SELECT generate_series(1000, 1300)) AS apps
     ON CONFLICT DO NOTHING`,
  )
  // Transactions that began before must have ended.
  await until(async () => {
    await pool.query('VACUUM ANALYZE stats_days')
    const { rows } = await pool.query<{ is: boolean }>(`SELECT relallvisible > 0.9 * relpages AS is FROM pg_class WHERE relname = 'stats_days'`) // prettier-ignore
    return rows[0]?.is === true
  }, 60_000)
  const statements = await explained.explain(() => ask(YEAR))
  const scans = statements.flatMap(({ nodes }) => nodes).filter((node) => node['Relation Name'] === 'stats_days')
  assert.ok(scans.length > 0)
  const pages = scans.map(pagesIn)
  // Nearly 300 from the table; what the planner sampled decides between some 10 and 60 here.
  assert.ok(Math.max(...pages) < 100, `${pages.join(', ')} pages`)
})

test('balances read sums and the last entries, and the entries of a conversion are found by their time', async () => {
  const { db } = explained
  const { publisherId, advertiserId } = crowd
  assert.ok((await readBalances(db, 'network')).payableMicros > 0)
  assertBelow(60, 'What the network owes', await costOf(() => readBalances(db, 'network')))
  assertBelow(60, 'What a publisher is owed', await costOf(() => readBalances(db, { publisherId })))
  assertBelow(60, 'What an advertiser owes', await costOf(() => readBalances(db, { advertiserId })))
  assertBelow(60, 'The days of the network', await costOf(() => readNetworkDays(db, '2020-01-01', '2099-12-31')))
  // The newest entries, which no vacuum has seen.
  const { rows } = await searchConversions(db, { appId: crowd.appId, isTest: false, status: 'pending' }, 1)
  const newest = rows[0] ?? assert.fail()
  assert.ok((await readEntries(db, newest)).length > 1)
  assertBelow(60, 'The entries of a conversion', await costOf(() => readEntries(db, newest)))
})

test('while an old snapshot is open, looking for waiting events costs no more with every event', async () => {
  const { db } = world.database
  const holder = openPool(world.connection(world.databaseName), 1)
  const client = await holder.pool.connect()
  try {
    await client.query('SET idle_in_transaction_session_timeout = 0')
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await client.query('SELECT count(*) FROM waiting_events')
    const passed = new Passed()
    await run(
      world.database.pool,
      `INSERT INTO waiting_events (conversion_id, sequence, app_id, is_test)
       SELECT gen_random_uuid(), 1, ${crowd.appId}, true FROM generate_series(1, 20000)`,
    )
    // Transactions of the whole cluster must have ended, those of other test files among them.
    await until(async () => {
      await numberEvents(db, passed)
      return passed.number >= 20_000
    }, 60_000)
    // The app also polls, and may still be behind.
    await until(async () => {
      const statements = await explained.explain(() => numberEvents(explained.db, passed))
      const looks = statements.filter(({ text }) => text.includes('waiting_events_event_no_seq'))
      return Math.min(...looks.map(({ pages }) => pages)) < 50
    })
  } finally {
    await client.query('ROLLBACK')
    client.release()
    await holder.close()
  }
})

test('a cap on an offer with many conversions is counted while others click and convert', async () => {
  const { db } = world.database
  const [offerId = 0] = crowd.offerIds
  const [other = 0] = await world.createOffers({ total_conversion_cap: 5 })
  // A transaction that may not have seen the cap keeps the count waiting.
  const { setting } = await db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock_shared(${LOCKS.caps})`.execute(trx)
    const capping = setCaps(db, TESTER, offerId, { totalConversions: 1 }, new Date())
    await until(async () => (await db.selectFrom('cap_counts').selectAll().execute()).length > 0)
    const { clickId } = await world.click(other, live, 'userId=meanwhile')
    assert.equal((await world.confirm(other, clickId)).outcome, 'approved')
    assert.equal((await db.selectFrom('cap_counts').selectAll().execute()).length, 1, 'it still waits')
    return { setting: capping }
  })
  await setting
  await countCaps(db, new Date())
  const { full, total } = await showCaps(db, offerId, new Date())
  const { count } = await db.selectFrom('conversions').select((is) => is.fn.countAll<number>().as('count')).where('offer_id', '=', offerId).where('status', 'in', ['pending', 'approved']).executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual([full, total?.conversions], ['for good', count])
})
