// What is expected of an offer, whatever its clicks have earned.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CATEGORIES } from '../choices.ts'
import { type Cell, estimate, type Estimates, priorEpcMicros, PRIOR, shrink } from './model.ts'

const USD = 1_000_000
const OFFER = { offerId: 1, category: 'app' as const, payoutMicros: 2 * USD }
const cellOf = (offerId: number, clicks: number, conversions: number, payoutMicros: number, country = 'US'): Cell => ({
  offerId,
  country,
  platform: 'ios',
  clicks,
  approved: conversions,
  earnedMicros: conversions * payoutMicros,
  allClicks: clicks,
})

/** Of an offer in its average segment, in dollars. */
function epcOf({ means, offers }: Estimates, { offerId, category, payoutMicros }: typeof OFFER): number {
  const { seen, expected } = offers.find((one) => one.offerId === offerId) ?? { seen: 0, expected: 0 }
  return (priorEpcMicros(means, category, payoutMicros) * shrink(seen, expected)) / USD
}

test('with many clicks, an offer is expected to earn what its clicks earned', () => {
  const estimates = estimate([cellOf(1, 1e6, 30_000, 2 * USD)], [OFFER])
  assert.ok(Math.abs(epcOf(estimates, OFFER) - 0.06) < 0.0005, String(epcOf(estimates, OFFER)))
})

test('without clicks, an offer is expected to earn what its category does, more or less by its payout', () => {
  const others = Array.from({ length: 20 }, (_, i) => ({ ...OFFER, offerId: i + 10 }))
  const cells = others.map(({ offerId }) => cellOf(offerId, 5_000, 250, 2 * USD))
  const at = (payoutMicros: number) => epcOf(estimate(cells, [...others, { ...OFFER, payoutMicros }]), { ...OFFER, payoutMicros }) // prettier-ignore
  assert.ok(Math.abs(at(2 * USD) - 0.1) < 0.005)
  assert.ok(at(3 * USD) > at(2 * USD) && at(USD) < at(2 * USD))
  assert.ok(at(5_000 * USD) <= 0.21, 'a high payout alone carries it to twice the mean, not further')
  assert.ok(at(0.01 * USD) <= 0.01, 'a click cannot earn more than the offer pays')
})

test('an offer that pays a percentage is expected to earn what its category does, and then what it earned', () => {
  const others = Array.from({ length: 20 }, (_, i) => ({ ...OFFER, offerId: i + 10 }))
  const cells = others.map(({ offerId }) => cellOf(offerId, 5_000, 250, 2 * USD))
  const share = { ...OFFER, payoutMicros: 0 }
  const after = (...own: Cell[]) => epcOf(estimate([...cells, ...own], [...others, share]), share)
  assert.ok(Math.abs(after() - 0.1) < 0.005)
  assert.ok(Math.abs(after(cellOf(1, 100_000, 4_000, 10 * USD)) - 0.4) < 0.02)
})

test('the first conversion of an offer that pays much does not carry it to the top', () => {
  const others = Array.from({ length: 20 }, (_, i) => ({ ...OFFER, offerId: i + 10 }))
  const cells = others.map(({ offerId }) => cellOf(offerId, 5_000, 250, 2 * USD))
  const dear = { ...OFFER, payoutMicros: 50 * USD }
  const after = (clicks: number, conversions: number) =>
    epcOf(estimate([...cells, cellOf(1, clicks, conversions, 50 * USD)], [...others, dear]), dear)
  assert.ok(after(3, 1) < 2 * after(3, 0), `${after(3, 1)}`)
  assert.ok(after(3_000, 60) > 0.8, 'many of them do')
})

test('an offer that earns otherwise in one country has its own place there', () => {
  const others = Array.from({ length: 20 }, (_, i) => ({ ...OFFER, offerId: i + 10 }))
  const cells = others.flatMap(({ offerId }) => ['US', 'DE'].map((country) => cellOf(offerId, 2_000, 100, 2 * USD, country))) // prettier-ignore
  const { segments } = estimate([...cells, cellOf(1, 2_000, 200, 2 * USD, 'US'), cellOf(1, 2_000, 20, 2 * USD, 'DE')], [...others, OFFER]) // prettier-ignore
  const factorIn = (country: string) => segments.find((one) => one.country === country)?.cells.find(({ offerId }) => offerId === 1)?.factor ?? 1 // prettier-ignore
  assert.ok(factorIn('US') > 1.5 && factorIn('DE') < 0.5, `${factorIn('US')} ${factorIn('DE')}`)
})

test('clicks from a country where everything earns much do not make an offer better', () => {
  const offers = Array.from({ length: 40 }, (_, i) => ({ ...OFFER, offerId: i + 1 }))
  const cells = offers.map(({ offerId }) => (offerId % 2 === 0 ? cellOf(offerId, 2_000, 200, 2 * USD, 'US') : cellOf(offerId, 2_000, 20, 2 * USD, 'IN'))) // prettier-ignore
  const estimates = estimate(cells, offers)
  const [rich, poor] = [epcOf(estimates, { ...OFFER, offerId: 2 }), epcOf(estimates, { ...OFFER, offerId: 1 })]
  assert.ok(rich / poor < 1.2, `${rich} ${poor}`)
})

const clicks = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e9, noNaN: true }))
const data = fc.record({
  offers: fc.array(
    fc.record({
      category: fc.constantFrom(...CATEGORIES),
      payoutMicros: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1e11 })),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  cells: fc.array(
    fc.record({
      offer: fc.nat(7),
      country: fc.constantFrom('', 'US', 'DE'),
      platform: fc.constantFrom('', 'ios', 'web'),
      clicks,
      approved: fc.double({ min: -10, max: 1e8, noNaN: true }),
      earnedMicros: fc.double({ min: -1e9, max: 1e15, noNaN: true }),
      allClicks: clicks,
    }),
    { maxLength: 20 },
  ),
})
type Data = typeof data extends fc.Arbitrary<infer T> ? T : never

const estimateAll = ({ offers, cells }: Data) => {
  const known = offers.map((offer, offerId) => ({ ...offer, offerId }))
  return { known, estimates: estimate(cells.map(({ offer, ...cell }) => ({ ...cell, offerId: offer })), known) } // prettier-ignore
}

test('whatever is counted, every estimate is a number that is not negative', () => {
  fc.assert(
    fc.property(data, (given) => {
      const { known, estimates } = estimateAll(given)
      const isSound = (value: number) => Number.isFinite(value) && value >= 0
      for (const { category, payoutMicros } of known) assert.ok(isSound(priorEpcMicros(estimates.means, category, payoutMicros))) // prettier-ignore
      for (const { seen, expected } of estimates.offers) assert.ok(isSound(seen) && isSound(expected))
      for (const { cells } of estimates.segments) for (const { factor } of cells) assert.ok(isSound(factor))
    }),
  )
})

test('more earnings of the same clicks never lower an offer, and more clicks for the same earnings never raise it', () => {
  const count = fc.integer({ min: 0, max: 5_000 })
  fc.assert(
    fc.property(count, count, count, fc.integer({ min: 1, max: 100 }), (n, conversions, more, dollars) => {
      const offer = { ...OFFER, payoutMicros: dollars * USD }
      const others = Array.from({ length: 5 }, (_, i) => ({ ...OFFER, offerId: i + 10 }))
      const rest = others.map(({ offerId }) => cellOf(offerId, 1e7, 1e5, 2 * USD)) // so many that they stay the mean
      const epc = (its: number, seen: number) => epcOf(estimate([...rest, cellOf(1, its, seen, offer.payoutMicros)], [...others, offer]), offer) // prettier-ignore
      const slack = 1.001 // an offer is a part of the mean that it is compared with
      assert.ok(epc(n, conversions + more) * slack >= epc(n, conversions))
      assert.ok(epc(n + more, conversions) <= epc(n, conversions) * slack)
    }),
  )
})

test('an estimate lies between what was seen and what was expected, and goes from the one to the other with the data', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 50, noNaN: true }), fc.integer({ min: 1, max: 1_000 }), (ratio, expected) => {
      const estimated = shrink(ratio * expected, expected)
      assert.ok(estimated >= Math.min(1, ratio) - 1e-9 && estimated <= Math.max(1, ratio) + 1e-9)
      assert.ok(Math.abs(shrink(ratio * expected * 10, expected * 10) - ratio) <= Math.abs(estimated - ratio) + 1e-9)
      assert.equal(shrink(0, 0), 1)
      assert.ok(Math.abs(shrink(ratio * PRIOR, PRIOR) - (ratio + 1) / 2) < 1e-9, 'as much data as the prior: halfway')
    }),
  )
})
