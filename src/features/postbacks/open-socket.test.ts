// Which addresses of a name are used, and which certificates accepted.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { freePort } from '../../../test/ports.ts'
import { type Certificate, createCertificate } from '../../../test/certificates.ts'
import { answer, hang } from '../../../test/receiver.ts'
import { createGuard, namesTo, withReceiver } from '../../../test/sending.ts'
import type { AddressGuard } from './address-guard.ts'

let valid: Certificate
let expired: Certificate
before(() => {
  valid = createCertificate('valid')
  expired = createCertificate('expired')
})

test('where nothing listens, the connection is refused', async (t) => {
  const { send } = await withReceiver(t, hang)
  const result = await send({ url: `http://127.0.0.1:${await freePort()}/` })
  assert.deepEqual([result.phase, result.error?.code], ['connect', 'connect_failed'])
})

test('if one address does not work, the next one is used', async (t) => {
  const names = createGuard(namesTo('127.0.0.9', '127.0.0.1'))
  const { receiver, send } = await withReceiver(t, answer(200), { guard: names })
  const result = await send({ url: `http://receiver.test:${receiver.port}/` })
  assert.deepEqual([result.status, result.remoteAddress], [200, '127.0.0.1'])
  assert.match(receiver.requests[0]!.head, new RegExp(`\r\nhost: receiver\\.test:${receiver.port}\r\n`))
})

test('addresses that are not public are refused before anything is sent', async (t) => {
  const strict = createGuard(namesTo('8.8.8.8', '127.0.0.1'), false)
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
