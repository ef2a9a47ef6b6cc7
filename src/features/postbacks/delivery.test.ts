// From a conversion to the publisher's server, and what is written down about it.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker, type Worker } from '../../worker.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { trustApp } from '../apps/trust.ts'
import { applyCommands } from '../conversions/apply-commands.ts'
import { verifyMessage, verifyUrl } from './signing.ts'
import { DEFAULTS, type PostbackSettings, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string; atMs: number }
type Answer = (response: ServerResponse, request: Received) => void

const ok: Answer = (response) => response.end('OK')

/** A publisher's server, as it should be. */
class Receiver {
  readonly got: Received[] = []
  answer: Answer = ok
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (part: string) => (body += part))
      request.on('end', () => {
        const received = {
          method: request.method ?? '',
          url: `${this.url}${request.url ?? ''}`,
          headers: request.headers,
          body,
          atMs: Date.now(),
        }
        this.got.push(received)
        this.answer(response, received)
      })
    })
  }

  async open(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((done) => this.#server.close(done))
  }
}

let offerId: number
let worker: Worker
const receivers: Receiver[] = []
after(async () => {
  await worker.close()
  for (const receiver of receivers) await receiver.close()
})
const world = useWorld('delivery', async () => {
  ;[offerId] = (await world.createOffers({ name: 'Play & win', payout: 1.5 })) as [number]
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
})
async function createReceiver(more: Partial<PostbackSettings> = {}, path = '/') {
  const receiver = await new Receiver().open()
  receivers.push(receiver)
  const app = await world.createApp()
  await trustApp(world.database.db, TESTER, app.appId, [offerId])
  await saveSettings(world.database.db, TESTER, SECRET_KEY, app.appId, {
    ...DEFAULTS,
    url: `${receiver.url}${path}`,
    ...more,
  })
  return { receiver, ...app }
}

const report = async (credentials: IssuedCredentials, userId: string) =>
  (await world.report(credentials, { userId, offerId })).body.data.conversion

const reverse = (conversionId: string) =>
  applyCommands(world.database.db, [{ kind: 'move', by: TESTER, conversionId, to: 'reversed' }], new Date())

const list = async (credentials: IssuedCredentials, query = '') =>
  (await world.get(`/v1/postbacks${query}`, credentials)).body.data.postbacks

const settled = (credentials: IssuedCredentials, count: number) =>
  until(async () => (await list(credentials)).filter(({ state }) => state === 'delivered').length === count)

test('an approved conversion is sent by POST, signed, and the log shows it', async () => {
  const { receiver, live } = await createReceiver({ method: 'POST' })
  const conversion = await report(live, 'ann')
  await settled(live, 1)
  const [got] = receiver.got
  assert.equal(receiver.got.length, 1)
  const body = JSON.parse(got?.body ?? '') as { id: string; type: string; sequence: number; data: object }
  assert.deepEqual([body.type, body.sequence, body.data], ['conversion.approved', 1, conversion])
  assert.equal(got?.headers['webhook-id'], body.id)
  assert.equal(verifyMessage([live.signing_secret], got?.headers ?? {}, got?.body ?? '', Date.now() / 1000), 'ok')
  const { body: reply } = await world.get(`/v1/postbacks/${body.id}`, live)
  const { postback } = reply.data
  assert.deepEqual(
    [postback.state, postback.attempts, postback.last_status, postback.conversion_id],
    ['delivered', 1, 200, conversion.conversion_id],
  )
  const [attempt] = postback.tries
  assert.deepEqual(
    [attempt?.ok, attempt?.phase, attempt?.status, attempt?.remote_address],
    [true, null, 200, '127.0.0.1'],
  )
  assert.match(attempt?.request ?? '', /^POST http:\/\/127\.0\.0\.1:\d+\/\n[^]*"conversion\.approved"/)
  assert.match(attempt?.response ?? '', /^HTTP\/1\.1 200 OK\r?\n[^]*OK$/)
})

test('by GET the macros are filled and the URL is signed; a reversal is negative and has an id of its own', async () => {
  const query =
    'u={user_id}&t={transaction_id}&c={conversion_id}&p={payout}&r={reward}&s={status}&o={offer_name}&g={signature}'
  const { receiver, live } = await createReceiver({}, `/credit?${query}`)
  const conversion = await report(live, 'a b&c')
  await settled(live, 1)
  await reverse(conversion.conversion_id)
  await settled(live, 2)
  const [first, second] = receiver.got.map(({ url }) => Object.fromEntries(new URL(url).searchParams))
  assert.deepEqual(
    [first?.['u'], first?.['p'], first?.['r'], first?.['s'], first?.['o']],
    ['a b&c', '1.5', '150', 'approved', 'Play & win'],
  )
  assert.deepEqual([second?.['p'], second?.['r'], second?.['s']], ['-1.5', '-150', 'reversed'])
  assert.equal(first?.['c'], second?.['c'])
  assert.notEqual(first?.['t'], second?.['t'])
  for (const { url, headers } of receiver.got) {
    assert.ok(verifyUrl([live.signing_secret], url))
    assert.equal(verifyMessage([live.signing_secret], headers, url, Date.now() / 1000), 'ok')
  }
})

test('a failed postback is retried later with the same id, and a later event waits for an earlier one', async () => {
  const { receiver, live } = await createReceiver({ method: 'POST' })
  receiver.answer = (response) => response.writeHead(500).end('no')
  const conversion = await report(live, 'ann')
  await until(() => receiver.got.length === 1)
  await reverse(conversion.conversion_id)
  await until(async () => (await list(live)).some(({ last_status }) => last_status === 500))
  const [reversed, approved] = await list(live)
  assert.deepEqual(
    [approved?.state, approved?.attempts, approved?.last_error],
    ['queued', 1, 'The server answered 500, not 2xx.'],
  )
  assert.deepEqual([reversed?.state, reversed?.attempts], ['queued', 0])
  receiver.answer = ok
  await world.get(`/v1/postbacks/${approved?.postback_id}/replay`, live, { method: 'POST' })
  await settled(live, 2)
  const received = receiver.got.map(({ body }) => JSON.parse(body) as { id: string; type: string })
  assert.deepEqual(
    received.map(({ type }) => type),
    ['conversion.approved', 'conversion.approved', 'conversion.reversed'],
  )
  assert.equal(received[0]?.id, received[1]?.id)
})

test('only the events that the app wants are sent, and the others are in the feed all the same', async () => {
  const { receiver, live } = await createReceiver({ events: ['reversed'] })
  const conversion = await report(live, 'ann')
  await reverse(conversion.conversion_id)
  await settled(live, 1)
  assert.equal(receiver.got.length, 1)
  assert.deepEqual(
    (await list(live)).map(({ status }) => status),
    ['reversed'],
  )
})

test('a test conversion is sent with the test secret', async () => {
  const { receiver, test: testing } = await createReceiver({ method: 'POST' })
  await report(testing, 'tester')
  await settled(testing, 1)
  const [got] = receiver.got
  assert.equal(verifyMessage([testing.signing_secret], got?.headers ?? {}, got?.body ?? '', Date.now() / 1000), 'ok')
  assert.match(got?.body ?? '', /"is_test":true/)
})

test('a body rule wants 1, OK or DUP', async () => {
  const { receiver, live } = await createReceiver({ success: 'body' })
  const bodies = ['error', '1', 'dup 5']
  receiver.answer = (response) => response.end(bodies[receiver.got.length - 1] ?? '')
  for (const userId of ['a', 'b', 'c']) {
    await report(live, userId)
    await until(() => receiver.got.length === ['a', 'b', 'c'].indexOf(userId) + 1)
  }
  await until(async () => (await list(live)).every(({ attempts }) => attempts === 1))
  await until(async () => (await list(live)).every(({ state }) => state !== 'sending'))
  assert.deepEqual(
    (await list(live)).map(({ state }) => state),
    ['delivered', 'delivered', 'queued'],
  )
})

test('410 pauses the lane, keeps the queue and leaves a notice; saving the URL again resumes it', async () => {
  const { receiver, live, appId } = await createReceiver()
  receiver.answer = (response) => response.writeHead(410).end()
  await report(live, 'ann')
  const lane = () =>
    world.database.db.selectFrom('postback_lanes').selectAll().where('app_id', '=', appId).executeTakeFirstOrThrow()
  await until(async () => (await lane()).pause_reason === 'gone')
  await report(live, 'bob')
  const notices = await world.database.db.selectFrom('notices').selectAll().where('app_id', '=', appId).execute()
  assert.equal(notices.length, 1)
  assert.match(notices[0]?.message ?? '', /410/)
  assert.equal(receiver.got.length, 1)
  receiver.answer = ok
  await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url: `${receiver.url}/` })
  await until(async () => (await list(live)).some(({ state }) => state === 'delivered'))
})

test('what is saved holds for the next postback, also right after the last one', async () => {
  const { receiver, live, appId } = await createReceiver({ method: 'POST' })
  const paths: string[] = []
  for (let n = 0; n < 5; n++) {
    const path = `/saved-${n}`
    paths.push(path)
    await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, method: 'POST', url: receiver.url + path }) // prettier-ignore
    await report(live, `saver-${n}`)
    await until(() => receiver.got.length > n)
  }
  assert.deepEqual(receiver.got.map(({ url }) => URL.parse(url)?.pathname), paths) // prettier-ignore
})

test('a redirect is a failure', async () => {
  const { receiver, live } = await createReceiver()
  receiver.answer = (response) => response.writeHead(302, { location: `${receiver.url}/elsewhere` }).end()
  await report(live, 'ann')
  await until(async () => (await list(live))[0]?.last_status === 302)
  assert.match((await list(live))[0]?.last_error ?? '', /redirect/)
  assert.equal(receiver.got.length, 1)
})

test('test sends go through the engine, and say for each whether the receiver did right', async () => {
  const { receiver, live } = await createReceiver({ method: 'POST' })
  receiver.answer = (response, { headers, body }) => {
    const verdict = verifyMessage([live.signing_secret], headers, body, Date.now() / 1000)
    response.writeHead(verdict === 'ok' ? 200 : 401).end()
  }
  const run = async () => {
    const { body } = await world.get('/v1/postback-tests', live, { method: 'POST', payload: {} })
    const path = `/v1/postback-tests/${body.data.test.test_id}`
    await until(async () => (await world.get(path, live)).body.data.test.result !== 'waiting')
    return (await world.get(path, live)).body.data.test
  }
  const good = await run()
  assert.equal(good.result, 'pass', JSON.stringify(good))
  assert.deepEqual(
    good.results.map(({ scenario }) => scenario),
    ['pending', 'approved', 'duplicate', 'reversed', 'out_of_order', 'wrong_signature'],
  )
  const received = receiver.got.map(
    ({ body }) => JSON.parse(body) as { id: string; type: string; sequence: number; data: { is_test: boolean } },
  )
  assert.ok(received.every(({ data }) => data.is_test))
  assert.equal(received[1]?.id, received[2]?.id)
  assert.deepEqual(
    received.slice(4, 6).map(({ sequence }) => sequence),
    [2, 1],
  )
  receiver.answer = ok // accepts anything, even with a foreign signature
  const careless = await run()
  assert.equal(careless.result, 'fail')
  assert.deepEqual(
    careless.results.filter(({ result }) => result === 'fail').map(({ scenario }) => scenario),
    ['wrong_signature'],
  )
})

test("another app's postbacks are not there", async () => {
  const { live } = await createReceiver()
  const { live: stranger } = await world.createApp()
  await report(live, 'ann')
  await settled(live, 1)
  const [postback] = await list(live)
  assert.deepEqual(await list(stranger), [])
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/replay'],
  ] as const)
    assert.equal((await world.get(`/v1/postbacks/${postback?.postback_id}${path}`, stranger, { method })).status, 404)
})
