import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { until } from '../../../test/installation.ts'
import { addConversions } from '../../../test/seed-rows.ts'
import { SECRET_KEY, useWorld, type World } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { createLinkSigner } from './links.ts'
import { setOfferStatus } from './offers.ts'
import { recomputePopularity } from './popularity.ts'
import type { Offer } from './schema.ts'
import { TESTER } from '../../../test/tester.ts'

let live: IssuedCredentials
let appId: number
const world = useWorld('offers', async () => {
  ;({ live, appId } = await world.createApp())
})

const list = async (parameters = '', credentials = live, from: World = world) =>
  (await from.get(`/v1/offers?userId=u&${parameters}`, credentials)).body.data

async function single(offerId: number | string, credentials = live): Promise<Offer | null> {
  const { status, body } = await world.get(`/v1/offers/${offerId}?userId=u`, credentials)
  if (status !== 200) assert.equal(body.error.code, 'RESOURCE_NOT_FOUND')
  return status === 200 ? body.data.offer : null
}

test('an offer has all its fields, with money in dollars and in the currency of the app', async () => {
  const { live: euros } = await world.createApp({ currency: 'Gold "é"', rateMicros: 1_250_000 })
  const [id] = await world.createOffers({
    name: 'Naïve 漢字 "quoted" \\ game 😀',
    description: 'Line\nbreak',
    category: 'game',
    payout: '3.3333',
    revenue: 5,
    countries: ['DE', 'US'],
    platforms: ['ios', 'android'],
    image_url: '/pictures/game-a.svg',
    difficulty: 'hard',
    time_estimate: '5-10 minutes',
    language: 'de',
    requirements: 'None.',
    payment_required: true,
    conversion_type: 'cpe',
    goals: [
      { name: 'Install', description: 'Open it', payout: 1, revenue: 2 },
      { name: 'Level 5', payout: 2.3333, revenue: 3, is_optional: true },
    ],
  })
  const offer = await single(id ?? 0, euros)
  assert.ok(offer !== null)
  const { link, goals, created_at, updated_at, ...rest } = offer
  assert.deepEqual(rest, {
    offer_id: id,
    name: 'Naïve 漢字 "quoted" \\ game 😀',
    description: 'Line\nbreak',
    payout: 3.3333,
    payout_local: 4.1666, // 4.166625, rounded down
    currency: 'Gold "é"',
    category: 'game',
    image_url: 'https://offers.test/pictures/game-a.svg',
    countries: ['DE', 'US'],
    platforms: ['android', 'ios'],
    difficulty: 'hard',
    time_estimate: '5-10 minutes',
    language: 'de',
    requirements: 'None.',
    payment_required: true,
    conversion_type: 'cpe',
  })
  assert.ok(link.startsWith(`https://offers.test/c/${id}/`))
  for (const time of [created_at, updated_at]) assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(
    goals.map(({ goal_id, ...goal }) => ({ ...goal, hasId: Number.isInteger(goal_id) })),
    [
      { name: 'Install', description: 'Open it', payout: 1, payout_local: 1.25, is_optional: false, hasId: true },
      { name: 'Level 5', description: '', payout: 2.3333, payout_local: 2.9166, is_optional: true, hasId: true },
    ],
  )
  assert.deepEqual(Object.keys(offer).slice(0, 8), [
    'offer_id',
    'name',
    'description',
    'payout',
    'payout_local',
    'currency',
    'category',
    'link',
  ])
  const listed = (await list('limit=100', euros)).offers.find((one) => one.offer_id === id)
  assert.deepEqual({ ...listed, link: '' }, { ...offer, link: '' }, 'the list shows the same')
})

test('the link carries app, user, sub-IDs, request and time, signed, one token for all offers of an answer', async () => {
  await world.createOffers({}, {})
  const { body } = await world.get(
    '/v1/offers?userId=a%3Ab%20%2F%F0%9F%98%80&aff_sub=x%3A1&aff_sub3=%C3%A9&limit=2',
    live,
  )
  const [first, second] = body.data.offers.map(({ link }) => link.split('/').at(-1) ?? '')
  assert.equal(first, second)
  const links = createLinkSigner(SECRET_KEY)
  const read = links.read(first ?? '')
  const issuedAt = read?.issuedAt ?? 0
  assert.ok([0, 1].includes(body.meta.timestamp - issuedAt)) // the second may end meanwhile
  assert.deepEqual(read, {
    appId,
    isTest: false,
    issuedAt,
    requestId: body.meta.request_id,
    userId: 'a:b /😀',
    subIds: ['x:1', null, 'é', null],
    lockerId: null,
    claimsCountry: false,
  })
  assert.ok(URL.canParse(body.data.offers[0]?.link ?? ''))
  for (const forged of [
    '',
    'x',
    `${first}x`,
    first?.replace('1:', '2:'),
    `${first?.slice(0, -1)}${first?.endsWith('A') ? 'B' : 'A'}`,
    first?.replace(':l:', ':t:'),
  ]) {
    assert.equal(links.read(forged ?? ''), null)
  }
  assert.equal(createLinkSigner('another secret key of forty characters..').read(first ?? ''), null)
})

test('one offer: 404 for one that is unknown, paused, over, not begun, blocked by the rules or not an id', async () => {
  const [good, paused, over, future, blocked] = await world.createOffers(
    {},
    { status: 'paused' },
    { ends_at: '2020-01-01' },
    { starts_at: '2100-01-01' },
    { category: 'video' },
  )
  const { live: picky } = await world.createApp({ blockedCategories: ['video'] })
  assert.equal((await single(good ?? 0))?.offer_id, good)
  for (const id of [paused ?? 0, over ?? 0, future ?? 0, 999_999, 0, -1, '1e3', 'abc', '9'.repeat(30), '%00'])
    assert.equal(await single(id), null, String(id))
  assert.equal(await single(blocked ?? 0, picky), null)
  assert.equal((await single(blocked ?? 0))?.offer_id, blocked)
})

test('one offer needs a userId', async () => {
  const [id] = await world.createOffers({})
  const { status, body } = await world.get(`/v1/offers/${id}`, live)
  assert.equal(status, 400)
  assert.deepEqual(body.error.details, { userId: 'userId is required.' })
})

test("an app's content rules hide categories, keywords in any case, and offers that require a payment", async () => {
  const [plain, casino, casinoText, paid, video] = await world.createOffers(
    { name: 'Plain' },
    { name: 'Big CASINO night' },
    { description: 'Like a casinO: fun' },
    { payment_required: 'yes' },
    { category: 'video' },
  )
  const { live: picky } = await world.createApp({
    blockedCategories: ['video'],
    blockedKeywords: ['Casino'],
    paymentOffers: false,
  })
  const visible = new Set((await list('limit=100&sort=newest', picky)).offers.map((offer) => offer.offer_id))
  assert.deepEqual(
    [plain, casino, casinoText, paid, video].map((id) => visible.has(id ?? 0)),
    [true, false, false, false, false],
  )
})

test('an offer appears at its start time and disappears at its end time, automatically', async () => {
  const soon = (ms: number) => new Date(Date.now() + ms).toISOString()
  const [starting, ending] = await world.createOffers({ starts_at: soon(4_000) }, { ends_at: soon(4_000) })
  assert.deepEqual([await single(starting ?? 0), (await single(ending ?? 0))?.offer_id], [null, ending])
  await until(async () => (await single(starting ?? 0)) !== null && (await single(ending ?? 0)) === null)
})

test('a change made elsewhere is seen automatically', async () => {
  const [id] = await world.createOffers({ name: 'Here' })
  await setOfferStatus(world.database.db, TESTER, id ?? 0, 'paused')
  await until(async () => (await single(id ?? 0)) === null)
})

test('a change in a transaction that commits late is not missed, though newer ones were seen before it', async () => {
  const [late, early] = await world.createOffers({}, {})
  const client = new pg.Client(world.connection(world.databaseName))
  await client.connect()
  await client.query('BEGIN')
  await client.query("UPDATE offers SET status = 'paused' WHERE offer_id = $1", [late])
  await setOfferStatus(world.database.db, TESTER, early ?? 0, 'paused')
  for (let i = 0; i < 3; i++) await world.app.refresh()
  assert.deepEqual([(await single(late ?? 0))?.offer_id, await single(early ?? 0)], [late, null])
  await client.query('COMMIT')
  await client.end()
  await world.app.refresh()
  assert.equal(await single(late ?? 0), null)
})

test('popular means completed most often lately; test conversions, rejected and old ones do not count', async () => {
  const ids = await world.createOffers({ category: 'survey' }, { category: 'survey' }, { category: 'survey' })
  const [a = 0, b = 0, c = 0] = ids
  const convert = (offerId: number, status: 'pending' | 'approved' | 'rejected', isTest: boolean, ageDays: number) =>
    addConversions(world.database.db, {
      appId,
      offerId,
      status,
      isTest,
      at: new Date(Date.now() - ageDays * 86_400_000).toISOString(),
    })
  await convert(b, 'approved', false, 1)
  await convert(b, 'pending', false, 1)
  await convert(c, 'approved', false, 1)
  for (let i = 0; i < 5; i++) await convert(a, 'approved', true, 1)
  for (let i = 0; i < 5; i++) await convert(a, 'rejected', false, 1)
  for (let i = 0; i < 5; i++) await convert(a, 'approved', false, 31)
  const updatedBefore = (await single(b))?.updated_at
  assert.equal(await recomputePopularity(world.database.db, new Date()), 2)
  assert.equal(await recomputePopularity(world.database.db, new Date()), 0, 'nothing to do the second time')
  await world.app.refresh()
  const order = (await list('category=survey&sort=popular&limit=100')).offers.map((offer) => offer.offer_id)
  assert.deepEqual(order.slice(0, 2), [b, c])
  assert.deepEqual(
    (await list('category=survey&limit=100')).offers.map((offer) => offer.offer_id),
    order,
    'popular is the default',
  )
  assert.equal((await single(b))?.updated_at, updatedBefore, 'becoming popular is no change of the offer')
})

test('an ETag answers 304 while nothing that the answer means has changed', async () => {
  const [id] = await world.createOffers({ category: 'game', platforms: ['android'] })
  const path = '/v1/offers?userId=etag&category=game&platform=android'
  const { headers, status } = await world.get(path, live)
  const etag = headers['etag'] ?? ''
  assert.equal(status, 200)
  assert.match(etag, /^W\/"[^"]+"$/)
  assert.equal(headers['cache-control'], 'private, no-cache')
  const ask = (ifNoneMatch: string, url = path, credentials = live) =>
    world.get(url, credentials, { headers: { 'if-none-match': ifNoneMatch } })
  for (const tag of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
    const answer = await ask(tag)
    assert.deepEqual([answer.status, answer.text], [304, ''])
    assert.equal(answer.headers['etag'], etag)
    assert.ok(answer.headers['x-ratelimit-remaining'] !== undefined)
  }
  assert.equal((await ask('"x"')).status, 200)
  const other = await world.createApp({ currency: 'Gems' })
  for (const [url, credentials] of [
    [path.replace('etag', 'etag2'), live],
    [`${path}&limit=5`, live],
    [`${path}&aff_sub=x`, live],
    [path, other.live],
  ] as const) {
    assert.equal((await ask(etag, url, credentials)).status, 200, url)
  }
  await world.createOffers({ category: 'survey' })
  assert.equal((await ask(etag)).status, 304, 'a change outside this list is none to it')
  await setOfferStatus(world.database.db, TESTER, id ?? 0, 'paused')
  await world.app.refresh()
  assert.equal((await ask(etag)).status, 200)
})

test('two processes give the same ETag for the same offers', async () => {
  const other = await world.start()
  try {
    const ask = async (app: typeof other) =>
      (
        await app.server.inject({
          url: '/v1/offers?userId=u&sort=newest',
          headers: { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret },
        })
      ).headers['etag']
    assert.equal(await ask(other), await ask(world.app))
  } finally {
    await other.close()
  }
})
