import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { percentEncode } from './percent-encode.ts'

test('any text is encoded down to what RFC 3986 reserves for nothing, and can be read back', () => {
  const utf16 = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)) // also lone surrogates
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), utf16), (text) => {
      const encoded = percentEncode(text)
      assert.match(encoded, /^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})*$/)
      assert.equal(decodeURIComponent(encoded), text.toWellFormed())
    }),
  )
  assert.equal(
    percentEncode("a-b_c.d~9 !'()*/?&=#%+ü😀"),
    'a-b_c.d~9%20%21%27%28%29%2A%2F%3F%26%3D%23%25%2B%C3%BC%F0%9F%98%80',
  )
  assert.equal(percentEncode('\ud800'), '%EF%BF%BD')
})
