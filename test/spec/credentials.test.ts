// Section 5 of the specification: API key and secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { revokeApp, rotateSecret } from '../../src/features/apps/apps.ts'
import { SECRET_KEY, useWorld } from '../world.ts'

const world = useWorld('spec_credentials')

const PATHS = ['/api/v1/offers', '/v1/offers']

async function codeOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await world.get(path, undefined, { headers })
  assert.equal(status, body.success ? 200 : 401)
  return body.success ? 'ok' : body.error.code
}

test('credentials are taken from the query, on both paths', async () => {
  const { live } = await world.makeApp()
  for (const path of PATHS)
    assert.equal(await codeOf(`${path}?apiKey=${live.api_key}&apiSecret=${live.api_secret}&userId=u`), 'ok')
})

test('credentials are taken from the headers, on both paths', async () => {
  const { live } = await world.makeApp()
  const headers = { 'X-API-Key': live.api_key, 'X-API-Secret': live.api_secret }
  for (const path of PATHS) assert.equal(await codeOf(`${path}?userId=u`, headers), 'ok')
})

test('one may be in the query and the other in a header', async () => {
  const { live } = await world.makeApp()
  assert.equal(await codeOf(`/v1/offers?userId=u&apiKey=${live.api_key}`, { 'x-api-secret': live.api_secret }), 'ok')
})

test('both given and the same are one', async () => {
  const { live } = await world.makeApp()
  const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  assert.equal(await codeOf(`/v1/offers?userId=u&apiKey=${live.api_key}&apiSecret=${live.api_secret}`, headers), 'ok')
})

test('query and header that differ are refused, naming the one that differs', async () => {
  const { live } = await world.makeApp()
  const other = (await world.makeApp()).live
  const query = `/v1/offers?userId=u&apiKey=${live.api_key}&apiSecret=${live.api_secret}`
  assert.equal(await codeOf(query, { 'x-api-key': other.api_key }), 'INVALID_API_KEY')
  assert.equal(await codeOf(query, { 'x-api-secret': other.api_secret }), 'INVALID_API_SECRET')
})

test('a missing, empty, unknown, expired or revoked key, and one given twice differently, get the same 401 INVALID_API_KEY', async () => {
  const { live } = await world.makeApp()
  const expired = (await world.makeApp({ expiresAt: new Date(Date.now() - 1000) })).live
  const revoked = await world.makeApp()
  await revokeApp(world.database.db, revoked.appId)
  await world.app.refresh()
  const secret = `apiSecret=${live.api_secret}&userId=u`
  const queries = [
    secret,
    `apiKey=&${secret}`,
    `apiKey=pk_live_nobody&${secret}`,
    `apiKey=${live.api_key}&apiKey=pk_live_nobody&${secret}`,
    `apiKey=%zz&${secret}`,
    `apiKey=${expired.api_key}&apiSecret=${expired.api_secret}&userId=u`,
    `apiKey=${revoked.live.api_key}&apiSecret=${revoked.live.api_secret}&userId=u`,
    `apiKey=${revoked.test.api_key}&apiSecret=${revoked.test.api_secret}&userId=u`,
  ]
  const answers = await Promise.all(queries.map((query) => world.get(`/v1/offers?${query}`)))
  for (const { status, body } of answers) {
    assert.equal(status, 401)
    assert.deepEqual(body.error, answers[0]?.body.error)
    assert.equal(body.error.code, 'INVALID_API_KEY')
  }
})

test('a missing, empty or wrong secret, one of another key or mode, get the same 401 INVALID_API_SECRET', async () => {
  const { live, test: testMode } = await world.makeApp()
  const other = (await world.makeApp()).live
  const key = `apiKey=${live.api_key}&userId=u`
  const queries = [
    key,
    `${key}&apiSecret=`,
    `${key}&apiSecret=sk_live_wrong`,
    `${key}&apiSecret=${live.api_secret}x`,
    `${key}&apiSecret=${live.api_secret.slice(0, -1)}`,
    `${key}&apiSecret=${'é'.repeat(300)}`,
    `${key}&apiSecret=${other.api_secret}`,
    `${key}&apiSecret=${testMode.api_secret}`,
    `${key}&apiSecret=${live.api_secret}&apiSecret=${other.api_secret}`,
  ]
  assert.equal(await codeOf(`/v1/offers?${key}&apiSecret=${live.api_secret}`), 'ok')
  const answers = await Promise.all(queries.map((query) => world.get(`/v1/offers?${query}`)))
  for (const [i, { status, body }] of answers.entries()) {
    assert.equal(status, 401, queries[i])
    assert.deepEqual(body.error, answers[0]?.body.error)
    assert.equal(body.error.code, 'INVALID_API_SECRET')
  }
})

test('the key is checked before the secret, and both before the parameters', async () => {
  const { live } = await world.makeApp()
  assert.equal(await codeOf('/v1/offers?limit=1000'), 'INVALID_API_KEY')
  assert.equal(await codeOf(`/v1/offers?limit=1000&apiKey=${live.api_key}`), 'INVALID_API_SECRET')
})

test('a key that expires is good until then', async () => {
  const { live } = await world.makeApp({ expiresAt: new Date(Date.now() + 60_000) })
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
})

test('during the grace of a rotation both secrets are good, afterwards only the new one', async () => {
  const { appId, live } = await world.makeApp()
  const { db } = world.database
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  const first = await rotateSecret(db, SECRET_KEY, appId, 'live', 3_600_000)
  await world.app.refresh()
  for (const api_secret of [live.api_secret, first.api_secret]) {
    assert.equal((await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret })).status, 200)
  }
  const second = await rotateSecret(db, SECRET_KEY, appId, 'live', 3_600_000)
  await world.app.refresh()
  const statuses = await Promise.all(
    [live.api_secret, first.api_secret, second.api_secret].map(
      async (api_secret) => (await world.get('/v1/offers?userId=u', { api_key: live.api_key, api_secret })).status,
    ),
  )
  assert.deepEqual(statuses, [401, 200, 200], 'never three at once')
  const third = await rotateSecret(db, SECRET_KEY, appId, 'live', 0)
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

test('a grace that runs out ends a secret by itself, also one that was just used', async () => {
  const { appId, live } = await world.makeApp()
  await rotateSecret(world.database.db, SECRET_KEY, appId, 'live', 400)
  await world.app.refresh()
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  const deadline = Date.now() + 5_000
  while ((await world.get('/v1/offers?userId=u', live)).status === 200)
    assert.ok(Date.now() < deadline, 'still good after 5 s')
})

test('a secret from a browser is recorded on its key; one from a server or from our own reference page is not', async () => {
  const { db } = world.database
  const leakOf = async ({ api_key }: { api_key: string }) =>
    db
      .selectFrom('credentials')
      .select(['secret_leaked_at', 'secret_leaked_origin'])
      .where('api_key', '=', api_key)
      .executeTakeFirstOrThrow()
  const quiet = await world.makeApp()
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
  const leaky = await world.makeApp()
  const answer = await world.get('/v1/offers?userId=u', leaky.live, {
    headers: { origin: 'https://shop.example', 'sec-fetch-site': 'cross-site' },
  })
  assert.equal(answer.status, 200, 'the app goes on working; its publisher is warned')
  for (const deadline = Date.now() + 5_000; ;) {
    const { secret_leaked_at, secret_leaked_origin } = await leakOf(leaky.live)
    if (secret_leaked_at !== null) {
      assert.equal(secret_leaked_origin, 'https://shop.example')
      break
    }
    assert.ok(Date.now() < deadline)
  }
  for (const keys of [quiet.live, quiet.test, leaky.test]) assert.equal((await leakOf(keys)).secret_leaked_at, null)
})
