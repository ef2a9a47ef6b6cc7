// Receivers that speak TLS in every way that goes wrong, and a few that are right: the log says which it was, and what to do.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { createSecureContext, type TlsOptions } from 'node:tls'
import { type Authority, type Certificate, createAuthority, createCertificate } from '../../../test/certificates.ts'
import { createFolder } from '../../../test/folders.ts'
import { answer } from '../../../test/receiver.ts'
import { runModule } from '../../../test/run-module.ts'
import { SHORT_MS, withReceiver } from '../../../test/sending.ts'

const HOST = 'receiver.test'

let authority: Authority
let good: Certificate
before(() => {
  authority = createAuthority()
  good = authority.issue({ names: [`DNS:${HOST}`] })
})

/** A receiver that is called by its name, at an address that was resolved before. */
async function withTls(t: TestContext, tls: TlsOptions, ca: string | undefined = authority.cert) {
  const one = await withReceiver(t, answer(200, {}, 'ok'), { tls: { ...good, ...tls }, ...(ca !== '' && { ca }) })
  return { ...one, send: () => one.send({ url: `https://${HOST}:${one.receiver.port}/` }) }
}

const issue =
  (names: string[], dates: { from?: string; to?: string; key?: 'weak' } = {}) =>
  () =>
    authority.issue({ names, ...dates })
const OLD = 'DEFAULT@SECLEVEL=0' // else OpenSSL serves neither old versions nor weak keys

for (const [what, tls, message, ca] of [
  ['is self-signed', () => createCertificate('valid'), /self-signed\. Install one from a public authority/, ''],
  [
    'is from an unknown authority',
    () => ({}),
    /does not lead to a trusted authority\. Install one from a public authority/,
    '',
  ],
  ['has expired', issue([`DNS:${HOST}`], { to: '20200102' }), /has expired\. Renew it/],
  ['is not valid yet', issue([`DNS:${HOST}`], { from: '20600101' }), /not valid yet/],
  [
    'is for another host',
    issue(['DNS:other.test']),
    /another host name\. Install one for the host of the postback URL/,
  ],
  ['has a weak key', () => ({ ...issue([`DNS:${HOST}`], { key: 'weak' })(), ciphers: OLD }), /key too weak.*Check/],
] as [string, () => TlsOptions, RegExp, string?][])
  test(`a certificate that ${what} is refused`, async (t) => {
    const { receiver, send } = await withTls(t, tls(), ca)
    const result = await send()
    assert.deepEqual([result.phase, result.error?.code, result.status], ['tls', 'tls_failed', null])
    assert.match(result.error?.message ?? '', message)
    assert.equal(receiver.requests.length, 0)
    await receiver.allClosed()
  })

for (const [what, tls, message] of [
  [
    'speaks old TLS only',
    { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: OLD },
    /neither TLS 1\.2 nor 1\.3\. Enable/,
  ],
  ['shares no cipher', { maxVersion: 'TLSv1.2', ciphers: `ECDHE-ECDSA-NULL-SHA@SECLEVEL=0` }, /common ciphers/],
  [
    'asks for our certificate in TLS 1.2',
    { requestCert: true, maxVersion: 'TLSv1.2' },
    /do not ask for a client certificate/,
  ],
  [
    'asks for our certificate in TLS 1.3',
    { requestCert: true },
    /asks for a client certificate.*check the signature instead/,
  ],
  ['speaks HTTP/2 only', { ALPNProtocols: ['h2'] }, /does not offer HTTP\/1\.1.*Enable HTTP\/1\.1/],
] as [string, TlsOptions, RegExp][])
  test(`a server that ${what} is not sent anything, and the log says what to change`, async (t) => {
    const { receiver, send } = await withTls(t, tls)
    for (let i = 0; i < 2; i++) {
      const result = await send()
      assert.deepEqual([result.phase, result.error?.code, result.status], ['tls', 'tls_failed', null])
      assert.match(result.error?.message ?? '', message)
      assert.equal(result.isRepeated, false)
    }
    assert.equal(receiver.requests.length, 0)
    await receiver.allClosed()
  })

const alert = (code: number) => (socket: Socket) => void socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, code]))) // prettier-ignore
const dripHandshake = (socket: Socket) => {
  socket.write(Buffer.from([0x16, 3, 3, 0x3f, 0xf0, 2, 0, 0x3f, 0xec])) // a hello of the server that is 16 KiB long
  const timer = setInterval(() => socket.write('x'), 20)
  socket.on('close', () => clearInterval(timer))
}

for (const [what, behave, code, message] of [
  ['closes', (socket) => socket.once('data', () => socket.end()), 'tls_failed', /closed the connection during the TLS/],
  [
    'resets',
    (socket) => socket.once('data', () => socket.resetAndDestroy()),
    'tls_failed',
    /closed the connection during/,
  ],
  [
    'answers in plain HTTP',
    (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 No\r\n\r\n')),
    'tls_failed',
    /not speak TLS on this port\. Check the port/,
  ],
  ['knows no such host', alert(112), 'tls_failed', /no site of this name/],
  ['fails by itself', alert(80), 'tls_failed', /failed \(tlsv1 alert internal error\)\. Check/],
  ['hangs', () => {}, 'timeout', /handshake did not finish in time/],
  ['drips', dripHandshake, 'timeout', /handshake did not finish in time/],
] as [string, (socket: Socket) => void, string, RegExp][])
  // prettier-ignore
  test(`a server that ${what} in the handshake is left, at the deadline at the latest`, async (t) => {
    const closed = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('close', () => closed.resolve())
      behave(socket)
      socket.resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { send } = await withReceiver(t, answer(200), { ca: authority.cert })
    const url = `https://${HOST}:${(server.address() as AddressInfo).port}/`
    const result = await send({ url, ...(code === 'timeout' && { timeoutMs: SHORT_MS }) })
    assert.deepEqual([result.phase, result.error?.code, result.status], ['tls', code, null])
    assert.match(result.error?.message ?? '', message)
    await closed.promise
  })

test('the server gets the host name, though the connection goes to an IP address; a literal is no name', async (t) => {
  const asked: string[] = []
  const other = authority.issue({ names: ['DNS:other.test', 'IP:127.0.0.1'] })
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    asked.push(name)
    done(null, createSecureContext(good))
  }
  const { receiver, send } = await withReceiver(t, answer(200), { tls: { ...other, SNICallback }, ca: authority.cert })
  for (const host of [HOST, `${HOST}.`, '127.0.0.1'])
    assert.deepEqual((({ status, error }) => [status, error])(await send({ url: `https://${host}:${receiver.port}/` })), [200, null], host) // prettier-ignore
  assert.deepEqual(asked, [HOST, HOST])
})

test('a server that only asks for a certificate gets none, and its connection is used again', async (t) => {
  const { receiver, send } = await withTls(t, { requestCert: true, rejectUnauthorized: false })
  for (let i = 0; i < 3; i++) assert.equal((await send()).bodyStart, 'ok')
  assert.equal(receiver.connections(), 1)
})

test('a certificate needs those between it and the authority', async (t) => {
  const between = createAuthority(authority)
  const leaf = between.issue({ names: [`DNS:${HOST}`] })
  const alone = await withTls(t, leaf)
  assert.match((await alone.send()).error?.message ?? '', /with its intermediate certificates/)
  const whole = await withTls(t, { ...leaf, cert: leaf.cert + between.cert })
  assert.equal((await whole.send()).status, 200)
})

test('an authority that is named to the process by NODE_EXTRA_CA_CERTS is trusted', async (t) => {
  const { receiver } = await withTls(t, {})
  const file = join(createFolder('authority'), 'ca.pem')
  writeFileSync(file, authority.cert)
  const code = `
    import { createAddressGuard } from './address-guard.ts'
    import { createSender } from './sender.ts'
    const resolver = () => ({ resolve4: async () => ['127.0.0.1'], resolve6: async () => [], cancel() {} })
    const guard = createAddressGuard({ allow: [], deny: [], allowLoopback: true, resolver })
    const sender = createSender({ guard, proxy: null })
    const url = 'https://${HOST}:${receiver.port}/'
    const { status, error } = await sender.send({ method: 'GET', url, headers: {}, body: null, timeoutMs: 20_000 })
    console.log(status, error?.code)
    await sender.close()`
  const ask = (env: Record<string, string>) => runModule(code, import.meta.url, env).output()
  assert.equal(await ask({ NODE_EXTRA_CA_CERTS: file }), '200 undefined\n')
  assert.equal(await ask({}), 'null tls_failed\n')
})
