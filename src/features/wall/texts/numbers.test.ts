import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeNumber } from '../../../../web/wall/numbers.ts'
import { numberStyleOf } from './numbers.ts'
import { LANGUAGES } from '../../../lib/languages.ts'

test('pages write rewards as Intl does, in every language of theirs', () => {
  for (const language of LANGUAGES) {
    const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 4 })
    const style = numberStyleOf(language)
    const isSame = (value: number) => assert.equal(writeNumber(value, style), numbers.format(value))
    for (const value of [0, 0.5, 999, 1_000, 1_234, 9_999.5, 10_000, 1_234_567.8901]) isSame(value)
    fc.assert(fc.property(fc.nat({ max: 10 ** 15 }), (steps) => isSame(steps / 10_000)))
  }
})
