// Attempts of the client over a connection that fails: what is repeated, what is not, and how long it may take.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OfferdeckError } from '../../client/src/index.ts'
import { readRetryAfter, waitMs } from '../../client/src/retries.ts'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { freePort } from '../ports.ts'
import { answer, type Behaviour, hang, resetMidBody, startReceiver } from '../receiver.ts'
import { TESTER } from '../tester.ts'
import { asked, createClient, cut, forward, inTurn, loseAnswer, useServed } from './served.ts'

const { world, client, behind, url } = useServed('client_retries')
const appPort = () => Number(new URL(url()).port)
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof OfferdeckError ? error.code : String(error)),
  )

test('a report whose answer is lost is sent again, and recorded once', async (t) => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ goals: [{ name: 'Buy', payout: '1', is_repeatable: true }, { name: 'Install', payout: '1' }], payout: undefined }) // prettier-ignore
  const { client: api, receiver } = await behind(t, live, [loseAnswer(appPort), cut, loseAnswer(appPort)])
  const { conversion } = await api.conversions.create({ userId: 'ann', offerId, transactionId: 'order-1' })
  assert.equal(receiver.requests.length, 4)
  const keys = receiver.requests.map(({ head }) => /\r\nidempotency-key: (\S+)/i.exec(head)?.[1])
  assert.equal(new Set(keys).size, 1)
  assert.deepEqual((await client(live).conversions.list()).conversions, [conversion])
  const another = await api.conversions.create({ userId: 'ann', offerId, transactionId: 'order-2' })
  assert.notEqual(another.conversion.conversion_id, conversion.conversion_id)
})

test('a debit whose answer is lost is taken once', async (t) => {
  const { appId, test: keys } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ payout: '1' })
  await changeRewardSettings(world.database.db, TESTER, appId, { keepsBalance: true })
  await world.app.refresh()
  const { client: api, receiver } = await behind(t, keys, [])
  await api.conversions.create({ userId: 'ann', offerId })
  receiver.behave = inTurn(loseAnswer(appPort), loseAnswer(appPort), forward(appPort()))
  const { balance } = await api.users.debit('ann', { amount: 40 }, { idempotencyKey: 'order-1' })
  assert.equal(balance, 60)
  assert.equal(receiver.requests.length, 4)
  assert.equal((await client(keys).users.get('ann')).balance, 60)
})

test('a key of your own makes a call that you repeat yourself the same report', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const report = () => client(live).conversions.create({ userId: 'ann', offerId }, { idempotencyKey: 'order 7' })
  assert.deepEqual(await report(), await report())
  await assert.rejects(
    async () => client(live).conversions.create({ userId: 'a', offerId }, { idempotencyKey: 'é\n' }),
    TypeError,
  )
})

test('what is read is read again: after a cut, half an answer, errors of the server or of a proxy, and silence', async (t) => {
  const { live } = await world.createApp()
  const refusal = { success: false, error: { code: 'SERVER_ERROR', message: 'No.', details: null } }
  const failures = [cut, resetMidBody, answer(500, {}, JSON.stringify(refusal)), answer(502, {}, '<h1>Bad gateway</h1>'), hang] // prettier-ignore
  const readThrough = async (failure: Behaviour) => {
    const { client: api, receiver } = await behind(t, live, [failure], { attemptTimeoutMs: 4_000 })
    assert.equal((await api.stats()).totals.clicks, 0)
    assert.ok(receiver.requests.length >= 2)
  }
  await Promise.all(failures.map(readThrough))
})

test('a write without a key is not repeated if the server may have received it', async (t) => {
  const { live } = await world.createApp()
  const failures: [Behaviour, string][] = [
    [cut, 'CONNECTION_FAILED'],
    [hang, 'TIMEOUT'],
    [answer(503), 'UNEXPECTED_RESPONSE'],
  ]
  const writeInto = async ([failure, code]: [Behaviour, string]) => {
    const { client: api, receiver } = await behind(t, live, [failure], { attemptTimeoutMs: 4_000 })
    assert.equal(await codeOf(api.postbacks.replay('p')), code)
    assert.deepEqual(asked(receiver), ['POST /api/v1/postbacks/p/replay'])
  }
  await Promise.all(failures.map(writeInto))
})

test('a write without a key is repeated if the server refused it for its number, or could not be reached', async (t) => {
  const { live } = await world.createApp()
  const { client: api, receiver } = await behind(t, live, [answer(429, { 'retry-after': '0' })])
  assert.equal(await codeOf(api.postbacks.replay('p')), 'RESOURCE_NOT_FOUND')
  assert.equal(receiver.requests.length, 2)

  const port = await freePort()
  let failed = 0
  const opening: typeof fetch = (address, init) =>
    fetch(address, init).catch(async (error: unknown) => {
      if (failed++ > 0) throw error
      const late = await startReceiver(forward(appPort()), undefined, '127.0.0.1', port)
      t.after(() => late.close())
      throw error
    })
  assert.equal(await codeOf(createClient(port, live, { fetch: opening }).postbacks.replay('p')), 'RESOURCE_NOT_FOUND')
  assert.equal(failed, 1)
})

test('Retry-After is waited for', async (t) => {
  const { live } = await world.createApp()
  const { client: api, receiver } = await behind(t, live, [answer(429, { 'retry-after': '1' })])
  const startedMs = performance.now()
  await api.stats()
  assert.ok(performance.now() - startedMs >= 1_000)
  assert.equal(receiver.requests.length, 2)
})

test('what the API refuses is not sent again', async (t) => {
  const { live } = await world.createApp()
  const { client: api, receiver } = await behind(t, live, [])
  assert.equal(await codeOf(api.offers.list({ userId: '' })), 'INVALID_REQUEST')
  assert.equal(await codeOf(api.offers.get(0, { userId: 'u' })), 'RESOURCE_NOT_FOUND')
  assert.equal(receiver.requests.length, 2)
})

test('a call ends when its time is over, and after its retries', async (t) => {
  const { live } = await world.createApp()
  let attempts = 0
  const counting: typeof fetch = (address, init) => (attempts++, fetch(address, init))
  const silent = Array.from({ length: 10 }, () => hang)
  const { client: api } = await behind(t, live, silent, { fetch: counting })
  assert.equal(await codeOf(api.stats({}, { timeoutMs: 200 })), 'TIMEOUT')
  assert.equal(attempts, 1) // it takes all the time there is
  assert.equal(await codeOf(api.stats({}, { attemptTimeoutMs: 20, timeoutMs: Infinity, retries: 2 })), 'TIMEOUT')
  assert.equal(attempts, 4)
})

test('a signal ends a call at once, during an attempt and between two, with its reason', async (t) => {
  const { live } = await world.createApp()
  const leaving = new Error('leaving')
  const hanging = new AbortController()
  const { client: api } = await behind(t, live, [() => hanging.abort(leaving), answer(429, { 'retry-after': '20' })])
  await assert.rejects(api.stats({}, { signal: hanging.signal }), leaving)
  await assert.rejects(api.stats({}, { signal: hanging.signal }), leaving)
  const waiting = new AbortController()
  const noteAnswer: typeof fetch = async (address, init) => {
    const response = await fetch(address, init)
    setImmediate(() => waiting.abort(leaving))
    return response
  }
  const other = await behind(t, live, [answer(429, { 'retry-after': '20' })], { fetch: noteAnswer })
  await assert.rejects(other.client.stats({}, { signal: waiting.signal }), leaving)
})

test('a redirect is not followed: it could lead the secret elsewhere', async (t) => {
  const { live } = await world.createApp()
  const elsewhere = await startReceiver(answer(200))
  t.after(() => elsewhere.close())
  const { client: api } = await behind(t, live, [answer(307, { location: `http://127.0.0.1:${elsewhere.port}/` })])
  assert.equal(await codeOf(api.stats()), 'UNEXPECTED_RESPONSE')
  assert.equal(elsewhere.requests.length, 0)
})

test('what another server answers is not taken for an answer of the API', async (t) => {
  const { live } = await world.createApp()
  const others = ['<h1>Hello</h1>', '{"error":"no such app"}', 'null', '[]', '{"success":true', ''].flatMap((text) => [answer(200, {}, text), answer(404, {}, text)]) // prettier-ignore
  const { client: api } = await behind(t, live, others)
  for (const _ of others) assert.equal(await codeOf(api.stats()), 'UNEXPECTED_RESPONSE')
})

test('waits double up to eight seconds, with jitter; Retry-After is the least', () => {
  const range = (attempts: number, retryAfter: number | null) => [0, 0.999].map((jitter) => Math.round(waitMs(attempts, retryAfter, jitter))) // prettier-ignore
  assert.deepEqual([1, 2, 3, 6, 40].map((attempts) => range(attempts, null)), [[125, 250], [250, 500], [500, 1_000], [4_000, 7_996], [4_000, 7_996]]) // prettier-ignore
  assert.deepEqual(range(2, 7), [7_000, 7_500])
  assert.deepEqual(range(1, 0), [0, 250])
})

test('Retry-After is a number of seconds or a date', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const cases: [string | null, number | null][] = [
    [null, null],
    ['120', 120],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['soon', null],
    ['-5x', null],
  ]
  for (const [header, seconds] of cases) assert.equal(readRetryAfter(header, nowMs), seconds, String(header))
})
