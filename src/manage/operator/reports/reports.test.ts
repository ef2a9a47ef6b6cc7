import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal, moveConversion } from '../../../../test/conversion-rows.ts'
import { addClicks } from '../../../../test/seed-rows.ts'
import { visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { rollUpStats } from '../../../features/reports/rollup.ts'
import { writeReport } from './csv.ts'
import type { NetworkReport } from './schema.ts'

const USD = 1_000_000
const RANGE = 'from=2026-03-01&to=2026-04-01'

let ours: Deal
let theirs: Deal
const world = useWorld('operator_reports', async () => {
  ours = await createDeal(world, { name: '=Formula, "quoted"' })
  theirs = await createDeal(world)
  const { db } = world.database
  const click = { appId: ours.appId, offerId: ours.offerId, country: 'US', device: 'mobile', aff_sub: '@cmd' }
  const at = '2026-03-10T23:30:00Z'
  const worth = { payoutMicros: 3 * USD, revenueMicros: 5 * USD }
  await addClicks(
    db,
    { ...click, at },
    { ...click, at: '2026-02-10T00:00:00Z' },
    { ...click, at, isTest: true },
    { ...click, at, signals: ['bot'] },
    { ...click, at, appId: theirs.appId, offerId: theirs.offerId, country: 'DE', device: 'desktop' },
    { ...click, at, appId: theirs.appId, offerId: theirs.offerId, country: 'DE', device: 'desktop' },
  )
  await createConversion(world, ours, { ...worth, status: 'approved', at: new Date(at) })
  await createConversion(world, ours, { ...worth, status: 'approved', at: new Date('2026-02-10T01:00:00Z') })
  const late = await createConversion(world, theirs, {
    ...worth,
    status: 'approved',
    at: new Date('2026-03-31T23:59:59Z'),
  })
  await rollUpStats(db, new Date())
  // Reversed in another month than that in which it was created, where it counts.
  await moveConversion(world, theirs, late, 'reversed', new Date('2026-04-02T00:00:00Z'))
})

async function ask(query: string): Promise<NetworkReport> {
  const visitor = await visit(world, 'operator_reader')
  const { status, data, text } = await visitor.get<NetworkReport>(`/network/reports?${query}`)
  assert.equal(status, 200, text)
  return data
}

test('operators read the figures of all publishers by every dimension', async () => {
  const figures = ({ key, clicks, conversions, reversed, payout, revenue, margin }: NetworkReport['rows'][number]) => [key, clicks, conversions, reversed, payout, revenue, margin] // prettier-ignore
  const own = (key: number | string) => [String(key), 1, 1, 0, 3, 5, 2]
  const other = (key: number | string) => [String(key), 2, 1, 1, 0, 0, 0]
  for (const [groupBy, mine, its] of [
    ['publisher', ours.publisherId, theirs.publisherId],
    ['app', ours.appId, theirs.appId],
    ['offer', ours.offerId, theirs.offerId],
    ['advertiser', ours.advertiserId, theirs.advertiserId],
  ] as const) {
    const { rows, totals } = await ask(`${RANGE}&group_by=${groupBy}`)
    assert.deepEqual(rows.map(figures), [own(mine), other(its)], groupBy)
    assert.deepEqual([totals.clicks, totals.revenue, totals.margin, totals.reversed], [3, 5, 2, 1])
    assert.deepEqual([totals.conversion_rate, totals.epc], [0.6667, 1])
  }
  const keys = async (query: string) => (await ask(`${RANGE}&${query}`)).rows.map(({ key, clicks }) => [key, clicks])
  assert.deepEqual(await keys('group_by=country'), [[null, 0], ['DE', 2], ['US', 1]]) // prettier-ignore
  assert.deepEqual(await keys('group_by=device&sort=clicks'), [['desktop', 2], ['mobile', 1], [null, 0]]) // prettier-ignore
  assert.deepEqual(await keys('group_by=month'), [['2026-03', 3]])
  assert.deepEqual(await keys(`group_by=aff_sub&app_id=${ours.appId}`), [[null, 0], ['@cmd', 1]]) // prettier-ignore
  const hours = await ask('from=2026-03-10&to=2026-03-11&group_by=hour&country=US')
  assert.deepEqual([hours.rows.length, hours.rows.at(-1)?.key, hours.rows.at(-1)?.clicks], [24, '2026-03-10T23:00Z', 1])
})

test('rows can be filtered, sorted by any figure, named, and compared with the period before', async () => {
  const { rows, previous } = await ask(`${RANGE}&group_by=offer&sort=clicks&order=asc&compare=previous`)
  assert.deepEqual(rows.map(({ name, owner, previous: before }) => [name, owner !== null, before?.clicks, before?.revenue]), [
    ['=Formula, "quoted"', true, 1, 5],
    ['An offer', true, 0, 0],
  ]) // prettier-ignore
  assert.deepEqual([previous?.from, previous?.to, previous?.totals.margin], ['2026-02-01', '2026-03-01', 2])
  const days = await ask(`${RANGE}&compare=previous&publisher_id=${ours.publisherId}&country=US`)
  assert.deepEqual([days.rows.length, days.rows[9]?.clicks, days.rows[9]?.previous?.clicks], [31, 1, 1])
  assert.equal((await ask(`${RANGE}&group_by=app&advertiser_id=${theirs.advertiserId}`)).rows.length, 1)
  assert.equal((await ask(`${RANGE}&group_by=offer&publisher_id=99999`)).rows.length, 0)
  const first = await ask(`${RANGE}&group_by=offer&limit=1`)
  assert.deepEqual([first.rows.length, first.has_more, first.totals.clicks], [1, true, 3])
})

test('what would have to be counted one by one is bounded in time, and the answer says so', async () => {
  const visitor = await visit(world, 'operator')
  const problems = async (query: string) => {
    const { status, error } = await visitor.get(`/network/reports?${query}`)
    assert.equal(status, 400, query)
    return error.details ?? {}
  }
  assert.match((await problems('group_by=aff_sub'))['app_id'] ?? '', /Choose an app/)
  assert.match((await problems('group_by=aff_sub&app_id=1&from=2026-01-01&to=2026-03-01'))['from'] ?? '', /31 days/)
  assert.match((await problems('group_by=hour&from=2026-01-01&to=2026-03-01'))['from'] ?? '', /31 days/)
  assert.match((await problems('group_by=hour&country=US&from=2026-01-01&to=2026-01-05'))['from'] ?? '', /2 days/)
  assert.match((await problems('group_by=device&app_id=1&offer_id=1'))['from'] ?? '', /devices/)
  assert.match((await problems('from=2020-01-01&to=2026-01-01'))['from'] ?? '', /400 days/)
  assert.deepEqual(Object.keys(await problems('group_by=user&sort=name&from=x')).toSorted(), [
    'from',
    'group_by',
    'sort',
  ])
})

test('the file has the same figures, and nothing in it is a formula', async () => {
  const visitor = await visit(world, 'operator_reader')
  const { text } = await visitor.get(`/network/reports.csv?${RANGE}&group_by=offer&offer_id=${ours.offerId}`)
  const names =
    'clicks,converted_clicks,conversions,pending,approved,rejected,reversed,payout,revenue,margin,epc,conversion_rate'
  const [head = '', row = '', end] = text.split('\r\n')
  assert.deepEqual([head, end], [`offer_id,offer,advertiser,${names}`, ''])
  assert.match(row, new RegExp(`^${ours.offerId},"'=Formula, ""quoted""",Advertiser \\d+,1,1,1,0,1,0,0,3,5,2,3,1$`))
  const subs = await visitor.get(`/network/reports.csv?${RANGE}&group_by=aff_sub&app_id=${ours.appId}&compare=previous`.replace('from=2026-03-01', 'from=2026-03-02')) // prettier-ignore
  assert.match(subs.text, /,previous_conversion_rate\r\n[^]*^'@cmd,1,/m)
  const report = await ask(`${RANGE}&group_by=country&limit=1`)
  assert.deepEqual([...writeReport(report)].at(-1), 'Only the first 1 rows: there are more.\r\n')
})

test('reports of the network are for operators alone', async () => {
  const visitor = await visit(world, 'publisher_owner', ours.publisherId)
  for (const path of ['reports', 'reports.csv', 'overview'])
    assert.equal((await visitor.get(`/network/${path}`)).status, 404)
})

type Figures = NetworkReport['totals']
type Overview = {
  today: Figures
  yesterday: Figures
  last_30_days: Figures
  days: ({ day: string } & Figures)[]
  balances: Record<string, number>
  attention: {
    pending_conversions: number
    unmatched_calls: number
    unprocessed_calls: number
    crowded_advertisers: number
    paused_lanes: number
    troubled_feeds: number
    held_offers: number
  }
}

test('operators see the figures of today and of 30 days as reports have them, and what needs them', async () => {
  const visitor = await visit(world, 'operator_reader')
  const before = (await visitor.get<Overview>('/network/overview')).data
  const { db } = world.database
  const now = Date.now()
  const make = (status: 'approved' | 'pending', daysAgo: number) =>
    createConversion(world, ours, {
      status,
      payoutMicros: 3 * USD,
      revenueMicros: 5 * USD,
      at: new Date(now - daysAgo * 86_400_000),
    })
  await make('approved', 0)
  await make('pending', 29)
  await make('approved', 30)
  await world.confirm(ours.offerId, '01890000-0000-7000-8000-000000000000')
  await world.confirm(ours.offerId, 'no click')
  await db
    .insertInto('postback_lanes')
    .values({ app_id: ours.appId, publisher_id: ours.publisherId, paused_at: new Date(), pause_reason: 'failing' })
    .execute()
  const { data } = await visitor.get<Overview>('/network/overview')
  const sums = ({ conversions, revenue, payout, margin }: Figures) => [conversions, revenue, payout, margin]
  assert.equal(data.days.length, 30)
  assert.deepEqual([data.today, data.yesterday, data.last_30_days].map(sums), [[1, 5, 3, 2], [0, 0, 0, 0], [2, 5, 3, 2]]) // prettier-ignore
  const [oldest, newest] = [data.days[0] ?? assert.fail(), data.days.at(-1) ?? assert.fail()]
  assert.deepEqual([oldest.day, ...sums(oldest)], [new Date(now - 29 * 86_400_000).toISOString().slice(0, 10), 1, 0, 0, 0]) // prettier-ignore
  assert.deepEqual([newest.day, ...sums(newest)], [new Date(now).toISOString().slice(0, 10), 1, 5, 3, 2])
  const { rows, totals } = await ask('group_by=day')
  assert.deepEqual([totals, rows.at(-1)?.revenue], [data.last_30_days, data.today.revenue], 'the same as in a report')
  assert.equal(data.balances['margin'], (before.balances['margin'] ?? 0) + 6)
  assert.deepEqual(data.attention, {
    pending_conversions: before.attention.pending_conversions + 1,
    unmatched_calls: 1,
    unprocessed_calls: 1,
    crowded_advertisers: 0,
    paused_lanes: 1,
    troubled_feeds: 0,
    held_offers: 0,
  })
})
