// Runs with rates that change by themselves, and with IDs that cannot be kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, NO_CHANGES } from '../../../test/upstreams/feed.ts'
import { SHAPES, upstreamOffer } from '../../../test/upstreams/shapes.ts'
import { useWorld } from '../../../test/world.ts'
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
