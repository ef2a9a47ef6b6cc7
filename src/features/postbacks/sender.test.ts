import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { before, test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  answer,
  type Behaviour,
  type Certificate,
  drip,
  endlessBody,
  hang,
  makeCertificate,
  resetMidBody,
  sendRaw,
  startBlackHole,
  startReceiver,
} from '../../../test/receiver.ts'
import { freePort } from '../../../test/ports.ts'
import { type AddressGuard, createAddressGuard } from './address-guard.ts'
import { createSender, type SenderOptions, type SendRequest } from './sender.ts'

const SHORT_MS = 400
const LONG_MS = 20_000 // never reached: only a deadline ends some of these
const guard = createAddressGuard({ allow: [], deny: [], allowLoopback: true, resolver: namesTo('127.0.0.1') })

let valid: Certificate
let expired: Certificate
before(() => {
  valid = makeCertificate('valid')
  expired = makeCertificate('expired')
})

/** Each name has these addresses. */
function namesTo(...addresses: string[]) {
  return () => ({
    resolve4: () => Promise.resolve(addresses.filter((address) => !address.includes(':'))),
    resolve6: () => Promise.resolve(addresses.filter((address) => address.includes(':'))),
    cancel: () => {},
  })
}

async function withReceiver(
  t: TestContext,
  behave: Behaviour,
  options: Partial<SenderOptions> & { tls?: Certificate } = {},
) {
  const { tls, ...senderOptions } = options
  const receiver = await startReceiver(behave, tls)
  const sender = createSender({ guard, proxy: null, ...senderOptions })
  t.after(async () => {
    await sender.close()
    await receiver.close()
  })
  const base = `${tls ? 'https' : 'http'}://127.0.0.1:${receiver.port}`
  const send = (request: Partial<SendRequest> = {}) =>
    sender.send({ method: 'GET', url: `${base}/`, headers: {}, body: null, timeoutMs: LONG_MS, ...request })
  return { receiver, sender, send }
}

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
  const stuck = createAddressGuard({ allow: [], deny: [], allowLoopback: true, resolver })
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

test('where nothing listens, the connection is refused', async (t) => {
  const { send } = await withReceiver(t, hang)
  const result = await send({ url: `http://127.0.0.1:${await freePort()}/` })
  assert.deepEqual([result.phase, result.error?.code], ['connect', 'connect_failed'])
})

test('if one address does not work, the next one is tried', async (t) => {
  const names = createAddressGuard({
    allow: [],
    deny: [],
    allowLoopback: true,
    resolver: namesTo('127.0.0.9', '127.0.0.1'),
  })
  const { receiver, send } = await withReceiver(t, answer(200), { guard: names })
  const result = await send({ url: `http://receiver.test:${receiver.port}/` })
  assert.deepEqual([result.status, result.remoteAddress], [200, '127.0.0.1'])
  assert.match(receiver.requests[0]!.head, new RegExp(`\r\nhost: receiver\\.test:${receiver.port}\r\n`))
})

test('addresses that are not public are refused before anything is sent', async (t) => {
  const strict = createAddressGuard({
    allow: [],
    deny: [],
    allowLoopback: false,
    resolver: namesTo('8.8.8.8', '127.0.0.1'),
  })
  const { receiver, send } = await withReceiver(t, answer(200), { guard: strict })
  for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:7f00:1]', 'localhost', 'mixed.test']) {
    const result = await send({ url: `http://${host}:${receiver.port}/` })
    assert.deepEqual([result.phase, result.error?.code], ['dns', 'refused_address'], host)
  }
  for (const url of ['ftp://a.test/', 'http://user:pass@a.test/', 'http://a.test:0/', 'nonsense'])
    assert.equal((await send({ url })).error?.code, 'refused_address', url)
  assert.equal(receiver.connections(), 0)
})

test('the address that a socket is connected to is checked once more', async (t) => {
  const lying: AddressGuard = { refusal: () => 'It may not be reached.', resolve: () => Promise.resolve(['127.0.0.1']) }
  const { receiver, send } = await withReceiver(t, answer(200), { guard: lying })
  const result = await send({ url: `http://receiver.test:${receiver.port}/` })
  assert.deepEqual(
    [result.phase, result.error],
    ['connect', { code: 'refused_address', message: 'It may not be reached.' }],
  )
  assert.equal(receiver.requests.length, 0)
})

test('HTTPS works by name and by literal where the certificate is trusted', async (t) => {
  const { receiver, send } = await withReceiver(t, answer(200), { tls: valid, ca: valid.cert })
  for (const host of ['localhost', '127.0.0.1']) {
    const result = await send({ url: `https://${host}:${receiver.port}/` })
    assert.deepEqual([result.error, result.status], [null, 200], host)
  }
})

test('certificates that are self-signed, expired or for another name are refused', async (t) => {
  const untrusted = await withReceiver(t, answer(200), { tls: valid })
  const old = await withReceiver(t, answer(200), { tls: expired, ca: expired.cert })
  const other = await withReceiver(t, answer(200), { tls: valid, ca: valid.cert })
  for (const [result, message] of [
    [await untrusted.send(), /self-signed/],
    [await old.send(), /expired/],
    [await other.send({ url: `https://other.test:${other.receiver.port}/` }), /another host name/],
  ] as const) {
    assert.deepEqual([result.phase, result.error?.code, result.status], ['tls', 'tls_failed', null])
    assert.match(result.error?.message ?? '', message)
  }
  assert.equal([untrusted, old, other].flatMap(({ receiver }) => receiver.requests).length, 0)
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

/** A proxy that tunnels to 127.0.0.1, whatever address it is asked for, and remembers what it was asked. */
async function startProxy(isWilling: boolean): Promise<{ port: number; asked: string[]; close(): void }> {
  const asked: string[] = []
  const server = createServer((client) => {
    client
      .on('error', () => {})
      .once('data', (head) => {
        asked.push(String(head))
        if (!isWilling) return void client.end('HTTP/1.1 407 Who are you\r\n\r\n')
        const upstream = connect(Number(/:(\d+) HTTP/.exec(String(head))![1]), '127.0.0.1', () => {
          client.write('HTTP/1.1 200 Connection established\r\nx: y\r\n\r\n')
          upstream.pipe(client).pipe(upstream)
        }).on('error', () => client.destroy())
        client.on('close', () => upstream.destroy())
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, asked, close: () => void server.close() }
}

test('through a proxy, http and https go through a tunnel to the address that was checked', async (t) => {
  const proxy = await startProxy(true)
  t.after(() => proxy.close())
  const address = '93.184.216.34'
  const names = createAddressGuard({ allow: [], deny: [], allowLoopback: false, resolver: namesTo(address) })
  const options = { guard: names, proxy: `http://us%40er:pass@127.0.0.1:${proxy.port}`, ca: valid.cert }
  const plain = await withReceiver(t, answer(200, {}, 'plain'), options)
  const secure = await withReceiver(t, answer(200, {}, 'secure'), { ...options, tls: valid })
  const first = await plain.send({ url: `http://receiver.test:${plain.receiver.port}/` })
  assert.deepEqual([first.error, first.bodyStart, first.remoteAddress], [null, 'plain', address])
  assert.equal((await plain.send({ url: `http://receiver.test:${plain.receiver.port}/` })).status, 200)
  const second = await secure.send({ url: `https://receiver.test:${secure.receiver.port}/` })
  assert.deepEqual([second.phase, second.error?.message], ['tls', 'The certificate is for another host name.'])
  assert.deepEqual((await plain.send({ url: 'http://127.0.0.1/' })).error?.code, 'refused_address')
  assert.equal(proxy.asked.length, 2)
  assert.match(proxy.asked[0]!, new RegExp(`^CONNECT ${address}:${plain.receiver.port} HTTP/1.1\r\n`))
  assert.match(proxy.asked[0]!, /\r\nproxy-authorization: Basic dXNAZXI6cGFzcw==\r\n/)
})

test('through a proxy, HTTPS works by name where the certificate is trusted', async (t) => {
  const proxy = await startProxy(true)
  t.after(() => proxy.close())
  const options = { proxy: `http://127.0.0.1:${proxy.port}`, tls: valid, ca: valid.cert }
  const { receiver, send } = await withReceiver(t, answer(200), options)
  const result = await send({ url: `https://localhost:${receiver.port}/` })
  assert.deepEqual([result.error, result.status, result.remoteAddress], [null, 200, '127.0.0.1'])
  assert.match(proxy.asked[0]!, /^CONNECT 127\.0\.0\.1:\d+ HTTP\/1\.1\r\nhost: \S+\r\n\r\n$/)
})

test('a proxy that refuses or is not there is an error of connecting', async (t) => {
  const proxy = await startProxy(false)
  t.after(() => proxy.close())
  for (const port of [proxy.port, await freePort()]) {
    const { send } = await withReceiver(t, answer(200), { proxy: `http://127.0.0.1:${port}` })
    assert.deepEqual((({ phase, error }) => [phase, error?.code])(await send()), ['connect', 'proxy_failed'])
  }
})
