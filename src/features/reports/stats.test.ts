import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addClicks, addConversions, type ConversionSeed } from '../../../test/seed-rows.ts'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import type { Stats, StatsRow } from './schema.ts'

type Publisher = { appId: number; live: IssuedCredentials; test: IssuedCredentials }

let ours: Publisher
let theirs: Publisher
let first: number
let second: number
const world = useWorld('stats', async () => {
  ours = await world.createApp()
  theirs = await world.createApp()
  ;[first, second] = (await world.createOffers({ name: 'First' }, { name: 'Second', payout: '2' })) as [number, number]
  await fill()
})

/** What the tests below count: March 2026, most of it on the 10th. */
async function fill(): Promise<void> {
  const { db } = world.database
  const click = { at: '2026-03-10T12:00:00Z', appId: ours.appId, offerId: first }
  await addClicks(
    db,
    { ...click, country: 'US', aff_sub: 'a', aff_sub2: '2', aff_sub3: '3', aff_sub4: '4' },
    { ...click, country: 'US', aff_sub: 'a', signals: ['listed_ip'] },
    { ...click, country: 'DE', aff_sub: 'b', offerId: second },
    { ...click, at: '2026-03-12T00:00:00Z' },
    { ...click, at: '2026-03-12T23:59:59.999Z' },
    { ...click, at: '2026-03-13T00:00:00Z' },
    { ...click, isTest: true },
    { ...click, signals: ['listed_ip', 'bot'] },
    { ...click, appId: theirs.appId },
  )
  const conversion: ConversionSeed = { at: click.at, appId: ours.appId, offerId: first, status: 'approved' }
  await addConversions(
    db,
    { ...conversion, payoutMicros: 1_000_050, rateMicros: 33_333_333, country: 'US', aff_sub: 'a', aff_sub2: '2' },
    { ...conversion, payoutMicros: 2_000_070, rateMicros: 50_000_020, country: 'DE', aff_sub: 'b', offerId: second },
    { ...conversion, payoutMicros: 7_000_000, status: 'pending', aff_sub3: '3' },
    { ...conversion, payoutMicros: 7_000_000, status: 'rejected', country: 'US' },
    { ...conversion, payoutMicros: 7_000_000, status: 'reversed', aff_sub4: '4' },
    { ...conversion, at: '2026-03-11T00:00:00Z', payoutMicros: 500_000 },
    { ...conversion, payoutMicros: 7_000_000, isTest: true },
    { ...conversion, payoutMicros: 7_000_000, appId: theirs.appId },
  )
}

const RANGE = 'from=2026-03-10&to=2026-03-13'

async function ask(query: string, credentials = ours.live): Promise<Stats> {
  const { status, body, text } = await world.get(`/v1/stats?${query}`, credentials)
  assert.equal(status, 200, text)
  return body.data as unknown as Stats
}

async function problemsOf(query: string): Promise<Record<string, string>> {
  const { status, body } = await world.get(`/v1/stats?${query}`, ours.live)
  assert.equal(status, 400, query)
  assert.equal(body.error.code, 'INVALID_REQUEST')
  return body.error.details ?? {}
}

const columns = (rows: StatsRow[], ...names: (keyof StatsRow)[]) => rows.map((row) => names.map((name) => row[name]))

test('a day has all its figures, without what bots, test credentials and other apps did', async () => {
  const { rows, totals } = await ask(RANGE)
  const figures = { conversions: 4, pending: 1, approved: 2, rejected: 1, reversed: 1, payout: 3.0001 }
  assert.deepEqual(rows[0], {
    day: '2026-03-10',
    clicks: 3,
    converted_clicks: 4,
    ...figures,
    payout_local: 133.3384, // 33.33499… and 100.00354…, each cut
    epc: 1, // 3.00012 for three clicks
    conversion_rate: 1.3333,
  })
  assert.deepEqual(totals, {
    ...figures,
    clicks: 5,
    converted_clicks: 5,
    conversions: 5,
    approved: 3,
    payout: 3.5001,
    payout_local: 133.8384,
    epc: 0.7,
    conversion_rate: 1,
  })
})

test('every day of the range appears in order, also one without anything, and the end is not in it', async () => {
  const { rows, from, to, timezone, group_by, has_more } = await ask('from=2026-03-09&to=2026-03-13')
  assert.deepEqual(columns(rows, 'day', 'clicks', 'conversions', 'epc', 'conversion_rate'), [
    ['2026-03-09', 0, 0, null, null],
    ['2026-03-10', 3, 4, 1, 1.3333],
    ['2026-03-11', 0, 1, null, null],
    ['2026-03-12', 2, 0, 0, 0],
  ])
  assert.deepEqual(
    { from, to, timezone, group_by, has_more },
    { from: '2026-03-09T00:00:00Z', to: '2026-03-13T00:00:00Z', timezone: 'UTC', group_by: 'day', has_more: false },
  )
})

test('days are those of the time zone, and a bare date begins there', async () => {
  const { rows, from, to } = await ask('from=2026-03-10&to=2026-03-13&timezone=America/New_York')
  assert.deepEqual([from, to], ['2026-03-10T04:00:00Z', '2026-03-13T04:00:00Z'])
  assert.deepEqual(columns(rows, 'day', 'clicks', 'conversions'), [
    ['2026-03-10', 3, 5],
    ['2026-03-11', 1, 0],
    ['2026-03-12', 2, 0],
  ])
  const part = await ask('from=2026-03-11T23:30:00%2B05:30&to=2026-03-12T00:00:01Z&timezone=Asia/Kathmandu')
  assert.deepEqual(columns(part.rows, 'day', 'clicks'), [
    ['2026-03-11', 0],
    ['2026-03-12', 1],
  ])
  assert.equal(part.from, '2026-03-11T18:00:00Z')
})

test('groups go by payout, then clicks, then key, with null for what is not known', async () => {
  const offers = await ask(`${RANGE}&groupBy=offer`)
  assert.deepEqual(columns(offers.rows, 'offer_id', 'offer_name', 'clicks', 'payout'), [
    [second, 'Second', 1, 2],
    [first, 'First', 4, 1.5],
  ])
  const countries = await ask(`${RANGE}&groupBy=country`)
  assert.deepEqual(columns(countries.rows, 'country', 'clicks', 'payout', 'rejected', 'pending'), [
    ['DE', 1, 2, 0, 0],
    ['US', 2, 1, 1, 0],
    [null, 2, 0.5, 0, 1],
  ])
  for (const [groupBy, key, conversions] of [
    ['aff_sub', 'a', 1],
    ['aff_sub2', '2', 1],
    ['aff_sub3', '3', 1],
    ['aff_sub4', '4', 1],
  ] as const) {
    const { rows, totals, group_by } = await ask(`${RANGE}&groupBy=${groupBy}`)
    const row = rows.find((one) => one[groupBy] === key)
    assert.deepEqual([group_by, row?.clicks, row?.conversions], [groupBy, groupBy === 'aff_sub' ? 2 : 1, conversions])
    assert.ok(rows.some((one) => one[groupBy] === null))
    assert.equal(totals.clicks, 5)
  }
})

test('platforms are those of the clicks, and a conversion has that of its click', async () => {
  const agents: Record<string, string> = {
    android: 'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/150.0 Mobile Safari/537.36',
    ios: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile/15E148 Safari/604.1',
    windows: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36',
    macos: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 Version/18.0 Safari/605.1',
    linux: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0 Safari/537.36',
    chromeos: 'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/150.0 Safari/537.36',
    console: 'Mozilla/5.0 (PlayStation 4 3.11) AppleWebKit/537.73 (KHTML, like Gecko)',
  }
  const { appId, live } = await world.createApp()
  for (const [os, agent] of Object.entries(agents)) {
    const { clickId } = await world.click(second, live, `userId=${os}`, { 'user-agent': agent })
    if (['ios', 'linux'].includes(os)) await world.confirm(second, clickId)
  }
  await addConversions(world.database.db, { at: new Date().toISOString(), appId, offerId: first, status: 'pending' })
  await world.database.db
    .insertInto('click_counts')
    .values({ app_id: appId, quarter: new Date(), offer_id: first, clicks: 10 })
    .execute()
  const { rows, totals } = await ask('groupBy=platform', live)
  assert.deepEqual(columns(rows, 'platform', 'clicks', 'approved', 'pending', 'payout'), [
    ['web', 4, 1, 0, 2],
    ['ios', 1, 1, 0, 2],
    [null, 11, 0, 1, 0],
    ['android', 1, 0, 0, 0],
  ])
  assert.deepEqual([totals.clicks, totals.approved], [17, 2])
})

test('a limit cuts the rows and says so; the totals stay whole', async () => {
  const countries = await ask(`${RANGE}&groupBy=country&limit=2`)
  assert.deepEqual(columns(countries.rows, 'country'), [['DE'], ['US']])
  assert.deepEqual([countries.has_more, countries.totals.clicks], [true, 5])
  assert.equal((await ask(`${RANGE}&groupBy=country&limit=3`)).has_more, false)
  const days = await ask(`${RANGE}&limit=1`)
  assert.deepEqual(columns(days.rows, 'day'), [['2026-03-10']])
  assert.deepEqual([days.has_more, days.totals.clicks], [true, 5])
})

test('an offer and a country filter everything', async () => {
  const { totals } = await ask(`${RANGE}&offerId=${first}&country=us`)
  assert.deepEqual([totals.clicks, totals.approved, totals.rejected, totals.payout], [2, 1, 1, 1])
  const none = await ask(`${RANGE}&offerId=999999999&groupBy=offer`)
  assert.deepEqual([none.rows, none.totals.clicks, none.totals.epc], [[], 0, null])
})

test('test credentials see the same shape with zeros', async () => {
  const live = await ask(RANGE)
  const { rows, totals } = await ask(RANGE, ours.test)
  assert.deepEqual(Object.keys(rows[0] ?? {}), Object.keys(live.rows[0] ?? {}))
  assert.deepEqual(columns(rows, 'day'), columns(live.rows, 'day'))
  assert.deepEqual([totals.clicks, totals.conversions, totals.payout, totals.epc], [0, 0, 0, null])
  assert.deepEqual((await ask(`${RANGE}&groupBy=offer`, ours.test)).rows, [])
})

test('without a range it is the last 7 days up to now, with what was done just now', async () => {
  const { appId, live } = await world.createApp()
  const now = Date.now()
  const at = (ms: number) => new Date(ms).toISOString()
  const old = now - 7 * 86_400_000
  for (const ms of [now, old + 60_000, old - 60_000])
    await addClicks(world.database.db, { at: at(ms), appId, offerId: first })
  const stats = await ask('', live)
  assert.equal(stats.totals.clicks, 2)
  assert.equal(Date.parse(stats.to) - Date.parse(stats.from), 7 * 86_400_000)
  assert.equal(stats.rows.length, 8)
  const fromThen = await ask(`from=${at(old - 120_000)}`, live)
  assert.equal(fromThen.totals.clicks, 3)
  const untilThen = await ask(`to=${at(old)}`, live)
  assert.equal(untilThen.totals.clicks, 1)
})

test('400 days can be asked for at once, also where an hour is added to them', async () => {
  const { rows } = await ask('from=2025-10-01&to=2026-11-05&timezone=America/New_York&limit=1000')
  assert.equal(rows.length, 400)
  assert.deepEqual(await problemsOf('from=2025-10-01&to=2026-11-06&timezone=America/New_York'), {
    from: 'from must be at most 400 days before to, which defaults to now.',
  })
})

test('what is wrong is said by parameter', async () => {
  assert.deepEqual(Object.keys(await problemsOf('from=x&to=2026-02-30&groupBy=user&offerId=0&country=XX&limit=1001')), [
    'from',
    'to',
    'groupBy',
    'offerId',
    'country',
    'limit',
  ])
  assert.match(
    (await problemsOf('from=2026-03-10T12:00'))['from'] ?? '',
    /^from must be a date such as .* a time with its zone/,
  )
  assert.match((await problemsOf('from=2026-03-10T12:00:00+02:00'))['from'] ?? '', /%2B/)
  assert.deepEqual(await problemsOf(`${RANGE}&timezone=Mars/Base`), {
    timezone: 'timezone must be an IANA name such as Europe/Berlin; "Mars/Base" is not one.',
  })
  assert.deepEqual(Object.keys(await problemsOf('from=2026-03-13&to=2026-03-13&timezone=%2B02:00')), [
    'timezone',
    'from',
  ])
  assert.deepEqual(Object.keys(await problemsOf('from=2999-01-01')), ['from'])
  assert.deepEqual(Object.keys(await problemsOf('from=0001-01-01&to=9999-12-31')), ['from', 'to'])
})

test('no answer names a user', async () => {
  for (const groupBy of ['day', 'offer', 'country', 'aff_sub'])
    assert.doesNotMatch(JSON.stringify(await ask(`${RANGE}&groupBy=${groupBy}`)), /user/)
})

test('both paths answer alike, behind the gate', async () => {
  const { status, body, headers } = await world.get(`/api/v1/stats?${RANGE}`, ours.live)
  assert.deepEqual([status, body.message], [200, 'Statistics retrieved successfully'])
  assert.ok(headers['x-ratelimit-limit'])
  assert.deepEqual(body.data, await ask(RANGE))
  assert.equal((await world.get(`/v1/stats?${RANGE}`)).status, 401)
})

test('faults of the range are reported beside all others', async () => {
  const names = async (query: string) => Object.keys(await problemsOf(query)).toSorted()
  assert.deepEqual(await names('groupBy=x&timezone=Mars&from=1999-01-01&to=2026-01-01&limit=0'), [
    'from',
    'groupBy',
    'limit',
    'timezone',
  ])
  assert.deepEqual(await names('groupBy=x&timezone=Mars&from=x&to=2026-01-01&page=2'), [
    'from',
    'groupBy',
    'page',
    'timezone',
  ])
  assert.deepEqual(await names('groupBy=x&timezone=UTC&timezone=UTC'), ['groupBy', 'timezone'])
})
