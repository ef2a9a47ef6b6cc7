import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BloomFilter } from './bloom-filter.ts'
import { hashNumber } from './hash-text.ts'

const fill = (filter: BloomFilter, count: number) => {
  for (let i = 0; i < count; i++) filter.add(hashNumber(`user-${i}`, i % 7))
}

test('a filter knows everything that was added to it, and takes little else for known', () => {
  const filter = new BloomFilter(100_000)
  fill(filter, 100_000)
  for (let i = 0; i < 100_000; i++) assert.ok(filter.has(hashNumber(`user-${i}`, i % 7)))
  let wrong = 0
  for (let i = 0; i < 100_000; i++) if (filter.has(hashNumber(`stranger-${i}`, i % 7))) wrong++
  assert.ok(wrong < 500, `${wrong} of 100,000`)
  assert.ok(filter.size > 99_000 && filter.size <= 100_000)
})

test('a filter says when a larger one would be better, and is never larger than 64 MiB', () => {
  const small = new BloomFilter(0)
  assert.equal(small.isCrowded, false)
  fill(small, 20_000)
  assert.equal(small.isCrowded, true)
  assert.equal(new BloomFilter(1e12).bytes, 64 * 1024 * 1024)
})
