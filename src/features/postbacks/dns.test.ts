// Sends whose host names are looked up in a real DNS server: what it answers, and when, decides where they go.
import assert from 'node:assert/strict'
import { Resolver } from 'node:dns/promises'
import { test, type TestContext } from 'node:test'
import { type DnsAnswer, startDns } from '../../../test/dns-server.ts'
import { startProxy } from '../../../test/forward-proxy.ts'
import { freePort } from '../../../test/ports.ts'
import { answer, startBlackHole, startReceiver } from '../../../test/receiver.ts'
import { createGuard, SHORT_MS, withReceiver } from '../../../test/sending.ts'
import { createAddressGuard } from './address-guard.ts'

const close = { connection: 'close' }

/** A receiver on 127.0.0.1, and a sender that asks a DNS server with this zone. */
async function withDns(
  t: TestContext,
  zone: (isV6: boolean) => DnsAnswer,
  { allow = ['127.0.0.0/8'], timeoutMs = 60_000, tries = 9, behave = answer(200, close) } = {},
) {
  const dns = await startDns(t, (_, isV6) => zone(isV6), { timeout: timeoutMs, tries })
  const guard = createAddressGuard({ allow, deny: [], allowLoopback: false, resolver: dns.resolver })
  const { receiver, send } = await withReceiver(t, behave, { guard })
  const url = `http://receiver.test:${receiver.port}/`
  return { dns, receiver, send: (given: { timeoutMs?: number } = {}) => send({ url, ...given }) }
}

const only4 =
  (...addresses: string[]) =>
  (isV6: boolean) =>
    isV6 ? [] : addresses

/** Another receiver on the same port. */
async function listenAlso(t: TestContext, host: string, port: number) {
  const other = await startReceiver(answer(202, close), undefined, host, port)
  t.after(() => other.close())
  return other
}

test('of several addresses, those that refuse or never accept are skipped', async (t) => {
  const { receiver, send } = await withDns(t, only4('127.0.0.9', '127.0.0.2', '127.0.0.1'))
  const hole = await startBlackHole('127.0.0.2', receiver.port)
  t.after(() => hole.close())
  const result = await send({ timeoutMs: 4_000 })
  assert.deepEqual([result.status, result.remoteAddress, result.error], [200, '127.0.0.1', null])
})

test('a name that turns to a forbidden address after it was checked leads to the one that was checked', async (t) => {
  let lookUps = 0
  const zone = (isV6: boolean) => (isV6 ? [] : [++lookUps === 1 ? '127.0.0.1' : '127.0.0.2'])
  const { dns, receiver, send } = await withDns(t, zone, { allow: ['127.0.0.1'] })
  const forbidden = await listenAlso(t, '127.0.0.2', receiver.port)
  assert.deepEqual((({ status, remoteAddress }) => [status, remoteAddress])(await send()), [200, '127.0.0.1'])
  assert.deepEqual(dns.asked.toSorted(), ['A receiver.test', 'AAAA receiver.test'], 'looked up once, for all of it')
  const second = await send()
  assert.deepEqual([second.phase, second.error?.code], ['dns', 'refused_address'])
  assert.match(second.error?.message ?? '', /"receiver\.test" resolves to 127\.0\.0\.2/)
  assert.equal(forbidden.connections(), 0)
})

test('a name that moves is followed with the next connection, and a connection that is kept stays where it is', async (t) => {
  let address = '127.0.0.1'
  const { dns, receiver, send } = await withDns(t, (isV6) => (isV6 ? [] : [address]), { behave: answer(200) })
  const moved = await listenAlso(t, '127.0.0.3', receiver.port)
  assert.equal((await send()).remoteAddress, '127.0.0.1')
  address = '127.0.0.3'
  receiver.behave = answer(200, close)
  assert.equal((await send()).remoteAddress, '127.0.0.1')
  assert.equal(dns.asked.length, 2)
  const next = await send()
  assert.deepEqual([next.status, next.remoteAddress, moved.connections()], [202, '127.0.0.3', 1])
})

test('an alias of localhost is refused, an alias of an allowed address is not', async (t) => {
  const alias = (address: string) => (isV6: boolean) => ({ alias: 'localhost', addresses: isV6 ? [] : [address] })
  const refused = await withDns(t, alias('127.0.0.1'), { allow: [] })
  const result = await refused.send()
  assert.deepEqual([result.phase, result.error?.code], ['dns', 'refused_address'])
  assert.match(result.error?.message ?? '', /resolves to 127\.0\.0\.1/)
  assert.equal(refused.receiver.connections(), 0)
  assert.equal((await (await withDns(t, alias('127.0.0.1'))).send()).status, 200)
  const bare = await withDns(t, () => ({ alias: 'localhost', addresses: [] }))
  assert.match((await bare.send()).error?.message ?? '', /has no IP address/)
})

test('a name with IPv6 addresses alone is reached there', async (t) => {
  const { resolver } = await startDns(t, (_, isV6) => (isV6 ? ['2606:4700::1'] : []))
  const proxy = await startProxy(t) // not every machine has IPv6
  const { receiver, send } = await withReceiver(t, answer(200), {
    guard: createGuard(resolver, false),
    proxy: `http://127.0.0.1:${proxy.port}`,
  })
  const result = await send({ url: `http://receiver.test:${receiver.port}/` })
  assert.deepEqual([result.status, result.remoteAddress], [200, '2606:4700::1'])
  assert.match(proxy.asked[0] ?? '', /^CONNECT \[2606:4700::1\]:/)
})

for (const [silent, address] of [
  ['AAAA', '127.0.0.1'],
  ['A', '::ffff:7f00:1'],
] as const)
  // prettier-ignore
  test(`a DNS server that never answers for ${silent} holds nothing up`, async (t) => {
    const isSilent = (isV6: boolean) => isV6 === (silent === 'AAAA')
    const { send } = await withDns(t, (isV6) => (isSilent(isV6) ? 'silence' : [address]))
    assert.deepEqual((({ status, error }) => [status, error])(await send()), [200, null])
  })

test('an answer that is too large for a datagram is fetched over TCP', async (t) => {
  const many = Array.from({ length: 60 }, (_, i) => `127.0.0.${i + 1}`)
  const { dns, send } = await withDns(t, only4(...many))
  assert.deepEqual((({ status, remoteAddress }) => [status, remoteAddress])(await send()), [200, '127.0.0.1'])
  assert.ok(dns.asked.includes('tcp A receiver.test'))
})

for (const [what, zone, code, message] of [
  ['has no such name', () => 'NXDOMAIN', 'dns_failed', /"receiver\.test" has no IP address\. Check the name/],
  ['has no address for it', () => [], 'dns_failed', /has no IP address/],
  ['fails', () => 'SERVFAIL', 'dns_failed', /ESERVFAIL.*Check its name servers/],
  ['refuses', () => 'REFUSED', 'dns_failed', /EREFUSED/],
  ['never answers', () => 'silence', 'dns_failed', /No DNS server answered for the host "receiver\.test" in time/],
] as [string, () => DnsAnswer, string, RegExp][])
  test(`a DNS server that ${what} is an error that says so`, async (t) => {
    const { receiver, send } = await withDns(t, zone, { timeoutMs: zone() === 'silence' ? 250 : 60_000, tries: 1 })
    const result = await send()
    assert.deepEqual([result.phase, result.error?.code, result.status], ['dns', code, null])
    assert.match(result.error?.message ?? '', message)
    assert.equal(receiver.connections(), 0)
  })

test('a look-up ends with the deadline of its send', async (t) => {
  const { send } = await withDns(t, () => 'silence')
  const result = await send({ timeoutMs: SHORT_MS })
  assert.deepEqual([result.phase, result.error?.code], ['dns', 'timeout'])
})

test('a DNS server that is not there is a matter of the operator', async (t) => {
  const port = await freePort()
  const resolver = () => {
    const one = new Resolver({ timeout: 2_000, tries: 1 })
    one.setServers([`127.0.0.1:${port}`])
    return one
  }
  const { send } = await withReceiver(t, answer(200), { guard: createGuard(resolver) })
  const result = await send({ url: 'http://receiver.test/' })
  assert.deepEqual([result.phase, result.error?.code], ['dns', 'resolver_failed'])
  assert.match(result.error?.message ?? '', /DNS server of this network cannot be reached\. Contact the operator/)
})
