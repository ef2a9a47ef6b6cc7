// Amounts in the ways in which they are written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAmount } from './amounts.ts'

const detect = (...texts: string[]) => readAmount(texts, 'detect')
const dollars = (text: string, mark: 'detect' | 'point' | 'comma' = 'detect') => {
  const read = readAmount([text], mark)
  return read === null || read === 'unclear' ? read : ((read.isNegative ? -1 : 1) * read.micros) / 1_000_000
}

test('an amount is read as people and programs write it', () => {
  const written: Record<string, number> = {
    '12': 12, '12.5': 12.5, '12.': 12, '.5': 0.5, '0': 0, '007': 7, '1,5': 1.5, '1,50': 1.5, '0,234': 0.234, '1.234': 1.234,
    '1,234.56': 1234.56, '1.234,56': 1234.56, '1 234,56': 1234.56, '1\u00a0234.56': 1234.56, "1'234.56": 1234.56, '1\u2019234.5': 1234.5,
    '1,234,567': 1234567, '1.234.567': 1234567, '12,345,678.9': 12345678.9, '1 234 567': 1234567,
    '$5': 5, '5$': 5, '5 USD': 5, 'usd 5.25': 5.25, 'US$1,000.00': 1000, '$ 5': 5, '\uff15\uff0e\uff15': 5.5,
    '-5': -5, '+5': 5, '\u22125': -5, '-$5': -5, '$-5': -5, '(5.00)': -5, '($5.00)': -5, '5-': -5, '-0': 0, '-0.00': 0,
    '1e3': 1000, '1.5E+2': 150, '1e-7': 0, '5e-7': 0.000001, '25E-1': 2.5,
    '1.23456': 1.23456, '1.2345678': 1.234568, '0.0000004': 0, '0.9999999': 1,
  } // prettier-ignore
  for (const [text, expected] of Object.entries(written)) assert.equal(dollars(text), expected, text)
})

test('what could mean two things, or is no amount of dollars, is unclear', () => {
  for (const text of [
    '1,234',
    'x',
    '{amount}',
    '[amount]',
    '%amount%',
    '{{amount}}',
    '${amount}',
    'null',
    'undefined',
    'N/A',
    '-',
    'NaN',
    'Infinity',
    '0x10',
    '1_000',
    '€5',
    '5 EUR',
    '£5',
    '5 GBP',
    'A$5',
    '12,34,56',
    '1,2345.6',
    '1.2,3',
    '1..2',
    '1,,2',
    '1.234.56',
    '1.234,5678.9',
    '--5',
    '(-5)',
    '(5',
    '5)',
    '1e',
    '1e9999',
    '5 6',
    '12 34',
    '5%',
    '1/2',
    '٥',
    '.',
    ',',
    '',
    ' ',
    '$',
    '1,5e3',
  ])
    // prettier-ignore
    assert.equal(dollars(text), 'unclear', JSON.stringify(text))
})

test('the mark of an advertiser decides what is unclear without it, and nothing else', () => {
  assert.deepEqual([dollars('1,234', 'point'), dollars('1,234', 'comma')], [1234, 1.234])
  assert.deepEqual([dollars('1.234', 'point'), dollars('1.234', 'comma')], [1.234, 1234])
  for (const mark of ['point', 'comma'] as const)
    assert.deepEqual([dollars('1,5', mark), dollars('1.5', mark), dollars('1.234,5', mark), dollars('1,234.5', mark)], [1.5, 1.5, 1234.5, 1234.5]) // prettier-ignore
})

test('an amount that is given twice is one where it is the same, however it is written', () => {
  assert.equal(detect(), null)
  assert.deepEqual(detect('5', '5.00', '$5'), { micros: 5_000_000, isNegative: false })
  assert.equal(detect('5', '6'), 'unclear')
  assert.equal(detect('5', '-5'), 'unclear')
  assert.equal(detect('5', 'x'), 'unclear')
})

test('what is too large stays too large', () => {
  for (const text of ['9'.repeat(250), '1e300', '9'.repeat(20)])
    assert.deepEqual(detect(text), { micros: Number.MAX_SAFE_INTEGER, isNegative: false }, text)
})
