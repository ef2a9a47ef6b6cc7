import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { isSigningSecret, signMessage, signUrl, verifyMessage, verifyUrl } from './signing.ts'

const createSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const SECRET = createSecret()
const OTHER = createSecret()
const NOW_S = Math.floor(Date.now() / 1000) // the other library looks at the clock
const BODY = '{"id":"e1","data":{"offer_name":"Über 😀"}}'

const headersOf = (id: string, timestampS: number, signature: string) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestampS),
  'webhook-signature': signature,
})
const verify = (headers: Record<string, string | string[] | undefined>, content: string | Uint8Array = BODY) =>
  verifyMessage([SECRET], headers, content, NOW_S)
const GOOD = headersOf('e1', NOW_S, signMessage([SECRET], 'e1', NOW_S, BODY))

test('the library of Standard Webhooks takes what we sign, and we take what it signs', () => {
  const library = new Webhook(SECRET)
  fc.assert(
    fc.property(fc.uuid(), fc.json(), fc.integer({ min: -290, max: 290 }), (id, body, offset) => {
      const at = NOW_S + offset
      const signature = signMessage([SECRET], id, at, body)
      assert.equal(signature, library.sign(id, new Date(at * 1000), body))
      assert.doesNotThrow(() => library.verify(body, headersOf(id, at, signature)))
      assert.equal(verify(headersOf(id, at, signature), body), 'ok')
    }),
  )
})

test('a changed body, id or timestamp is refused, by the library and by us', () => {
  const library = new Webhook(SECRET)
  for (const [headers, body] of [
    [GOOD, `${BODY} `],
    [GOOD, BODY.replace('e1', 'e2')],
    [GOOD, ''],
    [{ ...GOOD, 'webhook-id': 'e2' }, BODY],
    [{ ...GOOD, 'webhook-timestamp': String(NOW_S + 1) }, BODY],
    [{ ...GOOD, 'webhook-signature': signMessage([OTHER], 'e1', NOW_S, BODY) }, BODY],
    [{ ...GOOD, 'webhook-signature': GOOD['webhook-signature'].replace('v1,', 'v1a,') }, BODY],
  ] as const) {
    assert.throws(() => library.verify(body, headers))
    assert.equal(verify(headers, body), 'wrong_signature')
  }
})

test('any other byte in the body is noticed, also one that is no UTF-8', () => {
  const body = Buffer.from(BODY)
  assert.equal(verify(GOOD, body), 'ok')
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (i, change) => {
      const changed = Buffer.from(body)
      changed[i] = (changed[i] ?? 0) ^ change
      assert.equal(verify(GOOD, changed), 'wrong_signature')
    }),
  )
})

test('headers that are absent, repeated or unreadable are missing', () => {
  for (const name of Object.keys(GOOD) as (keyof typeof GOOD)[]) {
    assert.equal(verify({ ...GOOD, [name]: undefined }), 'missing_headers')
    assert.equal(verify({ ...GOOD, [name]: '' }), 'missing_headers')
    assert.equal(verify({ ...GOOD, [name]: [GOOD[name], GOOD[name]] }), 'missing_headers')
  }
  for (const timestamp of ['soon', '-1', '1e9', '1.5', `${NOW_S}, ${NOW_S}`])
    assert.equal(verify({ ...GOOD, 'webhook-timestamp': timestamp }), 'missing_headers')
})

test('a signature is valid for five minutes on either side, or as long as requested', () => {
  const at = (nowS: number, toleranceS?: number) => verifyMessage([SECRET], GOOD, BODY, nowS, toleranceS)
  assert.equal(at(NOW_S + 300), 'ok')
  assert.equal(at(NOW_S + 301), 'stale')
  assert.equal(at(NOW_S - 300), 'ok')
  assert.equal(at(NOW_S - 301), 'stale')
  assert.equal(at(NOW_S + 11, 10), 'stale')
  assert.equal(at(NOW_S + 3_600, 3_600), 'ok')
})

test('while a secret is being replaced, either of the two is enough on either side', () => {
  const both = signMessage([SECRET, OTHER], 'e1', NOW_S, BODY)
  assert.match(both, /^v1,[\w+/]{43}= v1,[\w+/]{43}=$/)
  for (const secret of [SECRET, OTHER]) {
    assert.doesNotThrow(() => new Webhook(secret).verify(BODY, headersOf('e1', NOW_S, both)))
    assert.equal(verifyMessage([secret], headersOf('e1', NOW_S, both), BODY, NOW_S), 'ok')
    const one = headersOf('e1', NOW_S, signMessage([secret], 'e1', NOW_S, BODY))
    assert.equal(verifyMessage([OTHER, SECRET], one, BODY, NOW_S), 'ok')
  }
  assert.equal(verifyMessage([createSecret()], headersOf('e1', NOW_S, both), BODY, NOW_S), 'wrong_signature')
  assert.equal(verifyMessage([], GOOD, BODY, NOW_S), 'wrong_signature')
})

test('a signed URL is accepted as it is, and with either of two secrets', () => {
  const url = 'https://example.com/cb?u=user-1&s='
  const signed = url + signUrl(SECRET, url)
  assert.match(signed, /&s=[0-9a-f]{64}$/)
  assert.ok(verifyUrl([SECRET], signed))
  assert.ok(verifyUrl([OTHER, SECRET], signed))
  assert.ok(!verifyUrl([OTHER], signed))
  assert.ok(!verifyUrl([], signed))
  assert.ok(!verifyUrl([SECRET], url))
  assert.ok(!verifyUrl([SECRET], ''))
})

test('a changed, added, removed or moved parameter is noticed, and so is a moved signature', () => {
  const text = fc.string({ maxLength: 8 })
  const parameters = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 6 })
  const build = (pairs: [string, string][]) => `https://example.com/cb?${new URLSearchParams(pairs).toString()}&s=`
  fc.assert(
    fc.property(parameters, fc.nat(), fc.nat(), text, (pairs, at, to, other) => {
      const url = build(pairs)
      const signature = signUrl(SECRET, url)
      assert.ok(verifyUrl([SECRET], url + signature))
      const i = at % pairs.length
      const [name, value] = pairs[i] ?? ['', '']
      const without = pairs.toSpliced(i, 1)
      for (const changed of [
        pairs.with(i, [name, other]),
        pairs.with(i, [other, value]),
        pairs.toSpliced(i, 0, [name, value]),
        pairs.toSpliced(i, 0, [other, '']),
        without,
        without.toSpliced(to % pairs.length, 0, [name, value]),
        pairs.with(i, [name, signature]),
      ])
        assert.equal(verifyUrl([SECRET], build(changed) + signature), build(changed) === url)
      for (const moved of [
        build(pairs.with(i, [name, signature])),
        `${url}${signature}&s=`,
        `${url}${signature}#`,
        `${url}${signature.toUpperCase()}x`,
        `${url}&s=${signature}`,
        url.replace('https:', 'http:') + signature,
        url.replace('example.com', 'example.org') + signature,
      ])
        assert.ok(!verifyUrl([SECRET], moved), moved)
    }),
  )
})

test('a secret that is none is refused, and not repeated', () => {
  for (const wrong of ['', 'whsec_', 'whsec_c2hvcnQ=', SECRET.slice(6), `${SECRET}!`, SECRET.replace('=', '')]) {
    assert.ok(!isSigningSecret(wrong))
    assert.throws(
      () => signUrl(wrong, 'https://example.com/?s='),
      (error: Error) => error instanceof RangeError && !error.message.includes(wrong.slice(6) || '\0'),
    )
  }
  assert.ok(isSigningSecret(SECRET))
})
