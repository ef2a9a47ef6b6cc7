// The examples of the OpenAPI description are what the app really answers. Values that differ from run to run, such as
// ids, times and signatures, are replaced by values of the same form.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { trustApp } from '../src/features/apps/trust.ts'
import { DEFAULTS, saveSettings } from '../src/features/postbacks/settings.ts'
import { buildWorker } from '../src/worker.ts'
import { until } from './installation.ts'
import { PUBLIC_URL, type Reply, SECRET_KEY, useWorld } from './world.ts'

const FILE = new URL('../src/http/examples.json', import.meta.url)
const world = useWorld('examples')

const PHONE =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36'

const OFFER = {
  name: 'Island Builder',
  description: 'Build your island and reach level 10.',
  category: 'game',
  image_url: 'https://cdn.example.com/island-builder.png',
  platforms: ['android'],
  difficulty: 'medium',
  time_estimate: '3 days',
  requirements: 'New players only.',
  conversion_type: 'cpe',
  payout: undefined,
  goals: [
    { name: 'Reach level 5', payout: '0.75' },
    { name: 'Reach level 10', payout: '2.25', is_optional: true },
  ],
}

/** Asks for everything that has an example, by the id of its operation or the name of its error. */
async function record(): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {}
  const keep = (name: string, reply: Reply): Reply => {
    answers[name] = { [reply.status]: reply.body }
    return reply
  }
  const publisher = createServer((request, response) => request.resume().on('end', () => response.end('OK')))
  await new Promise<void>((done) => publisher.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/postbacks`
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  const worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  try {
    const { appId, live } = await world.makeApp()
    const [offerId = 0] = await world.makeOffers(OFFER)
    await trustApp(world.database.db, appId, [offerId])
    await saveSettings(world.database.db, SECRET_KEY, appId, { ...DEFAULTS, url, method: 'POST' })
    const ask = (path: string, more: InjectOptions = {}) => world.get(`/api/v1${path}`, live, more)
    const post = (path: string, payload: object) => ask(path, { method: 'POST', payload })

    keep('listOffers', await ask('/offers?userId=user-42&country=US&limit=1&aff_sub=mail'))
    keep('getOffer', await ask(`/offers/${offerId}?userId=user-42`))
    keep('explainOffer', await ask(`/offers/${offerId}/why?userId=user-42&platform=ios`))
    const { clickId } = await world.click(offerId, live, 'userId=user-42&aff_sub=mail', { 'user-agent': PHONE })
    const report = { userId: 'user-42', offerId, goalId: 1, transactionId: 'level-5' }
    const { body } = keep('createConversion', await post('/conversions', report))
    const callback = `/postback?click_id=${clickId}&token=${world.tokenOf(offerId)}&goal=2`
    keep('confirmConversion', await world.get(callback))
    await until(async () => (await ask('/postbacks?state=delivered')).body.data.postbacks.length === 2)
    await world.app.refresh()
    keep('listConversions', await ask('/conversions?limit=1'))
    keep('getConversion', await ask(`/conversions/${body.data.conversion.conversion_id}`))
    keep('listEvents', await ask('/events?limit=1'))
    const { postbacks } = keep('listPostbacks', await ask('/postbacks?limit=1')).body.data
    keep('getPostback', await ask(`/postbacks/${postbacks[0]?.postback_id}`))
    keep('replayPostback', await post(`/postbacks/${postbacks[0]?.postback_id}/replay`, {}))
    const { test: sent } = keep('testPostbacks', await post('/postback-tests', { scenarios: ['approved'] })).body.data
    const result = () => ask(`/postback-tests/${sent.test_id}`)
    await until(async () => (await result()).body.data.test.result !== 'waiting')
    keep('getPostbackTest', await result())
    keep('getStats', await ask('/stats?groupBy=offer'))
    keep('health', await world.get('/healthz'))
    keep('readiness', await world.get('/readyz'))

    keep('InvalidRequestError', await ask('/offers?country=UK'))
    keep('InvalidCredentialsError', await world.get('/api/v1/offers?userId=user-42'))
    keep('NotFoundError', await ask('/offers/99?userId=user-42'))
    const limited = await world.makeApp({ rateLimit: 1 })
    await world.get('/api/v1/offers?userId=user-42', limited.live)
    keep('RateLimitError', await world.get('/api/v1/offers?userId=user-42', limited.live))
    keep('ManageError', await world.get('/manage/v1/me'))
  } finally {
    await worker.close()
    publisher.closeAllConnections()
    publisher.close()
  }
  return answers
}

const TIME = '2026-01-31T12:00:00Z'
const STEADY: Record<string, unknown> = { timestamp: 1_769_860_800, request_id: 'req_8Kd02mVqYt3b1', duration_ms: 38 }

/** The same with values that do not change from run to run. */
function steady(answers: Record<string, unknown>): unknown {
  const ids = new Map<string, string>()
  const idOf = (id: string) => {
    const known = ids.get(id) ?? `019c1398-6c00-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  const text = (value: string) =>
    value
      .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, idOf)
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+(\.\d{3})?Z/g, TIME)
      .replaceAll(/\/c\/(\d+)\/.*/g, '/c/$1/1:l:1769860800:req_8Kd02mVqYt3b1:user-42:01tFA1SIUVs4yZhm98gb8V')
      .replaceAll(PUBLIC_URL, 'https://offers.example.com')
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'https://publisher.example.com')
      .replaceAll('127.0.0.1', '203.0.113.7')
      .replaceAll(/v1,[\w+/=]{44}/g, 'v1,zZ1mAUl6nbX4dXfUe3zkOqyB2Z0bYBz4lwUy5a9rZ5o=')
      .replaceAll(/(webhook-timestamp: )\d+/g, '$11769860800')
      .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'Sat, 31 Jan 2026 12:00:00 GMT')
  return JSON.parse(JSON.stringify(answers), (key, value: unknown) => {
    if (key in STEADY) return STEADY[key]
    return typeof value === 'string' ? text(value) : value
  })
}

test('the examples are what the app answers', async () => {
  const recorded = steady(await record())
  if (process.env['UPDATE_DOCS'] !== undefined) return writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
  const told = 'src/http/examples.json is stale: UPDATE_DOCS=1 npm test -- test/examples.test.ts && npm run format'
  assert.deepEqual(recorded, JSON.parse(readFileSync(FILE, 'utf8')), told)
})
