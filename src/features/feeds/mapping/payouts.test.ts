// What each upstream pays for what, where, and in which currency: never guessed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presetOf } from '../presets/presets.ts'
import { mapOffer } from './map-offer.ts'
import type { Mapping } from './mapping.ts'

/** ID, currency, amounts by goal, countries, platforms; or why it is left out. */
function read(upstream: string, item: object, more: Partial<Mapping> = {}): unknown[][] {
  const { mapping } = presetOf(upstream)!
  return mapOffer({ ...mapping, ...more }, item).map((mapped) => {
    if ('skipped' in mapped) return [mapped.id, mapped.skipped]
    const { currency, goals, record, caps } = mapped.offer
    const countries = record['countries'] as string[]
    return [
      mapped.id,
      currency,
      goals.map(({ external_id, micros }) => `${external_id} ${micros / 1_000_000}`).join(),
      countries.length > 100 ? `all but ${249 - countries.length}` : countries.join(),
      [record['platforms'] ?? 'all'].flat().join(),
      ...caps.map(({ field, micros, currency: of }) => `${field} ${micros / 1_000_000} ${of}`),
      ...Object.entries(record).flatMap(([name, value]) => (name.endsWith('_cap') ? `${name} ${String(value)}` : [])),
    ]
  })
}

const affise = (payments: object[], more: object = {}) =>
  read('affise', { id: 5, title: 'Lumo', link: 'https://t.test/c?o=5', payments: payments.map((one) => ({ currency: 'USD', type: 'fixed', title: 'A goal', ...one })), ...more }) // prettier-ignore

test('Affise: goals in several currencies are left out, one in another is in that one', () => {
  const dollars = { goal: '1', title: 'Install', revenue: 1 }
  assert.deepEqual(affise([dollars, { goal: '2', title: 'Buy', revenue: 9, currency: 'EUR' }]), [['5', 'its payouts are in several currencies: USD, EUR']]) // prettier-ignore
  assert.deepEqual(affise([{ ...dollars, currency: 'EUR' }]), [['5', 'EUR', '1 1', '', 'all']])
  assert.deepEqual(affise([{ ...dollars, currency: null }]), [['5', '', '1 1', '', 'all']])
  assert.deepEqual(affise([{ ...dollars, currency: null }, { goal: '2', revenue: 9, currency: 'EUR' }]), [['5', 'its payouts are in several currencies: an unknown one, EUR']]) // prettier-ignore
  const byCountry = affise([{ ...dollars, countries: ['US'] }, { ...dollars, revenue: 9, currency: 'EUR', countries: ['FR'] }]) // prettier-ignore
  assert.deepEqual(byCountry, [['5:US', 'USD', '1 1', 'US', 'all'], ['5:FR', 'EUR', '1 9', 'FR', 'all']]) // prettier-ignore
})

test('Affise: a row for all countries but some, a row for each OS, and rows that name a country before those that do not', () => {
  const row = { goal: '1', revenue: 1 }
  assert.deepEqual(affise([{ ...row, countries: ['US'], country_exclude: true }]), [['5', 'USD', '1 1', 'all but 1', 'all']]) // prettier-ignore
  assert.deepEqual(affise([{ ...row, countries: ['US'], country_exclude: true }, { ...row, revenue: 3, countries: ['US'] }]), [
    ['5:US', 'USD', '1 3', 'US', 'all'],
    ['5:*', 'USD', '1 1', 'all but 1', 'all'],
  ]) // prettier-ignore
  assert.deepEqual(affise([row, { ...row, revenue: 3, countries: ['US'] }]), [
    ['5:US', 'USD', '1 3', 'US', 'all'],
    ['5:*', 'USD', '1 1', 'all but 1', 'all'],
  ]) // prettier-ignore
  assert.deepEqual(affise([{ ...row, countries: ['US'], os: ['Android'] }, { ...row, revenue: 2, countries: ['US'], os: ['iOS'] }]), [
    ['5:US/android', 'USD', '1 1', 'US', 'android'],
    ['5:US/ios', 'USD', '1 2', 'US', 'ios'],
  ]) // prettier-ignore
  assert.deepEqual(
    affise([
      { ...row, os: ['Android'] },
      { ...row, os: ['iOS'] },
    ]),
    [
      ['5:android', 'USD', '1 1', '', 'android'],
      ['5:ios', 'USD', '1 1', '', 'ios'],
    ],
  )
  assert.deepEqual(affise([{ ...row, countries: ['US'] }, { ...row, revenue: 2, countries: ['US'] }]), [['5', 'its goal "A goal" has conflicting payouts']]) // prettier-ignore
  assert.deepEqual(affise([{ ...row, countries: ['US', 'XX'] }]), [['5', 'its country XX is not an ISO 3166-1 code']]) // prettier-ignore
})

test('Affise: a budget is what the network pays, in its currency, beside a cap of conversions', () => {
  const cap = (period: string, type: string, value: number | string) => ({ period, type, value })
  const of = (...caps: object[]) => affise([{ goal: '1', revenue: 1, currency: 'EUR' }], { caps })[0]?.slice(5)
  assert.deepEqual(of(cap('day', 'budget', 100), cap('day', 'conversions', 25)), ['daily_revenue_cap 100 EUR', 'daily_conversion_cap 25']) // prettier-ignore
  assert.deepEqual(of(cap('all', 'budget', 5_000), cap('all', 'conversions', 900)), ['total_revenue_cap 5000 EUR', 'total_conversion_cap 900']) // prettier-ignore
  assert.deepEqual(of(cap('month', 'conversions', 25), cap('day', 'budget', 0)), [])
  assert.deepEqual(of(cap('day', 'conversions', 1e15), cap('all', 'conversions', -1)), [])
  assert.deepEqual(of(cap('all', 'budget', 250_000)), ['total_revenue_cap 250000 EUR'])
  assert.deepEqual(of(cap('day', 'budget', -1), cap('all', 'budget', 'unlimited'), cap('all', 'budget', 80)), ['total_revenue_cap 80 EUR']) // prettier-ignore
  assert.ok(presetOf('affise')?.back.notes.some((note) => note.includes('Monthly caps')))
})

const trackier = (change: object) =>
  read('trackier', { id: 18, title: 'Hopla', model: 'cpi', countries: ['FR', 'BE'], tracking_link: 'https://t.test/x', payouts: [{ payout: 0.5 }], ...change }) // prettier-ignore

test('Trackier: goals that are paid by country are paid so, and an offer runs where its campaign does', () => {
  const goal = { id: 'g', value: 'reg', title: 'Register', payouts: [{ payout: 1.1, geo: ['FR'] }, { payout: 0.3, geo: ['BE'] }] } // prettier-ignore
  assert.deepEqual(trackier({ goals: [goal] }), [
    ['18:FR', '', ' 0.5,reg 1.1', 'FR', 'all'],
    ['18:BE', '', ' 0.5,reg 0.3', 'BE', 'all'],
  ])
  assert.deepEqual(trackier({ payouts: [{ payout: 0.5 }, { payout: 2, geo: ['FR'] }] }), [
    ['18:FR', '', ' 2', 'FR', 'all'],
    ['18:*', '', ' 0.5', 'BE', 'all'],
  ])
  assert.deepEqual(trackier({ payouts: [{ payout: 2, geo: ['FR', 'US'] }, { payout: 3, geo: ['DE'] }] }), [['18', '', ' 2', 'FR', 'all']]) // prettier-ignore
  assert.deepEqual(trackier({ payouts: [{ payout: 2, geo: ['FR'] }, { payout: 3, geo: ['FR'] }] }), [['18', 'it has conflicting payouts: 2 and 3']]) // prettier-ignore
  assert.deepEqual(trackier({ payouts: [{ payout: 2, geo: ['US'] }] }), [['18', 'it has no payout for any of its countries and platforms']]) // prettier-ignore
})

const offer18 = (payout: object[], more: object = {}) =>
  read('offer18', { offerid: '041', name: 'Zeta', status: 'active', currency: 'USD', price: 0, click_url: 'https://t.test/c?o=41', events: [{ event_name: 'Deposit', event_token: 'dep' }], payout, ...more }) // prettier-ignore

test('Offer18: payouts under conditions, of one event twice, and in other currencies', () => {
  const dep = { field: 'event', value: 'dep' }
  const pays = (payout: string, currency = 'USD', ...more: object[]) => ({ payout, currency, condition: [[dep, ...more]] }) // prettier-ignore
  assert.deepEqual(offer18([pays('6')]), [['041', 'USD', 'dep 6', '', 'all']])
  assert.deepEqual(offer18([pays('6'), pays('6')]), [['041', 'USD', 'dep 6', '', 'all']])
  assert.deepEqual(offer18([pays('6'), pays('2')]), [['041', 'it has conflicting payouts: 6 and 2']])
  const inUs = { field: 'country', value: 'US' }
  assert.deepEqual(offer18([pays('6', 'USD', inUs)]), [['041', 'its payout is not a fixed amount']])
  assert.deepEqual(offer18([pays('6', 'EUR')]), [['041', 'EUR', 'dep 6', '', 'all']]) // the price of 0 is in no currency
  assert.deepEqual(offer18([pays('6', 'EUR')], { price: 1 }), [['041', 'its payouts are in several currencies: USD, EUR']]) // prettier-ignore
})

test('CPAlead: payouts by country, as a list and as an object', () => {
  const offer = (payouts_per_country: unknown) => read('cpalead', { id: 12, title: 'Win', amount: '0.75', payout_currency: 'USD', countries: ['US', 'CA', 'DE'], device: 'android', link: 'https://t.test/?id=12', payouts_per_country }) // prettier-ignore
  const expected = [['12:US', 'USD', ' 0.75', 'US', 'android'], ['12:CA', 'USD', ' 0.4', 'CA', 'android']] // prettier-ignore
  assert.deepEqual(offer({ US: 0.75, CA: '0.40' }), expected)
  assert.deepEqual(offer([{ country: 'US', payout: 0.75 }, { country: 'CA', payout: 0.4 }]), expected) // prettier-ignore
  assert.deepEqual(offer({ US: { amount: 0.75 }, CA: { amount: 0.4 } }), expected)
  for (const none of [undefined, null, [], {}]) assert.deepEqual(offer(none), [['12', 'USD', ' 0.75', 'US,CA,DE', 'android']]) // prettier-ignore
})

test('Everflow: platforms that are excluded, and those that are none of ours', () => {
  const rule = (label: string, targeting_type: string) => ({ label, targeting_type })
  const platforms = (...rules: object[]) => read('everflow', { network_offer_id: 7, name: 'A', tracking_url: 'https://t.test/A', relationship: { payouts: { entries: [{ network_offer_payout_revenue_id: 1, is_default: true, payout_amount: 1 }] }, ruleset: { platforms: rules } } })[0]?.at(-1) // prettier-ignore
  assert.equal(platforms(), 'all')
  assert.equal(platforms(rule('iOS', 'exclude')), 'web,android')
  assert.equal(platforms(rule('Mobile', 'include'), rule('iOS', 'exclude')), 'android')
  assert.equal(platforms(rule('iOS', 'include'), rule('iOS', 'exclude')), 'it runs on none of our platforms')
  assert.equal(platforms(rule('Fridge', 'include')), 'it is for "Fridge", which is not one of our platforms')
})

test('countries, lists and amounts can be constants, or have a default', () => {
  const item = { offerid: '1', name: 'A', status: 'active', click_url: 'https://t.test/c', price: '' }
  const constant = { payout: { default: '0.5' }, countries: { include: { default: ['US', 'uk'] } }, currency: { default: 'EUR' } } // prettier-ignore
  assert.deepEqual(read('offer18', item, constant), [['1', 'EUR', ' 0.5', 'US,GB', 'all']])
  const either = { payout: { path: 'price', default: '2' }, countries: { include: { path: 'geo', split: ',', default: ['FR'] } } } // prettier-ignore
  assert.deepEqual(read('offer18', item, either), [['1', '', ' 2', 'FR', 'all']])
  assert.deepEqual(read('offer18', { ...item, price: 3, geo: 'DE' }, either), [['1', '', ' 3', 'DE', 'all']])
})

test('ayeT: what is left of a cap today is the cap of the day', () => {
  const offer = { id: 61, name: 'Tidal', payout_usd: 4.5, countries: ['DE'], platforms: ['ios'], tracking_link: 'https://t.test/?u={external_identifier}' } // prettier-ignore
  assert.deepEqual(read('ayet', { ...offer, daily_cap: 12 })[0]?.at(-1), 'daily_conversion_cap 12')
  assert.deepEqual(read('ayet', { ...offer, daily_cap: 0 }), [['61', 'nothing is left of its daily cap']])
  assert.equal(read('ayet', { ...offer, daily_cap: null })[0]?.length, 5, 'it has no cap')
})
