import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDns } from '../../../test/dns-server.ts'
import { createAddressGuard, type GuardOptions, literalRefusal } from './address-guard.ts'
import { SendError } from './send-error.ts'

const createGuard = (options: Partial<GuardOptions> = {}) =>
  createAddressGuard({ allow: [], deny: [], allowLoopback: false, ...options })
const strict = createGuard()
const never = new AbortController().signal

const FORBIDDEN: Record<string, string[]> = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  'IPv4 in IPv6': ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  'this host': ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '::ffff:10.0.0.1', '::ffff:c0a8:101'],
  'link-local': ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  metadata: ['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  broadcast: ['255.255.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  reserved: ['192.0.0.1', '240.0.0.1', '192.88.99.1', '4000::1', '8000::1', '1::1', '5f00::1'],
  'unique and site local': ['fc00::1', 'fd12:3456::1', 'fec0::1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1', '64:ff9b:1:ffff::1'],
  '6to4': ['2002:7f00:1::', '2002:808:808::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ISATAP: ['2606:4700::5efe:7f00:1', '2606:4700::200:5efe:7f00:1'],
  ORCHID: ['2001:10::1', '2001:20::1'],
  discard: ['100::1'],
  'no address': ['', 'localhost', '1.2.3', '0177.0.0.1', '08.8.8.8', '8.8.8.8 ', '[::1]', '2606:4700::1::1'],
}

for (const [kind, addresses] of Object.entries(FORBIDDEN))
  test(`${kind}: not to be reached`, () => {
    for (const address of addresses) assert.match(strict.refusal(address) ?? 'permitted', / is not .*\.$/, address)
  })

test('public addresses are allowed', () => {
  for (const address of ['8.8.8.8', '93.184.216.34', '172.32.0.1', '100.128.0.1', '::ffff:8.8.8.8', '2606:4700::1111'])
    assert.equal(strict.refusal(address), null, address)
})

test('allowed ranges are exempt, and only they; denied ones are refused even where allowed', () => {
  const guard = createGuard({ allow: ['10.1.0.0/16', 'fd00::/8', '64:ff9b::/96'], deny: ['10.1.2.0/24', '8.8.8.8'] })
  for (const address of ['10.1.0.1', '::ffff:10.1.0.1', 'fd00::1', '64:ff9b::a00:1', '8.8.4.4'])
    assert.equal(guard.refusal(address), null, address)
  for (const address of ['10.2.0.1', '127.0.0.1', '64:ff9b:1::1']) assert.match(guard.refusal(address)!, /not a public/)
  for (const address of ['10.1.2.3', '::ffff:a01:203', '8.8.8.8', '::ffff:8.8.8.8'])
    assert.match(guard.refusal(address)!, /denies/)
  assert.throws(() => createGuard({ deny: ['10.0.0.0/99'] }), /10\.0\.0\.0\/99/)
})

test('loopback can be allowed, and nothing else with it', () => {
  const guard = createGuard({ allowLoopback: true, deny: ['127.0.0.5'] })
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])
    assert.equal(guard.refusal(address), null, address)
  for (const address of ['127.0.0.5', '0.0.0.0', '::', '::7f00:1', '10.0.0.1', '169.254.169.254'])
    assert.notEqual(guard.refusal(address), null, address)
})

const SPELLINGS = `127.0.0.1 127.1 0x7f.1 0x7f000001 2130706433 017700000001 0177.0.0.1 127.0.0.1. 0 0.0.0.0 ①②⑦.0.0.1
  %31%32%37.0.0.1 localhost LOCALHOST localhost. a.localhost a.b.localhost. [::1] [::] [::ffff:7f00:1]
  [::ffff:127.0.0.1] [::127.0.0.1] [64:ff9b::7f00:1] [fd00:ec2::254] 169.254.169.254 0xa9fea9fe
  2852039166 10.0.0.1 192.168.0.1 172.16.0.1 100.64.0.1 [fe80::1] [2002:7f00:1::] [2001::1] 224.0.0.1
  255.255.255.255 203.0.113.9 198.18.0.1`

test('a URL with a forbidden host is refused in every spelling', () => {
  for (const host of SPELLINGS.split(/\s+/))
    assert.match(literalRefusal(strict, new URL(`https://${host}/x`)) ?? 'permitted', /not a public IP address/, host)
})

test('a URL must be http or https, without a password and with a port that exists', () => {
  const refusal = (url: string) => literalRefusal(strict, new URL(url))
  for (const url of ['http://a.test/', 'https://a.test:8443/x?y', 'https://8.8.8.8/', 'https://[2606:4700::1111]:1/'])
    assert.equal(refusal(url), null, url)
  for (const url of ['ftp://a.test/', 'file:///etc/passwd', 'gopher://a.test/', 'javascript:1', 'data:,x'])
    assert.match(refusal(url)!, /http/, url)
  for (const url of ['http://u@a.test/', 'http://:p@a.test/', 'http://u:p@a.test/'])
    assert.match(refusal(url)!, /pass/, url)
  assert.match(refusal('http://a.test:0/')!, /Port 0/)
  assert.equal(literalRefusal(createGuard({ allowLoopback: true }), new URL('http://localhost:1/')), null)
})

const isSendError = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof SendError && error.phase === 'dns' && error.code === code && message.test(error.message)

test('a name has the addresses of both families, or of the one that there is', async (t) => {
  const { resolver } = await startDns(t, (name, isV6) => {
    if (name === 'both.test') return isV6 ? ['2606:4700::1', '2606:4700::2'] : ['8.8.8.8']
    if (name === 'four.test') return isV6 ? [] : ['8.8.8.8', '8.8.4.4']
    return isV6 ? ['2606:4700::1'] : 'SERVFAIL'
  })
  const guard = createGuard({ resolver })
  assert.deepEqual(await guard.resolve('both.test', never), ['8.8.8.8', '2606:4700::1', '2606:4700::2'])
  assert.deepEqual((await guard.resolve('four.test', never)).toSorted(), ['8.8.4.4', '8.8.8.8'])
  assert.deepEqual(await guard.resolve('six.test', never), ['2606:4700::1'])
})

test('one forbidden address among others rejects the name', async (t) => {
  const { resolver } = await startDns(t, (name, isV6) => {
    if (name === 'mixed4.test') return isV6 ? [] : ['8.8.8.8', '10.0.0.1']
    if (name === 'mixed6.test') return isV6 ? ['::ffff:7f00:1'] : ['8.8.8.8']
    return isV6 ? ['64:ff9b::7f00:1'] : []
  })
  const guard = createGuard({ resolver })
  for (const name of ['mixed4.test', 'mixed6.test', 'nat64.test'])
    await assert.rejects(
      guard.resolve(name, never),
      isSendError('refused_address', /resolves to .* not a public IP address\./),
    )
})

test('a name is looked up each time, so that one which turns to another address is refused then', async (t) => {
  let address = '8.8.8.8'
  const guard = createGuard(await startDns(t, (_, isV6) => (isV6 ? [] : [address])))
  assert.deepEqual(await guard.resolve('rebind.test', never), ['8.8.8.8'])
  address = '169.254.169.254'
  await assert.rejects(guard.resolve('rebind.test', never), isSendError('refused_address', /169\.254\.169\.254/))
})

test('a name without an address, and a DNS server that fails, are reported', async (t) => {
  const { resolver } = await startDns(t, (name) =>
    name === 'none.test' ? 'NXDOMAIN' : name === 'empty.test' ? [] : 'SERVFAIL',
  )
  const guard = createGuard({ resolver })
  await assert.rejects(guard.resolve('none.test', never), isSendError('dns_failed', /"none\.test" has no IP address/))
  await assert.rejects(guard.resolve('empty.test', never), isSendError('dns_failed', /has no IP address/))
  await assert.rejects(guard.resolve('broken.test', never), isSendError('dns_failed', /ESERVFAIL/))
})

test('a look-up is cancelled with its signal', async (t) => {
  const asked = Promise.withResolvers<void>()
  const { resolver } = await startDns(t, () => {
    asked.resolve()
    return 'silence'
  })
  const controller = new AbortController()
  const pending = createGuard({ resolver }).resolve('silent.test', controller.signal)
  await asked.promise
  controller.abort()
  await assert.rejects(pending, isSendError('cancelled', /cancelled/))
  await assert.rejects(
    createGuard({ resolver }).resolve('silent.test', controller.signal),
    isSendError('cancelled', /cancelled/),
  )
})

test('literals and localhost are not looked up', async () => {
  const resolver = () => assert.fail('nothing is to be looked up')
  const guard = createGuard({ allowLoopback: true, resolver })
  assert.deepEqual(await guard.resolve('8.8.8.8', never), ['8.8.8.8'])
  assert.deepEqual(await guard.resolve('[2606:4700::1]', never), ['2606:4700::1'])
  for (const name of ['localhost', 'shop.localhost', 'localhost.'])
    assert.deepEqual(await guard.resolve(name, never), ['127.0.0.1', '::1'])
  for (const name of ['localhost', '127.0.0.1', '[::ffff:7f00:1]'])
    await assert.rejects(
      createGuard({ resolver }).resolve(name, never),
      isSendError('refused_address', /127\.0\.0\.1 is not/),
    )
})
