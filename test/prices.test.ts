import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { formatPrice, formatSince, setFormats } from '../web/dashboard/src/lib/format.ts'

setFormats({ locale: 'en-US', time_zone: 'UTC' })
after(() => setFormats({ locale: null, time_zone: null }))

test('a price has two digits, and one below ten cents all of its own', () => {
  assert.deepEqual([1.63, 31.71, 54.965, 0.8, 0].map(formatPrice), ['$1.63', '$31.71', '$54.96', '$0.80', '$0.00'])
  assert.deepEqual([0.0025, 0.0525, 0.05].map(formatPrice), ['$0.0025', '$0.0525', '$0.05'])
})

test('how long something lasts is said in its largest unit', () => {
  const now = Date.parse('2026-11-18T12:00:00Z')
  const lengths = ['2026-11-18T11:56:30Z', '2026-11-18T11:59:56Z', '2026-11-16T11:00:00Z'].map((at) => formatSince(at, now)) // prettier-ignore
  assert.deepEqual(lengths, ['3 min', '4 s', '2 d'])
})
