// The examples of the OpenAPI description are what the app really answers.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { changeRewardSettings } from '../src/features/apps/reward-settings.ts'
import { trustApp } from '../src/features/apps/trust.ts'
import { DEFAULTS, saveSettings } from '../src/features/postbacks/settings.ts'
import { buildWorker } from '../src/worker.ts'
import { until } from './installation.ts'
import { recordLockers, recordWall } from './page-examples.ts'
import { checkExamples } from './steady-answers.ts'
import { type Reply, SECRET_KEY, useWorld } from './world.ts'
import { TESTER } from './tester.ts'

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
  const startWorker = () => buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  let worker = await startWorker()
  try {
    const { appId, live } = await world.createApp()
    await changeRewardSettings(world.database.db, TESTER, appId, { keepsBalance: true })
    const [offerId = 0] = await world.createOffers(OFFER)
    await trustApp(world.database.db, TESTER, appId, [offerId])
    await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url, method: 'POST' })
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
    keep('confirmConversionByPost', await world.get(callback, undefined, { method: 'POST' }))
    await until(async () => (await ask('/postbacks?state=delivered')).body.data.postbacks.length === 2)
    await world.app.refresh()
    keep('listConversions', await ask('/conversions?limit=1'))
    keep('getConversion', await ask(`/conversions/${body.data.conversion.conversion_id}`))
    keep('listEvents', await ask('/events?limit=1'))
    const { postbacks } = keep('listPostbacks', await ask('/postbacks?limit=1')).body.data
    keep('getPostback', await ask(`/postbacks/${postbacks[0]?.postback_id}`))
    await worker.close() // or it might be faster than the answers
    keep('replayPostback', await post(`/postbacks/${postbacks[0]?.postback_id}/replay`, {}))
    const { test: sent } = keep('testPostbacks', await post('/postback-tests', { scenarios: ['approved'] })).body.data
    worker = await startWorker()
    const result = () => ask(`/postback-tests/${sent.test_id}`)
    await until(async () => (await result()).body.data.test.result !== 'waiting')
    keep('getPostbackTest', await result())
    const debit = { method: 'POST', payload: { amount: 30, note: 'Order 7' }, headers: { 'idempotency-key': 'order-7' } } as const // prettier-ignore
    keep('debitUser', await ask('/users/user-42/debits', debit))
    keep('getUser', await ask('/users/user-42'))
    keep('getStats', await ask('/stats?groupBy=offer'))
    keep('health', await world.get('/healthz'))
    keep('readiness', await world.get('/readyz'))

    const place = { world, appId, live, offerId, agent: PHONE, keep }
    await recordWall(place)
    await recordLockers(place)

    keep('InvalidRequestError', await ask('/offers?country=UK'))
    keep('InvalidCredentialsError', await world.get('/api/v1/offers?userId=user-42'))
    keep('NotFoundError', await ask('/offers/99?userId=user-42'))
    const limited = await world.createApp({ rateLimit: 1 })
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

test('the examples are what the app answers', async () => checkExamples(await record(), 'src/http/examples.json'))
