import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { compressPart, joinGzip, joinPlain, storePart } from './gzip-parts.ts'

const content = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.constantFrom('', 'x', '\0'.repeat(5_000), 'offers '.repeat(40_000)),
)

test('parts in any order are one gzip stream of their texts', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), content), { maxLength: 6 }), (made) => {
      const parts = made.map(([isStored, text]) => (isStored ? storePart(text) : compressPart(text)))
      const whole = made.map(([, text]) => text).join('')
      assert.equal(gunzipSync(Buffer.from(joinGzip(parts), 'latin1')).toString(), Buffer.from(whole).toString())
      assert.equal(joinPlain(parts).toString(), Buffer.from(whole).toString())
    }),
    { numRuns: 60 },
  )
})
