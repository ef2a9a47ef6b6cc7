// The beginning of a recommended list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { arrange, type Candidate, drawRatio } from './arrange.ts'

const candidateOf = (offerId: number, more: Partial<Candidate> = {}): Candidate => ({
  slot: offerId,
  offerId,
  score: 1_000 - offerId,
  weight: 3,
  isNew: false,
  pin: 0,
  ...more,
})
const listOf = (count: number, more: (offerId: number) => Partial<Candidate> = () => ({})) =>
  Array.from({ length: count }, (_, i) => candidateOf(i + 1, more(i + 1)))

const candidates = fc
  .array(fc.record({ isNew: fc.boolean(), pin: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 100 })), isExcluded: fc.boolean() }), { maxLength: 80 }) // prettier-ignore
  .map((all) => all.map(({ isExcluded, ...more }, i) => candidateOf(i + 1, { ...more, ...(isExcluded ? { score: 0 } : {}) }))) // prettier-ignore

test('a list has every offer once, however it is arranged, and is the same for the same seed', () => {
  fc.assert(
    fc.property(candidates, fc.nat(), (list, seed) => {
      const arranged = arrange(list, seed)
      assert.deepEqual(arranged.toSorted((a, b) => a - b), list.map(({ slot }) => slot)) // prettier-ignore
      assert.deepEqual(arrange(list, seed), arranged)
    }),
  )
})

test('without new or pinned offers, a list stays in its order', () => {
  assert.deepEqual(arrange(listOf(50), 7), listOf(50).map(({ slot }) => slot)) // prettier-ignore
})

test('of forty places, five are for new offers, and not the first three', () => {
  const isProven = (offerId: number) => offerId <= 60
  const list = listOf(120, (offerId) => ({ isNew: !isProven(offerId) }))
  for (let seed = 0; seed < 20; seed++) {
    const arranged = arrange(list, seed)
    const places = arranged.slice(0, 60).flatMap((slot, place) => (isProven(slot) ? [] : [place]))
    assert.deepEqual(places, [3, 11, 19, 27, 35])
    assert.deepEqual(arranged.slice(0, 3), [1, 2, 3])
  }
})

test('variants try out different new offers, and those that did well more often', () => {
  const isGood = (offerId: number) => offerId > 60 && offerId <= 65
  const list = listOf(100, (offerId) => ({ isNew: offerId > 20, score: isGood(offerId) ? 300 : offerId > 20 ? 100 : 5_000 })) // prettier-ignore
  const tried = Array.from({ length: 200 }, (_, seed) => arrange(list, seed)[3] ?? 0)
  assert.ok(new Set(tried).size > 10, `${new Set(tried).size}`)
  assert.ok(tried.filter(isGood).length > 60, `${tried.filter(isGood).length}`)
})

test('an excluded offer is never tried out', () => {
  const list = listOf(60, (offerId) => (offerId > 40 ? { isNew: true, score: 0 } : {}))
  assert.deepEqual(arrange(list, 3), list.map(({ slot }) => slot)) // prettier-ignore
})

test('a pinned offer stands where it is pinned, or at the end of a shorter list; of two at one position one after the other', () => {
  const list = listOf(30, (offerId) => ({ pin: ({ 28: 1, 29: 5, 30: 5 } as Record<number, number>)[offerId] ?? 0 }))
  const arranged = arrange(list, 1)
  assert.deepEqual([arranged[0], arranged[4], arranged[5], arranged.length], [28, 29, 30, 30])
  assert.equal(
    arrange(
      listOf(3, (offerId) => ({ pin: offerId === 1 ? 50 : 0 })),
      1,
    ).at(-1),
    1,
  )
})

test('draws have the mean 1 and vary less the more is known', () => {
  for (const weight of [3, 30, 300]) {
    const draws = Array.from({ length: 20_000 }, (_, offerId) => drawRatio({ offerId, weight }, 12_345))
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length
    const variance = draws.reduce((sum, draw) => sum + (draw - mean) ** 2, 0) / draws.length
    assert.ok(Math.abs(mean - 1) < 0.02, `mean ${mean}`)
    assert.ok(Math.abs(variance * weight - 1) < 0.1, `variance ${variance}`)
  }
})
