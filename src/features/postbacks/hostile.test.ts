// Receivers that do everything wrong, through the whole engine: each ends in the right state, with a log that says why.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Certificate, createCertificate } from '../../../test/certificates.ts'
import { until } from '../../../test/installation.ts'
import { freePort } from '../../../test/ports.ts'
import {
  answer,
  type Behaviour,
  drip,
  endlessBody,
  hang,
  type Receiver,
  resetMidBody,
  sendRaw,
  startBlackHole,
  startReceiver,
} from '../../../test/receiver.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker, type Worker } from '../../worker.ts'
import { trustApp } from '../apps/trust.ts'
import { DEFAULTS, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const MAX_RESPONSE = 8 * 1024

let offerId: number
let worker: Worker
const opened: { close(): Promise<void> }[] = []
after(async () => {
  await worker.close()
  for (const one of opened) await one.close()
})
const world = useWorld('hostile', async () => {
  ;[offerId] = (await world.createOffers({})) as [number]
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
})

/** Reports a conversion to an app with this URL; resolves with its postback and its only attempt. */
async function deliver(url: string, timeoutMs = 15_000) {
  const { db } = world.database
  const { live, appId } = await world.createApp()
  await trustApp(db, TESTER, appId, [offerId])
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url, timeoutMs })
  await world.report(live, { userId: 'ann', offerId })
  const find = async () => (await world.get('/v1/postbacks', live)).body.data.postbacks[0]
  await until(async () => {
    const found = await find()
    return found?.attempts === 1 && found.state !== 'sending'
  })
  const { postback } = (await world.get(`/v1/postbacks/${(await find())?.postback_id}`, live)).body.data
  const [attempt, ...more] = postback.tries
  assert.ok(attempt !== undefined && more.length === 0)
  assert.ok(Buffer.byteLength(attempt.response) <= MAX_RESPONSE)
  return { postback, attempt }
}

async function receive(behave: Behaviour, tls?: Certificate): Promise<Receiver> {
  const receiver = await startReceiver(behave, tls)
  opened.push(receiver)
  return receiver
}

type Expected = { phase: string | null; status: number | null; error: RegExp }

async function fails(url: string, { phase, status, error }: Expected, timeoutMs?: number): Promise<void> {
  const { postback, attempt } = await deliver(url, timeoutMs)
  assert.deepEqual([attempt.ok, attempt.phase, attempt.status], [false, phase, status], attempt.error ?? '')
  assert.match(attempt.error ?? '', error)
  assert.deepEqual([postback.state, postback.last_error], ['queued', attempt.error])
  assert.notEqual(postback.next_attempt_at, null)
}

const late = /3 s|time|deadline/i
const SHORT_MS = 3_000

test('a receiver that hangs or drips is left after the timeout', async () => {
  const hole = await startBlackHole()
  opened.push(hole)
  const at = async (behave: Behaviour) => `http://127.0.0.1:${(await receive(behave)).port}/`
  const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n'
  await Promise.all([
    fails(`http://127.0.0.1:${hole.port}/`, { phase: 'connect', status: null, error: late }, SHORT_MS),
    fails(await at(hang), { phase: 'headers', status: null, error: late }, SHORT_MS),
    fails(await at(drip('HTTP/1.1 200 OK\r\nx-slow: ')), { phase: 'headers', status: null, error: late }, SHORT_MS),
    fails(await at(drip(head)), { phase: 'body', status: 200, error: late }, SHORT_MS),
  ])
})

test('an endless body is read as far as is needed, and no further', async () => {
  const endless = endlessBody('HTTP/1.1 200 OK\r\n\r\n')
  const receiver = await receive(endless.behaviour)
  const { postback } = await deliver(`http://127.0.0.1:${receiver.port}/`)
  assert.equal(postback.state, 'delivered')
  assert.ok(endless.sent() < 64 * 1024 * 1024)
})

test('what breaks off or is no HTTP is a failure', async () => {
  const at = async (behave: Behaviour) => `http://127.0.0.1:${(await receive(behave)).port}/`
  await fails(await at(resetMidBody), { phase: 'body', status: 200, error: /./ })
  await fails(await at((socket) => socket.resetAndDestroy()), { phase: 'headers', status: null, error: /./ })
  await fails(await at(sendRaw('SSH-2.0-OpenSSH_9.2\r\n')), { phase: 'headers', status: null, error: /./ })
  await fails('http://127.0.0.1:1/', { phase: 'connect', status: null, error: /refused/ })
})

test('certificates must be good', async () => {
  for (const validity of ['valid', 'expired'] as const) {
    const receiver = await receive(answer(200), createCertificate(validity)) // valid, but signed by an unknown authority
    await fails(`https://127.0.0.1:${receiver.port}/`, { phase: 'tls', status: null, error: /certificate/i })
  }
})

test('a redirect to a private address is not followed, and a bomb is not unpacked', async () => {
  const at = async (behave: Behaviour) => `http://127.0.0.1:${(await receive(behave)).port}/`
  const away = answer(302, { location: 'http://169.254.169.254/latest/meta-data/' })
  await fails(await at(away), { phase: null, status: 302, error: /redirect/ })
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
  const { postback } = await deliver(await at(answer(200, { 'content-encoding': 'gzip' }, bomb)))
  assert.equal(postback.state, 'delivered')
})

test('429 is waited for as long as it asks, within a day', async () => {
  const inAnHour = new Date(Date.now() + 3_600_000).toUTCString()
  for (const [retryAfter, atLeastS, atMostS] of [
    ['120', 110, 130],
    ['0', 2, 10],
    [inAnHour, 3_500, 3_620],
    ['99999999', 86_300, 86_410],
    ['soon', 2, 10],
    ['', 2, 10],
  ] as const) {
    const receiver = await receive(answer(429, { 'retry-after': retryAfter }))
    const { postback } = await deliver(`http://127.0.0.1:${receiver.port}/`)
    const waitS = (Date.parse(postback.next_attempt_at ?? '') - Date.now()) / 1000
    assert.ok(waitS >= atLeastS - 5 && waitS <= atMostS, `${retryAfter}: ${waitS}`)
  }
})

test('our own proxy being down is not blamed on the receiver, and the operator is notified', async () => {
  await worker.close()
  const proxy = `http://127.0.0.1:${await freePort()}`
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'], postbackProxy: proxy }
  worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  const receiver = await receive(answer(200))
  for (let i = 0; i < 2; i++)
    await fails(`http://127.0.0.1:${receiver.port}/`, {
      phase: 'connect',
      status: null,
      error: /proxy of this network/,
    })
  assert.equal(receiver.connections(), 0)
  assert.equal(world.logged.filter((line) => line.includes('postbacks cannot be sent from here: The proxy')).length, 1)
})
