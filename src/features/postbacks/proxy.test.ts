// Postbacks through the operator's forward proxy, and a proxy that fails: the log then says so, and does not blame the
// receiver.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { before, test, type TestContext } from 'node:test'
import type { TlsOptions } from 'node:tls'
import { type Authority, createAuthority } from '../../../test/certificates.ts'
import { startProxy } from '../../../test/forward-proxy.ts'
import { freePort } from '../../../test/ports.ts'
import { answer, type Behaviour, startBlackHole } from '../../../test/receiver.ts'
import { createGuard, namesTo, SHORT_MS, withReceiver } from '../../../test/sending.ts'

const HOST = 'receiver.test'
const ADDRESS = '93.184.216.34' // the proxy leads it to this machine

let authority: Authority
before(() => {
  authority = createAuthority()
})

type Given = {
  misbehave?: (client: Socket) => void
  behave?: Behaviour
  login?: string
  tls?: TlsOptions
  proxy?: string
}

async function withProxy(t: TestContext, given: Given = {}, addresses = [ADDRESS]) {
  const { misbehave = null, behave = answer(200, {}, 'ok'), login = '', ...more } = given
  const proxy = await startProxy(t, misbehave)
  const options = { guard: createGuard(namesTo(...addresses), false), proxy: `http://${login}127.0.0.1:${proxy.port}`, ca: authority.cert, ...more } // prettier-ignore
  const { receiver, send } = await withReceiver(t, behave, options)
  const scheme = 'tls' in more ? 'https' : 'http'
  const url = `${scheme}://${HOST}:${receiver.port}/path`
  return { proxy, receiver, send: (given: { timeoutMs?: number; url?: string } = {}) => send({ url, ...given }) }
}

test('http and https go through a tunnel to the address that was checked, which is reused', async (t) => {
  for (const more of [{}, { tls: authority.issue({ names: [`DNS:${HOST}`] }) }]) {
    const { proxy, receiver, send } = await withProxy(t, { login: 'us%40er:p%3Ass@', ...more })
    for (let i = 0; i < 3; i++) {
      const { error, status, bodyStart, remoteAddress } = await send()
      assert.deepEqual([error, status, bodyStart, remoteAddress], [null, 200, 'ok', ADDRESS])
    }
    assert.match(receiver.requests[0]!.head, new RegExp(`^GET /path HTTP/1\\.1\r\nhost: ${HOST}:${receiver.port}\r\n`))
    assert.ok(!/proxy-auth/i.test(receiver.requests[0]!.head), 'the receiver does not see the login')
    const login = Buffer.from('us@er:p:ss').toString('base64')
    const target = `${ADDRESS}:${receiver.port}`
    assert.deepEqual(proxy.asked, [`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nproxy-authorization: Basic ${login}\r\n\r\n`]) // prettier-ignore
  }
})

test('the receiver is known by its own certificate, not by its address', async (t) => {
  const { send } = await withProxy(t, { tls: authority.issue({ names: ['DNS:other.test', `IP:${ADDRESS}`] }) })
  const result = await send()
  assert.deepEqual([result.phase, result.error?.code], ['tls', 'tls_failed'])
  assert.match(result.error?.message ?? '', /another host name/)
})

test('the proxy is not asked for addresses that are not public', async (t) => {
  const { proxy, send } = await withProxy(t, {}, ['10.0.0.1'])
  for (const url of [`http://${HOST}/`, 'http://127.0.0.1/', 'http://localhost/', 'http://[::1]/', 'http://169.254.169.254/'])
    assert.equal((await send({ url })).error?.code, 'refused_address', url) // prettier-ignore
  assert.deepEqual(proxy.asked, [])
})

const say = (text: string) => (client: Socket) => void client.end(text)

for (const [what, misbehave, code, message] of [
  [
    'wants another login',
    say('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
    'proxy_failed',
    /not accept this network's login \("HTTP\/1\.1 407.*Contact the operator/,
  ],
  [
    'forbids',
    say('HTTP/1.1 403 Forbidden\r\n\r\n'),
    'proxy_failed',
    /not allow this connection.*403.*Contact the operator/,
  ],
  [
    'is a web server',
    say('HTTP/1.1 400 Bad Request\r\n\r\n<p>Hello'),
    'proxy_failed',
    /is not a proxy \("HTTP\/1\.1 400/,
  ],
  ['speaks something else', say('\0\x01\x02SSH\r\n\r\n'), 'proxy_failed', /is not a proxy \("\?\?\?SSH"\)/],
  ['talks without end', say('HTTP/1.1 200 OK\r\nx: ' + 'x'.repeat(100_000)), 'proxy_failed', /no valid response/],
  [
    'dies before it answers',
    (client: Socket) => void client.destroy(),
    'proxy_failed',
    /no valid response\. Contact the operator/,
  ],
  [
    'is reset before it answers',
    (client: Socket) => void client.resetAndDestroy(),
    'proxy_failed',
    /no valid response/,
  ],
  [
    'cannot reach the receiver (502)',
    say('HTTP/1.1 502 Bad Gateway\r\n\r\n'),
    'connect_failed',
    /cannot reach the server \("HTTP\/1\.1 502/,
  ],
  [
    'cannot reach the receiver (504)',
    say('HTTP/1.0 504 Gateway Timeout\r\n\r\n'),
    'connect_failed',
    /cannot reach the server/,
  ],
] as [string, (client: Socket) => void, string, RegExp][])
  // prettier-ignore
  test(`a proxy that ${what} is named in the log`, async (t) => {
    const { proxy, receiver, send } = await withProxy(t, { misbehave })
    const result = await send()
    assert.deepEqual([result.phase, result.error?.code, result.status, result.remoteAddress], ['connect', code, null, null])
    assert.match(result.error?.message ?? '', message)
    assert.equal(receiver.connections(), 0)
    proxy.misbehave = null
    assert.equal((await send()).status, 200, 'the next one is not harmed')
  })

test('a proxy that is not there, or never accepts, is named in the log', async (t) => {
  const hole = await startBlackHole()
  t.after(() => hole.close())
  for (const port of [await freePort(), hole.port]) {
    const { send } = await withProxy(t, { proxy: `http://127.0.0.1:${port}` })
    const result = await send({ timeoutMs: SHORT_MS })
    assert.deepEqual([result.phase, result.error?.code], ['connect', 'proxy_failed'])
    assert.match(result.error?.message ?? '', /proxy of this network cannot be reached\. Contact the operator/)
  }
})

test('a proxy that hangs is left at the deadline, and the log says who may be the cause', async (t) => {
  const { proxy, send } = await withProxy(t, { misbehave: (client) => void client.resume() })
  const result = await send({ timeoutMs: SHORT_MS })
  assert.deepEqual([result.phase, result.error?.code], ['connect', 'timeout'])
  assert.match(result.error?.message ?? '', /proxy of this network did not connect to the server in time/)
  while (proxy.clients.size > 0) await new Promise(setImmediate)
})

test('of several addresses, those that the proxy cannot reach are skipped', async (t) => {
  const { proxy, send } = await withProxy(t, {}, ['93.184.216.33', ADDRESS])
  proxy.misbehave = (client) => {
    proxy.misbehave = null
    client.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
  }
  assert.deepEqual((({ status, remoteAddress }) => [status, remoteAddress])(await send()), [200, ADDRESS])
  assert.equal(proxy.asked.length, 2)
})

test('a proxy that dies in the middle of a request or an answer is an error that may be its own', async (t) => {
  const { proxy, receiver, send } = await withProxy(t)
  const die = () => proxy.clients.forEach((client) => client.resetAndDestroy())
  receiver.behave = die
  const unanswered = await send()
  assert.deepEqual([unanswered.phase, unanswered.error?.code], ['headers', 'reset'])
  assert.match(
    unanswered.error?.message ?? '',
    /^The receiver, or the proxy of this network, closed the connection without/,
  )
  receiver.behave = (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')
  const pending = send()
  while (receiver.requests.length < 2) await new Promise(setImmediate)
  die()
  const cut = await pending
  assert.equal(cut.error?.code, 'reset')
  assert.match(cut.error?.message ?? '', /or the proxy of this network,/)
  receiver.behave = answer(200)
  assert.equal((await send()).status, 200)
})

test('a connection that the proxy closed while it was kept is replaced', async (t) => {
  const { proxy, receiver, send } = await withProxy(t)
  assert.equal((await send()).status, 200)
  for (const client of proxy.clients) client.destroy()
  assert.deepEqual((({ status, error }) => [status, error])(await send()), [200, null])
  assert.equal(receiver.connections(), 2)
})
