// Section 8 of the specification: 100 requests a minute for each API key, and the headers that report it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../world.ts'

const world = useWorld('spec_rate')

const rateHeaders = (headers: Record<string, string | undefined>) => ({
  limit: Number(headers['x-ratelimit-limit']),
  remaining: Number(headers['x-ratelimit-remaining']),
  reset: Number(headers['x-ratelimit-reset']),
})

test('a key has 100 requests, and the 101st is 429 RATE_LIMIT_EXCEEDED with Retry-After', async () => {
  const { live } = await world.createApp({ rateLimit: 100 })
  for (let i = 1; i <= 100; i++) {
    const { status, headers } = await world.get('/v1/offers?userId=u', live)
    assert.equal(status, 200)
    assert.equal(rateHeaders(headers).remaining, 100 - i)
  }
  const { status, headers, body } = await world.get('/v1/offers?userId=u', live)
  assert.equal(status, 429)
  assert.equal(body.error.code, 'RATE_LIMIT_EXCEEDED')
  assert.equal(rateHeaders(headers).remaining, 0)
  assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60)
})

test('invalid parameters count, too: the rate is checked before them', async () => {
  const { live } = await world.createApp({ rateLimit: 2 })
  const statuses = [400, 400, 429]
  for (const expected of statuses) assert.equal((await world.get('/v1/offers', live)).status, expected)
})

test('keys are counted apart, live and test, and another app not at all', async () => {
  const { live, test: testMode } = await world.createApp({ rateLimit: 1 })
  const other = await world.createApp({ rateLimit: 1 })
  for (const credentials of [live, testMode, other.live])
    assert.equal((await world.get('/v1/offers?userId=u', credentials)).status, 200)
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 429)
})

test('both ways to write the path share one allowance', async () => {
  const { live } = await world.createApp({ rateLimit: 2 })
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 200)
  assert.equal((await world.get('/api/v1/offers?userId=u', live)).status, 200)
  assert.equal((await world.get('/v1/offers/1?userId=u', live)).status, 429)
})

test('the three headers are on every v1 answer, errors too; the reset is a Unix time within a minute', async () => {
  const { live } = await world.createApp({ rateLimit: 100 })
  const cases = [
    ['/v1/offers?userId=u', live],
    ['/v1/offers', live],
    ['/v1/offers/999999?userId=u', live],
    ['/v1/offers?userId=u', undefined],
    ['/v1/offers?userId=u', { ...live, api_secret: 'sk_live_wrong' }],
    ['/v1/nothing', undefined],
  ] as const
  for (const [path, credentials] of cases) {
    const { limit, remaining, reset } = rateHeaders((await world.get(path, credentials)).headers)
    const now = Date.now() / 1000
    assert.equal(limit, 100)
    assert.ok(Number.isInteger(remaining) && remaining >= 0 && remaining <= 100, path)
    assert.ok(Number.isInteger(reset) && reset >= Math.floor(now) && reset <= now + 61, path)
  }
})

test("the operator can raise an app's allowance", async () => {
  const { live } = await world.createApp({ rateLimit: 250 })
  const { headers } = await world.get('/v1/offers?userId=u', live)
  assert.deepEqual([rateHeaders(headers).limit, rateHeaders(headers).remaining], [250, 249])
})

test('a caller who knows only the public key spends nothing of its allowance', async () => {
  const { live } = await world.createApp({ rateLimit: 100 })
  for (let i = 0; i < 30; i++) {
    await world.get('/v1/offers?userId=u', { ...live, api_secret: 'sk_live_wrong' }, { remoteAddress: '192.0.2.7' })
  }
  assert.equal(rateHeaders((await world.get('/v1/offers?userId=u', live)).headers).remaining, 99)
})

test('an IP address has 100 failed credentials a minute, then 429; verified requests from it still pass', async () => {
  const { live } = await world.createApp()
  const from = { remoteAddress: '192.0.2.8' }
  for (let i = 0; i < 100; i++) assert.equal((await world.get('/v1/offers?userId=u', undefined, from)).status, 401)
  const { status, body } = await world.get('/v1/offers?userId=u', undefined, from)
  assert.equal(status, 429)
  assert.equal(body.error.code, 'RATE_LIMIT_EXCEEDED')
  assert.equal((await world.get('/v1/offers?userId=u', live, from)).status, 200)
  assert.equal((await world.get('/v1/offers?userId=u', undefined, { remoteAddress: '192.0.2.9' })).status, 401)
})

test('IPv6 addresses of one /64 are one address, and an IPv4-mapped one is its IPv4 address', async () => {
  const remaining = async (remoteAddress: string) =>
    rateHeaders((await world.get('/v1/offers', undefined, { remoteAddress })).headers).remaining
  assert.equal(await remaining('2001:db8:1:2::1'), 99)
  assert.equal(await remaining('2001:db8:1:2:ffff::9'), 98)
  assert.equal(await remaining('2001:db8:1:3::1'), 99)
  assert.equal(await remaining('203.0.113.5'), 99)
  assert.equal(await remaining('::ffff:203.0.113.5'), 98)
})
