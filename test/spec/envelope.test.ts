// Sections 2, 7 and 9 of the specification: envelopes, meta, codes, version.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../world.ts'

const world = useWorld('spec_envelope')

test('a success has success true, data, message and meta, and nothing else', async () => {
  const { live } = await world.createApp()
  const { status, body } = await world.get('/api/v1/offers?userId=u', live)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), ['success', 'data', 'message', 'meta'])
  assert.equal(body.success, true)
  assert.equal(body.message, 'Offers retrieved successfully')
})

test('an error has success false, error with code, message and details, and meta', async () => {
  const { live } = await world.createApp()
  const { body } = await world.get('/api/v1/offers', live)
  assert.deepEqual(Object.keys(body), ['success', 'error', 'meta'])
  assert.equal(body.success, false)
  assert.deepEqual(Object.keys(body.error), ['code', 'message', 'details'])
})

test('details may be null', async () => {
  const { body } = await world.get('/api/v1/nothing')
  assert.equal(body.error.details, null)
})

test('meta has a timestamp in whole Unix seconds and a request_id that is also in X-Request-Id', async () => {
  const { live } = await world.createApp()
  for (const path of ['/api/v1/offers?userId=u', '/api/v1/offers', '/v1/nothing']) {
    const before = Math.floor(Date.now() / 1000)
    const { body, headers } = await world.get(path, live)
    assert.deepEqual(Object.keys(body.meta), ['timestamp', 'request_id'])
    assert.ok(
      Number.isInteger(body.meta.timestamp) && body.meta.timestamp >= before && body.meta.timestamp <= before + 2,
    )
    assert.match(body.meta.request_id, /^req_[0-9A-Za-z]+$/)
    assert.equal(headers['x-request-id'], body.meta.request_id)
  }
})

test('every request has another request_id', async () => {
  const ids = await Promise.all(
    Array.from({ length: 50 }, async () => (await world.get('/v1/offers')).body.meta.request_id),
  )
  assert.equal(new Set(ids).size, 50)
})

test('every answer is JSON', async () => {
  for (const path of ['/api/v1/offers', '/v1/nothing', '/nothing', '/v1/%']) {
    const { headers, body } = await world.get(path)
    assert.equal(headers['content-type'], 'application/json')
    assert.equal(body.success, false)
  }
})

test('an unknown path is 404 RESOURCE_NOT_FOUND, under both prefixes and elsewhere, without credentials', async () => {
  for (const path of ['/api/v1/nothing', '/v1/nothing', '/v1', '/api/v2/offers', '/nothing', '/api/v1/offers/1/2']) {
    const { status, body } = await world.get(path)
    assert.equal(status, 404, path)
    assert.equal(body.error.code, 'RESOURCE_NOT_FOUND', path)
  }
})

test('a method that a path does not take is 404 with Allow naming those it takes', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const) {
    for (const path of ['/api/v1/offers', '/v1/offers', '/v1/offers/1']) {
      const { status, body, headers } = await world.get(path, undefined, { method })
      assert.equal(status, 404)
      assert.equal(body.error.code, 'RESOURCE_NOT_FOUND')
      assert.deepEqual(headers['allow']?.split(', ').toSorted(), ['GET', 'HEAD'])
      assert.equal(body.error.message.includes('not from a browser'), method === 'OPTIONS')
    }
  }
})

test('HEAD answers like GET, without a body', async () => {
  const { live } = await world.createApp()
  const { status, text, headers } = await world.get('/v1/offers?userId=u', live, { method: 'HEAD' })
  assert.equal(status, 200)
  assert.equal(text, '')
  assert.ok(Number(headers['content-length']) > 0)
})

test('a path that cannot be decoded is 400 INVALID_REQUEST', async () => {
  const { status, body } = await world.get('/v1/offers/%E0%A4%A')
  assert.equal(status, 400)
  assert.equal(body.error.code, 'INVALID_REQUEST')
})

test('the API sends security headers and no CORS', async () => {
  const { live } = await world.createApp()
  for (const path of ['/v1/offers?userId=u', '/v1/offers', '/v1/nothing']) {
    const { headers } = await world.get(path, live, { headers: { origin: 'https://evil.example' } })
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'")
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.ok(!Object.keys(headers).some((name) => name.startsWith('access-control-')))
  }
})
