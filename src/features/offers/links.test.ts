// The token in a link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SECRET_KEY } from '../../../test/world.ts'
import { createLinkSigner } from './links.ts'

test('a token is read as it was signed, also after a router decoded the path, whatever user, sub-IDs and locker are', () => {
  const links = createLinkSigner(SECRET_KEY)
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 60 })
  const subIds = fc.option(fc.tuple(...Array.from({ length: 4 }, () => fc.option(text))))
  fc.assert(
    fc.property(
      fc.record({ userId: text, subIds, lockerId: fc.option(fc.nat()), claimsCountry: fc.boolean() }),
      (some) => {
        const context = { appId: 7, isTest: true, issuedAt: 1_700_000_000, requestId: 'req_x', ...some }
        assert.match(links.sign(context), /^[\w.~:-]+$/)
        assert.deepEqual(links.read(decodeURIComponent(links.sign(context))), context)
      },
    ),
  )
})
