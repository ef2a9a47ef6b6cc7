// What an operator edits in an offer of a feed, takes back, and lets follow the feed again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed } from '../../../test/upstreams/feed.ts'
import { SHAPES } from '../../../test/upstreams/shapes.ts'
import { useWorld } from '../../../test/world.ts'
import { setOfferStatus } from '../offers/offers.ts'
import { findFeedOfOffer } from './pins.ts'

const world = useWorld('feed_pins')
const pinsOf = async (offerId: number) => (await findFeedOfOffer(world.database.db, offerId))?.pinned
const setPayout = (offerId: number, payout_micros: number) => editOffer(world, offerId, ({ goals }) => ({ goals: goals.map((goal) => ({ ...goal, payout_micros })), payout_micros })) // prettier-ignore

test('an edit that is taken back by hand follows what the feed has had meanwhile', async () => {
  const { upstream, run, ofFeed } = await createTestFeed(world)
  const change = (more: object) => (upstream.offers = upstream.offers.map((offer) => (offer.id === 1_001 ? { ...offer, ...more } : offer))) // prettier-ignore
  await run()
  const { offer_id } = await ofFeed(1)
  await setPayout(offer_id, 400_000)
  await editOffer(world, offer_id, () => ({ countries: ['AT'] }))
  change({ payout: 0.1, country: 'FR' })
  await run()
  const [countries, goals] = (await pinsOf(offer_id))?.map(({ feed_value }) => feed_value) ?? []
  assert.deepEqual(countries, ['FR'])
  assert.partialDeepStrictEqual(goals, [{ payout: 0.1 }])
  await setPayout(offer_id, 500_000)
  await editOffer(world, offer_id, () => ({ countries: ['DE'] }))
  assert.deepEqual(await pinsOf(offer_id), [])
  assert.equal((await run()).counts.changed, 1)
  assert.partialDeepStrictEqual(await ofFeed(1), { payout_micros: 100_000, revenue_micros: 100_000, countries: ['FR'] })
})

test('an offer that was resumed by hand while it was gone, and is paused after it returned, stays paused', async () => {
  const { db } = world.database
  const { upstream, run, ofFeed } = await createTestFeed(world)
  await run()
  const all = upstream.offers
  upstream.offers = all.filter(({ id }) => id !== 1_001)
  await run()
  const { offer_id } = await ofFeed(1)
  await setOfferStatus(db, TESTER, offer_id, 'active')
  upstream.offers = all
  await run()
  assert.deepEqual(await pinsOf(offer_id), [])
  await setOfferStatus(db, TESTER, offer_id, 'paused')
  await run()
  assert.equal((await ofFeed(1)).status, 'paused')
})

test('an edit that the feed catches up with is none, and taking it back is one', async () => {
  const { upstream, run, ofFeed } = await createTestFeed(world)
  await run()
  const { offer_id, name } = await ofFeed(1)
  await editOffer(world, offer_id, () => ({ name: 'Ours' }))
  upstream.offers = upstream.offers.map((offer) => (offer.id === 1_001 ? { ...offer, name: 'Ours' } : offer))
  await run()
  await editOffer(world, offer_id, () => ({ name }))
  await run()
  assert.equal((await ofFeed(1)).name, name)
})

test('an upstream is not asked for changes only while something of it is not applied', async () => {
  const { upstream, run, ofFeed } = await createTestFeed(world, { preset: 'lootably', offers: 2 })
  upstream.trouble = ({ headers }, response) => {
    const etag = JSON.stringify(String(upstream.offers[1]?.name))
    const answer = { success: true, data: { offers: upstream.offers.map((offer) => SHAPES['lootably']?.item(offer)) } }
    upstream.send(response, headers['if-none-match'] === etag ? 304 : 200, headers['if-none-match'] === etag ? '' : answer, { etag }) // prettier-ignore
    return true
  }
  const rename = (offerId: number, name: string) => editOffer(world, offerId, () => ({ name }))
  await run()
  assert.equal((await run()).outcome, 'unchanged')
  const { offer_id, name } = await ofFeed(1)
  await rename(offer_id, 'Ours')
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: 'Theirs' }))
  await run()
  await rename(offer_id, name)
  await run()
  assert.equal((await ofFeed(1)).name, 'Theirs')
  assert.equal((await run()).outcome, 'unchanged')
})

test('fields that an earlier version did not know are no edits, and an edit of one is', async () => {
  const { upstream, feedId, run, ofFeed } = await createTestFeed(world, { offers: 3 })
  await run()
  await sql`UPDATE feed_offers SET applied = jsonb_set(applied - 'boost', '{goals}', (SELECT jsonb_agg(goal - 'is_repeatable') FROM jsonb_array_elements(applied -> 'goals') goal))
    WHERE feed_id = ${feedId}`.execute(world.database.db) // prettier-ignore
  const [one, two] = [await ofFeed(1), await ofFeed(2)]
  assert.deepEqual([await pinsOf(one.offer_id), await pinsOf(two.offer_id)], [[], []])
  await editOffer(world, one.offer_id, ({ goals }) => ({ boost_percent: 200, goals: goals.map((goal) => ({ ...goal, is_repeatable: true })) })) // prettier-ignore
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, payout: offer.payout * 2 }))
  await run()
  assert.deepEqual(
    (await pinsOf(one.offer_id))?.map(({ field }) => field),
    ['goals', 'boost'],
  )
  assert.partialDeepStrictEqual(await ofFeed(1), { boost_percent: 200, payout_micros: one.payout_micros })
  assert.deepEqual(await pinsOf(two.offer_id), [])
  assert.equal((await ofFeed(2)).payout_micros, two.payout_micros * 2)
})
