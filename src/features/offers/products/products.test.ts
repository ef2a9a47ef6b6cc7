// One product in several offers: which is listed, and that no place loses it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editOffer } from '../../../../test/edit-offer.ts'
import { TESTER } from '../../../../test/tester.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import { createAdvertiser } from '../../accounts/advertisers.ts'
import { setContentRules } from '../../apps/content-rules.ts'
import type { IssuedCredentials } from '../../apps/keys.ts'
import { changeRewardSettings } from '../../apps/reward-settings.ts'
import { setOfferStatus } from '../offers.ts'
import { isEnough } from '../rewards.ts'
import { JudgedOffers } from './app-rules.ts'
import { arrangeProducts } from './arrange-products.ts'
import { chooseShown, type Rival } from './choose.ts'
import { readLinkedProduct, readProduct } from './product.ts'
import { setProductRule } from './product-rule.ts'

let live: IssuedCredentials
const world = useWorld('products', async () => {
  live = (await world.createApp()).live
})

const judged = new JudgedOffers()

async function listed(query = '', keys = live): Promise<number[]> {
  await arrangeProducts(world.database.db, judged)
  await world.app.refresh()
  const { body } = await world.get(`/v1/offers?userId=u&limit=100${query}`, keys)
  return body.data.offers.map(({ offer_id }) => offer_id).toSorted((a, b) => a - b)
}

const pause = (offerId: number, status: 'paused' | 'active') =>
  setOfferStatus(world.database.db, TESTER, offerId, status)
const remove = (...ids: number[]) => Promise.all(ids.map((id) => pause(id, 'paused')))

test('the one with the highest payout is listed; the next takes its place while it is paused or full, and links of all work', async () => {
  const product = 'https://play.google.com/store/apps/details?id=com.example.game&hl=de'
  const [low = 0, high = 0, middle = 0, other = 0] = await world.createOffers(
    { product: 'android:com.example.game', payout: 1 },
    { product, payout: 3, total_click_cap: 1 },
    { product, payout: 2 },
    { product: 'android:com.example.other', payout: 1 },
  )
  const link = (await world.get(`/v1/offers/${low}?userId=seen`, live)).body.data.offer.link
  assert.deepEqual(await listed(), [high, other])
  const { body } = await world.get(`/v1/offers/${low}/why?userId=u`, live)
  assert.deepEqual((body.data as unknown as { reasons: { code: string }[] }).reasons.map(({ code }) => code), ['behind']) // prettier-ignore
  assert.equal((await world.follow(link)).status, 302)
  await world.click(high, live)
  assert.deepEqual(await listed(), [middle, other], 'the first one is full')
  await pause(middle, 'paused')
  assert.deepEqual(await listed(), [low, other])
  await pause(middle, 'active')
  assert.deepEqual(await listed(), [middle, other])
  await setProductRule(world.database.db, TESTER, { rule: 'all', order: [] })
  assert.deepEqual(await listed(), [low, middle, other])
  await setProductRule(world.database.db, TESTER, { rule: 'highest_payout', order: [] })
  await remove(low, high, middle, other)
})

test('offers for other countries, platforms or categories stay beside it, and those that publishers are allowed singly', async () => {
  const { db } = world.database
  const product = 'game'
  const [us = 0, both = 0, inside = 0, game = 0, single = 0] = await world.createOffers(
    { product, payout: 9, countries: ['US'] },
    { product, payout: 5, countries: ['US', 'DE'] },
    { product, payout: 4, countries: ['DE'] },
    { product, payout: 1, countries: ['US'], category: 'game' },
    { product, payout: 1, countries: ['US'] },
  )
  const { publisher_id } = await db.selectFrom('publishers').select('publisher_id').executeTakeFirstOrThrow()
  await db.insertInto('publisher_offers').values({ publisher_id, offer_id: single, is_allowed: false }).execute()
  assert.deepEqual(await listed('&country=US'), [us, both, game, single])
  assert.deepEqual(await listed('&country=DE'), [both])
  await db.deleteFrom('publisher_offers').execute()
  assert.deepEqual(await listed('&country=US'), [us, both, game])
  await remove(us, both, inside, game, single)
})

test('a fixed order of advertisers comes before the payout', async () => {
  const { db } = world.database
  const made = await world.createOffers({ product: 'x', payout: 9 }, { product: 'x', payout: 2 })
  const { advertiser_id } = await createAdvertiser(db, TESTER, SECRET_KEY, 'First choice')
  await db
    .updateTable('offers')
    .set({ advertiser_id })
    .where('offer_id', '=', made[1] as number)
    .execute()
  assert.deepEqual(await listed(), [made[0]])
  await setProductRule(db, TESTER, { rule: 'fixed_order', order: [advertiser_id] })
  assert.deepEqual(await listed(), [made[1]])
  await assert.rejects(setProductRule(db, TESTER, { rule: 'fixed_order', order: [advertiser_id, 999_999] }), /List each advertiser only once/) // prettier-ignore
  await setProductRule(db, TESTER, { rule: 'best_epc', order: [] })
  assert.deepEqual(await listed(), [made[0]], 'without any clicks, what pays more is expected to earn more')
  await setProductRule(db, TESTER, { rule: 'highest_payout', order: [] })
  await remove(...made)
})

test('no app loses a product because its own rules leave out the offer that is listed', async () => {
  const { db } = world.database
  const strict = await world.createApp({ blockedKeywords: ['casino', 'bingo*'] })
  const ofProduct = { product: 'android:com.example.royale' }
  const [first = 0, second = 0, third = 0] = await world.createOffers(
    { ...ofProduct, payout: 3, name: 'Casino Royale' },
    { ...ofProduct, payout: 2, name: 'Royale' },
    { ...ofProduct, payout: 1, name: 'The Casino' },
  )
  assert.deepEqual([await listed(), await listed('', strict.live)], [[first, second], [second]])
  const why = async (id: number) => ((await world.get(`/v1/offers/${id}/why?userId=u`, strict.live)).body.data as unknown as { reasons: { code: string }[] }).reasons.map(({ code }) => code) // prettier-ignore
  assert.deepEqual([await why(first), await why(second), await why(third)], [['content'], [], ['content', 'behind']])
  await editOffer(world, first, () => ({ name: 'Royale!' }))
  assert.deepEqual([await listed(), await listed('', strict.live)], [[first], [first]])
  await editOffer(world, first, () => ({ translations: JSON.stringify({ de: { description: 'Bingos' } }) }))
  assert.deepEqual([await listed(), await listed('', strict.live)], [[first, second], [second]])
  await setContentRules(db, TESTER, strict.appId, { blockedCategories: [], blockedKeywords: [], paymentOffers: true })
  assert.deepEqual([await listed(), await listed('', strict.live)], [[first], [first]])
  await remove(first, second, third)
})

test('nor because the offer that is listed pays less than the app asks for', async () => {
  const { db } = world.database
  const asking = await world.createApp({ rateMicros: 100_000_000 })
  const [cheap = 0] = await world.createOffers({ product: 'y', payout: 9 })
  const [dear = 0] = await world.createOffers({ product: 'y', payout: 10 })
  const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', cheap).executeTakeFirstOrThrow() // prettier-ignore
  await setProductRule(db, TESTER, { rule: 'fixed_order', order: [advertiser_id] })
  assert.deepEqual([await listed(), await listed('', asking.live)], [[cheap], [cheap]])
  await changeRewardSettings(db, TESTER, asking.appId, { minRewardSteps: 9_500_000 })
  assert.deepEqual([await listed(), await listed('', asking.live)], [[cheap, dear], [dear]])
  await changeRewardSettings(db, TESTER, asking.appId, { minRewardSteps: 9_000_000 })
  assert.deepEqual([await listed(), await listed('', asking.live)], [[cheap], [cheap]])
  await setProductRule(db, TESTER, { rule: 'highest_payout', order: [] })
  await changeRewardSettings(db, TESTER, asking.appId, { minRewardSteps: null })
  await remove(cheap, dear)
})

const WORDS = ['casino', 'bingo']
const MIN_REWARDS = [{ steps: 3, rateMicros: 1, sharePpm: 1_000_000, rounding: null }, { steps: 6, rateMicros: 1, sharePpm: 1_000_000, rounding: null }] // prettier-ignore
const rival = fc.record({
  blockedWords: fc.subarray(WORDS).map((words) => new Set(words)),
  payouts: fc.array(fc.nat(9), { minLength: 1, maxLength: 2 }).map((goals) => [goals.reduce((a, b) => a + b), ...goals].map((steps) => steps * 100_000_000)), // prettier-ignore

  product: fc.constantFrom('a', 'b'),
  isOpen: fc.boolean(),
  worth: fc.tuple(fc.nat(2), fc.nat(2)),
  countries: fc.subarray(['US', 'DE', 'FR']),
  platforms: fc.subarray(['web', 'ios'], { minLength: 1 }),
  category: fc.constantFrom('app', 'game'),
  paymentRequired: fc.constant(false),
})
/** What apps show by their own rules. */
const SHOWS = [null, ...WORDS].flatMap((word) => [null, ...MIN_REWARDS].map((least) => (one: Rival) => (word === null || !one.blockedWords.has(word)) && (least === null || isEnough(one.payouts, least)))) // prettier-ignore
const runsIn = ({ countries, platforms }: Rival, country: string, platform: string) =>
  (countries.length === 0 || countries.includes(country)) && platforms.includes(platform)

test('whatever the offers: no place and no app where one is open loses its product, none waits behind one that is not listed', () => {
  fc.assert(
    fc.property(fc.array(rival, { maxLength: 12 }), (given) => {
      const rivals: Rival[] = given.map((one, i) => ({ ...one, offerId: i + 1 }))
      const behind = chooseShown(rivals, MIN_REWARDS)
      const isShown = (one: Rival) => one.isOpen && behind.get(one.offerId) === null
      for (const one of rivals) {
        const other = rivals.find(({ offerId }) => offerId === behind.get(one.offerId))
        if (other !== undefined) assert.ok(isShown(other) && other.product === one.product)
        for (const country of ['US', 'DE', 'FR', 'JP'])
          for (const platform of ['web', 'ios'])
            for (const shows of SHOWS) {
              const isSeen = (it: Rival) => runsIn(it, country, platform) && shows(it)
              if (one.isOpen && isSeen(one))
                assert.ok(rivals.some((it) => it.product === one.product && it.category === one.category && isShown(it) && isSeen(it))) // prettier-ignore
            }
      }
    }),
  )
})

test('an app is known by its store, whatever the link; a page that many offers may share says nothing', () => {
  for (const link of [
    'https://apps.apple.com/us/app/candy/id553834731?mt=8',
    'https://itunes.apple.com/app/id553834731',
  ])
    assert.deepEqual([readProduct(link), readLinkedProduct(link)], ['ios:553834731', 'ios:553834731'])
  assert.deepEqual([readProduct(' '), readLinkedProduct('https://shop.example/'), readLinkedProduct('com.example.game')], [null, '', 'com.example.game']) // prettier-ignore
})
