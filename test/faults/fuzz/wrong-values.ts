// Values that have broken other programs.
import type { Random } from '../random.ts'

const NUMBERS = [
  0, -1, 1.5, -0.0001, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e15, 999_999_999_999_999, 1e21, 1e308,
  5e-324, 0.1 + 0.2, 1_234_567.891_234_567,
] // prettier-ignore

const TEXTS = [
  '', ' ', '\0', 'a\0b', '\ud800', 'x\udfff', '\ud83d', '\u202e\u200b', '\ufeff', '\u2028', 'é', 'e\u0301', '漢字', '😀', '\u{10ffff}',
  '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', 'true', '-0', '1e3', '0x10', '١٢٣',
  '-1', '0', '00', '1.0', '9223372036854775807', '9223372036854775808', '99999999999999999999', '1_000', '1,5', ' 1', '1 ', '+1',
  '2026-02-30', '2026-13-01T00:00:00Z', '0000-00-00', '+275760-09-13', '275760-09-14T00:00:00Z', '-271821-04-20', '1970-01-01T00:00:00+99:99', 'infinity', 'now',
  "' OR 1=1 --", "'; DROP TABLE offers; --", '$1', '%s%n', '{{7*7}}', '${7*7}', '{user_id}', '{', '}', '{}', '[]', '<script>alert(1)</script>',
  '../../../../etc/passwd', '..%2f..%2f', 'file:///etc/passwd', 'javascript:alert(1)', 'http://127.0.0.1:22/', 'http://[::1]/', 'http://169.254.169.254/',
  'https://user:pw@example.com/', 'https://', 'http://a b/', 'https://xn--/', 'a@b', '@', '"a b"@c.d', '%00', '%zz', '%', '%ud800', '%F0%9F', '%c0%ae',
  'a\r\nX-Injected: 1', 'a\nb', '\t', '\\', '"', '`', '01890000-0000-7000-8000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'Europe/Nowhere', 'Etc/GMT+99', 'ZZ', 'XX', 'usd', 'EURO', '*', '0.0.0.0/0', '::/0', '1.2.3.4/33', '(a+)+$', '[', '\\', 'A'.repeat(300),
] // prettier-ignore

export function wrongText(random: Random): string {
  if (random.chance(0.05))
    return random.pick(['a', '漢', '\0', '%', '{', ' ', '😀', '\\']).repeat(random.int(500, 20_000))
  if (random.chance(0.1)) return random.bytes(random.int(1, 40)).toString('latin1')
  return random.chance(0.1) ? random.pick(TEXTS) + random.pick(TEXTS) : random.pick(TEXTS)
}

export function wrongValue(random: Random): unknown {
  const makers = [
    () => wrongText(random),
    () => wrongText(random),
    () => random.pick(NUMBERS) * (random.chance(0.3) ? -1 : 1),
    () => random.pick([null, true, false]),
    () => random.pick([[], {}, [[]], [null], [{}], { a: {} }]),
    () => Array.from({ length: random.int(1, 2_000) }, () => random.pick([1, 'a', null])),
    () => ({ [wrongText(random)]: wrongText(random) }),
    () => nest(random.int(5, 60)),
  ]
  return random.pick(makers)()
}

function nest(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
  return value
}

/** A copy of a value in which one place, at any depth, is wrong: another value, a missing member, or one too many. */
export function spoil(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) return wrongValue(random)
  if (Array.isArray(value)) {
    if (value.length === 0) return [wrongValue(random)]
    // Many of something small: many of what is large already would keep the fuzzer busy, not the server.
    if (random.chance(0.2)) return Array.from({ length: isSmall(value[0]) ? random.int(2, 1_500) : 2 }, () => value[0] as unknown) // prettier-ignore
    const at = random.int(0, value.length - 1)
    return value.map((one: unknown, i) => (i === at ? spoil(random, one) : one))
  }
  const entries = Object.entries(value)
  if (entries.length === 0 || random.chance(0.2)) return { ...value, [wrongText(random)]: wrongValue(random) }
  const at = random.int(0, entries.length - 1)
  if (random.chance(0.2)) return Object.fromEntries(entries.filter((_, i) => i !== at))
  return Object.fromEntries(entries.map(([key, one], i) => [key, i === at ? spoil(random, one) : one]))
}

const isSmall = (value: unknown) => (JSON.stringify(value) ?? '').length < 200
