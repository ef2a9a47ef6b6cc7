// A completed offer leaves its user's list, everywhere and at once, and comes back when the conversion is reversed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { App } from '../../app.ts'
import { openPool } from '../../db/open.ts'
import { until } from '../../../test/installation.ts'
import { PostgresProxy } from '../../../test/postgres-proxy.ts'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { type Category, CATEGORIES, SORTS } from './choices.ts'

let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('completions', async () => {
  ;({ live, test: testMode } = await world.createApp())
})

async function createOffer(more: Record<string, unknown> = {}): Promise<number> {
  const [offerId = 0] = await world.createOffers(more)
  return offerId
}

async function sees(offerId: number, userId: string, credentials = live, app: App = world.app): Promise<boolean> {
  const headers = { 'x-api-key': credentials.api_key, 'x-api-secret': credentials.api_secret }
  const { statusCode } = await app.server.inject({ url: `/v1/offers/${offerId}?userId=${userId}`, headers })
  assert.ok(statusCode === 200 || statusCode === 404, String(statusCode))
  return statusCode === 200
}

/** Clicks, and confirms each of these goals. */
async function complete(offerId: number, userId: string, ...goals: Record<string, string>[]): Promise<string> {
  const { clickId } = await world.click(offerId, live, `userId=${userId}`)
  for (const goal of goals) await confirm(offerId, clickId, goal)
  return clickId
}

async function confirm(offerId: number, clickId: string, more: Record<string, string> = {}): Promise<string> {
  const { outcome } = await world.confirm(offerId, clickId, more)
  await world.app.refresh()
  return outcome
}

test('a completed offer leaves the list of its user, and of no other user', async () => {
  const offerId = await createOffer()
  const list = () => world.get('/v1/offers?userId=ann&limit=100', live)
  const before = await list()
  await complete(offerId, 'ann', {})
  const after = await list()
  assert.deepEqual(
    after.body.data.offers.map((offer) => offer.offer_id),
    before.body.data.offers.map((offer) => offer.offer_id).filter((id) => id !== offerId),
  )
  assert.equal(after.body.data.total, before.body.data.total - 1)
  assert.notEqual(after.headers['etag'], before.headers['etag'])
  const fresh = await world.get('/v1/offers?userId=ann&limit=100', live, { headers: { 'if-none-match': after.headers['etag'] ?? '' } }) // prettier-ignore
  assert.equal(fresh.status, 304)
  assert.equal(await sees(offerId, 'ann'), false)
  assert.deepEqual([await sees(offerId, 'bob'), await sees(offerId, 'ANN'), await sees(offerId, 'ann', testMode)], [true, true, true]) // prettier-ignore
  const other = await world.createApp()
  assert.equal(await sees(offerId, 'ann', other.live), true)
})

test('the ETag of a list stays when its user completes an offer that is not in it', async () => {
  await createOffer({ category: 'survey' })
  const game = await createOffer({ category: 'game' })
  const surveys = () => world.get('/v1/offers?userId=eve&category=survey', live)
  const before = await surveys()
  await complete(game, 'eve', {})
  assert.equal((await surveys()).headers['etag'], before.headers['etag'])
})

test('what is completed in test mode is hidden in test mode only', async () => {
  const offerId = await createOffer()
  await world.report(testMode, { userId: 'tess', offerId })
  await world.app.refresh()
  assert.deepEqual([await sees(offerId, 'tess', testMode), await sees(offerId, 'tess')], [false, true])
})

test('every process knows by itself, without being asked', async () => {
  const other = await world.start()
  try {
    for (const userId of ['first', 'second']) {
      const offerId = await createOffer()
      await until(() => sees(offerId, userId, live, other))
      const click = await world.click(offerId, live, `userId=${userId}`)
      await world.confirm(offerId, click.clickId)
      await until(async () => !(await sees(offerId, userId, live, other)))
    }
  } finally {
    await other.close()
  }
})

test('a process that starts later knows what was completed before', async () => {
  const offerId = await createOffer()
  await complete(offerId, 'early', {})
  const other = await world.start()
  try {
    assert.deepEqual([await sees(offerId, 'early', live, other), await sees(offerId, 'late', live, other)], [false, true]) // prettier-ignore
  } finally {
    await other.close()
  }
})

test('a pending report hides an offer; a rejection and a reversal bring it back', async () => {
  const offerId = await createOffer()
  const { clickId } = await world.click(offerId, live, 'userId=rejected')
  await world.report(live, { userId: 'rejected', offerId })
  await world.app.refresh()
  assert.equal(await sees(offerId, 'rejected'), false)
  assert.equal(await confirm(offerId, clickId, { status: 'rejected' }), 'rejected')
  assert.equal(await sees(offerId, 'rejected'), true)

  const reversed = await complete(offerId, 'reversed', {})
  assert.equal(await sees(offerId, 'reversed'), false)
  assert.equal(await confirm(offerId, reversed, { status: 'reversed' }), 'reversed')
  assert.equal(await sees(offerId, 'reversed'), true)
})

test('an offer leaves with its last required goal; optional ones do not matter; one that repeats never leaves', async () => {
  const goal = (name: string, more: object = {}) => ({ name, payout: '1', ...more })
  const [steps = 0, extra = 0, repeats = 0] = await world.createOffers(
    { payout: undefined, goals: [goal('One'), goal('Two')] },
    { payout: undefined, goals: [goal('Needed'), goal('Bonus', { is_optional: true })] },
    { payout: undefined, goals: [goal('Sign up'), goal('Play', { is_repeatable: true })] },
  )
  const click = await complete(steps, 'u', { goal: 'Two' })
  assert.equal(await sees(steps, 'u'), true)
  assert.equal(await confirm(steps, click, { goal: 'One' }), 'approved')
  assert.equal(await sees(steps, 'u'), false)

  await complete(extra, 'bonus only', { goal: 'Bonus' })
  assert.equal(await sees(extra, 'bonus only'), true)
  await complete(extra, 'needed only', { goal: 'Needed' })
  assert.equal(await sees(extra, 'needed only'), false)

  await complete(repeats, 'u', { goal: 'Sign up' }, { goal: 'Play', txn_id: '1' }, { goal: 'Play', txn_id: '2' })
  assert.equal(await sees(repeats, 'u'), true)
})

test('pages without what is hidden equal the list without it, however they are cut', async () => {
  const offers = await world.createOffers(
    ...Array.from({ length: 40 }, (_, i) => ({ category: CATEGORIES[i % 4], payout: String((i * 7) % 5), countries: i % 3 ? [] : ['SE'] })),
  ) // prettier-ignore
  type Shape = {
    sort: string
    category: Category | undefined
    country: string | undefined
    limit: number
    done: number[]
  }
  const shape: fc.Arbitrary<Shape> = fc.record({
    sort: fc.constantFrom(...SORTS),
    category: fc.constantFrom(undefined, ...CATEGORIES),
    country: fc.constantFrom(undefined, 'SE', 'NO'),
    limit: fc.integer({ min: 1, max: 12 }),
    done: fc.uniqueArray(fc.constantFrom(...offers), { maxLength: 12 }),
  })
  let users = 0
  const walk = async (userId: string, { sort, category, country, limit }: Shape) => {
    const filters = `${category ? `&category=${category}` : ''}${country ? `&country=${country}` : ''}`
    const ids: number[] = []
    for (let offset = 0; ; offset += limit) {
      const { body } = await world.get(`/v1/offers?userId=${userId}&sort=${sort}${filters}&limit=${limit}&offset=${offset}`, live) // prettier-ignore
      ids.push(...body.data.offers.map((offer) => offer.offer_id))
      if (!body.data.has_more) return { ids, total: body.data.total, offset, last: body.data.offers.length }
    }
  }
  await fc.assert(
    fc.asyncProperty(shape, async (wanted) => {
      const userId = `walker-${users++}`
      const whole = await walk('nobody', wanted)
      await Promise.all(wanted.done.map((offerId) => world.report(live, { userId, offerId })))
      await world.app.refresh()
      const { ids, total, offset, last } = await walk(userId, wanted)
      assert.deepEqual(ids, whole.ids.filter((id) => !wanted.done.includes(id))) // prettier-ignore
      assert.equal(total, ids.length)
      assert.ok(total === 0 ? offset === 0 : last > 0, 'there is no empty page behind has_more')
      const { body } = await world.get(`/v1/offers?userId=${userId}&offset=${total + 100}`, live)
      assert.deepEqual([body.data.offers, body.data.has_more], [[], false])
    }),
    { numRuns: 25 },
  )
})

/** Another process on the database, which notes what it asks about conversions. */
async function startAsking() {
  const { pool, ...rest } = openPool(world.connection(world.databaseName), 5)
  const asked: string[] = []
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: [string | { text: string }]) => {
      const text = typeof args[0] === 'string' ? args[0] : args[0].text
      if (text.includes('FROM conversions')) asked.push(text)
      return query(...args)
    }) as unknown as typeof client.query
  })
  const app = await world.start({}, { ...rest, pool, embeddedIn: null, revive: async () => {} })
  const close = async () => {
    await app.close()
    await rest.close()
  }
  return { app, asked, close }
}

test('a list asks the database about users with conversions only, and only once', async () => {
  const offerId = await createOffer()
  await complete(offerId, 'converted', {})
  const { app, asked, close } = await startAsking()
  const asks = async (userId: string) => {
    asked.length = 0
    await sees(offerId, userId, live, app)
    return asked.length > 0
  }
  try {
    let strangers = 0
    await until(async () => !(await asks(`newcomer-${strangers++}`))) // it knows who has converted
    asked.length = 0
    for (let i = 0; i < 50; i++) await sees(offerId, `stranger-${i}`, live, app)
    assert.deepEqual(asked, [])
    const answers = await Promise.all([1, 2, 3].map(() => sees(offerId, 'converted', live, app)))
    assert.deepEqual([...answers, await sees(offerId, 'converted', live, app)], [false, false, false, false])
    assert.equal(asked.length, 1)
  } finally {
    await close()
  }
})

test('a process starts and lists without having read the conversions, and hides what is completed once it can', async () => {
  const offerId = await createOffer()
  await complete(offerId, 'waiting', {})
  const { pool, close } = openPool(world.connection(world.databaseName), 1)
  const holder = await pool.connect()
  try {
    await holder.query('BEGIN; LOCK TABLE conversions IN ACCESS EXCLUSIVE MODE')
    const app = await world.start()
    try {
      assert.equal(await sees(offerId, 'waiting', live, app), true)
      await holder.query('ROLLBACK')
      await until(async () => !(await sees(offerId, 'waiting', live, app)))
    } finally {
      await app.close()
    }
  } finally {
    holder.release()
    await close()
  }
})

test('while the database is unavailable or silent, all lists are answered, perhaps with an offer too many', async () => {
  const offerId = await createOffer()
  for (const userId of ['cut', 'frozen']) await complete(offerId, userId, {})
  const proxy = await PostgresProxy.open(world)
  const app = await world.start({}, proxy.database)
  try {
    proxy.cut()
    const cut = await Promise.all([1, 2, 3].map(() => sees(offerId, 'cut', live, app)))
    assert.deepEqual(cut, [true, true, true])
    proxy.restore()
    await until(async () => !(await sees(offerId, 'cut', live, app)))
    proxy.freeze()
    const startedMs = performance.now()
    await Promise.all([1, 2, 3].map(() => sees(offerId, 'frozen', live, app)))
    assert.ok(performance.now() - startedMs < 14_000) // a query would wait for 15 s
    assert.equal(await sees(offerId, 'cut', live, app), false, 'what is known stays known')
  } finally {
    proxy.restore()
    await app.close()
    await proxy.close()
  }
})
