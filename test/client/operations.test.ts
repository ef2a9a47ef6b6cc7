// Every operation of v1 by the client, against the app on a real port; and every way in which the API says no.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { type ErrorCode, OfferdeckError } from '../../client/src/index.ts'
import { ERRORS } from '../../src/errors.ts'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { DEFAULTS, saveSettings } from '../../src/features/postbacks/settings.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { SECRET_KEY } from '../world.ts'
import { useServed } from './served.ts'

const { world, client, url } = useServed('client_operations')

type Described = { parameters?: { in?: string; name?: string }[] }

/** The operations of v1 by method and path, each with whether it takes an Idempotency-Key. */
async function describeOperations(): Promise<[string, boolean][]> {
  const { paths } = (await (await fetch(`${url()}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Described>>
  }
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [] }]): [string, boolean] => [
        `${method.toUpperCase()} ${path}`,
        parameters.some(({ name }) => name === 'idempotency-key'),
      ]),
    )
}

test('every operation of v1 is a method, and writes carry a key wherever the API takes one', async () => {
  const operations = await describeOperations()
  const called = new Map<string, boolean>()
  const note: typeof fetch = (address, init) => {
    const path = new URL(String(address)).pathname
    const fits = (form: string) =>
      new RegExp(`^${form.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(`${init?.method} ${path}`)
    const exact =
      operations.find(([form]) => form === `${init?.method} ${path}`) ?? operations.find(([form]) => fits(form))
    called.set(exact?.[0] ?? path, new Headers(init?.headers).has('idempotency-key'))
    return fetch(address, init)
  }
  const { appId, live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Castle Quest', countries: ['US'] })
  await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: 'https://example.com/{transaction_id}', events: ['pending', 'approved'] }) // prettier-ignore
  const api = client(live, { fetch: note })

  const { offers } = await api.offers.list({ userId: 'Zoë & co', country: 'US', limit: 100, aff_sub: 'a+b c' })
  assert.equal(offers.find((offer) => offer.offer_id === offerId)?.name, 'Castle Quest')
  const { offer } = await api.offers.get(offerId, { userId: 'Zoë & co' })
  assert.match(offer.link, /\/c\/\d+\//)
  const { visible, reasons } = await api.offers.explain(offerId, { userId: 'Zoë & co', country: 'DE' })
  assert.deepEqual([visible, reasons.map(({ code }) => code)], [false, ['country']])

  const { conversion } = await api.conversions.create({ userId: 'Zoë & co', offerId, transactionId: 't-1' })
  assert.deepEqual([conversion.status, conversion.aff_sub], ['pending', 'a+b c'])
  const { conversions, next_cursor } = await api.conversions.list({ userId: 'Zoë & co', status: 'pending' })
  assert.deepEqual([conversions, next_cursor], [[conversion], null])
  assert.deepEqual(await api.conversions.get(conversion.conversion_id), { conversion })
  await until(async () => {
    for await (const { event } of api.events()) return event.data.conversion_id === conversion.conversion_id
    return false
  })

  const [postback] = (await api.postbacks.list({ conversionId: conversion.conversion_id })).postbacks
  assert.equal(postback?.status, 'pending')
  const postbackId = postback?.postback_id ?? ''
  assert.deepEqual((await api.postbacks.get(postbackId)).postback.tries, [])
  assert.equal((await api.postbacks.replay(postbackId)).warning, null)
  const started = await api.postbacks.test({ scenarios: ['approved'] })
  assert.deepEqual(await api.postbacks.getTest(started.test.test_id), started)

  await changeRewardSettings(world.database.db, TESTER, appId, { keepsBalance: true })
  await world.app.refresh()
  const { clickId } = await world.click(offerId, live, 'userId=a/b')
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'approved')
  const debit = () => api.users.debit('a/b', { amount: 30, note: 'Order 7' }, { idempotencyKey: 'order-7' })
  assert.deepEqual(await debit(), await debit())
  const { balance, entries } = await api.users.get('a/b', { limit: 1 })
  assert.deepEqual([balance, entries.map(({ kind, amount }) => [kind, amount])], [70, [['debit', -30]]])
  assert.equal((await api.stats({ groupBy: 'offer', offerId })).totals.conversions, 2)

  assert.equal((await errorOf(api.lockers.redeem(1, 'locker.v1.x'))).status, 404)

  assert.deepEqual(called, new Map(operations))
})

const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail('It should have failed.'),
    (error: unknown) => (error instanceof OfferdeckError ? error : assert.fail(inspect(error))),
  )

test('an error has the code, the status, what is wrong with which parameter, and the ID of the request', async () => {
  const { live } = await world.createApp()
  const api = client(live)
  const { api_key, api_secret } = live
  const cases: [ErrorCode, Promise<unknown>][] = [
    ['INVALID_API_KEY', client({ api_key: 'pk_live_nothing', api_secret }).stats()],
    ['INVALID_API_SECRET', client({ api_key, api_secret: 'sk_live_nothing' }).stats()],
    ['INVALID_REQUEST', api.offers.list({ userId: ' ', country: 'UK' })],
    ['RESOURCE_NOT_FOUND', api.offers.get(999_999, { userId: 'u' })],
  ]
  for (const [code, call] of cases) {
    const error = await errorOf(call)
    assert.deepEqual([error.code, error.status, error.retryAfter], [code, ERRORS[code as keyof typeof ERRORS], null])
    assert.match(error.requestId ?? '', /^req_/)
    assert.match(error.message, /^[A-Z].*\.$/)
    if (code === 'INVALID_REQUEST') assert.deepEqual(Object.keys(error.details ?? {}), ['userId', 'country'])
  }
})

test('the limit of the key is an error with the seconds to wait, at once if the call may not wait that long', async () => {
  const { live } = await world.createApp({ rateLimit: 1 })
  const api = client(live)
  await api.stats()
  const { code, status, retryAfter } = await errorOf(api.stats({}, { timeoutMs: 5_000 }))
  assert.deepEqual([code, status], ['RATE_LIMIT_EXCEEDED', 429])
  assert.ok(retryAfter !== null && retryAfter > 5 && retryAfter <= 60, String(retryAfter))
})

test('the secret is in no error and in nothing that is printed', async () => {
  const { live } = await world.createApp()
  const secret = live.api_secret
  const shown = (value: unknown) => inspect(value, { depth: 20, showHidden: true, getters: true })
  const texts = [shown(client(live)), JSON.stringify(client(live))]
  for (const wrong of [`${secret}\n`, `${secret}é`, ` ${secret}`, ''])
    assert.throws(() => client({ ...live, api_secret: wrong }), (error: Error) => texts.push(shown(error)) > 0 && error instanceof TypeError) // prettier-ignore
  for (const baseUrl of ['offers.example.com', `https://user:${secret}@example.com`, `https://example.com?apiSecret=${secret}`, 'ftp://example.com'])
    assert.throws(() => client(live, { baseUrl }), (error: Error) => texts.push(shown(error)) > 0 && error instanceof TypeError) // prettier-ignore
  const gone = client(live, { baseUrl: 'http://127.0.0.1:1', retries: 0 })
  texts.push(shown(await errorOf(gone.stats())), shown(await errorOf(client(live).offers.list({ userId: '' }))))
  for (const text of texts) assert.ok(!text.includes(secret), text)
})

test('an ID is one part of the path, whatever it contains', async () => {
  const { live } = await world.createApp()
  const api = client(live)
  for (const id of ['../stats', 'a/b?c#d', '%2e%2e', '\n'])
    assert.equal((await errorOf(api.conversions.get(id))).code, 'RESOURCE_NOT_FOUND', id)
  for (const id of ['', '.', '..']) await assert.rejects(async () => api.conversions.get(id), TypeError)
})

test('the URL of the network may have a path, and a slash at its end', async () => {
  const { live } = await world.createApp()
  const seen: string[] = []
  const note: typeof fetch = (address) => {
    seen.push(String(address))
    return Promise.resolve(Response.json({ success: true, data: {} }))
  }
  for (const baseUrl of ['https://example.com', 'https://example.com/', 'https://example.com/network//'])
    await client(live, { baseUrl, fetch: note }).stats({ groupBy: 'day', offerId: undefined as never })
  assert.deepEqual(seen, [
    'https://example.com/api/v1/stats?groupBy=day',
    'https://example.com/api/v1/stats?groupBy=day',
    'https://example.com/network/api/v1/stats?groupBy=day',
  ])
})
