// Runs in the middle of which something happens: a worker dies, an operator edits an offer or the feed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { dieAt, type Dying } from '../../../test/crash.ts'
import { editOffer } from '../../../test/edit-offer.ts'
import { until } from '../../../test/installation.ts'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, openSocket } from '../../../test/upstreams/feed.ts'
import { SHAPES } from '../../../test/upstreams/shapes.ts'
import { untilLockIsAwaited } from '../../../test/waiting.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import type { AppOptions } from '../../app.ts'
import { buildWorker } from '../../worker.ts'
import { inTransaction, type Trx } from '../../db/open.ts'
import { askRun, takeAskedRun } from './asked-runs.ts'
import { runAskedFeeds, runDueFeeds } from './due-feeds.ts'
import { FEED_DEFAULTS } from './feed-settings.ts'
import { changeFeed, pauseFeed } from './feeds.ts'
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
  const dieAndGoOn = async (statement: number): Promise<boolean> => {
    upstream.offers = upstream.offers.map((offer) => ({ ...offer, name: `Name ${statement}`, payout: statement, goals: [] })) // prettier-ignore
    let isDone = false
    await dieAt(world.database, statement, (dying) => runOn(dying, feedId).then(() => (isDone = true)))
    await letBeSilent()
    await run()
    const wanted = upstream.offers.map(({ id, name, payout }) => ({ external_id: String(id), name, payout_micros: payout * 1_000_000, status: 'active' })) // prettier-ignore
    const offers = await offersNow()
    assert.deepEqual(offers.map(({ offer_id: _id, ...offer }) => offer), wanted, `statement ${statement}`) // prettier-ignore
    for (const { offer_id } of offers) assert.deepEqual((await findFeedOfOffer(db, offer_id))?.pinned, [], `statement ${statement}`) // prettier-ignore
    assert.deepEqual(await db.selectFrom('feed_staging').select('run_id').execute(), [], `statement ${statement}`)
    return isDone
  }
  for (let statement = 1; !(await dieAndGoOn(statement)); statement++);
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

test('what is set during a run holds from the next one on, which is due at once', async () => {
  const { db } = world.database
  const { upstream, feedId, run, offersNow } = await createTestFeed(world, { preset: 'lootably', offers: 2 })
  const share = (sharePpm: number) => changeFeed(db, TESTER, SECRET_KEY, feedId, { settings: { ...FEED_DEFAULTS, sharePpm } }) // prettier-ignore
  const answer = { success: true, data: { offers: upstream.offers.map((offer) => SHAPES['lootably']?.item({ ...offer, payout: 2, goals: [] })) } } // prettier-ignore
  let meanwhile = () => share(500_000)
  upstream.trouble = (asked, response) => {
    const isKnown = asked.headers['if-none-match'] === '"1"'
    void meanwhile().then(() => upstream.send(response, isKnown ? 304 : 200, isKnown ? '' : answer, { etag: '"1"' }))
    return true
  }
  const payouts = async () => (await offersNow()).map(({ payout_micros }) => payout_micros)
  const isDue = async () => (await sql`SELECT FROM feeds WHERE feed_id = ${feedId} AND due_at <= now()`.execute(db)).rows.length === 1 // prettier-ignore
  await run()
  assert.deepEqual([await payouts(), await isDue()], [[2_000_000, 2_000_000], true])
  meanwhile = async () => {}
  await run()
  assert.deepEqual([await payouts(), await isDue()], [[1_000_000, 1_000_000], false])
  assert.equal((await run()).outcome, 'unchanged')
})

test('a feed that is paused during a run changes nothing any more, and is run anew when it goes on', async () => {
  const { db } = world.database
  const { upstream, feedId, run, offersNow } = await createTestFeed(world, { offers: 2 })
  await pauseFeed(db, TESTER, feedId, false)
  let isAsked = false
  upstream.trouble = (_, response) => {
    if (isAsked) return false
    isAsked = true
    const offers = upstream.offers.map((offer) => SHAPES['everflow']?.item(offer))
    void pauseFeed(db, TESTER, feedId, true).then(() => upstream.send(response, 200, { offers, paging: { total_count: 2 } })) // prettier-ignore
    return true
  }
  assert.partialDeepStrictEqual(await run(), { outcome: 'failed', message: 'The feed was paused meanwhile.' })
  assert.deepEqual(await offersNow(), [])
  assert.deepEqual(await db.selectFrom('feed_staging').select('run_id').execute(), [])
  await pauseFeed(db, TESTER, feedId, false)
  assert.equal((await run()).outcome, 'done')
  assert.equal((await offersNow()).length, 2)
})

test('a preview whose worker died ends, and another one can be asked for', async () => {
  const { db } = world.database
  const { feedId } = await createTestFeed(world)
  const runner = { db, secretKey: SECRET_KEY, open: openSocket }
  const dead = await askRun(db, TESTER, feedId, true)
  await takeAskedRun(db)
  await letBeSilent()
  await runDueFeeds(runner, assert.fail)
  const { outcome, message } = await db.selectFrom('feed_runs').selectAll().where('run_id', '=', dead).executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual([outcome, message], ['failed', 'The worker that ran it was stopped. Run it again.'])
  const next = await askRun(db, TESTER, feedId, true)
  assert.notEqual(next, dead)
  await runAskedFeeds(runner, assert.fail)
  assert.equal((await db.selectFrom('feed_runs').select('outcome').where('run_id', '=', next).executeTakeFirst())?.outcome, 'done') // prettier-ignore
})

test('a run that is asked for while a worker begins one is that one', async () => {
  const { db } = world.database
  const { feedId } = await createTestFeed(world)
  const { begun, asked } = await inTransaction(db, async (trx) => {
    const { run_id } = await trx.insertInto('feed_runs').values({ feed_id: feedId, is_preview: false }).returning('run_id').executeTakeFirstOrThrow() // prettier-ignore
    const waiting = { asked: askRun(db, TESTER, feedId, false), begun: run_id }
    await untilLockIsAwaited(db)
    return waiting
  })
  assert.equal(await asked, begun)
})

test('a feed that becomes due while another one hangs is run', async () => {
  const { db } = world.database
  await sql`UPDATE feeds SET is_paused = true`.execute(db)
  const [slow, quick] = [await createTestFeed(world), await createTestFeed(world)]
  const asked = Promise.withResolvers<void>()
  const hanging = Promise.withResolvers<void>()
  slow.upstream.trouble = (_, response) => {
    asked.resolve()
    void hanging.promise.then(() => slow.upstream.send(response, 500, {}))
    return true
  }
  await pauseFeed(db, TESTER, slow.feedId, false)
  const log = { warn: () => {}, info: () => {} } as unknown as AppOptions['log']
  const worker = await buildWorker({ config: { ...world.config, postbackAllow: ['127.0.0.1/32'] }, secretKey: SECRET_KEY, database: world.database, log }) // prettier-ignore
  try {
    await asked.promise
    await pauseFeed(db, TESTER, quick.feedId, false)
    await until(async () => (await quick.offersNow()).length === 10)
  } finally {
    hanging.resolve()
    await worker.close()
  }
})
