// What the server does with what is hostile, clumsy or unlucky, and where secrets must not appear.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { createCertificate } from '../../test/certificates.ts'
import { freePort } from '../../test/ports.ts'
import { useWorld } from '../../test/world.ts'
import type { IssuedCredentials } from '../features/apps/keys.ts'
import { inTime } from '../lib/in-time.ts'

let live: IssuedCredentials
const world = useWorld('server', async () => {
  live = (await world.createApp()).live
  await world.createOffers({})
  await world.app.server.listen({ host: '127.0.0.1', port: 0 })
})

const CODES: Record<number, string[]> = {
  400: ['INVALID_REQUEST'],
  401: ['INVALID_API_KEY', 'INVALID_API_SECRET'],
  404: ['RESOURCE_NOT_FOUND'],
  429: ['RATE_LIMIT_EXCEEDED'],
}

/** Sends bytes as they are and returns all that comes back. */
async function sendRaw(bytes: Buffer): Promise<string> {
  const { port } = world.app.server.server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {}) // the server may hang up on what is not HTTP
  socket.write(bytes)
  let answer = ''
  for await (const chunk of socket.setTimeout(60_000, () => socket.destroy())) answer += String(chunk)
  return answer
}

const request = (target: Buffer | string, ...headers: (Buffer | string)[]) =>
  Buffer.concat([
    Buffer.from('GET '),
    Buffer.from(target),
    Buffer.from(' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n'),
    ...headers.flatMap((header) => [Buffer.from(header), Buffer.from('\r\n')]),
    Buffer.from('\r\n'),
  ])

function check(answer: string, what: string): void {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
  assert.ok(status === 200 || CODES[status] !== undefined, `${what}: ${answer.slice(0, 200)}`)
  if (status === 200) return
  const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as { error: { code: string } }
  assert.ok(CODES[status]?.includes(body.error.code), what)
}

test('a request that comes on a new connection while a node stops is answered', async () => {
  const node = await world.start({ requireHttps: false })
  const port = Number(new URL(await node.server.listen({ host: '127.0.0.1', port: 0 })).port)
  const accepted = once(node.server.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  await accepted
  const closed = node.close()
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const [answer] = (await inTime(once(socket, 'data'), 20_000)) as [Buffer]
  assert.match(answer.toString(), /^HTTP\/1\.1 200 /)
  await closed
})

test('a connection that was opened ahead, and never used, does not keep a node from stopping', async () => {
  const { key, cert } = createCertificate('valid')
  const [keyFile, certFile] = [join(world.dataDir, 'key.pem'), join(world.dataDir, 'cert.pem')]
  writeFileSync(keyFile, key)
  writeFileSync(certFile, cert)
  for (const tls of [null, { keyFile, certFile }]) {
    const node = await world.start({ requireHttps: false, tls })
    const port = Number(new URL(await node.server.listen({ host: '127.0.0.1', port: 0 })).port)
    const accepted = once(node.server.server, tls ? 'secureConnection' : 'connection')
    const socket = tls ? connectTls(port, '127.0.0.1', { ca: cert }) : connect(port, '127.0.0.1')
    socket.on('error', () => {}) // it is reset
    await accepted
    await inTime(node.close(), 20_000)
    socket.destroy()
  }
})

test('the address of a client that left is still known, and nothing fails for it', async () => {
  const { server } = world.app.server
  for (const path of [
    `/v1/offers?userId=u&apiKey=${live.api_key}&apiSecret=x`,
    '/c/1/x',
    '/postback?token=x',
    '/manage/v1/me',
    '/wall?apiKey=x&userId=u',
    '/l/x',
  ]) {
    const before = world.logged.length
    server.prependOnceListener('request', ({ socket }: IncomingMessage) => socket.destroy())
    await sendRaw(request(path))
    await sendRaw(request('/healthz')) // once this is answered, so is the other
    assert.deepEqual(
      world.logged.slice(before).filter((line) => line.includes('"level":50')),
      [],
      path,
    )
  }
})

test('two Host headers are refused, whether they agree or not', async () => {
  for (const host of ['Host: y', 'HOST: x'])
    for (const path of ['/v1/offers', '/healthz', '/c/1/x', '/nothing']) {
      const answer = await sendRaw(request(path, host))
      assert.match(answer, /^HTTP\/1\.1 400 /, path)
      assert.match(answer, /more than one Host header/)
    }
})

test('any bytes in the query string give 200 or one of the six codes, never a 5xx', async () => {
  const credentials = `apiKey=${live.api_key}&apiSecret=${live.api_secret}&`
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      const target = Buffer.concat([
        Buffer.from(`/v1/offers?${credentials}userId=`),
        Buffer.from(bytes.filter((byte) => ![10, 13, 32].includes(byte))),
      ])
      check(await sendRaw(request(target)), target.toString('latin1'))
    }),
    { numRuns: 150 },
  )
})

test('any parameters with any text give 200 or one of the six codes', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      'userId',
      'limit',
      'offset',
      'sort',
      'country',
      'platform',
      'category',
      'aff_sub',
      'apiKey',
      'apiSecret',
      '__proto__',
      'constructor',
    ),
    fc.string({ maxLength: 8 }),
  )
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.integer().map(String),
    fc.constantFrom('', 'null', 'NaN', '[]', 'true'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 12 }), async (pairs) => {
      const search = pairs
        .map(([n, v]) => `${encodeURIComponent(n.toWellFormed())}=${encodeURIComponent(v.toWellFormed())}`)
        .join('&')
      const { status, body } = await world.get(`/v1/offers?${search}`, live)
      assert.ok(status === 200 || CODES[status]?.includes(body.error.code), search)
    }),
    { numRuns: 400 },
  )
})

test('any bytes in the headers give 200 or one of the six codes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        'X-API-Key',
        'X-API-Secret',
        'If-None-Match',
        'Origin',
        'X-Forwarded-For',
        'Content-Length',
        'Expect',
        'x',
      ),
      fc.uint8Array({ maxLength: 80 }),
      async (name, bytes) => {
        const header = Buffer.concat([Buffer.from(`${name}: `), Buffer.from(bytes)])
        const answer = await sendRaw(request('/v1/offers?userId=u', header))
        if (answer !== '') check(answer, header.toString('latin1'))
      },
    ),
    { numRuns: 150 },
  )
})

test('what is not HTTP gets 400 in the envelope, and so does a URL that is too long', async () => {
  for (const bytes of [
    Buffer.from('hello\r\n\r\n'),
    request(`/v1/offers?userId=${'x'.repeat(20_000)}`),
    Buffer.from('GET /v1/offers HTTP/9.9\r\n\r\n'),
  ]) {
    const answer = await sendRaw(bytes)
    assert.match(answer, /^HTTP\/1\.1 400 /)
    assert.match(answer, /"code":"INVALID_REQUEST"/)
  }
})

test('UTF-8 that is not percent-encoded gets 400 with what to do', async () => {
  const target = Buffer.from(`/v1/offers?userId=jos\u00e9&apiKey=${live.api_key}&apiSecret=${live.api_secret}`)
  const answer = await sendRaw(request(target))
  assert.match(answer, /^HTTP\/1\.1 400 /)
  assert.match(answer, /percent-encoded/)
})

test('a bug is answered with 500 SERVER_ERROR and Retry-After, logged in full, and reveals nothing to the client', async () => {
  const broken = await world.start()
  try {
    const { server } = broken
    const connect = world.database.pool.connect.bind(world.database.pool)
    world.database.pool.connect = () => Promise.reject(new Error('relation "secret_table" does not exist'))
    const answer = await server.inject({
      url: '/v1/conversions',
      headers: { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret },
    })
    world.database.pool.connect = connect
    assert.equal(answer.statusCode, 500)
    assert.equal(answer.headers['retry-after'], '5')
    assert.match(answer.body, /"code":"SERVER_ERROR"/)
    assert.doesNotMatch(answer.body, /secret_table|at .*\.ts/)
    assert.ok(world.logged.some((line) => line.includes('secret_table')))
  } finally {
    await broken.close()
  }
})

test('without its Redis and mail server, a server starts, answers and counts alone', async () => {
  const nowhere = `127.0.0.1:${await freePort()}`
  const app = await world.start({ redisUrl: `redis://${nowhere}`, smtpUrl: `smtp://${nowhere}` })
  try {
    const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
    const left: number[] = []
    for (let i = 0; i < 3; i++) {
      const answer = await app.server.inject({ url: '/v1/offers?userId=u', headers })
      assert.equal(answer.statusCode, 200, answer.body)
      left.push(Number(answer.headers['x-ratelimit-remaining']))
    }
    assert.deepEqual(left.map((n) => n - (left[0] ?? 0)), [0, -1, -2]) // prettier-ignore
    assert.ok(world.logged.some((line) => line.includes('Redis does not answer')))
  } finally {
    await app.close()
  }
})

test('a page is found with a slash at the end of its path, too, and leads to no other site', async () => {
  const at = async (path: string) => {
    const { status, headers } = await world.get(path, undefined, { headers: { accept: 'text/html' } })
    return [status, headers['location']]
  }
  assert.deepEqual(await at('/wall/?apiKey=pk_live_x&userId=a%3Fb?c'), [302, '/wall?apiKey=pk_live_x&userId=a%3Fb?c'])
  assert.deepEqual(await at('/l/some-slug/'), [302, '/l/some-slug'])
  for (const path of ['/wall//', '//example.com/', '/nothing/', '/wall/v1/'])
    assert.deepEqual(await at(path), [404, undefined], path)
  assert.equal((await world.get('/wall/')).status, 404, 'a program is told so')
})

test('the contact for vulnerabilities is published where one is set (RFC 9116)', async () => {
  const path = '/.well-known/security.txt'
  const none = await world.get(path)
  assert.deepEqual([none.status, none.body.error.code], [404, 'RESOURCE_NOT_FOUND'])

  const app = await world.start({ securityContact: 'mailto:security@example.com' })
  const { statusCode, headers, body } = await app.server.inject(path)
  await app.close()
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/plain; charset=utf-8'])
  const fields = new Map(body.trimEnd().split('\n').map((line) => line.split(': ') as [string, string])) // prettier-ignore
  assert.equal(fields.get('Contact'), 'mailto:security@example.com')
  assert.equal(fields.get('Canonical'), `https://offers.test${path}`)
  const daysLeft = (Date.parse(fields.get('Expires') ?? '') - Date.now()) / 86_400_000
  assert.ok(daysLeft > 100 && daysLeft < 365, fields.get('Expires'))
})
