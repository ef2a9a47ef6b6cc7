// Runs in the middle of which something happens: a worker dies, an operator edits an offer or the feed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { dieAt, type Dying } from '../../../test/crash.ts'
import { editOffer } from '../../../test/edit-offer.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, openSocket } from '../../../test/upstreams/feed.ts'
import { untilLockIsAwaited } from '../../../test/waiting.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { inTransaction, type Trx } from '../../db/open.ts'
import { findFeedOfOffer, releasePins } from './pins.ts'
import { runFeed } from './run.ts'

const world = useWorld('feeds_interrupted')
const runOn = ({ db }: Pick<Dying, 'db'>, feedId: number) => runFeed({ db, secretKey: SECRET_KEY, open: openSocket }, TESTER, feedId) // prettier-ignore

/** As after some minutes: another worker may run it. */
const letBeSilent = () => sql`UPDATE feed_runs SET beat_at = now() - interval '10 minutes'`.execute(world.database.db)

test('wherever a worker dies, nothing it wrote is taken for an edit: the next run goes on', async () => {
  const { db } = world.database
  const { upstream, feedId, run, offersNow } = await createTestFeed(world, { offers: 3 })
  await run()
  let isDone = false
  for (let statement = 1; !isDone; statement++) {
    upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: `Name ${statement}`, payout: statement, goals: [] })) // prettier-ignore
    await dieAt(world.database, statement, (dying) => runOn(dying, feedId).then(() => (isDone = true)))
    await letBeSilent()
    await run()
    const wanted = upstream.offers.map(({ id, name, payout }) => ({ external_id: String(id), name, payout_micros: payout * 1_000_000, status: 'active' })) // prettier-ignore
    const offers = await offersNow()
    assert.deepEqual(offers.map(({ offer_id: _id, ...offer }) => offer), wanted, `statement ${statement}`) // prettier-ignore
    for (const { offer_id } of offers) assert.deepEqual((await findFeedOfOffer(db, offer_id))?.pinned, [], `statement ${statement}`) // prettier-ignore
  }
})

/** Does `work` in the moment in which a run has planned what it writes, and waits for this offer. */
async function whileItWrites(feed: Awaited<ReturnType<typeof createTestFeed>>, offerId: number, work: (trx: Trx) => Promise<unknown>) {
  const { db } = world.database
  const running = await inTransaction(db, async (trx) => {
    await sql`SELECT FROM offers WHERE offer_id = ${offerId} FOR UPDATE`.execute(trx)
    const run = feed.run()
    await untilLockIsAwaited(db)
    await work(trx)
    return { run }
  })
  return running.run
} // prettier-ignore

test('an edit stays that is made while a run writes the same offer', async () => {
  const feed = await createTestFeed(world, { offers: 3 })
  const { upstream, run, ofFeed } = feed
  await run()
  const { offer_id } = await ofFeed(1)
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: 'Theirs', country: 'FR' }))
  const edited = await whileItWrites(feed, offer_id, (trx) => sql`UPDATE offers SET name = 'Ours', status = 'paused' WHERE offer_id = ${offer_id}`.execute(trx)) // prettier-ignore
  assert.partialDeepStrictEqual(edited, { outcome: 'done', counts: { changed: 3 } })
  assert.partialDeepStrictEqual(await ofFeed(1), { name: 'Ours', status: 'paused', countries: ['FR'] })
  assert.equal((await ofFeed(2)).name, 'Theirs')
})

test('a field that is released while a run writes the same offer follows the feed', async () => {
  const { db } = world.database
  const feed = await createTestFeed(world, { offers: 3 })
  const { upstream, run, ofFeed } = feed
  await run()
  const { offer_id } = await ofFeed(1)
  await editOffer(world, offer_id, () => ({ name: 'Ours' }))
  upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: 'Theirs', country: 'FR' }))
  await whileItWrites(feed, offer_id, (trx) => releasePins(trx, TESTER, offer_id, ['name']))
  assert.partialDeepStrictEqual(await ofFeed(1), { name: 'Theirs', countries: ['FR'] })
  assert.deepEqual((await findFeedOfOffer(db, offer_id))?.pinned, [])
})
