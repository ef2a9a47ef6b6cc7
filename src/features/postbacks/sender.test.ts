// How a sender interprets responses, good and bad.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { answer, type Behaviour, endlessBody, hang, resetMidBody, sendRaw } from '../../../test/receiver.ts'
import { withReceiver } from '../../../test/sending.ts'

test('a whole answer is read: status, head, beginning of the body, and who gave it', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(201, { 'x-thing': 'a' }, 'OK\0 fine'))
  const result = await send({ url: `http://127.0.0.1:${receiver.port}/p?q=%20a`, headers: { 'webhook-id': 'w1' } })
  assert.deepEqual(
    { ...result, durationMs: 0 },
    {
      phase: null,
      error: null,
      status: 201,
      retryAfter: null,
      responseHead: 'HTTP/1.1 201 Because\r\ncontent-length: 8\r\nx-thing: a\r\n\r\nOK fine',
      bodyStart: 'OK fine',
      remoteAddress: '127.0.0.1',
      durationMs: 0,
      isRepeated: false,
    },
  )
  const { head } = receiver.requests[0]!
  assert.match(head, /^GET \/p\?q=%20a HTTP\/1\.1\r\n/)
  assert.match(head, new RegExp(`\r\nhost: 127\\.0\\.0\\.1:${receiver.port}\r\n`))
  assert.match(head, /\r\naccept-encoding: identity\r\n/)
  assert.match(head, /\r\nwebhook-id: w1/)
})

test('a POST carries its body, byte for byte', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200))
  await send({ method: 'POST', body: '{"ü":1}', headers: { 'content-type': 'application/json' } })
  const { head, body } = receiver.requests[0]!
  assert.match(head, /^POST \/ .*content-length: 8$/s)
  assert.equal(Buffer.from(body, 'latin1').toString(), '{"ü":1}')
})

test('410, 429 with Retry-After and 500 are answers, not errors', async (t) => {
  const { receiver, send } = await withReceiver(t, hang)
  for (const [status, headers, retryAfter] of [
    [410, {}, null],
    [429, { 'Retry-After': '120' }, '120'],
    [500, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 'Wed, 21 Oct 2026 07:28:00 GMT'],
  ] as const) {
    receiver.behave = answer(status, headers)
    const result = await send()
    assert.deepEqual([result.status, result.phase, result.retryAfter], [status, null, retryAfter])
  }
})

test('a redirect is not followed', async (t) => {
  const target = await withReceiver(t, answer(200))
  const { receiver, send } = await withReceiver(t, hang)
  for (const location of ['http://169.254.169.254/', `http://127.0.0.1:${target.receiver.port}/`]) {
    receiver.behave = answer(302, { location })
    assert.deepEqual((({ status, phase }) => [status, phase])(await send()), [302, null])
  }
  assert.equal(target.receiver.connections(), 0)
})

test('a compressed answer is kept as it is', async (t) => {
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const { send } = await withReceiver(t, answer(200, { 'content-encoding': 'gzip' }, bomb))
  const result = await send()
  assert.deepEqual([result.status, result.phase], [200, null])
  assert.ok(Buffer.byteLength(result.responseHead) <= 8_192)
  assert.ok(result.bodyStart.length <= 64)
})

for (const [what, head] of [
  ['of no length', 'HTTP/1.1 200 OK\r\n\r\n'],
  ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n'],
] as const)
  test(`an endless body ${what} is read up to 64 KiB, and its connection not used again`, async (t) => {
    const { behaviour, sent } = endlessBody(head)
    const { receiver, send } = await withReceiver(t, behaviour)
    const result = await send()
    assert.deepEqual([result.phase, result.status, result.bodyStart], [null, 200, 'x'.repeat(64)])
    assert.equal(Buffer.byteLength(result.responseHead), 8_192)
    receiver.behave = answer(204)
    assert.equal((await send()).status, 204)
    assert.equal(receiver.connections(), 2)
    assert.ok(sent() < 20_000_000, `${sent()} bytes went out`) // what the kernel takes without being read
  })

test('text is cut between characters, and what is no text is replaced', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200, {}, `${'x'.repeat(63)}ü${'ü'.repeat(9_000)}`))
  const result = await send()
  assert.equal(result.bodyStart, 'x'.repeat(63))
  assert.ok(!result.responseHead.includes('\uFFFD'))
  receiver.behave = answer(200, {}, Buffer.alloc(9_000, 0xff))
  const binary = await send()
  assert.ok(Buffer.byteLength(binary.responseHead) <= 8_192)
  assert.equal(binary.bodyStart, '\uFFFD'.repeat(64))
})

for (const [what, behave, phase, code, status] of [
  ['is not HTTP', sendRaw('SSH-2.0-OpenSSH_9.6\r\n'), 'headers', 'bad_response', null],
  ['has a wrong header', sendRaw('HTTP/1.1 200 OK\r\nno colon\r\n\r\n'), 'headers', 'bad_response', null],
  ['has headers without end', endlessBody('HTTP/1.1 200 OK\r\nx: ').behaviour, 'headers', 'too_large', null],
  [
    'switches protocols',
    sendRaw('HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    'headers',
    'bad_response',
    null,
  ],
  ['never gets to the point', sendRaw('HTTP/1.1 103 Hint\r\n\r\n'.repeat(100)), 'headers', 'bad_response', null],
  [
    'has a wrong chunk',
    sendRaw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
    'body',
    'bad_response',
    200,
  ],
  ['is reset in its body', resetMidBody, 'body', 'reset', 200],
  [
    'is cut off in its body',
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal'),
    'body',
    'reset',
    200,
  ],
  ['is a reset', (socket: Socket) => socket.resetAndDestroy(), 'headers', 'reset', null],
  ['is a closed connection', (socket: Socket) => socket.end(), 'headers', 'reset', null],
] as [string, Behaviour, string, string, number | null][])
  test(`an answer that ${what} is an error, and the receiver is not asked again`, async (t) => {
    const { receiver, send } = await withReceiver(t, behave)
    const result = await send()
    assert.deepEqual([result.phase, result.error?.code, result.status], [phase, code, status])
    assert.match(result.error?.message ?? '', /^[A-Z].*\.$/)
    assert.equal(receiver.requests.length, 1)
    await receiver.allClosed()
  })

test('a hint before the answer is passed over', async (t) => {
  const { send } = await withReceiver(
    t,
    sendRaw('HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1'),
  )
  const result = await send()
  assert.deepEqual([result.phase, result.status, result.bodyStart], [null, 200, '1'])
})

test('what cannot be a request is an error of the request', async (t) => {
  const { send } = await withReceiver(t, answer(200))
  for (const headers of [
    { 'x-a': 'b\r\nx-c: d' },
    { 'bad name': '' },
    { 'transfer-encoding': 'chunked' },
    { Host: 'other.test' },
  ])
    assert.deepEqual((({ phase, error }) => [phase, error?.code])(await send({ headers })), ['send', 'bad_request'])
  assert.equal((await send()).status, 200)
})
