// The wall's own order: what is recommended to a user, on every node and to the end of the list.
import assert from 'node:assert/strict'
import { stringify } from 'node:querystring'
import { after, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { App } from '../../app.ts'
import { addClicks, addConversions } from '../../../test/seed-rows.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { numberEvents } from '../conversions/events.ts'
import { estimate } from '../offers/ranking/model.ts'
import { insertRanking, renewRanking } from '../reports/rankings.ts'

let second: App
after(() => second.close())
const world = useWorld('recommended', async () => {
  second = await world.start()
})
const DAY_MS = 86_400_000
const USD = 1_000_000

let app: { appId: number; live: IssuedCredentials }
let offerIds: number[] = []
beforeEach(async () => {
  const { db } = world.database
  await sql`TRUNCATE ranking_days, ranking_progress, rankings, ranking_segments, clicks`.execute(db)
  await sql`UPDATE offers SET status = 'paused'`.execute(db)
  app = await world.createApp()
  offerIds = await world.createOffers(...Array.from({ length: 60 }, (_, i) => ({ name: `Offer ${i}`, payout: '1' })))
  await refresh()
})

async function refresh(): Promise<void> {
  for (const one of [world.app, second]) await one.refresh()
}

type Listed = { ids: number[]; ranking?: number; etag: string }

async function list(query: Record<string, string | number> = {}, of: App = world.app): Promise<Listed> {
  const asked = { apiKey: app.live.api_key, userId: 'ann', limit: 100, country: 'US', platform: 'ios', ...query }
  const url = `/wall/v1/offers?${stringify(asked)}` // prettier-ignore
  const { body, headers } = await of.server.inject({ url, headers: { 'user-agent': BROWSER } })
  const { data } = JSON.parse(body) as { data: { offers: { offer_id: number }[]; ranking?: number } }
  const { offers, ...more } = data
  return { ids: offers.map(({ offer_id }) => offer_id), etag: String(headers['etag']), ...more }
}

/** A ranking by these earnings of a thousand clicks each, in effect. */
async function rank(dollars: Record<number, number>, { clicks = 1_000, effectiveAt = new Date(0) } = {}) {
  const offers = offerIds.map((offerId) => ({ offerId, category: 'app' as const, payoutMicros: USD }))
  const cells = Object.entries(dollars).flatMap(
    ([offerId, earned]) =>
    ['ios', 'web'].map((platform) => ({ offerId: Number(offerId), country: 'US', platform, clicks, allClicks: clicks, approved: earned, earnedMicros: earned * USD })), // prettier-ignore
  )
  await world.database.db.transaction().execute((trx) => insertRanking(trx, estimate(cells, offers), new Date(), effectiveAt)) // prettier-ignore
  await refresh()
}

/** All offers known well, the first one best; or the last one. */
const known = (isReversed = false) =>
  Object.fromEntries(offerIds.map((offerId, i) => [offerId, 10 + (isReversed ? i : offerIds.length - i) * 5]))

test('what earned more per click stands further up, from clicks and approved conversions to the wall', async () => {
  const { db } = world.database
  const [best = 0, clicked = 0] = offerIds.toReversed()
  const at = new Date(Date.now() - DAY_MS).toISOString()
  const traffic = (offerId: number) =>
    Array.from({ length: 150 }, () => ({
      at,
      appId: app.appId,
      offerId,
      country: 'US',
      click_id: uuid7(Date.parse(at)),
    }))
  const clicks = [...traffic(best), ...traffic(clicked)]
  await addClicks(db, ...clicks.map((click) => ({ ...click, os: 'ios' })))
  const completed = clicks.slice(0, 30).map((click) => ({ ...click, status: 'approved' as const, payoutMicros: USD }))
  await addConversions(db, ...completed)
  while ((await numberEvents(db)) > 0);
  await renewRanking(db, new Date(Date.now() - 2 * 60_000)) // in effect for a minute
  await refresh()
  const { ids, ranking } = await list()
  assert.equal(ids[0], best)
  assert.equal(ids.at(-1), clicked, 'clicks that earned nothing count against an offer')
  assert.ok(ranking !== undefined && ranking > 0)
  assert.notEqual((await list({ sort: 'newest' })).ids[0], best)
})

test('without any clicks, offers are recommended by what they pay', async () => {
  const [low = 0, high = 0] = await world.createOffers({ name: 'Low', payout: '0.2' }, { name: 'High', payout: '3' })
  const { ids } = await list()
  assert.deepEqual([ids[0], ids.at(-1)], [high, low])
})

test('two nodes show a user the same list, with the same ETag', async () => {
  await rank(known())
  await world.createOffers({ name: 'New one', payout: '1' })
  await refresh()
  for (const userId of ['ann', 'bob', 'cleo', 'dan', 'eve'])
    assert.deepEqual(await list({ userId }), await list({ userId }, second))
})

test('a page that began with a ranking continues the same list when another one takes effect', async () => {
  await rank(known())
  const first = await list({ limit: 20 })
  const all = (await list()).ids
  await rank(known(true))
  const rest = await list({ limit: 40, offset: 20, ranking: first.ranking ?? 0 })
  assert.deepEqual([...first.ids, ...rest.ids], all)
  assert.deepEqual((await list({ ranking: first.ranking ?? 0 }, second)).ids, all)
  const fresh = await list()
  assert.notDeepEqual(fresh.ids, all, 'a new page follows the new ranking')
  await rank(known())
  const late = await list({ limit: 20, ranking: first.ranking ?? 0 })
  assert.equal(late.ranking, (await list()).ranking, 'one that is not held any more gives way to that in effect')
})

test('a ranking to come changes nothing before it takes effect', async () => {
  await rank(known())
  const before = await list()
  await rank(known(true), { effectiveAt: new Date(Date.now() + 60_000) })
  assert.deepEqual(await list(), before)
})

test('a user is shown the same new offers in every request, and different users different ones', async () => {
  await rank(known())
  const fresh = await world.createOffers(
    ...Array.from({ length: 40 }, (_, i) => ({ name: `Fresh ${i}`, payout: '0.1' })),
  )
  await refresh()
  const isNew = new Set(fresh)
  const tried = async (userId: string) => (await list({ userId })).ids.slice(0, 40).filter((id) => isNew.has(id))
  const byUser = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(tried))
  for (const ids of byUser) assert.equal(ids.length, 5)
  assert.ok(new Set(byUser.flat()).size > 5)
  assert.deepEqual(await tried('a'), byUser[0])
})

test('the operator boosts, pins and excludes offers, at once and in recommended lists only', async () => {
  await rank(known())
  const [first = 0, , third = 0] = offerIds
  const last = offerIds.at(-1) ?? 0
  const middle = offerIds[30] ?? 0
  const popular = (await list({ sort: 'popular' })).ids
  const { db } = world.database
  await db.updateTable('offers').set({ is_excluded: true }).where('offer_id', '=', first).execute()
  await db.updateTable('offers').set({ pin_position: 2 }).where('offer_id', '=', last).execute()
  await db.updateTable('offers').set({ boost_percent: 500 }).where('offer_id', '=', middle).execute()
  await refresh()
  const { ids } = await list()
  assert.deepEqual([ids[0], ids[1], ids[2], ids.at(-1)], [middle, last, offerIds[1], first])
  assert.equal(ids[3], third)
  assert.equal(ids.length, offerIds.length)
  assert.deepEqual((await list({ sort: 'popular' })).ids, popular)
})

test('an offer that is gone leaves a list under way, as in every order', async () => {
  await rank(known())
  const before = await list()
  const [first = 0, ...others] = before.ids
  await sql`UPDATE offers SET status = 'paused' WHERE offer_id = ${first}`.execute(world.database.db)
  await refresh()
  assert.deepEqual((await list({ ranking: before.ranking ?? 0 })).ids, others)
})

test('an order that is not known is refused, and the Offers API has no recommended one', async () => {
  const { statusCode } = await world.app.server.inject({ url: `/wall/v1/offers?apiKey=${app.live.api_key}&userId=u&sort=best` }) // prettier-ignore
  assert.equal(statusCode, 400)
  assert.equal((await world.get('/v1/offers?userId=u&sort=recommended', app.live)).status, 400)
})
