// Feeds that become small: what may go without asking, and what an operator applies on purpose.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TESTER } from '../../../test/tester.ts'
import { createTestFeed, openSocket } from '../../../test/upstreams/feed.ts'
import { SHAPES } from '../../../test/upstreams/shapes.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { applyRefusedRun, isTooMuch } from './accept-gone.ts'
import { runAskedFeeds } from './due-feeds.ts'

const world = useWorld('feed_accept_gone')

test('of a small feed a few offers may go; of any feed not all, and not more than its bound', () => {
  const isRefused = (gone: number, running: number, accepted: number | null = null) => isTooMuch({ running, gone }, 300_000, accepted) // prettier-ignore
  assert.deepEqual([isRefused(1, 2), isRefused(3, 4), isRefused(3, 1_000)], [false, false, false])
  assert.deepEqual([isRefused(1, 1), isRefused(3, 3), isRefused(4, 5), isRefused(31, 100)], [true, true, true, true])
  assert.deepEqual([isRefused(0, 0), isRefused(30, 100)], [false, false])
  assert.deepEqual([isRefused(4, 5, 4), isRefused(5, 5, 4)], [false, true], 'what was agreed to, and no more')
})

test('a small feed follows its network down to the last offer', async () => {
  const { upstream, run, ofFeed } = await createTestFeed(world, { offers: 2 })
  await run()
  upstream.offers = upstream.offers.slice(1)
  assert.partialDeepStrictEqual(await run(), { outcome: 'done', counts: { paused: 1 } })
  assert.equal((await ofFeed(0)).status, 'paused')
  upstream.offers = []
  assert.partialDeepStrictEqual(await run(), { outcome: 'refused' })
  assert.equal((await ofFeed(1)).status, 'active')
})

test('a refused run is applied on purpose once, for as many offers as it would have paused', async () => {
  const { db } = world.database
  const { upstream, feedId, run, offersNow } = await createTestFeed(world)
  const paused = async () => (await offersNow()).filter(({ status }) => status === 'paused').length
  const apply = async (refused: number) => {
    const runId = await applyRefusedRun(db, TESTER, feedId, refused)
    await runAskedFeeds({ db, secretKey: SECRET_KEY, open: openSocket }, assert.fail)
    return db.selectFrom('feed_runs').select(['run_id', 'outcome', 'gone', 'accepted_gone']).where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
  }
  await run()
  const all = upstream.offers
  upstream.offers = all.slice(0, 5)
  const refused = await run()
  assert.equal(refused.outcome, 'refused')
  upstream.offers = all.slice(0, 4)
  assert.partialDeepStrictEqual(await apply(refused.runId), { outcome: 'refused', gone: 6, accepted_gone: 5 })
  upstream.offers = all.slice(0, 5)
  assert.partialDeepStrictEqual(await apply(refused.runId), { outcome: 'done', gone: 5, accepted_gone: 5 })
  assert.equal(await paused(), 5)
  await assert.rejects(applyRefusedRun(db, TESTER, feedId, refused.runId), /a later one was applied/)
  upstream.offers = all.slice(0, 1)
  assert.equal((await run()).outcome, 'refused', 'it holds for one run')
  const entries = await db.selectFrom('audit_log').select('details').where('action', '=', 'feed.apply_refused').where('subject', '=', String(feedId)).execute() // prettier-ignore
  assert.deepEqual(entries.map(({ details }) => (details as { accepted_gone: number }).accepted_gone), [5, 5]) // prettier-ignore
})

test('also a feed that has become empty is applied on purpose', async () => {
  const { db } = world.database
  const { upstream, feedId, run, offersNow } = await createTestFeed(world, { offers: 4 })
  await run()
  upstream.offers = []
  const { runId, message } = await run()
  assert.equal(message, 'The feed had no offers. Nothing was changed.')
  await applyRefusedRun(db, TESTER, feedId, runId)
  await assert.rejects(applyRefusedRun(db, TESTER, feedId, runId), /This feed is already running/)
  await runAskedFeeds({ db, secretKey: SECRET_KEY, open: openSocket }, assert.fail)
  assert.deepEqual((await offersNow()).map(({ status }) => status), Array.from({ length: 4 }, () => 'paused')) // prettier-ignore
})

test('a run that fails says how far it came', async () => {
  const { db } = world.database
  const { upstream, run } = await createTestFeed(world, { offers: 1_200 })
  upstream.trouble = (_, response, page) => page === 2 && (upstream.send(response, 500, {}), true)
  const { runId, outcome } = await run()
  const { pages, bytes, fetched, unchanged } = await db.selectFrom('feed_runs').selectAll().where('run_id', '=', runId).executeTakeFirstOrThrow() // prettier-ignore
  assert.deepEqual([outcome, pages, bytes > 1_000, fetched, unchanged], ['failed', 2, true, 1_000, 0])
})

test('where offers come twice in place of others, none of those is paused, unless on purpose', async () => {
  const { upstream, feedId, run, offersNow } = await createTestFeed(world, { offers: 10 })
  await run()
  const [all, shape] = [upstream.offers, SHAPES['everflow']]
  const send = (...pages: number[][]) => {
    upstream.trouble = ({ query }, response) => {
      const [from = 0, to = 0] = pages[Number(query.get('page')) - 1] ?? []
      upstream.send(response, 200, shape?.page(all.slice(from, to).map((one) => shape.item(one)), { all: 10, pages: 2, number: 1, size: 6 })) // prettier-ignore
      return true
    }
  }
  const active = async () => (await offersNow()).filter(({ status }) => status === 'active').length
  send([0, 6], [4, 8])
  const { runId, outcome, message } = await run()
  assert.deepEqual([outcome, message, await active()], ['refused', '2 offers came twice, and 2 of those that the upstream reports did not come: 2 offers would be paused that may still be there. Nothing was changed.', 10]) // prettier-ignore
  await applyRefusedRun(world.database.db, TESTER, feedId, runId)
  await runAskedFeeds({ db: world.database.db, secretKey: SECRET_KEY, open: openSocket }, assert.fail)
  assert.equal(await active(), 8)
  upstream.offers = all.slice(0, 8)
  assert.equal((await run()).outcome, 'done', 'where none is gone, offers that come twice are no problem')
})
