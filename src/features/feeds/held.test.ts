// Payouts that change by much: what waits for an operator's approval, and what does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, NO_CHANGES as NONE } from '../../../test/upstreams/feed.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { dayOf, setRates } from '../rates/rates.ts'
import { FEED_DEFAULTS, type FeedSettings } from './feed-settings.ts'
import { changeFeed } from './feeds.ts'
import { approveHeld, findFeedOfOffer, releasePins } from './pins.ts'

const world = useWorld('feed_held')
const createOne = (settings: Partial<FeedSettings> = {}) => createTestFeed(world, { settings })

test('a payout that changes too much waits until it is approved', async () => {
  const { upstream, feedId, run, ofFeed } = await createOne({ maxPayoutChangePpm: 500_000 })
  await run()
  upstream.offers = upstream.offers.map((offer) =>
    offer.id === 1_001 ? { ...offer, payout: offer.payout * 10 } : offer,
  )
  assert.deepEqual((await run()).counts, { ...NONE, fetched: 10, held: 1, unchanged: 9 })
  const { payout_micros } = await ofFeed(1)
  assert.equal(payout_micros, 500_000)
  await approveHeld(world.database.db, TESTER, feedId, ['1001'])
  await run()
  assert.equal((await ofFeed(1)).payout_micros, 5_000_000)
})

test('what an operator sets waits for no approval: not a share, not a margin, not a currency, not a rate', async () => {
  const { db } = world.database
  const { feedId, run, ofFeed } = await createTestFeed(world, { preset: 'lootably', settings: { maxPayoutChangePpm: 500_000 } }) // prettier-ignore
  await run()
  await setRates(db, TESTER, [{ currency: 'EUR', day: dayOf(new Date()), usd: '10' }], new Date())
  const set = async (settings: Partial<FeedSettings>) => {
    await changeFeed(db, TESTER, SECRET_KEY, feedId, { settings: { ...FEED_DEFAULTS, maxPayoutChangePpm: 500_000, ...settings } }) // prettier-ignore
    const { counts } = await run()
    return [counts.held, (await ofFeed(1)).payout_micros]
  }
  assert.deepEqual(await set({ sharePpm: 400_000 }), [0, 200_000])
  assert.deepEqual(await set({ minMarginMicros: 450_000 }), [0, 50_000])
  assert.deepEqual(await set({ currency: 'EUR' }), [0, 5_000_000])
  await setRates(db, TESTER, [{ currency: 'EUR', day: dayOf(new Date()), usd: '1' }], new Date())
  assert.deepEqual(await set({ currency: 'EUR' }), [0, 500_000])
})

test('where a payout waits, the rest of the offer follows; one that was gone returns when it is approved', async () => {
  const { db } = world.database
  const { upstream, feedId, run, ofFeed } = await createOne({ maxPayoutChangePpm: 500_000 })
  await run()
  const all = upstream.offers
  const change = (more: object) => (upstream.offers = all.map((offer) => (offer.id === 1_001 ? { ...offer, ...more } : offer))) // prettier-ignore
  change({ payout: 5, name: 'Renamed', country: 'FR' })
  const { runId, counts } = await run()
  assert.deepEqual(counts, { ...NONE, fetched: 10, held: 1, unchanged: 9 })
  assert.partialDeepStrictEqual(await ofFeed(1), { payout_micros: 500_000, name: 'Renamed', countries: ['FR'] })
  const noted = await db.selectFrom('feed_changes').select('details').where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
  assert.partialDeepStrictEqual(noted.details, { payout: { before: 0.5, after: 5 }, changes: { name: { after: 'Renamed' } } }) // prettier-ignore
  assert.deepEqual((await findFeedOfOffer(db, (await ofFeed(1)).offer_id))?.pinned, [])
  upstream.offers = all
  assert.deepEqual((await run()).counts, { ...NONE, fetched: 10, changed: 1, unchanged: 9 })
  assert.partialDeepStrictEqual(await ofFeed(1), { payout_micros: 500_000, name: all[1]?.name, countries: ['DE'] })
  upstream.offers = all.filter(({ id }) => id !== 1_001)
  await run()
  change({ payout: 0.1 })
  assert.deepEqual((await run()).counts, { ...NONE, fetched: 10, held: 1, unchanged: 9 })
  assert.partialDeepStrictEqual(await ofFeed(1), { status: 'paused', payout_micros: 500_000 })
  await approveHeld(db, TESTER, feedId, ['1001'])
  await run()
  assert.partialDeepStrictEqual(await ofFeed(1), { status: 'active', payout_micros: 100_000 })
})

const HOLD = { maxPayoutChangePpm: 500_000 }
/** A feed that was run, with one offer; and what its upstream then pays, by goal or in all. Returns how many wait. */
async function startHolding() {
  const feed = await createTestFeed(world, { settings: HOLD, offers: 2 })
  const pays = async (...amounts: number[]) => {
    const goals = amounts.length === 1 ? [] : amounts.map((payout, i) => ({ id: `g${i}`, name: `Goal ${i}`, payout }))
    feed.upstream.offers = feed.upstream.offers.map((offer) => (offer.id === 1_001 ? { ...offer, payout: amounts[0] ?? 0, goals } : offer)) // prettier-ignore
    return (await feed.run()).counts.held
  }
  await pays(0.5)
  const { offer_id } = await feed.ofFeed(1)
  const setPayout = (payout_micros: number) => editOffer(world, offer_id, ({ goals }) => ({ goals: goals.map((goal) => ({ ...goal, payout_micros })), payout_micros })) // prettier-ignore
  const release = () => releasePins(world.database.db, TESTER, offer_id, ['goals'])
  const approve = () => approveHeld(world.database.db, TESTER, feed.feedId, ['1001'])
  const payout = async () => (await feed.ofFeed(1)).payout_micros / 1_000_000
  return { ...feed, pays, setPayout, release, approve, payout }
}

test('a payout that was edited, or is edited while it waits, waits when it follows the feed again', async () => {
  const { pays, setPayout, release, approve, payout } = await startHolding()
  await setPayout(300_000)
  assert.equal(await pays(50), 0)
  await release()
  assert.deepEqual([await pays(50), await payout()], [1, 0.3])
  await setPayout(400_000)
  assert.equal(await pays(50), 0)
  await release()
  assert.deepEqual([await pays(50), await payout()], [1, 0.4])
  await approve()
  assert.deepEqual([await pays(50), await payout()], [0, 50])
})

test('an approval is for one change, of what the network pays', async () => {
  const { db } = world.database
  const { pays, approve, payout, feedId, upstream, run } = await startHolding()
  assert.equal(await pays(5), 1)
  await approve()
  await changeFeed(db, TESTER, SECRET_KEY, feedId, { settings: { ...FEED_DEFAULTS, ...HOLD, sharePpm: 800_000 } })
  assert.deepEqual([await pays(5), await payout()], [0, 4])
  for (const amount of [2.6, 1.4, 0.8, 0.5]) assert.equal(await pays(amount), 0)
  assert.deepEqual([await pays(5), await payout()], [1, 0.4])
  await approve()
  const all = upstream.offers
  upstream.offers = all.filter(({ id }) => id !== 1_001)
  await run()
  upstream.offers = all
  assert.equal((await run()).counts.held, 1, 'what was gone meanwhile waits again')
})

test('goals that swap what they pay wait, though their sum is the same', async () => {
  const { pays, approve } = await startHolding()
  await pays(0.5, 0.3)
  await approve()
  assert.equal(await pays(0.5, 0.3), 0)
  assert.equal(await pays(0.3, 0.5), 1)
  assert.equal(await pays(0.5, 0.3), 0)
  assert.equal(await pays(0.5, 0.3, 0.3), 0, 'what is added counts in the sum')
})

test('a goal that paid nothing and then pays waits, whatever the others pay', async () => {
  const { pays, approve } = await startHolding()
  await pays(0, 10)
  await approve()
  assert.equal(await pays(0, 10), 0)
  assert.equal(await pays(4, 10), 1)
})
