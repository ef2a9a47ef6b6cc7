// Which connection a request goes over, and how many there are.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { answer, type Certificate, hang, makeCertificate } from '../../../test/receiver.ts'
import { SHORT_MS, withReceiver } from '../../../test/sending.ts'

let valid: Certificate
before(() => {
  valid = makeCertificate('valid')
})

test('a connection is used again', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200, {}, 'ok'), { tls: valid, ca: valid.cert })
  for (let i = 0; i < 5; i++) assert.equal((await send()).bodyStart, 'ok')
  assert.equal(receiver.connections(), 1)
})

test('no more than so many connections are made to an origin, and who waits is served in turn', async (t) => {
  const { receiver, send } = await withReceiver(t, hang, { maxConnectionsPerOrigin: 3 })
  receiver.behave = (socket, request) => setImmediate(() => answer(200, {}, request.head.slice(4, 8))(socket, request))
  const sent = Array.from({ length: 50 }, (_, i) =>
    send({ url: `http://127.0.0.1:${receiver.port}/${String(i).padStart(3, '0')}` }),
  )
  const results = await Promise.all(sent)
  assert.deepEqual(
    results.map(({ bodyStart }) => Number(bodyStart.slice(1))),
    results.map((_, i) => i),
  )
  assert.equal(receiver.connections(), 3)
})

test('who waits for a free connection waits no longer than the deadline', async (t) => {
  const { receiver, send } = await withReceiver(t, hang, { maxConnectionsPerOrigin: 1 })
  const first = send({ timeoutMs: 2 * SHORT_MS })
  const second = await send({ timeoutMs: SHORT_MS })
  assert.deepEqual([second.phase, second.error?.code], ['connect', 'timeout'])
  receiver.behave = answer(200)
  assert.equal((await first).phase, 'headers')
  assert.equal((await send()).status, 200, 'a deadline leaves room for the next')
  assert.equal(receiver.requests.length, 2, 'the second was never sent')
})

test('a request that meets a closing connection is sent again on a fresh one, once', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200))
  await send()
  receiver.behave = (socket, request) => {
    if (request.connection < 2) socket.resetAndDestroy()
    else answer(200, {}, 'again')(socket, request)
  }
  const result = await send({ method: 'POST', body: 'x' })
  assert.deepEqual([result.phase, result.bodyStart, receiver.connections()], [null, 'again', 2])

  receiver.behave = (socket) => socket.resetAndDestroy()
  const lost = await send()
  assert.deepEqual([lost.phase, lost.error?.code, receiver.connections()], ['headers', 'reset', 3])
})

test('a fresh connection is found although all that there may be are kept open', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200), { maxConnectionsPerOrigin: 2 })
  await Promise.all([send(), send()])
  receiver.behave = (socket, request) =>
    request.connection <= 2 ? socket.resetAndDestroy() : answer(202)(socket, request)
  assert.deepEqual(
    (await Promise.all([send(), send(), send()])).map(({ status }) => status),
    [202, 202, 202],
  )
})

test('a receiver that closes idle connections loses no request', async (t) => {
  const { receiver, send } = await withReceiver(t, hang)
  receiver.behave = (socket, request) => {
    answer(200)(socket, request)
    setImmediate(() => socket.end())
  }
  for (let i = 0; i < 50; i++) assert.equal((await send()).status, 200)
})

test('an answer that has begun is not asked for again', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200))
  await send()
  receiver.behave = (socket) => void socket.write('HTTP/1.1 2', () => socket.resetAndDestroy())
  assert.equal((await send()).error?.code, 'reset')
  assert.equal(receiver.requests.length, 2)
})

test('close ends what is under way and what waits, and afterwards nothing is sent', async (t) => {
  const { receiver, sender, send } = await withReceiver(t, hang, { maxConnectionsPerOrigin: 1 })
  const [running, waiting, opening] = [send(), send(), send({ url: `https://127.0.0.1:${receiver.port}/` })]
  while (receiver.requests.length === 0 || receiver.connections() < 2) await new Promise(setImmediate)
  await sender.close()
  for (const result of await Promise.all([running, waiting, opening, send()]))
    assert.equal(result.error?.code, 'closed')
  await receiver.allClosed()
  assert.equal(receiver.requests.length, 1)
})
