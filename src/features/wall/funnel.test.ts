// What the funnel of a wall counts, and what it does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { until } from '../../../test/installation.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { openPool } from '../../db/open.ts'
import { forgetOldWallDays, readFunnel, WallCounts } from './funnel.ts'
import type { WallOfferList } from './schema.ts'

const world = useWorld('funnel')
const BOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

test('views, opened and started offers of live users are counted, and what converts of them', async () => {
  const { db } = world.database
  const { appId, live, test: testKeys } = await world.createApp()
  const goals = [{ name: 'a', payout: '1.5' }, { name: 'b', payout: '0.5' }] // prettier-ignore
  const [offerId = 0] = await world.createOffers({ payout: undefined, goals })
  const visit = (method: 'GET' | 'POST', path: string, key: string, agent = BROWSER) =>
    world.app.server.inject({
      method,
      url: `${path}?apiKey=${key}&userId=${agent === BOT ? 'bot' : 'ann'}`,
      headers: { 'user-agent': agent },
    })
  const clickIds: string[] = []
  for (const [key, agent] of [[live.api_key, BROWSER], [testKeys.api_key, BROWSER], [live.api_key, BOT]] as const) {
    assert.equal((await visit('GET', '/wall', key, agent)).statusCode, 200)
    assert.equal((await visit('POST', '/wall/v1/opened', key, agent)).statusCode, 200)
    const list = (await visit('GET', '/wall/v1/offers', key, agent)).json<{ data: Static<typeof WallOfferList> }>()
    const link = list.data.offers.find(({ offer_id }) => offer_id === offerId)?.link ?? ''
    clickIds.push((await world.follow(link, { 'user-agent': agent })).clickId)
  } // prettier-ignore
  const byApi = await world.click(offerId, live, 'userId=ben') // not through the wall
  await world.confirm(offerId, byApi.clickId, { goal: 'a' })
  for (const goal of ['a', 'b']) await world.confirm(offerId, clickIds[0] ?? '', { goal }) // one offer was completed
  for (const clickId of clickIds.slice(1)) await world.confirm(offerId, clickId, { goal: 'b', txn_id: clickId })
  await until(async () => (await readFunnel(db, appId, 7, new Date())).started === 1)
  const funnel = await readFunnel(db, appId, 7, new Date())
  assert.deepEqual(funnel, { days: 7, views: 1, opened: 1, started: 1, completed: 1, payout: 2, payout_per_thousand_views: 2_000 }) // prettier-ignore
})

test('reloads, tabs and goals are counted as they happen; what is prefetched, rejected or reversed is not', async () => {
  const { db } = world.database
  const { appId, live } = await world.createApp()
  const goals = [{ name: 'a', payout: '1.5' }, { name: 'b', payout: '0.5' }] // prettier-ignore
  const [game = 0, survey = 0, video = 0] = await world.createOffers({ payout: undefined, goals }, { payout: '3', hold: '1d' }, { payout: '7' }) // prettier-ignore
  const ask = async (method: 'GET' | 'POST' | 'HEAD', path: string, more: Record<string, string> = {}) => {
    const url = `${path}?apiKey=${live.api_key}&userId=ann`
    return world.app.server.inject({ method, url, headers: { 'user-agent': BROWSER, ...more } })
  }
  for (let load = 0; load < 3; load++) await ask('GET', '/wall') // opened, loaded again, and in another tab
  await ask('HEAD', '/wall')
  await ask('GET', '/wall', { 'sec-purpose': 'prefetch;prerender' })
  await ask('GET', '/wall', { purpose: 'prefetch' })
  for (let look = 0; look < 2; look++) await ask('POST', '/wall/v1/opened')
  const { offers } = (await ask('GET', '/wall/v1/offers')).json<{ data: Static<typeof WallOfferList> }>().data
  const start = async (offerId: number) => {
    const link = offers.find(({ offer_id }) => offer_id === offerId)?.link ?? ''
    return (await world.follow(link)).clickId
  }
  const [first, second] = [await start(game), await start(game)] // in two tabs
  const [pending, undone] = [await start(survey), await start(video)]
  await world.confirm(game, first, { goal: 'a' })
  await world.confirm(game, second, { goal: 'a' }) // once for a user
  await world.confirm(game, first, { goal: 'b' })
  assert.equal((await world.confirm(survey, pending)).outcome, 'pending')
  assert.equal((await world.confirm(video, undone)).outcome, 'approved')
  await until(async () => (await readFunnel(db, appId, 2, new Date())).started === 4)
  const counted = { days: 2, views: 3, opened: 2, started: 4 }
  const read = () => readFunnel(db, appId, 2, new Date()) // at midnight, too
  assert.deepEqual(await read(), { ...counted, completed: 3, payout: 9, payout_per_thousand_views: 3_000 })
  await world.confirm(video, undone, { status: 'reversed' })
  assert.deepEqual(await read(), { ...counted, completed: 2, payout: 2, payout_per_thousand_views: 666.6667 })
  await world.confirm(survey, pending, { status: 'rejected' })
  assert.deepEqual(await read(), { ...counted, completed: 1, payout: 2, payout_per_thousand_views: 666.6667 })
  const later = new Date(Date.now() + 3 * 86_400_000)
  assert.deepEqual(
    [(await readFunnel(db, appId, 2, later)).views, (await readFunnel(db, appId, 5, later)).views],
    [0, 3],
  )
})

test('counts of several nodes add up, survive a database that fails, and are gone after 400 days', async () => {
  const { db } = world.database
  const { appId } = await world.createApp()
  const [one, other] = [new WallCounts(), new WallCounts()]
  const now = Date.now()
  for (const node of [one, other]) {
    node.note(appId, 'views', now)
    node.note(appId, 'views', now - 500 * 86_400_000)
  }
  const unreachable = openPool({ host: '127.0.0.1', port: 1 }, 1)
  await assert.rejects(one.write(unreachable.db))
  await unreachable.close()
  await Promise.all([one.write(db), other.write(db)])
  await one.write(db) // nothing is counted twice
  const read = () => db.selectFrom('wall_days').select('views').where('app_id', '=', appId).orderBy('day').execute()
  assert.deepEqual(await read(), [{ views: 2 }, { views: 2 }])
  await forgetOldWallDays(db, new Date())
  assert.deepEqual(await read(), [{ views: 2 }])
  const { payout_per_thousand_views, ...funnel } = await readFunnel(db, appId, 1, new Date(now))
  assert.deepEqual([funnel.views, payout_per_thousand_views], [2, 0])
})
