// An upstream that pays by country: which countries are paid alike changes, and offers stay what they are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed } from '../../../test/upstreams/feed.ts'
import { useWorld } from '../../../test/world.ts'
import { setOfferStatus } from '../offers/offers.ts'
import { FEED_DEFAULTS, type FeedSettings } from './feed-settings.ts'
import { assign } from './inherit-ids.ts'
import type { Mapped } from './mapping/map-offer.ts'
import { approveHeld, listHeld } from './pins.ts'

const world = useWorld('feed_inherit_ids')

type Payout = { payout: number; geo: string[] }

/** A feed of Trackier with one campaign, 18. `run`: as it pays from now on; returns offers by ID with where they run. */
async function startFeed(settings: Partial<FeedSettings> = {}) {
  const feed = await createTestFeed(world, { preset: 'trackier', offers: 0, settings: { maxGonePpm: 1_000_000, ...settings } }) // prettier-ignore
  const { upstream, advertiserId, feedId } = feed
  const run = async (...payouts: Payout[]) => {
    const campaign = { id: 18, title: 'Hopla', currency: 'USD', model: 'cpi', os: ['android'], payouts, tracking_link: 'https://t.test/x?p1={your-transaction-id}' } // prettier-ignore
    upstream.trouble = (_, response) => {
      upstream.send(response, 200, { success: true, data: { campaigns: [campaign], count: 1 } })
      return true
    }
    const { outcome, message } = await feed.run()
    assert.equal(outcome, 'done', message)
    const rows = await world.database.db.selectFrom('offers').select(['offer_id', 'external_id', 'countries', 'status', 'name']).where('advertiser_id', '=', advertiserId).orderBy('offer_id').execute() // prettier-ignore
    return rows.map(({ external_id, countries, status }) => `${external_id} ${[...countries].toSorted().join('+')} ${status}`).toSorted() // prettier-ignore
  }
  const idOf = async (externalId: string) => (await feed.offersNow()).find(({ external_id }) => external_id === externalId)?.offer_id ?? assert.fail(externalId) // prettier-ignore
  return { feedId, run, idOf }
}
const pays = (payout: number, ...geo: string[]): Payout => ({ payout, geo })

test('an offer that the operator has paused and edited stays so when its countries change, are split and joined', async () => {
  const { db } = world.database
  const { run, idOf } = await startFeed()
  assert.deepEqual(await run(pays(1, 'FR'), pays(2, 'BE')), ['18:BE BE active', '18:FR FR active'])
  const offerId = await idOf('18:FR')
  await setOfferStatus(db, TESTER, offerId, 'paused')
  await editOffer(world, offerId, () => ({ name: 'Mine' }))
  assert.deepEqual(await run(pays(1, 'FR', 'LU'), pays(2, 'BE')), ['18:BE BE active', '18:FR FR+LU paused'])
  assert.deepEqual(await run(pays(1, 'FR', 'LU')), ['18:BE BE paused', '18:FR FR+LU paused'])
  assert.deepEqual(await run(pays(1, 'FR'), pays(2, 'BE')), ['18:BE BE active', '18:FR FR paused'])
  // What was part of it starts with its pause, which only the operator ends.
  const split = ['18:BE BE active', '18:FR FR paused', '18:LU LU paused']
  await run(pays(1, 'FR', 'LU'), pays(2, 'BE'))
  assert.deepEqual(await run(pays(1, 'FR'), pays(3, 'LU'), pays(2, 'BE')), split)
  assert.deepEqual(await run(pays(1, 'FR'), pays(4, 'LU'), pays(2, 'BE')), split)
  const { name } = await db.selectFrom('offers').select('name').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  assert.equal(name, 'Mine')
})

test('an offer of one group keeps its ID when there are two, and when all of it moves', async () => {
  const { run } = await startFeed()
  assert.deepEqual(await run(pays(1, 'FR')), ['18 FR active'])
  assert.deepEqual(await run(pays(1, 'DE')), ['18 DE active'])
  assert.deepEqual(await run(pays(1, 'DE', 'AT'), pays(2, 'CH')), ['18 AT+DE active', '18:CH CH active'])
  assert.deepEqual(await run(pays(1, 'DE'), pays(2, 'CH', 'AT')), ['18 DE active', '18:CH AT+CH active'])
  assert.deepEqual(await run(pays(2, 'CH', 'AT', 'DE')), ['18 DE paused', '18:CH AT+CH+DE active'])
})

test('what splits off from a paused offer is paused, also where it had been an offer before', async () => {
  const { db } = world.database
  const { run, idOf } = await startFeed()
  await run(pays(1, 'FR', 'DE'), pays(2, 'LU'))
  assert.deepEqual(await run(pays(1, 'FR', 'DE', 'LU')), ['18:DE+FR DE+FR+LU active', '18:LU LU paused'])
  await setOfferStatus(db, TESTER, await idOf('18:DE+FR'), 'paused')
  const split = ['18:DE+FR DE+FR paused', '18:LU LU paused']
  assert.deepEqual(await run(pays(1, 'FR', 'DE'), pays(2, 'LU')), split)
  assert.deepEqual(await run(pays(1, 'FR', 'DE'), pays(3, 'LU')), split)
  await setOfferStatus(db, TESTER, await idOf('18:LU'), 'active')
  assert.deepEqual(await run(pays(1, 'FR', 'DE'), pays(4, 'LU')), ['18:DE+FR DE+FR paused', '18:LU LU active'])
})

test('an offer whose countries the operator has edited follows the group that pays for what users see', async () => {
  const { db } = world.database
  const { run, idOf } = await startFeed()
  const payoutOf = async (offerId: number) => (await db.selectFrom('offers').select('payout_micros').where('offer_id', '=', offerId).executeTakeFirstOrThrow()).payout_micros / 1_000_000 // prettier-ignore
  await run(pays(1, 'DE', 'FR', 'NL'))
  const offerId = await idOf('18')
  await editOffer(world, offerId, () => ({ countries: ['DE'] }))
  assert.deepEqual(await run(pays(3, 'FR', 'NL'), pays(1, 'DE')), ['18 DE active', '18:FR+NL FR+NL active'])
  assert.equal(await payoutOf(offerId), 1)
})

test('what the network last had of edited countries counts, not what was written before', async () => {
  const { run, idOf } = await startFeed()
  await run(pays(1, 'DE', 'FR'))
  await editOffer(world, await idOf('18'), () => ({ countries: ['AT'] }))
  assert.deepEqual(await run(pays(1, 'FR', 'BE', 'NL')), ['18 AT active'])
  assert.deepEqual(await run(pays(5, 'DE'), pays(1, 'FR', 'BE', 'NL')), ['18 AT active', '18:DE DE active'])
})

test('a group that is left out, by a filter or for what it pays, takes no identity from one that is offered', async () => {
  const filtered = await startFeed({ filters: { ...FEED_DEFAULTS.filters, countries: ['US'] } })
  await filtered.run(pays(1, 'US', 'DE', 'AT'))
  assert.deepEqual(await filtered.run(pays(0.8, 'DE', 'AT'), pays(1, 'US')), ['18 US active'])
  const unpaid = await startFeed()
  await unpaid.run(pays(1, 'US', 'DE', 'AT'))
  assert.deepEqual(await unpaid.run(pays(0, 'DE', 'AT'), pays(1, 'US')), ['18 US active'])
  assert.deepEqual(await unpaid.run(pays(2, 'DE', 'AT'), pays(1, 'US')), ['18 US active', '18:AT+DE AT+DE active'])
})

test('a group that splits off and pays much more than it did waits, paused, until it is approved', async () => {
  const { db } = world.database
  const { feedId, run } = await startFeed({ maxPayoutChangePpm: 500_000 })
  const held = async () => (await listHeld(db, feedId, '', 10)).map(({ external_id, payout_before, payout_after }) => `${external_id} ${payout_before} ${payout_after}`) // prettier-ignore
  await run(pays(1, 'US', 'DE', 'AT'))
  const split = [pays(50, 'US'), pays(1, 'DE', 'AT')]
  for (let n = 0; n < 2; n++) {
    assert.deepEqual(await run(...split), ['18 AT+DE active', '18:US US paused'])
    assert.deepEqual(await held(), ['18:US 1 50'])
  }
  assert.deepEqual(await run(pays(1.2, 'US'), pays(1, 'DE', 'AT')), ['18 AT+DE active', '18:US US active'])
  assert.deepEqual(await held(), [])
  await run(...split)
  await approveHeld(db, TESTER, feedId, ['18:US'])
  assert.deepEqual([await run(...split), await held()], [['18 AT+DE active', '18:US US active'], []])
  assert.deepEqual(await run(pays(40, 'AT'), pays(50, 'US'), pays(1, 'DE')), ['18 AT active', '18:DE DE active', '18:US US active']) // prettier-ignore
  assert.deepEqual(await held(), ['18 1 40'])
})

test('whatever the groups are, each has an ID of its own, and the same groups have the same ones again', () => {
  const country = fc.constantFrom('FR', 'BE', 'LU', 'DE', 'AT')
  const partition = fc.uniqueArray(fc.tuple(country, fc.nat(2)), { minLength: 1, selector: ([code]) => code }).map((pairs) => [...Map.groupBy(pairs, ([, group]) => group).values()].map((some) => some.map(([code]) => code))) // prettier-ignore
  fc.assert(
    fc.property(fc.array(partition, { minLength: 1, maxLength: 8 }), (history) => {
      let known: Parameters<typeof assign>[0][number][] = []
      for (const groups of history) {
        const mapped = groups.map((countries): Mapped & { group: { upstreamId: string; countries: string[]; platforms: string[] } } => ({ id: groups.length === 1 ? '18' : `18:${countries.toSorted().join('+')}`, name: 'A', skipped: '', group: { upstreamId: '18', countries, platforms: [] } })) // prettier-ignore
        const ids = [...assign(known, mapped)]
        assert.equal(new Set(ids.map(([, id]) => id)).size, groups.length)
        const came = ids.map(([{ group }, external_id], i) => ({ ...group, external_id, runs: true, isPausedByOperator: false, offer_id: known.find((one) => one.external_id === external_id)?.offer_id ?? known.length + i })) // prettier-ignore
        const gone = known.filter(({ external_id }) => came.every((one) => one.external_id !== external_id))
        known = [...came, ...gone.map((one) => ({ ...one, runs: false }))]
        assert.deepEqual(new Map(assign(known, mapped)), new Map(ids))
      }
    }),
  )
})
