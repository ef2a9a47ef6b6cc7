// Section 5 of the specification: API key and secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findAppOwner, type NewApp } from '../../src/features/apps/apps.ts'
import { revokeApp, rotateSecret } from '../../src/features/apps/keys.ts'
import { permit, type PublisherStatus } from '../../src/features/apps/permissions.ts'
import { withChecksum } from '../../src/lib/tokens.ts'
import { until } from '../installation.ts'
import { SECRET_KEY, useWorld } from '../world.ts'
import { TESTER } from '../tester.ts'

const world = useWorld('spec_credentials')

const PATHS = ['/api/v1/offers', '/v1/offers']

async function codeOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await world.get(path, undefined, { headers })
  assert.equal(status, body.success ? 200 : 401)
  return body.success ? 'ok' : body.error.code
}

test('credentials are taken from the query, on both paths', async () => {
  const { live } = await world.createApp()
  for (const path of PATHS)
    assert.equal(await codeOf(`${path}?apiKey=${live.api_key}&apiSecret=${live.api_secret}&userId=u`), 'ok')
})

test('credentials are taken from the headers, on both paths', async () => {
  const { live } = await world.createApp()
  const headers = { 'X-API-Key': live.api_key, 'X-API-Secret': live.api_secret }
  for (const path of PATHS) assert.equal(await codeOf(`${path}?userId=u`, headers), 'ok')
})

test('one may be in the query and the other in a header', async () => {
  const { live } = await world.createApp()
  assert.equal(await codeOf(`/v1/offers?userId=u&apiKey=${live.api_key}`, { 'x-api-secret': live.api_secret }), 'ok')
})

test('both given and the same are one', async () => {
  const { live } = await world.createApp()
  const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  assert.equal(await codeOf(`/v1/offers?userId=u&apiKey=${live.api_key}&apiSecret=${live.api_secret}`, headers), 'ok')
})

test('query and header that differ are refused, naming the one that differs', async () => {
  const { live } = await world.createApp()
  const other = (await world.createApp()).live
  const query = `/v1/offers?userId=u&apiKey=${live.api_key}&apiSecret=${live.api_secret}`
  assert.equal(await codeOf(query, { 'x-api-key': other.api_key }), 'INVALID_API_KEY')
  assert.equal(await codeOf(query, { 'x-api-secret': other.api_secret }), 'INVALID_API_SECRET')
})

test('a bad key gets 401 INVALID_API_KEY, and a sentence that says what is wrong with the request', async () => {
  const { live } = await world.createApp()
  const secret = `apiSecret=${live.api_secret}&userId=u`
  const unknown = withChecksum('pk_live_0123456789abcdefghijkl')
  const cases: [query: string, says: RegExp, headers?: Record<string, string>][] = [
    [secret, /^No API key was sent\. Send it as/],
    [`apiKey=&${secret}`, /^No API key was sent/],
    [secret, /Authorization header is not used here/, { authorization: `Bearer ${live.api_secret}` }],
    [secret, /header x-apikey; its name must be X-API-Key/, { 'x-apikey': live.api_key }],
    [`api_key=${live.api_key}&${secret}`, /parameter api_key; its name must be apiKey/],
    [`apiKey=${live.api_secret}&apiSecret=${live.api_key}&userId=u`, /swapped/],
    [`apiKey=${live.api_secret}&${secret}`, /secret was sent as the API key/],
    [`apiKey=hello&${secret}`, /not an API key/],
    [`apiKey=${live.api_key.slice(0, -1)}&${secret}`, /incomplete or misspelled/],
    [`apiKey=${live.api_key}&apiKey=pk_live_nobody&${secret}`, /twice with different values/],
    [`apiKey=%zz&${secret}`, /cannot be decoded/],
    [`apiKey=${unknown}&${secret}`, /unknown, or no longer valid/],
  ]
  for (const [query, says, headers = {}] of cases) {
    const { status, body } = await world.get(`/v1/offers?${query}`, undefined, { headers })
    assert.deepEqual([status, body.error.code], [401, 'INVALID_API_KEY'], query)
    assert.match(body.error.message, says)
    assert.deepEqual(body.error.details, { apiKey: body.error.message })
    assert.ok(!body.error.message.includes(live.api_secret))
  }
})

test('what happened to a key is said to a caller with its secret, and to no other', async () => {
  const { db } = world.database
  const closed = async (more: Partial<NewApp>, close: (appId: number, publisherId: number) => Promise<unknown>) => {
    const app = await world.createApp(more)
    const owner = await findAppOwner(db, app.appId)
    await close(app.appId, owner?.publisherId ?? 0)
    return app.live
  }
  const setStatus = (status: PublisherStatus) => (_appId: number, publisherId: number) =>
    permit(db, TESTER, publisherId, { status })
  const unknown = await world.get(`/v1/offers?userId=u`, {
    api_key: withChecksum('pk_live_0123456789abcdefghijkl'),
    api_secret: 'sk_live_wrong',
  })
  const cases = [
    [await closed({ expiresAt: new Date('2026-01-31T12:00:00Z') }, async () => {}), /expired on 2026-01-31T12:00:00Z/],
    [await closed({}, (appId) => revokeApp(db, TESTER, appId)), /was revoked/],
    [await closed({}, setStatus('suspended')), /is suspended/],
    [await closed({}, setStatus('pending')), /awaits approval/],
  ] as const
  await world.app.refresh()
  for (const [live, says] of cases) {
    const proven = await world.get('/v1/offers?userId=u', live)
    assert.deepEqual([proven.status, proven.body.error.code], [401, 'INVALID_API_KEY'])
    assert.match(proven.body.error.message, says)
    const guessed = await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret: 'sk_live_wrong' })
    assert.deepEqual(guessed.body.error, unknown.body.error)
  }
})

test('a missing, empty or wrong secret, one of another key or mode, get 401 INVALID_API_SECRET', async () => {
  const { live, test: testMode } = await world.createApp()
  const other = (await world.createApp()).live
  const key = `apiKey=${live.api_key}&userId=u`
  const wrong = /^The API secret does not belong to this API key\.$/
  const cases: [query: string, says: RegExp][] = [
    [key, /^No API secret was sent/],
    [`${key}&apiSecret=`, /^No API secret was sent/],
    [`${key}&apiSecret=sk_live_wrong`, wrong],
    [`${key}&apiSecret=${live.api_secret}x`, wrong],
    [`${key}&apiSecret=${live.api_secret.slice(0, -1)}`, wrong],
    [`${key}&apiSecret=${encodeURIComponent('é'.repeat(300))}`, wrong],
    [`${key}&apiSecret=${other.api_secret}`, wrong],
    [`${key}&apiSecret=${testMode.api_secret}`, wrong],
    [`${key}&apiSecret=${live.api_secret}&apiSecret=${other.api_secret}`, /twice with different values/],
  ]
  assert.equal(await codeOf(`/v1/offers?${key}&apiSecret=${live.api_secret}`), 'ok')
  for (const [query, says] of cases) {
    const { status, body } = await world.get(`/v1/offers?${query}`)
    assert.deepEqual([status, body.error.code], [401, 'INVALID_API_SECRET'], query)
    assert.match(body.error.message, says)
  }
})

test('an id that is missing behind a slash is said to be missing', async () => {
  for (const path of ['/v1/offers/', '/api/v1/offers/?userId=u', '/v1/conversions/']) {
    const { status, body } = await world.get(path)
    assert.deepEqual([status, body.error.code], [404, 'RESOURCE_NOT_FOUND'], path)
    assert.match(body.error.message, /URL has no ID.*remove the trailing slash/)
  }
})

test('the key is checked before the secret, and both before the parameters', async () => {
  const { live } = await world.createApp()
  assert.equal(await codeOf('/v1/offers?limit=1000'), 'INVALID_API_KEY')
  assert.equal(await codeOf(`/v1/offers?limit=1000&apiKey=${live.api_key}`), 'INVALID_API_SECRET')
})

test('a key that expires is good until then', async () => {
  const { live } = await world.createApp({ expiresAt: new Date(Date.now() + 60_000) })
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
})

test('during the grace of a rotation both secrets are good, afterwards only the new one', async () => {
  const { appId, live } = await world.createApp()
  const { db } = world.database
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  const first = await rotateSecret(db, TESTER, SECRET_KEY, appId, 'live', 3_600_000)
  await world.app.refresh()
  for (const api_secret of [live.api_secret, first.api_secret]) {
    assert.equal((await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret })).status, 200)
  }
  const second = await rotateSecret(db, TESTER, SECRET_KEY, appId, 'live', 3_600_000)
  await world.app.refresh()
  const statuses = await Promise.all(
    [live.api_secret, first.api_secret, second.api_secret].map(
      async (api_secret) => (await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret })).status,
    ),
  )
  assert.deepEqual(statuses, [401, 200, 200], 'never three at once')
  const third = await rotateSecret(db, TESTER, SECRET_KEY, appId, 'live', 0)
  await world.app.refresh()
  assert.equal(
    (await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret: second.api_secret })).status,
    401,
  )
  assert.equal(
    (await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret: third.api_secret })).status,
    200,
  )
})

test('a grace period that runs out ends a secret, even one that was just used', async () => {
  const { appId, live } = await world.createApp()
  await rotateSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', 4_000)
  await world.app.refresh()
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  await until(async () => (await world.get('/v1/offers?userId=u', live)).status !== 200)
})

test('a secret from a browser is recorded on its key; one from a server or from our own reference page is not', async () => {
  const { db } = world.database
  const leakOf = async ({ api_key }: { api_key: string }) =>
    db
      .selectFrom('credentials')
      .select(['secret_leaked_at', 'secret_leaked_origin'])
      .where('api_key', '=', api_key)
      .executeTakeFirstOrThrow()
  const quiet = await world.createApp()
  await world.get('/v1/offers?userId=u', quiet.live)
  await world.get('/v1/offers?userId=u', quiet.live, { headers: { 'sec-fetch-mode': 'cors' } }) // what Node's fetch sends
  await world.get('/v1/offers?userId=u', quiet.live, {
    headers: { 'sec-fetch-site': 'same-origin', origin: 'https://offers.test' },
  })
  await world.get(
    '/v1/offers?userId=u',
    { ...quiet.live, api_secret: 'sk_live_wrong' },
    { headers: { origin: 'https://evil.example' } },
  )
  const leaky = await world.createApp()
  const answer = await world.get('/v1/offers?userId=u', leaky.live, {
    headers: { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' },
  })
  assert.equal(answer.status, 200, 'the app goes on working; its publisher is warned')
  await until(async () => (await leakOf(leaky.live)).secret_leaked_at !== null)
  assert.equal((await leakOf(leaky.live)).secret_leaked_origin, 'https://shop.example')
  for (const keys of [quiet.live, quiet.test, leaky.test]) assert.equal((await leakOf(keys)).secret_leaked_at, null)
})
