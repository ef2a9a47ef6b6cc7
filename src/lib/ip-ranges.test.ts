import assert from 'node:assert/strict'
import { isIPv4, isIPv6 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { addressWords, plainAddress } from './ip-address.ts'
import { parseRanges } from './ip-ranges.ts'

// Few different bits, so that ranges overlap and addresses fall into them and onto their ends.
const byte = fc.constantFrom(0, 1, 127, 128, 254, 255)
const v4 = fc.array(byte, { minLength: 4, maxLength: 4 }).map((bytes) => bytes.join('.'))
const group = fc.constantFrom(0, 1, 0x7fff, 0x8000, 0xffff)
const v6 = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups) => groups.map((one) => one.toString(16)).join(':'))
  .filter((text) => addressWords(text)?.length === 4)
const cidr = fc.oneof(
  v4,
  v6,
  fc.tuple(v4, fc.nat(32)).map(([address, bits]) => `${address}/${bits}`),
  fc.tuple(v6, fc.nat(128)).map(([address, bits]) => `${address}/${bits}`),
)

/** By the library, range after range. */
function isInOne(ranges: string[], text: string): boolean {
  const address = ipaddr.parse(text)
  return ranges.some((range) => {
    const [base, bits] = range.includes('/') ? ipaddr.parseCIDR(range) : [ipaddr.parse(range), -1]
    if (base.kind() !== address.kind()) return false
    return bits === -1 ? base.toString() === address.toString() : address.match([base, bits] as never)
  })
}

test('an address is in a set exactly when one of the ranges holds it', () => {
  fc.assert(
    fc.property(fc.array(cidr, { maxLength: 20 }), fc.array(fc.oneof(v4, v6), { minLength: 5 }), (lines, addresses) => {
      const { ranges, problems } = parseRanges(lines.join('\n'))
      assert.deepEqual(problems, [])
      assert.equal(ranges.isEmpty, lines.length === 0)
      const bases = lines.map((line) => line.split('/')[0] ?? '')
      for (const address of [...addresses, ...bases]) {
        assert.equal(ranges.has(address), isInOne(lines, address), `${address} in ${lines.join(' ')}`)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('IPv4 written as IPv6 counts as IPv4, in the list and in the question', () => {
  const { ranges } = parseRanges('10.0.0.0/8\n::ffff:192.0.2.0/120\n::ffff:c633:6401')
  for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '::FFFF:a01:203', '192.0.2.255', '198.51.100.1']) {
    assert.equal(ranges.has(address), true, address)
  }
  for (const address of ['11.0.0.0', '192.0.3.0', '::10.1.2.3', '198.51.100.2']) {
    assert.equal(ranges.has(address), false, address)
  }
  assert.equal(parseRanges('::/0').ranges.has('10.1.2.3'), false)
  assert.equal(parseRanges('::/0').ranges.has('2001:db8::1'), true)
})

test('comments, blank lines, spaces, CRLF and a byte order mark are no part of a list', () => {
  const { ranges, problems } = parseRanges('\ufeff# Known proxies\r\n\r\n  10.0.0.1  # one\r\n\t2001:db8::/32\r\n')
  assert.deepEqual(problems, [])
  assert.deepEqual(
    ['10.0.0.1', '2001:db8:ffff::1', '10.0.0.2'].map((address) => ranges.has(address)),
    [true, true, false],
  )
})

test('a bad line is named by its number, and the others are taken', () => {
  const bad = ['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0/8', '010.0.0.1', 'example.com', '::/129', '::1::']
  const { ranges, problems } = parseRanges(['10.0.0.1', '', ...bad, '::ffff:10.0.0.0/95', '10.0.0.2'].join('\n'))
  assert.equal(problems.length, bad.length + 1)
  assert.equal(problems[0], 'Line 3: "10.0.0.0/33" is not an address or a CIDR such as 10.0.0.0/8.')
  assert.ok(problems.at(-1)?.startsWith('Line 11: '))
  assert.deepEqual(
    ['10.0.0.1', '10.0.0.2', '10.0.0.3', 'example.com', ''].map((address) => ranges.has(address)),
    [true, true, false, false, false],
  )
  assert.ok((parseRanges('x'.repeat(10_000)).problems[0]?.length ?? 0) < 150)
})

test('a list of a million lines is read whole', () => {
  const lines = Array.from({ length: 1_000_000 }, (_, i) => {
    const n = (i * 2_654_435_761) % 2 ** 24 // scattered, and no two the same
    return `${n >>> 16}.${(n >>> 8) & 255}.${n & 255}.0/25`
  })
  const { ranges, problems } = parseRanges(lines.join('\n'))
  assert.deepEqual(problems, [])
  for (let i = 0; i < lines.length; i += 1_009) {
    const [address = ''] = lines[i]!.split('/')
    assert.equal(ranges.has(address.replace(/0$/, '127')), true)
    assert.equal(ranges.has(address.replace(/0$/, '128')), false)
  }
})

test('an address is valid exactly when Node accepts it', () => {
  const almost = fc.array(
    fc.constantFrom(':', '::', '.', '0', '1', 'ff', 'FFFF', '255', '256', '12345', '1.2.3.4', '%', 'g'),
    {
      maxLength: 17,
    },
  )
  const texts = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.string({ maxLength: 20 }),
    almost.map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      assert.equal(addressWords(text) !== null, isIPv4(text) || isIPv6(text), text)
      assert.equal(plainAddress(text) !== null, isIPv4(text) || isIPv6(text), text)
    }),
    { numRuns: 20_000 },
  )
})

test('an address has one canonical form, which means the same', () => {
  const known: Record<string, string | null> = {
    '1.2.3.4': '1.2.3.4',
    '::ffff:1.2.3.4': '1.2.3.4',
    '::FFFF:102:304': '1.2.3.4',
    '::1.2.3.4': '::102:304',
    '2001:DB8:0:0:0:0:0:1': '2001:db8::1',
    '2001:db8:0:0:1:0:0:1': '2001:db8::1:0:0:1',
    'fe80::1%eth0': 'fe80::1',
    '1::2:3:4:5:6:7': '1:0:2:3:4:5:6:7',
    '::': '::',
    '1.2.3.4:80': null,
    '[::1]': null,
    ' 1.2.3.4': null,
    unknown: null,
  }
  for (const [text, plain] of Object.entries(known)) assert.equal(plainAddress(text), plain, text)
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), v6), (text) => {
      const plain = plainAddress(text) ?? ''
      assert.equal(plainAddress(plain), plain)
      assert.deepEqual(addressWords(plain), addressWords(text))
      if (plain.includes(':')) assert.equal(plain, ipaddr.IPv6.parse(plain).toRFC5952String())
    }),
  )
})
