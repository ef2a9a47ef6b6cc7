// Offers that pass from one feed of an advertiser to another.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, NO_CHANGES, openSocket } from '../../../test/upstreams/feed.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { setOfferStatus } from '../offers/offers.ts'
import { FEED_DEFAULTS } from './feed-settings.ts'
import { createFeed } from './feeds.ts'
import { findFeedOfOffer } from './pins.ts'
import { removeFeed } from './remove-feed.ts'
import { runFeed } from './run.ts'

const world = useWorld('feed_take_over')

/** Another feed of the same advertiser and upstream. */
async function addSecond({ upstream, advertiserId }: Awaited<ReturnType<typeof createTestFeed>>, name: string) {
  const { db } = world.database
  const { request, credentials } = upstream.source
  const kind = { request, mapping: upstream.preset.mapping }
  const { feedId } = await createFeed(db, TESTER, SECRET_KEY, { name, advertiserId, kind, credentials, settings: FEED_DEFAULTS }) // prettier-ignore
  const run = async (isPreview = false) => {
    const runId = await runFeed({ db, secretKey: SECRET_KEY, open: openSocket }, TESTER, feedId, isPreview)
    const { created, changed, resumed, skipped } = await db.selectFrom('feed_runs').selectAll().where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
    return { created, changed, resumed, skipped }
  }
  return { feedId, run }
}

for (const preset of ['everflow', 'trackier'])
  test(`a feed of ${preset} that is added before the old one is removed takes its offers over, with what was edited and paused`, async () => {
    const { db } = world.database
    const first = await createTestFeed(world, { preset, offers: 3 })
    await first.run()
    const [one, two] = await first.offersNow()
    await setOfferStatus(db, TESTER, one?.offer_id ?? 0, 'paused')
    await editOffer(world, two?.offer_id ?? 0, () => ({ name: 'Ours' }))
    const { feedId, run } = await addSecond(first, `Copy of ${preset}`)
    const before = await first.offersNow()
    const none = { created: 0, changed: 0, resumed: 0 }
    assert.deepEqual(await run(), { ...none, skipped: 3 })
    await removeFeed(db, TESTER, SECRET_KEY, first.feedId)
    assert.deepEqual(await run(true), { ...none, resumed: 2, skipped: 0 })
    assert.deepEqual(await run(), { ...none, resumed: 2, skipped: 0 })
    assert.deepEqual(await first.offersNow(), before)
    assert.deepEqual(await findFeedOfOffer(db, two?.offer_id ?? 0), { feed_id: feedId, name: `Copy of ${preset}`, external_id: two?.external_id, pinned: [{ field: 'name', feed_value: two?.name }] }) // prettier-ignore
  })

test('an offer that moves from one feed of an advertiser to another is there again, and stays with that one', async () => {
  const first = await createTestFeed(world, { offers: 4 })
  const { upstream, run: runFirst, ofFeed, offersNow } = first
  await runFirst()
  const all = upstream.offers
  const second = await addSecond(first, 'Second, live')
  const moved = await ofFeed(1)
  upstream.offers = all.filter(({ id }) => id !== 1_001)
  await runFirst()
  upstream.offers = all
  assert.deepEqual(await second.run(), { created: 0, changed: 0, resumed: 1, skipped: 3 })
  assert.deepEqual((await runFirst()).counts, { ...NO_CHANGES, fetched: 4, skipped: 1, unchanged: 3 })
  assert.equal((await findFeedOfOffer(world.database.db, moved.offer_id))?.feed_id, second.feedId)
  assert.deepEqual(
    (await offersNow()).map(({ status }) => status),
    ['active', 'active', 'active', 'active'],
  )
})
