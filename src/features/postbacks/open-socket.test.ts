// Who is reached: the addresses of a name, certificates, and the way through a proxy.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { before, test } from 'node:test'
import { freePort } from '../../../test/ports.ts'
import { type Certificate, makeCertificate } from '../../../test/certificates.ts'
import { answer, hang } from '../../../test/receiver.ts'
import { makeGuard, namesTo, withReceiver } from '../../../test/sending.ts'
import type { AddressGuard } from './address-guard.ts'

let valid: Certificate
let expired: Certificate
before(() => {
  valid = makeCertificate('valid')
  expired = makeCertificate('expired')
})

test('where nothing listens, the connection is refused', async (t) => {
  const { send } = await withReceiver(t, hang)
  const result = await send({ url: `http://127.0.0.1:${await freePort()}/` })
  assert.deepEqual([result.phase, result.error?.code], ['connect', 'connect_failed'])
})

test('if one address does not work, the next one is tried', async (t) => {
  const names = makeGuard(namesTo('127.0.0.9', '127.0.0.1'))
  const { receiver, send } = await withReceiver(t, answer(200), { guard: names })
  const result = await send({ url: `http://receiver.test:${receiver.port}/` })
  assert.deepEqual([result.status, result.remoteAddress], [200, '127.0.0.1'])
  assert.match(receiver.requests[0]!.head, new RegExp(`\r\nhost: receiver\\.test:${receiver.port}\r\n`))
})

test('addresses that are not public are refused before anything is sent', async (t) => {
  const strict = makeGuard(namesTo('8.8.8.8', '127.0.0.1'), false)
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
  const names = makeGuard(namesTo(address), false)
  const options = { guard: names, proxy: `http://us%40er:pass@127.0.0.1:${proxy.port}`, ca: valid.cert }
  const plain = await withReceiver(t, answer(200, {}, 'plain'), options)
  const secure = await withReceiver(t, answer(200, {}, 'secure'), { ...options, tls: valid })
  const first = await plain.send({ url: `http://receiver.test:${plain.receiver.port}/` })
  assert.deepEqual([first.error, first.bodyStart, first.remoteAddress], [null, 'plain', address])
  assert.equal((await plain.send({ url: `http://receiver.test:${plain.receiver.port}/` })).status, 200)
  const second = await secure.send({ url: `https://receiver.test:${secure.receiver.port}/` })
  assert.deepEqual(
    [second.phase, second.error?.message],
    ['tls', 'The certificate is for another host name. Install one for the host of the postback URL.'],
  )
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
