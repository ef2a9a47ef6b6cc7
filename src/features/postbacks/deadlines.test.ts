// One deadline for everything: whatever a receiver does, a send ends with it, and says in which phase.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { drip, hang, sendRaw, startBlackHole } from '../../../test/receiver.ts'
import { createGuard, SHORT_MS, withReceiver } from '../../../test/sending.ts'

for (const [what, behave, phase, status] of [
  ['that never answers', hang, 'headers', null],
  ['that drips its headers', drip('HTTP/1.1 200 OK\r\nx-drip: '), 'headers', null],
  ['that drips its status', drip('HTTP/1.1 200 '), 'headers', null],
  ['that drips its body', drip('HTTP/1.1 202 OK\r\ncontent-length: 100000\r\n\r\n'), 'body', 202],
  ['that drips chunk extensions', drip('HTTP/1.1 202 OK\r\ntransfer-encoding: chunked\r\n\r\n5;'), 'body', 202],
  ['that stops in its body', sendRaw('HTTP/1.1 202 OK\r\ncontent-length: 9\r\n\r\nhalf'), 'body', 202],
] as const)
  test(`a receiver ${what} is left at the deadline, and its socket destroyed`, async (t) => {
    const { receiver, send } = await withReceiver(t, behave)
    const result = await send({ timeoutMs: SHORT_MS })
    assert.deepEqual([result.phase, result.error?.code, result.status], [phase, 'timeout', status])
    assert.ok(result.durationMs >= SHORT_MS - 5)
    await receiver.allClosed()
  })

test('a receiver that does not read the request is left at the deadline, in the phase send', async (t) => {
  const { receiver, send } = await withReceiver(t, hang)
  const server = createServer((socket) => void socket.pause().on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const request = { method: 'POST', url: `http://127.0.0.1:${port}/`, body: 'x'.repeat(50_000_000) } as const
  const result = await send({ ...request, timeoutMs: SHORT_MS })
  assert.deepEqual([result.phase, result.error?.code], ['send', 'timeout'])
  assert.equal(receiver.connections(), 0)
})

test('a receiver that never accepts is left at the deadline, in the phase connect', async (t) => {
  const { send } = await withReceiver(t, hang)
  const hole = await startBlackHole()
  t.after(() => hole.close())
  const result = await send({ url: `http://127.0.0.1:${hole.port}/`, timeoutMs: SHORT_MS })
  assert.deepEqual([result.phase, result.error?.code, result.remoteAddress], ['connect', 'timeout', null])
})

test('a name that is never resolved is left at the deadline, in the phase dns, and the look-up cancelled', async (t) => {
  let cancelled = 0
  const resolver = () => {
    const { promise, reject } = Promise.withResolvers<string[]>()
    const cancel = () => {
      cancelled++
      reject(new Error('cancelled'))
    }
    return { resolve4: () => promise, resolve6: () => promise, cancel }
  }
  const stuck = createGuard(resolver)
  const { send } = await withReceiver(t, hang, { guard: stuck })
  const result = await send({ url: 'http://receiver.test/', timeoutMs: SHORT_MS })
  assert.deepEqual([result.phase, result.error?.code, cancelled], ['dns', 'timeout', 1])
})

test('a handshake that never ends is left at the deadline, in the phase tls', async (t) => {
  const { receiver, send } = await withReceiver(t, hang)
  const result = await send({ url: `https://127.0.0.1:${receiver.port}/`, timeoutMs: SHORT_MS })
  assert.deepEqual([result.phase, result.error?.code], ['tls', 'timeout'])
  await receiver.allClosed()
})
