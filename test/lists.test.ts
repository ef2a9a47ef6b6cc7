// Every list of the management API, with each of its filters, in a large network: what a page costs, in pages of 8 kB.
// A new list or filter without a value here fails.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type pg from 'pg'
import { rollUp } from '../src/features/ledger/rollup.ts'
import { readHealth } from '../src/features/postbacks/health.ts'
import { rollUpStats } from '../src/features/reports/rollup.ts'
import { type Crowd, run } from './crowd.ts'
import { type ExplainedApp, pagesOf, startExplained } from './explain.ts'
import { APPS, DAY_MS, fillLists, MANY } from './list-rows.ts'
import { type Operation, operationsOf, readPaths } from './operations.ts'
import { createPerson, createToken, visit } from './people.ts'
import { useWorld } from './world.ts'

let crowd: Crowd
let explained: ExplainedApp
let token: string
let conversionId: string
after(() => explained.close()) // before the world does
const world = useWorld('lists', fill)

async function fill(): Promise<void> {
  const { db, pool } = world.database
  crowd = await fillLists(world)
  await rollUp(db) // as a worker does all the time
  await pool.query({ text: 'VACUUM ANALYZE', query_timeout: 600_000 } as pg.QueryConfig)
  conversionId = (await db.selectFrom('postbacks').select('conversion_id').executeTakeFirstOrThrow()).conversion_id
  const reader = await createPerson(world, 'operator_reader')
  token = (await createToken(world, reader.id, ['read'])).token ?? ''
  explained = await startExplained(world)
}

/** Values of filters that take any text: some fit many rows, some few and some none. */
const VALUES = (): Record<string, readonly string[]> => ({
  action: ['session.start', 'rare.', 'rare.action', 'none.at_all', 'se'],
  advertiser_id: [String(crowd.advertiserId), String(crowd.advertiserId + 1)],
  app_id: [String(crowd.appId)],
  click_id: ['01890000-0000-7000-8000-000000000000'],
  conversion_id: [conversionId],
  inbound_id: ['01890000-0000-7000-8000-000000000000'],
  country: ['US'],
  from: [new Date(crowd.fromMs).toISOString()],
  limit: ['20'],
  minimum: ['1'],
  offer_id: [String(crowd.offerIds[0])],
  offset: ['100'],
  publisher_id: [String(crowd.publisherId)],
  request_id: ['req_7', 'req_none'],
  search: ['number', 'needle', 'nothing has it', '7'],
  sub_id: ['campaign-7', 'nothing has it'],
  subject: ['77', 'nothing'],
  timezone: ['UTC'],
  transaction_id: ['t-77', 'nothing has it'],
  to: [new Date(crowd.fromMs + DAY_MS).toISOString()],
  user_id: ['crowd-77', 'u77', 'nobody'],
  who: ['o1@example.com', 'rare@example.com', 'nobody@example.com'],
})

/** What no page may cost, whatever is filtered: a walk ends after 10,000 rows, and is taken once more to see where. */
const MOST_PAGES = 1_500
/** A user is looked up in each app separately. */
const MOST_OF_USER = 5 * APPS
/** Every lane is read, to sort them by what needs attention. */
const MOST_OF_LANES = MOST_PAGES + 3 * APPS
/** A feed counts its offers, which it has as many of as its settings allow. */
const MOST_OF_FEED = MANY / 10

test('a page of any list, with any of its filters, reads a bounded part of the database', async (context) => {
  // Reports have a limit, too, but read sums: other bounds hold for those.
  const lists = operationsOf(readPaths(world), '/manage/v1').filter(
    ({ method, path, query }) =>
      method === 'GET' && path !== '/network/reports' && (query.includes('limit') || query.includes('state')),
  )
  assert.ok(lists.length > 15)
  const ids = {
    app_id: String(crowd.appId),
    publisher_id: String(crowd.publisherId),
    advertiser_id: String(crowd.advertiserId),
    offer_id: '77',
    run_id: '1',
    feed_id: '1',
    feed_run_id: '1',
  }
  const [costly, table] = [[] as string[], [] as string[]]
  for (const list of lists)
    for (const query of queriesOf(list)) {
      const path = `${list.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name as keyof typeof ids])}?${query}`
      let status = 0
      const statements = await explained.explain(async () => {
        const answer = await explained.app.server.inject({ url: `/manage/v1${path}`, headers: { authorization: `Bearer ${token}` } }) // prettier-ignore
        status = answer.statusCode
      })
      const pages = pagesOf(statements.filter(({ text }) => !/changed_xid|event_feed|waiting_events/.test(text)))
      assert.equal(status, 200, path)
      table.push(`${String(pages).padStart(6)} ${path}`)
      if (pages > mostOf(path)) costly.push(`${path}: ${pages}`)
    }
  context.diagnostic(`pages of 8 kB:\n${table.join('\n')}`)
  assert.deepEqual(costly, [])
})

function mostOf(path: string): number {
  if (path.startsWith('/conversions?user_id')) return MOST_OF_USER
  if (path.startsWith('/postback-lanes')) return MOST_OF_LANES
  return path.startsWith('/feeds?') ? MOST_OF_FEED : MOST_PAGES
}

/** Each app is looked up separately, for a user and for a transaction. */
const MOST_SEARCHED = MOST_PAGES + 2 * MOST_OF_USER

test('the search over everything reads indexes and short tables only, whatever is typed and whichever person asks', async (context) => {
  const [costly, table] = [[] as string[], [] as string[]]
  const there = Object.create(world, { app: { value: explained.app } }) as typeof world
  const whole = await world.database.db.selectFrom('conversions').select('conversion_id').executeTakeFirstOrThrow()
  for (const [role, publisherId, most] of [['operator', null, MOST_SEARCHED], ['publisher_viewer', crowd.publisherId, MOST_PAGES]] as const) {
    const visitor = await visit(there, role, publisherId)
    for (const text of ['crowd-77', ' crowd-77', 'number', 'needle', 'nothing has it', '7', 'u', whole.conversion_id]) {
      let status = 0
      const statements = await explained.explain(async () => ({ status } = await visitor.get(`/search?q=${encodeURIComponent(text)}`))) // prettier-ignore
      assert.equal(status, 200)
      const scanned = statements.filter(({ nodes }) =>
        nodes.some((node) => node['Node Type'] === 'Seq Scan' && ['conversions', 'offers'].includes(node['Relation Name'] ?? '')),
      )
      assert.deepEqual(scanned.map(({ text: statement }) => statement), [], text)
      const pages = pagesOf(statements.filter((one) => !/changed_xid|event_feed|waiting_events/.test(one.text)))
      table.push(`${String(pages).padStart(6)} ${role} ${text}`)
      if (pages > most) costly.push(`${role} ${text}: ${pages}`)
    }
  } // prettier-ignore
  context.diagnostic(`pages of 8 kB:\n${table.join('\n')}`)
  assert.deepEqual(costly, [])
})

/** Rows of sums in the 60 days before those with conversions: of all offers that had traffic, and of every app. */
const [SUMMED_DAYS, SUMMED_OFFERS, OFFERS_OF_APP] = [60, 2_000, 3]

async function fillSums(): Promise<void> {
  const { db, pool } = world.database
  await rollUpStats(db, new Date())
  const add = (app: string, dims: number, offer: string, country: string, device: string, from: string) =>
    `INSERT INTO stats_days (app_id, dims, day, offer_id, country, device, clicks, pending, approved, rejected, reversed,
       payout_micros, revenue_micros, local_steps)
     SELECT ${app}, ${dims}, day, ${offer}, ${country}, ${device}, 9, 0, 2, 0, 0, 100, 200, 0
     FROM (SELECT current_date - 6 - generate_series(1, ${SUMMED_DAYS}) AS day) AS days, ${from} ON CONFLICT DO NOTHING`
  const offers = `(SELECT offer_id FROM offers ORDER BY offer_id LIMIT ${SUMMED_OFFERS}) AS o`
  const countries = `unnest(ARRAY['US', '']) AS country`
  const devices = `unnest(ARRAY['mobile', '']) AS device`
  await run(
    pool,
    add('0', 0, '0', `'*'`, `'*'`, '(SELECT) AS one'),
    add('0', 1, 'offer_id', `'*'`, `'*'`, offers),
    add('0', 2, '0', 'country', `'*'`, countries),
    add('0', 3, 'offer_id', 'country', `'*'`, `${offers}, ${countries}`),
    add('0', 4, '0', `'*'`, 'device', devices),
    add('app_id', 0, '0', `'*'`, `'*'`, 'apps'),
    add('app_id', 1, 'offer_id', `'*'`, `'*'`, `apps, (SELECT offer_id FROM offers LIMIT ${OFFERS_OF_APP}) AS o`),
    add('app_id', 4, '0', `'*'`, 'device', `apps, ${devices}`),
  )
  await pool.query({ text: 'VACUUM ANALYZE stats_days', query_timeout: 600_000 } as pg.QueryConfig)
}

test('a report by any dimension, and offers in the order of a figure, read sums, a bounded part of them', async (context) => {
  await fillSums()
  const day = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10)
  const reports = [
    ...['day', 'week', 'month', 'publisher', 'app', 'offer', 'advertiser', 'country', 'device'].flatMap((by) =>
      ['', `&publisher_id=${crowd.publisherId}`, '&country=US', `&offer_id=${crowd.offerIds[0]}`]
        .filter((filter) => by !== 'device' || !filter.includes('offer'))
        .map((filter) => `/network/reports?group_by=${by}${filter}`),
    ),
    '/network/reports?group_by=hour',
    '/network/reports?group_by=offer&compare=previous&sort=epc',
  ].map((path) => `${path}&from=${day(30)}&to=${day(0)}`)
  const [costly, table] = [[] as string[], [] as string[]]
  for (const path of [
    ...reports,
    '/network/overview',
    '/offers?with=figures',
    `/apps/${crowd.appId}/offers?with=figures&limit=100`,
    '/offers?sort=epc',
    '/offers?sort=clicks&search=number',
  ]) {
    let status = 0
    const statements = await explained.explain(async () => {
      const answer = await explained.app.server.inject({ url: `/manage/v1${path}`, headers: { authorization: `Bearer ${token}` } }) // prettier-ignore
      status = answer.statusCode
    })
    assert.equal(status, 200, path)
    const facts = statements.filter(({ text }) => text.includes('facts'))
    const rows = facts.flatMap(({ nodes }) => nodes).filter((node) => /^(clicks|conversions)/.test(node['Relation Name'] ?? '')) // prettier-ignore
    if (path.includes('from=')) assert.equal(rows.length, 0, `${path} counts one by one`)
    const pages = pagesOf(facts)
    table.push(`${String(pages).padStart(6)} ${path}`)
    const most = path.includes('compare=') ? 2 * MOST_SUMMED : MOST_SUMMED
    if (pages > most || pages === 0) costly.push(`${path}: ${pages}`)
  }
  context.diagnostic(`pages of 8 kB:\n${table.join('\n')}`)
  assert.deepEqual(costly, [])
})

test('the health of apps without postbacks reads none of those of a busy one that fails', async () => {
  const { db, pool } = world.database
  await run(
    pool,
    'ALTER TABLE postbacks DISABLE TRIGGER USER',
    `UPDATE postbacks SET state = 'dead', last_error = '500' WHERE app_id = ${crowd.appId}`,
    'ALTER TABLE postbacks ENABLE TRIGGER USER',
    'CLUSTER postbacks USING postbacks_pkey',
    'ANALYZE postbacks',
  )
  const rows = await db.selectFrom('apps').select('app_id').where('app_id', '<>', crowd.appId).execute()
  const idle = rows.map(({ app_id }) => app_id)
  const statements = await explained.explain(() => readHealth(explained.db, idle))
  const pages = pagesOf(statements.filter(({ text }) => text.includes('postback_lanes')))
  assert.ok(pages > 0 && pages < MOST_OF_USER, `${pages} pages`)
})

/** A row for each offer and each of 31 days, which an index may find on a page each, and a look at each offer. */
const MOST_SUMMED = (31 + 5) * SUMMED_OFFERS

/** One query for each filter and value. */
function queriesOf({ path, query, allowed }: Operation): string[] {
  const values = VALUES()
  const filters = query.filter((name) => name !== 'cursor')
  const valuesOf = (name: string) => allowed[name] ?? values[name]
  assert.deepEqual(filters.filter((name) => valuesOf(name) === undefined), [], `${path}: give a value to try`) // prettier-ignore
  return [
    '',
    ...filters.flatMap((name) => (valuesOf(name) ?? []).map((value) => `${name}=${encodeURIComponent(value)}`)),
  ]
}
