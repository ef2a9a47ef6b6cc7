// Which connection a request goes over, and how many there are.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Certificate, createCertificate } from '../../../test/certificates.ts'
import { answer, hang } from '../../../test/receiver.ts'
import { SHORT_MS, withReceiver } from '../../../test/sending.ts'

let valid: Certificate
before(() => {
  valid = createCertificate('valid')
})

test('a connection is used again', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200, {}, 'ok'), { tls: valid, ca: valid.cert })
  for (let i = 0; i < 5; i++) assert.equal((await send()).bodyStart, 'ok')
  assert.equal(receiver.connections(), 1)
})

test('an origin gets no more than so many connections, and requests that wait are served in turn', async (t) => {
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

test('100 Continue that nothing asked for is passed over, in one piece or in many', async (t) => {
  const { receiver, send } = await withReceiver(t, hang)
  const interim = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 \r\nx: y\r\n\r\n'
  const real = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
  receiver.behave = (socket) => socket.write(interim + real)
  assert.equal((await send()).bodyStart, 'ok')
  receiver.behave = (socket) => {
    const bytes = (interim + real).split('')
    const next = () => {
      const byte = bytes.shift()
      if (byte !== undefined) socket.write(byte, () => setImmediate(next))
    }
    next()
  }
  const slow = await send()
  assert.deepEqual([slow.status, slow.bodyStart, slow.phase], [200, 'ok', null])
  assert.equal(receiver.connections(), 1)
})

test('a kept connection that is closed at once is replaced, and the result says that it was sent twice', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200, {}, 'ok'))
  assert.equal((await send()).isRepeated, false)
  receiver.behave = (socket, { connection }) => (connection === 1 ? socket.destroy() : answer(200, {}, 'ok')(socket, receiver.requests[0]!)) // prettier-ignore
  const result = await send()
  assert.deepEqual([result.status, result.isRepeated, receiver.requests.length], [200, true, 3])
})

test('a kept connection that is closed after a while is the failure of its receiver: nothing is sent twice', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200, {}, 'ok'))
  await send()
  receiver.behave = (socket) => void setTimeout(() => socket.destroy(), 400)
  const result = await send()
  assert.deepEqual([result.phase, result.error?.code, result.isRepeated], ['headers', 'reset', false])
  assert.equal(receiver.requests.length, 2)
})

test('a receiver that answers twice gets a new connection each time: no answer is taken for that of another request', async (t) => {
  const { receiver, send } = await withReceiver(t, hang)
  receiver.behave = (socket, { head }) => {
    const path = /^GET (\S+)/.exec(head)?.[1] ?? ''
    const text = `HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n${path}`
    socket.write(text)
    socket.write(text)
  }
  const url = (i: number) => `http://127.0.0.1:${receiver.port}/${i}`
  await send({ url: url(0) })
  for (let i = 1; i < 60; i++) assert.equal((await send({ url: url(i) })).bodyStart, `/${i}`)
})
