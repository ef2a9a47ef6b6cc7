import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { until } from '../../../../test/installation.ts'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import type { RequestList } from './schema.ts'

const world = useWorld('manage_requests')
type List = Static<typeof RequestList>

async function createOwned(rateLimit = 1_000_000) {
  const app = await world.createApp({ rateLimit })
  const visitor = await visit(world, 'publisher_developer', await publisherOfApp(world, app.appId))
  const readPage = async (query: string) => (await visitor.get<List>(`/apps/${app.appId}/requests?${query}`)).data
  const read = async (query: string) => (await readPage(query)).requests
  /** Once so many are written. */
  async function readAll(query: string, count: number) {
    await until(async () => (await read(query)).length >= count)
    return read(query)
  }
  return { ...app, readPage, read, readAll }
}

test('a publisher finds what its server asked, and why it was refused', async () => {
  const { live, readAll, read } = await createOwned()
  await world.get('/v1/offers?userId=ann&country=US&limit=2', live)
  const refused = await world.get('/api/v1/offers?user_id=ann&country=UK', live)
  const unverified = await world.get(`/v1/offers?userId=ann&apiKey=${live.api_key}&apiSecret=wrong-one`)
  assert.deepEqual([refused.status, unverified.status], [400, 401])

  const [third, second, first] = await readAll('', 3)
  assert.deepEqual(
    [first?.method, first?.path, first?.parameters, first?.status, first?.error, first?.is_verified],
    ['GET', '/v1/offers', { userId: 'ann', country: 'US', limit: '2' }, 200, null, true],
  )
  assert.ok((first?.duration_ms ?? 0) > 0)
  assert.deepEqual(second?.parameters, { user_id: 'ann', country: 'UK' })
  assert.deepEqual(second?.error, refused.body.error)
  assert.equal(second?.request_id, refused.headers['x-request-id'])
  assert.deepEqual([third?.status, third?.is_verified, third?.error?.code], [401, false, unverified.body.error.code])

  const statusesOf = async (query: string) => (await read(query)).map(({ status }) => status)
  assert.deepEqual(await statusesOf('outcome=error'), [401, 400])
  assert.deepEqual(await statusesOf('outcome=success'), [200])
  assert.deepEqual(await statusesOf(`request_id=${second?.request_id}`), [400])
  assert.deepEqual(await statusesOf('mode=test'), [])
})

test('no secret is in the log, wherever it was put', async () => {
  const { test: keys, readAll } = await createOwned()
  const { api_key: apiKey, api_secret: apiSecret } = keys
  await world.get(`/v1/offers?userId=${apiSecret}&apiKey=${apiKey}&apiSecret=${apiSecret}&api_secret=${apiSecret}`)
  await world.report(keys, { userId: apiSecret, apiSecret, offerId: 1, nested: { password: 'hunter2' } })
  await world.get(`/v1/offers/${apiSecret}?userId=%00`, keys)
  const shown = JSON.stringify(await readAll('mode=test', 3))
  assert.ok(!shown.includes(apiSecret) && !shown.includes('hunter2'), shown)
  assert.ok(shown.includes(apiKey), 'the key is public')
})

test('a busy app has a sample in its log, with the number left out, and errors apart from successes', async () => {
  const { live, readAll, readPage } = await createOwned(120)
  for (let i = 0; i < 250; i++) await world.get('/v1/offers?userId=ann', live)
  await readAll('outcome=success&limit=100', 100)
  const errors = await readAll('outcome=error&limit=100', 100)
  assert.ok(errors.every(({ status }) => status === 429))
  const first = await readPage('outcome=error&limit=60')
  const second = await readPage(`outcome=error&limit=60&cursor=${first.next_cursor}`)
  assert.deepEqual([first.requests.length, second.requests.length, second.next_cursor], [60, 40, null])
})
