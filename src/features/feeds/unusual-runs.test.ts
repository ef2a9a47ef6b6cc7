// Runs with rates that change by themselves, and with IDs that cannot be kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, NO_CHANGES, openSocket } from '../../../test/upstreams/feed.ts'
import { Upstream } from '../../../test/upstreams/server.ts'
import { SHAPES, upstreamOffer } from '../../../test/upstreams/shapes.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { FEED_DEFAULTS } from './feed-settings.ts'
import { createFeed } from './feeds.ts'
import { runFeed } from './run.ts'
import { dayOf, setRates } from '../rates/rates.ts'

const world = useWorld('feed_unusual_runs')

test('a rate that was sent the day before counts from its day on, also where the upstream has nothing new', async () => {
  const { db } = world.database
  const now = new Date()
  const tomorrow = dayOf(new Date(now.getTime() + 86_400_000))
  const { upstream, run, offersNow } = await createTestFeed(world, {
    preset: 'lootably',
    offers: 2,
    settings: { currency: 'EUR' },
  })
  const answer = {
    success: true,
    data: { offers: upstream.offers.map((offer) => SHAPES['lootably']?.item({ ...offer, payout: 2, goals: [] })) },
  }
  upstream.trouble = (asked, response) => {
    const isKnown = asked.headers['if-none-match'] === '"1"'
    upstream.send(response, isKnown ? 304 : 200, isKnown ? '' : answer, { etag: '"1"' })
    return true
  }
  const payouts = async () => (await offersNow()).map(({ payout_micros }) => payout_micros)
  await setRates(
    db,
    TESTER,
    [
      { currency: 'EUR', day: dayOf(now), usd: '1' },
      { currency: 'EUR', day: tomorrow, usd: '1.5' },
    ],
    now,
  )
  assert.equal((await run()).outcome, 'done')
  assert.equal((await run()).outcome, 'unchanged')
  assert.deepEqual(await payouts(), [2_000_000, 2_000_000])
  await sql`UPDATE currency_rates SET day = day - 1`.execute(db) // a day later
  assert.equal((await run()).outcome, 'done')
  assert.deepEqual(await payouts(), [3_000_000, 3_000_000])
  await setRates(db, TESTER, [{ currency: 'EUR', day: dayOf(now), usd: '1' }], now)
  assert.equal((await run()).outcome, 'done')
  assert.deepEqual(await payouts(), [2_000_000, 2_000_000])
})

test('offers whose IDs are too long to keep are each left out, however they begin', async () => {
  const { upstream, run } = await createTestFeed(world, { preset: 'lootably' })
  const ids = ['a', 'b', 'b', 'c'].map((end) => `${'x'.repeat(10_000)}${end}`)
  const offers = ids.map((offerID) => ({ ...(SHAPES['lootably']?.item(upstreamOffer(1)) as object), offerID }))
  upstream.trouble = (_, response) => (upstream.send(response, 200, { success: true, data: { offers } }), true)
  assert.deepEqual((await run()).counts, { ...NO_CHANGES, fetched: 3, skipped: 3 })
})

test('of two feeds of one advertiser, a run of one pauses nothing of the other, and nothing of no feed', async () => {
  const { db } = world.database
  const first = await createTestFeed(world, { preset: 'lootably', offers: 5 })
  const { advertiserId } = first
  const upstream = await new Upstream('everflow').open()
  upstream.offers = Array.from({ length: 5 }, (_, n) => upstreamOffer(n + 10))
  const { request, mapping, credentials } = upstream.source
  const kind = { request, mapping: { ...upstream.preset.mapping, ...mapping } }
  const { feedId } = await createFeed(db, TESTER, SECRET_KEY, { name: 'Second of one advertiser', advertiserId, kind, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  const runSecond = () => runFeed({ db, secretKey: SECRET_KEY, open: openSocket }, TESTER, feedId)
  const [own = 0] = await world.createOffers({ name: 'Of no feed' })
  await db.updateTable('offers').set({ advertiser_id: advertiserId }).where('offer_id', '=', own).execute()
  const paused = async () => (await first.offersNow()).filter(({ status }) => status === 'paused').map(({ external_id }) => external_id) // prettier-ignore
  await first.run()
  await runSecond()
  assert.deepEqual([(await first.offersNow()).length, await paused()], [11, []])
  first.upstream.offers = first.upstream.offers.slice(1)
  await first.run()
  assert.deepEqual(await paused(), ['1000-a'])
  upstream.offers = upstream.offers.slice(1)
  await runSecond()
  assert.deepEqual((await paused()).toSorted(), ['1000-a', '1010'])
})
