import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid, uuid7, uuid7Floor, uuid7Time } from './uuid7.ts'

const NOW = Date.UTC(2026, 2, 10)

test('the IDs of a time ascend, whatever other IDs are created between them', () => {
  const ids: string[] = []
  for (let i = 0; i < 300; i++) {
    ids.push(uuid7(NOW))
    if (i % 3 === 0) uuid7(NOW + i)
    if (i % 50 === 0) uuid7(NOW - i)
  }
  assert.deepEqual(ids, ids.toSorted())
  assert.equal(new Set(ids).size, ids.length)
})

test('the IDs of a later time are above those of an earlier one, and say their time', () => {
  const [earlier, later] = [uuid7(NOW), uuid7(NOW + 1)]
  assert.ok(earlier < uuid7Floor(NOW + 1) && uuid7Floor(NOW + 1) < later)
  assert.deepEqual([uuid7Time(earlier), uuid7Time(later)], [NOW, NOW + 1])
  assert.ok(isUuid(earlier))
})
