import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { asciiJson } from './ascii-json.ts'
import { Cache } from './cache.ts'
import { COUNTRIES, countryPlace } from './countries.ts'
import { formatDuration, parseDuration } from './duration.ts'
import { withFileLock } from './file-lock.ts'
import { createMac } from './hmac.ts'
import { deriveKey, seal, unseal } from './keys.ts'
import { microsToUsd, parseUsd, toLocal } from './money.ts'
import { parseTime, rfc3339 } from './time.ts'
import { runModule } from '../../test/run-module.ts'

const folder = mkdtempSync(join(tmpdir(), 'offerdeck-lib-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const run = (code: string) => runModule(code, import.meta.url)

const smallText = fc.string({ unit: 'binary', maxLength: 50 })
const utf16 = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)) // also lone surrogates
const anyText = fc.oneof(smallText, utf16, fc.string({ minLength: 900, maxLength: 3_000 }))

test('dollars with at most four decimals become micros exactly', () => {
  const amount = fc.tuple(fc.integer({ min: 0, max: 999_999_999 }), fc.integer({ min: 0, max: 4 }), fc.nat(9_999))
  fc.assert(
    fc.property(amount, ([whole, decimals, fraction]) => {
      const digits = String(fraction).padStart(4, '0').slice(0, decimals)
      const text = decimals === 0 ? String(whole) : `${whole}.${digits}`
      assert.equal(parseUsd(text), Number(BigInt(whole) * 1_000_000n + BigInt(digits.padEnd(6, '0'))))
      assert.equal(parseUsd(` ${text} `), parseUsd(text))
    }),
  )
  assert.equal(parseUsd(2), 2_000_000)
  assert.equal(parseUsd(0.1), 100_000)
})

test('what is not an amount with at most four decimals is refused', () => {
  for (const bad of [
    '',
    ' ',
    '1.23456',
    '-1',
    '+1',
    '.5',
    '1.',
    '1,5',
    '1e3',
    '0x10',
    'NaN',
    '$1',
    '1 000',
    '1234567890',
  ])
    assert.equal(parseUsd(bad), null, bad)
  for (const bad of [0.1 + 0.2, -1, 1e21, 1e-7, Number.NaN, Number.POSITIVE_INFINITY]) assert.equal(parseUsd(bad), null)
})

test('micros are shown in dollars with four decimals, rounded down', () => {
  assert.equal(microsToUsd(1_999_999), 1.9999)
  assert.equal(microsToUsd(99), 0)
  fc.assert(
    fc.property(fc.nat(Number.MAX_SAFE_INTEGER), (micros) => {
      const steps = BigInt(micros) / 100n
      assert.equal(microsToUsd(micros), Number(`${steps / 10_000n}.${String(steps % 10_000n).padStart(4, '0')}`))
    }),
  )
})

test('a reward is the payout at the rate of the app, rounded down to four decimals', () => {
  assert.equal(toLocal(1_500_000, 100_000_000, null), 150)
  assert.equal(toLocal(333_300, 1_100, null), 0.0003)
  const micros = fc.nat(100_000 * 1_000_000)
  const rate = fc.integer({ min: 100, max: 50_000 * 1_000_000 })
  fc.assert(
    fc.property(micros, rate, (payout, rateMicros) => {
      const steps = (BigInt(payout) * BigInt(rateMicros)) / 100_000_000n
      const exact = Number(`${steps / 10_000n}.${String(steps % 10_000n).padStart(4, '0')}`)
      assert.equal(toLocal(payout, rateMicros, null), exact)
    }),
  )
})

test('a duration is a whole number with its unit', () => {
  const known: Record<string, number> = {
    '90s': 90_000,
    '15m': 900_000,
    '24h': 86_400_000,
    ' 7d ': 604_800_000,
    '0s': 0,
  }
  for (const [text, ms] of Object.entries(known)) assert.equal(parseDuration(text), ms)
  for (const bad of ['', '24', 'h', '1.5h', '-1h', '1w', '1h30m', '1 h', '1H', '1234567s'])
    assert.equal(parseDuration(bad), null, bad)
  for (const text of ['90s', '15m', '25h', '7d', '0s', '3601s'])
    assert.equal(formatDuration(parseDuration(text) ?? -1), text)
  assert.equal(formatDuration(86_400_000), '1d')
})

test('a time is read as RFC 3339, as UTC where it names no zone', () => {
  const known: Record<string, string> = {
    '2026-01-31': '2026-01-31T00:00:00Z',
    '2026-01-31T12:30': '2026-01-31T12:30:00Z',
    '2026-01-31 12:30:15': '2026-01-31T12:30:15Z',
    '2026-01-31T12:30:15.999Z': '2026-01-31T12:30:15Z',
    '2026-01-31T12:30:15+02:00': '2026-01-31T10:30:15Z',
    ' 2026-01-31T23:30:00-0530 ': '2026-02-01T05:00:00Z',
    '2028-02-29': '2028-02-29T00:00:00Z',
  }
  for (const [text, utc] of Object.entries(known)) assert.equal(rfc3339(parseTime(text) ?? new Date(0)), utc, text)
  fc.assert(
    fc.property(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (time) => {
      const whole = Math.floor(time.getTime() / 1000) * 1000
      assert.equal(parseTime(rfc3339(time))?.getTime(), whole)
    }),
  )
})

test('what is not a time is refused, also a day that its month does not have', () => {
  for (const bad of [
    '',
    'tomorrow',
    '2026',
    '2026-13-01',
    '2026-01-32',
    '31.01.2026',
    '2026-01-31T25:00Z',
    '1769860800',
  ])
    assert.equal(parseTime(bad), null, bad)
  for (const bad of ['0000-12-31', '0001-01-01T01:00:00+02:00', '9999-12-31 23:00:00-02:00'])
    assert.equal(parseTime(bad), null, `${bad} is in no year from 1 to 9999`)
  for (const bad of ['2026-02-30', '2026-02-29', '2026-04-31T12:00:00Z', '2026-06-31 12:00+02:00'])
    assert.equal(parseTime(bad), null, bad)
})

test('ASCII JSON is pure ASCII and means the same as JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), anyText, (value, text) => {
      const json = asciiJson({ value, [text]: text })
      assert.match(json, /^[\x20-\x7e]*$/)
      assert.deepEqual(JSON.parse(json), JSON.parse(JSON.stringify({ value, [text]: text })))
    }),
  )
})

test('a cache never holds more than twice its capacity, and always the latest entry', () => {
  const operations = fc.array(fc.tuple(fc.nat(30), fc.boolean(), fc.integer({ min: 1, max: 3 })), { maxLength: 300 })
  fc.assert(
    fc.property(operations, fc.integer({ min: 4, max: 12 }), (steps, capacity) => {
      const cache = new Cache<string, { weight: number }>(capacity, ({ weight }) => weight)
      const latest = new Map<string, { weight: number }>()
      for (const [n, isWrite, weight] of steps) {
        const key = String(n)
        if (isWrite) {
          latest.set(key, { weight })
          cache.set(key, latest.get(key) ?? { weight })
          assert.equal(cache.get(key), latest.get(key))
        } else if (cache.get(key) !== undefined) assert.equal(cache.get(key), latest.get(key))
        const held = cache.entries().reduce((sum, [, value]) => sum + value.weight, 0)
        assert.ok(held <= 2 * capacity + 2 * 3, `${held} of ${capacity}`)
        assert.equal(new Set(cache.entries().map(([name]) => name)).size, cache.entries().length)
      }
    }),
  )
})

test('what is in use outlives what is not', () => {
  const cache = new Cache<string, number>(10)
  for (const key of ['used', 'unused']) cache.set(key, 1)
  for (let i = 0; i < 100; i++) {
    cache.set(`passing ${i}`, i)
    assert.equal(cache.get('used'), 1)
  }
  assert.equal(cache.get('unused'), undefined)
})

test('a cached value is replaced only while it is still the one expected, in both generations', () => {
  for (const passing of [[], ['x', 'y']]) {
    const cache = new Cache<string, string>(3)
    for (const key of ['a', ...passing]) cache.set(key, 'one')
    cache.replace('a', 'another', 'two')
    cache.replace('b', 'one', 'two')
    assert.deepEqual(new Map(cache.entries()).get('a'), 'one')
    cache.replace('a', 'one', 'two')
    assert.deepEqual(new Map(cache.entries()).get('a'), 'two')
    cache.replace('a', 'two', null)
    assert.deepEqual([cache.get('a'), cache.get('b')], [undefined, undefined])
  }
})

test("a message authentication code equals that of node's createHmac", () => {
  const key = fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(key, fc.array(anyText, { minLength: 1, maxLength: 4 }), (secret, texts) => {
      const mac = createMac(secret)
      for (const text of texts)
        assert.equal(
          mac(text),
          createHmac('sha256', Buffer.from(secret).toString('base64')).update(text).digest('base64url'),
        )
    }),
  )
  assert.throws(() => createMac(Buffer.alloc(65)), RangeError)
})

test('every purpose has a key of its own', () => {
  const keys = (['link tokens', 'secret hashes', 'signing secrets'] as const).map((use) =>
    deriveKey('a'.repeat(32), use),
  )
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, 3)
  assert.ok(keys.every((key) => key.length === 32))
  assert.deepEqual(deriveKey('a'.repeat(32), 'link tokens'), keys[0])
  assert.notDeepEqual(deriveKey('b'.repeat(32), 'link tokens'), keys[0])
})

test('a sealed text opens with its key and context only, and not when a bit of it was changed', () => {
  const key = randomBytes(32)
  const wellFormed = smallText.filter((text) => text.isWellFormed())
  fc.assert(
    fc.property(wellFormed, wellFormed, fc.nat(), fc.nat(7), (text, context, place, bit) => {
      const sealed = seal(key, text, context)
      assert.equal(unseal([key], sealed, context), text)
      assert.notDeepEqual(seal(key, text, context), sealed)
      assert.throws(() => unseal([key], sealed, `${context}x`))
      assert.throws(() => unseal([randomBytes(32)], sealed, context))
      assert.throws(() => unseal([key], sealed.subarray(0, -1), context))
      const tampered = Buffer.from(sealed)
      tampered[place % sealed.length]! ^= 1 << bit
      assert.throws(() => unseal([key], tampered, context))
    }),
  )
})

test('a file lock lets one in at a time, also after one that failed', async () => {
  const path = join(folder, 'one-at-a-time.lock')
  let inside = 0
  const visits = Array.from({ length: 5 }, (_, i) =>
    withFileLock(path, async () => {
      assert.equal(++inside, 1)
      await new Promise((resolve) => setImmediate(resolve))
      inside--
      return i
    }),
  )
  const failure = withFileLock(path, () => Promise.reject(new Error('work failed')))
  await assert.rejects(failure, /work failed/)
  assert.deepEqual(await Promise.all(visits), [0, 1, 2, 3, 4])
})

test('a file lock keeps other processes out, and goes with a process that is killed', async () => {
  const path = join(folder, 'killed.lock')
  const holder = run(`import { withFileLock } from './file-lock.ts'
    await withFileLock(${JSON.stringify(path)}, () => new Promise(() => { process.stdout.write('in'); setInterval(() => {}, 1e6) }))`)
  await once(holder.stdout, 'data')
  let isHolderAlive = true
  const entered = withFileLock(path, () => Promise.resolve(isHolderAlive))
  // A second process that asks meanwhile shows that the lock holds between processes, too: it must wait as well.
  const other = run(`import { DatabaseSync } from 'node:sqlite'
    try { new DatabaseSync(${JSON.stringify(path)}).exec('BEGIN EXCLUSIVE') } catch (error) { process.stdout.write(error.message) }`)
  assert.match(await other.output(), /locked/)
  isHolderAlive = false
  holder.kill('SIGKILL')
  assert.equal(await entered, false)
})

test('there are 249 countries, each with its place', () => {
  assert.equal(COUNTRIES.length, 249)
  assert.equal(new Set(COUNTRIES).size, 249)
  for (const [place, code] of COUNTRIES.entries()) {
    assert.match(code, /^[A-Z]{2}$/)
    assert.equal(countryPlace(code), place)
    assert.notEqual(new Intl.DisplayNames('en', { type: 'region' }).of(code), code)
  }
  for (const unassigned of ['XX', 'UK', 'EU', 'AN', 'ZZ', 'us', '', 'USA', '__proto__'])
    assert.equal(countryPlace(unassigned), undefined, unassigned)
})
