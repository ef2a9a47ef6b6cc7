import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MappedOffer } from './mapping/map-offer.ts'
import { priceOffer, type Pricing } from './price.ts'

const DOLLAR = 10n ** 10n
const SEVENTY: Pricing = { currency: 'USD', sharePpm: 700_000, minMarginMicros: null, maxMarginMicros: null }

/** What publishers are paid for goals of these amounts, in dollars; or why it is nothing. */
function payouts(amounts: number[], pricing: Partial<Pricing> = {}): number[] | string {
  const goals = amounts.map((micros, i) => ({ external_id: String(i), name: 'Goal', description: '', is_optional: false, micros })) // prettier-ignore
  const offer: MappedOffer = { external_id: 'x', currency: '', goals, caps: [], ignoredCaps: [], record: {} }
  const priced = priceOffer(offer, { ...SEVENTY, ...pricing }, () => DOLLAR)
  return 'problem' in priced ? priced.problem : priced.goals.map(({ payout }) => Number(payout))
}

test('publishers are paid their share of each goal, and the operator keeps what it wants at least and at most', () => {
  const goals = [100_000, 10_000_000, 100_000_000]
  assert.deepEqual(payouts(goals), [0.07, 7, 70])
  assert.deepEqual(payouts(goals, { minMarginMicros: 50_000 }), [0.05, 7, 70])
  assert.deepEqual(payouts(goals, { maxMarginMicros: 10_000_000 }), [0.07, 7, 90])
  assert.deepEqual(payouts(goals, { minMarginMicros: 5_000_000, maxMarginMicros: 5_000_000 }), [0, 5, 95])
  assert.equal(payouts([40_000], { minMarginMicros: 50_000 }), 'nothing would be left for publishers')
})

test('whatever the bounds are, no goal pays more than it earns, and one that earns more pays no less', () => {
  const micros = fc.integer({ min: 0, max: 1_000_000_000 })
  const bound = fc.option(micros)
  const shares = fc.integer({ min: 1, max: 1_000_000 })
  fc.assert(
    fc.property(micros, micros, shares, bound, bound, (one, other, sharePpm, minMarginMicros, maxMarginMicros) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)]
      const paid = payouts([less, more], { sharePpm, minMarginMicros, maxMarginMicros })
      if (typeof paid === 'string') return
      const [first = 0, second = 0] = paid
      assert.ok(first <= second && second * 1_000_000 <= more + 1)
    }),
  )
})

test('caps of amounts are in dollars, of several the lowest, and in a currency without a rate the offer is left out', () => {
  const goals = [{ external_id: '', name: 'Goal', description: '', is_optional: false, micros: 1_000_000 }]
  const rates = (currency: string) => ({ USD: DOLLAR, EUR: (DOLLAR * 11n) / 10n })[currency]
  const capped = (currency: string, ...caps: [number, string][]) => priceOffer({ external_id: 'x', currency, goals, record: {}, ignoredCaps: [], caps: caps.map(([amount, of]) => ({ field: 'daily_revenue_cap', micros: amount * 1_000_000, currency: of })) }, SEVENTY, rates) // prettier-ignore
  assert.partialDeepStrictEqual(capped('EUR', [100, '']), { caps: { daily_revenue_cap: '110.00' } })
  assert.partialDeepStrictEqual(capped('USD', [100, 'EUR'], [105, '']), { caps: { daily_revenue_cap: '105.00' } })
  assert.deepEqual(capped('USD', [100, 'JPY']), {
    problem: 'it has a cap in JPY, and there is no exchange rate for JPY',
  })
  assert.partialDeepStrictEqual(capped('USD', [250_000, '']), { caps: { daily_revenue_cap: '250000.00' } })
  assert.deepEqual((capped('USD', [1_000_000_000, '']) as { caps: object }).caps, {}, 'as much as that is no cap')
})

test('an offer that pays more than 100,000 dollars is left out, whatever its currency', () => {
  const rates = (currency: string) => (currency === 'VND' ? 400_000n : DOLLAR)
  const goals = (amount: number) => [{ external_id: '', name: 'Goal', description: '', is_optional: false, micros: amount * 1_000_000 }] // prettier-ignore
  const price = (amount: number, currency: string) => priceOffer({ external_id: 'x', currency, goals: goals(amount), caps: [], ignoredCaps: [], record: {} }, SEVENTY, rates) // prettier-ignore
  assert.partialDeepStrictEqual(price(150_000, 'VND'), { goals: [{ revenue: '6.00', payout: '4.20' }] })
  assert.deepEqual(price(3_000_000_000, 'VND'), { problem: 'it pays more than 100,000 dollars' })
  assert.deepEqual(price(100_001, 'USD'), { problem: 'it pays more than 100,000 dollars' })
  assert.partialDeepStrictEqual(price(100_000, 'USD'), { goals: [{ revenue: '100000.00' }] })
})
