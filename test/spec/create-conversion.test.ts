// Section 4.2 of the specification: reporting a conversion, and what design 2.13 decides about it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { useWorld } from '../world.ts'
import { assertInvalid, assertShared, createReporter, newUser } from './reports.ts'

let live: IssuedCredentials
let offerId: number
const world = useWorld('spec_conversion', async () => {
  live = (await world.createApp()).live
  ;[offerId] = (await world.createOffers({ payout: '1.2345' })) as [number]
})

const { send, detailsOf } = createReporter(() => ({ world, live }))
const PATHS = ['/v1/conversions', '/api/v1/conversions']

test('a report is answered with 201 and the conversion, on both paths', async () => {
  for (const path of PATHS) {
    const userId = newUser()
    const reply = await send(JSON.stringify({ userId, offerId }), {}, path)
    assert.equal(reply.status, 201, reply.text)
    assertShared(reply)
    assert.deepEqual([reply.body.success, reply.body.message], [true, 'Conversion recorded successfully'])
    const { conversion_id, goal_id, created_at, ...rest } = reply.body.data.conversion
    assert.match(conversion_id, /^[\da-f-]{36}$/)
    assert.ok(Number.isInteger(goal_id))
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(rest, {
      publisher_transaction_id: null,
      offer_id: offerId,
      user_id: userId,
      status: 'pending',
      status_reason: null,
      payout: 1.2345,
      payout_local: 123.45,
      multiplier: 1,
      locker_id: null,
      currency: 'Coins',
      aff_sub: null,
      aff_sub2: null,
      aff_sub3: null,
      aff_sub4: null,
      source: 'publisher',
      country: null,
      device: null,
      click_at: null,
      approved_at: null,
      rejected_at: null,
      reversed_at: null,
      hold_until: null,
      is_test: false,
    })
  }
})

test('the same report again is answered with 200 and the same conversion', async () => {
  const body = JSON.stringify({ userId: newUser(), offerId })
  const first = await send(body)
  const again = await send(body, {}, '/api/v1/conversions')
  assert.deepEqual([first.status, again.status], [201, 200])
  assert.deepEqual(again.body.data.conversion, first.body.data.conversion)
  assertShared(again)
})

test('credentials are taken from the query as well, and checked before the body', async () => {
  const payload = JSON.stringify({ userId: newUser(), offerId })
  const post = (path: string, body: string) =>
    world.get(path, undefined, { method: 'POST', payload: body, headers: { 'content-type': 'application/json' } })
  const query = `?apiKey=${live.api_key}&apiSecret=${live.api_secret}`
  assert.equal((await post(`/v1/conversions${query}`, payload)).status, 201)
  const keyless = await post('/v1/conversions', '{')
  assert.deepEqual([keyless.status, keyless.body.error.code], [401, 'INVALID_API_KEY'])
  const secretless = await post(`/v1/conversions?apiKey=${live.api_key}`, '{')
  assert.deepEqual([secretless.status, secretless.body.error.code], [401, 'INVALID_API_SECRET'])
  for (const reply of [keyless, secretless]) assertShared(reply)
})

test('userId and offerId are required', async () => {
  assert.deepEqual(await detailsOf({ user_id: 'u', offerId }), { userId: 'userId is required. You sent user_id.' })
  assert.deepEqual(await detailsOf({}), { userId: 'userId is required.', offerId: 'offerId is required.' })
})

test('offerId is a whole number from 1 on, and a number', async () => {
  for (const value of ['5', '', 5.5, 0, -1, null, true, [5], {}])
    assert.deepEqual(
      await detailsOf({ userId: 'u', offerId: value }),
      { offerId: 'offerId must be a whole number, 1 or more.' },
      JSON.stringify(value),
    )
  const tooLarge = await detailsOf({ userId: 'u', offerId: 1e30 })
  assert.deepEqual(tooLarge, { offerId: 'offerId must be at most 9007199254740991.' })
})

test('userId is text of 1 to 256 characters, counted as code points', async () => {
  for (const userId of [5, null, true, ['u'], {}])
    assert.deepEqual(await detailsOf({ userId, offerId }), { userId: 'userId must be a string.' })
  assert.deepEqual(await detailsOf({ userId: '', offerId }), { userId: 'userId must not be empty.' })
  assert.deepEqual(await detailsOf({ userId: ' \t', offerId }), { userId: 'userId must not be blank.' })
  for (const userId of ['x'.repeat(257), '😀'.repeat(257)])
    assert.deepEqual(await detailsOf({ userId, offerId }), { userId: 'userId must have at most 256 characters.' })
  for (const userId of ['x'.repeat(256), '😀'.repeat(256)])
    assert.equal((await send(JSON.stringify({ userId, offerId }))).status, 201)
})

test('NUL and half a surrogate pair are refused', async () => {
  for (const text of [String.raw`a\u0000b`, String.raw`\ud800`, String.raw`x\udc00y`]) {
    const reply = await send(`{"userId":"${text}","offerId":${offerId},"transactionId":"${text}"}`)
    assertInvalid(reply, text)
    assert.deepEqual(reply.body.error.details, {
      userId: 'userId must not contain NUL or unpaired surrogate characters.',
      transactionId: 'transactionId must not contain NUL or unpaired surrogate characters.',
    })
  }
})

test('all problems are reported at once, each a sentence under its name', async () => {
  assert.deepEqual(await detailsOf({ userId: 1, offerId: 'x', goalId: 0, transactionId: '' }), {
    userId: 'userId must be a string.',
    offerId: 'offerId must be a whole number, 1 or more.',
    goalId: 'goalId must be a whole number, 1 or more.',
    transactionId: 'transactionId must not be empty.',
  })
  const { body } = await send('{"userId":"u"}', { 'idempotency-key': 'x'.repeat(256) })
  assert.deepEqual(body.error.details, {
    offerId: 'offerId is required.',
    'Idempotency-Key': 'Idempotency-Key must have at most 255 characters.',
  })
})

test('properties that are not known are ignored', async () => {
  const reply = await send(
    JSON.stringify({ userId: newUser(), offerId, status: 'approved', payout: 99, is_test: true }),
  )
  assert.equal(reply.status, 201)
  const { status, payout, is_test } = reply.body.data.conversion
  assert.deepEqual([status, payout, is_test], ['pending', 1.2345, false])
})

test('an offer that does not exist is 404 and leaves nothing behind', async () => {
  const userId = newUser()
  for (const unknown of [offerId + 1_000_000, Number.MAX_SAFE_INTEGER]) {
    const reply = await send(JSON.stringify({ userId, offerId: unknown }))
    assert.deepEqual([reply.status, reply.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    assert.deepEqual(reply.body.error.details, { offerId: 'No offer has this ID.' })
    assertShared(reply)
  }
  assert.deepEqual((await world.get(`/v1/conversions?userId=${userId}`, live)).body.data.conversions, [])
})

test('a goal is one of the offer; without one it is the first; of another offer it is 404', async () => {
  const [id = 0] = await world.createOffers({
    payout: 3,
    goals: [
      { name: 'Install', payout: 1 },
      { name: 'Play', payout: 2 },
    ],
  })
  const [first, second] = (await world.get(`/v1/offers/${id}?userId=g`, live)).body.data.offer.goals
  const report = (more: object) => send(JSON.stringify({ userId: 'goals', offerId: id, ...more }))
  assert.equal((await report({})).body.data.conversion.goal_id, first?.goal_id)
  assert.equal((await report({ goalId: first?.goal_id })).status, 200, 'the first goal, named')
  const other = await report({ goalId: second?.goal_id })
  assert.deepEqual(
    [other.status, other.body.data.conversion.goal_id, other.body.data.conversion.payout],
    [201, second?.goal_id, 2],
  )
  const foreign = (await world.get(`/v1/offers/${offerId}?userId=g`, live)).body.data.offer.goals[0]?.goal_id
  for (const goalId of [foreign, Number.MAX_SAFE_INTEGER]) {
    const reply = await report({ goalId })
    assert.deepEqual([reply.status, reply.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    assert.deepEqual(reply.body.error.details, { goalId: 'No goal of this offer has this ID.' })
    assertShared(reply)
  }
})

test('a goal that repeats requires a transactionId, and counts once for each', async () => {
  const [id = 0] = await world.createOffers({ payout: 1, goals: [{ name: 'Buy', payout: 1, is_repeatable: true }] })
  const report = (more: object) => send(JSON.stringify({ userId: 'again', offerId: id, ...more }))
  const without = await report({})
  assertInvalid(without, 'without a transactionId')
  assert.deepEqual(Object.keys(without.body.error.details ?? {}), ['transactionId'])
  const one = await report({ transactionId: 'a' })
  assert.deepEqual([one.status, one.body.data.conversion.publisher_transaction_id], [201, 'a'])
  const again = await report({ transactionId: 'a' })
  assert.deepEqual([again.status, again.body.data.conversion], [200, one.body.data.conversion])
  const two = await report({ transactionId: 'b' })
  assert.equal(two.status, 201)
  assert.notEqual(two.body.data.conversion.conversion_id, one.body.data.conversion.conversion_id)
  const longest = '😀'.repeat(256)
  const three = await report({ userId: longest, transactionId: longest })
  assert.deepEqual([three.status, three.body.data.conversion.publisher_transaction_id], [201, longest])
})

test('beyond the allowance it is 429, with Retry-After', async () => {
  const { live: scarce } = await world.createApp({ rateLimit: 1 })
  assert.equal((await world.report(scarce, { userId: newUser(), offerId })).status, 201)
  const reply = await world.report(scarce, { userId: newUser(), offerId })
  assert.deepEqual([reply.status, reply.body.error.code], [429, 'RATE_LIMIT_EXCEEDED'])
  assert.match(reply.headers['retry-after'] ?? '', /^\d+$/)
  assertShared(reply)
})

test('other methods are 404 and name what would work', async () => {
  for (const method of ['PUT', 'DELETE', 'PATCH'] as const) {
    const reply = await world.get('/v1/conversions', live, { method })
    assert.deepEqual([reply.status, reply.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
    assert.match(reply.headers['allow'] ?? '', /POST/)
    assertShared(reply)
  }
})
