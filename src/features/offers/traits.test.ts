// The bits of an offer have room for all platforms, categories and countries, and every list has a key of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COUNTRIES } from '../../lib/countries.ts'
import { CATEGORIES, PLATFORMS, ORDERS } from './choices.ts'
import { listKey } from './filters.ts'
import { Slots } from './slots.ts'
import { ANY_COUNTRY, ANY_PLATFORM, CATEGORY_MASK, CATEGORY_SHIFT, LISTABLE, PAID } from './traits.ts'

test('no bit of an offer is used twice, and all of them fit', () => {
  const { traits, countries } = new Slots(1)
  const parts = [...PLATFORMS.map((_, place) => 1 << place), CATEGORY_MASK, PAID, LISTABLE]
  const all = parts.reduce((sum, part) => sum + part, 0)
  assert.equal(parts.reduce((bits, part) => bits | part, 0), all) // prettier-ignore
  assert.ok(all < 2 ** (traits.BYTES_PER_ELEMENT * 8), `${all.toString(2).length} bits`)
  assert.equal(ANY_PLATFORM, (1 << PLATFORMS.length) - 1)
  for (const place of CATEGORIES.keys()) assert.equal((place << CATEGORY_SHIFT) & ~CATEGORY_MASK, 0)
  assert.ok(COUNTRIES.length <= ANY_COUNTRY && ANY_COUNTRY < countries.length * 32)
})

test('every filter and order has a key of its own', () => {
  const keys = [undefined, ...COUNTRIES].flatMap((country) =>
    [undefined, ...PLATFORMS].flatMap((platform) =>
      [undefined, ...CATEGORIES].flatMap((category) =>
        ORDERS.map(
          (sort) =>
          listKey({ ...(country && { country }), ...(platform && { platform }), ...(category && { category }), rules: null }, sort), // prettier-ignore
        ),
      ),
    ),
  )
  assert.equal(new Set(keys).size, keys.length)
})
