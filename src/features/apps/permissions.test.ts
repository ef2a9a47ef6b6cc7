import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publisherOfApp } from '../../../test/people.ts'
import { useWorld } from '../../../test/world.ts'
import { EVERYTHING } from '../../db/changes.ts'
import { OperatorError } from '../../errors.ts'
import { checkLedger } from '../ledger/check.ts'
import { readChangedApps } from './apps.ts'
import { setExpiry } from './keys.ts'
import { permit, readPermissions } from './permissions.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('permissions')

async function createPublisher() {
  const app = await world.createApp()
  return { ...app, publisherId: await publisherOfApp(world, app.appId) }
}

test('a suspended publisher’s keys and links stop at once, and work again when it is let in', async () => {
  const { live, test: testKeys, publisherId } = await createPublisher()
  const [offerId = 0] = await world.createOffers({})
  const { body } = await world.get(`/v1/offers/${offerId}?userId=u`, live)
  const list = async (keys = live) => (await world.get('/v1/offers?userId=u', keys)).status
  await permit(world.database.db, TESTER, publisherId, { status: 'suspended' })
  await world.app.refresh()
  assert.deepEqual([await list(), await list(testKeys)], [401, 401])
  assert.equal((await world.follow(body.data.offer.link)).status, 410)
  await permit(world.database.db, TESTER, publisherId, { status: 'active' })
  await world.app.refresh()
  assert.deepEqual([await list(), await list(testKeys)], [200, 200])
  assert.equal((await world.follow(body.data.offer.link)).status, 302)
})

test('the links of a key end with it, and lead on again when its expiry is put off', async () => {
  const { live, test: testKeys, appId } = await createPublisher()
  const [offerId = 0, begun = 0] = await world.createOffers({}, {})
  const linkOf = async (keys: typeof live) =>
    (await world.get(`/v1/offers/${offerId}?userId=u`, keys)).body.data.offer.link
  const [link, testLink] = [await linkOf(live), await linkOf(testKeys)]
  const { clickId } = await world.click(begun, live)
  await setExpiry(world.database.db, TESTER, appId, 'live', new Date(Date.now() - 1_000))
  await world.app.refresh()
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 401)
  assert.equal((await world.follow(link)).status, 410)
  assert.equal((await world.follow(testLink)).status, 302, 'the test key is another one')
  assert.equal((await world.confirm(begun, clickId)).outcome, 'approved', 'what was begun is recorded')
  await setExpiry(world.database.db, TESTER, appId, 'live', null)
  await world.app.refresh()
  assert.equal((await world.follow(link)).status, 302)
})

test('what a suspended publisher’s user had begun is still recorded', async () => {
  const { live, publisherId } = await createPublisher()
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live)
  await permit(world.database.db, TESTER, publisherId, { status: 'suspended' })
  await world.app.refresh()
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'approved')
})

test('a publisher that waits to be let in may test', async () => {
  const { live, test: testKeys, publisherId } = await createPublisher()
  await permit(world.database.db, TESTER, publisherId, { status: 'pending' })
  await world.app.refresh()
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 401)
  assert.equal((await world.get('/v1/offers?userId=u', testKeys)).status, 200)
})

test('a publisher runs all offers but those that it may not, or only those that it may', async () => {
  const { live, publisherId } = await createPublisher()
  const [first = 0, second = 0, third = 0] = await world.createOffers({}, {}, {})
  const mine = new Set([first, second, third])
  const seen = async () =>
    (await world.get('/v1/offers?userId=u&limit=100&sort=newest', live)).body.data.offers
      .map((offer) => offer.offer_id)
      .filter((id) => mine.has(id))
      .toSorted((a, b) => a - b)
  const set = async (onlyListed: boolean, allowed: number[], denied: number[]) => {
    await permit(world.database.db, TESTER, publisherId, { offers: { onlyListed, allowed, denied } })
    await world.app.refresh()
  }
  await set(false, [], [second])
  assert.deepEqual(await seen(), [first, third])
  await set(true, [third], [])
  assert.deepEqual(await seen(), [third])
  assert.equal((await world.get(`/v1/offers/${first}?userId=u`, live)).status, 404)
  await set(true, [], [])
  assert.deepEqual(await seen(), [])
  await set(false, [], [])
  assert.deepEqual(await seen(), [first, second, third])
})

test('the offers that a publisher may not run are read once, however many apps it has; those of each are limited', async () => {
  const { db, pool } = world.database
  const { publisherId } = await createPublisher()
  await world.createApp({ publisherId, name: 'Another' })
  const denied = (await world.createOffers({}, {})).toSorted((a, b) => a - b)
  await permit(db, TESTER, publisherId, { offers: { onlyListed: false, allowed: [], denied } })
  const apps = (await readChangedApps(db, EVERYTHING)).filter((app) => app.publisher_id === publisherId)
  assert.equal(apps.length, 4) // live and test
  const lists = new Set(apps.map((app) => app.listed_offers))
  assert.deepEqual([...lists], [denied])

  await pool.query(
    `INSERT INTO apps (publisher_id, name, currency, rate_micros, rate_limit)
     SELECT $1, 'App ' || n, 'Coins', 100000000, 100 FROM generate_series(3, 1000) n`,
    [publisherId],
  )
  await assert.rejects(world.createApp({ publisherId, name: 'One more' }), /can have 1000 apps\.$/)
})

test('an offer that a publisher may not run takes no click and no report of its users, and says why', async () => {
  const { live, publisherId } = await createPublisher()
  const [offerId = 0] = await world.createOffers({})
  const { body } = await world.get(`/v1/offers/${offerId}?userId=u`, live)
  const { clickId } = await world.follow(body.data.offer.link)
  await permit(world.database.db, TESTER, publisherId, {
    offers: { onlyListed: false, allowed: [], denied: [offerId] },
  })
  await world.app.refresh()
  assert.equal((await world.follow(body.data.offer.link)).status, 410)
  const reported = (await world.report(live, { userId: 'another', offerId })).body.data.conversion
  assert.deepEqual([reported.status, reported.status_reason], ['rejected', 'not_eligible'])
  const why = await world.get(`/v1/offers/${offerId}/why?userId=u`, live)
  assert.match(why.text, /does not let this publisher run/)
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'approved') // begun before
})

test('permissions are returned as they were set, and invalid ones refused', async () => {
  const { publisherId } = await createPublisher()
  const [a = 0, b = 0] = await world.createOffers({}, {})
  const { db } = world.database
  await permit(db, TESTER, publisherId, { offers: { onlyListed: true, allowed: [b, a, b], denied: [] } })
  assert.deepEqual(await readPermissions(db, publisherId), {
    status: 'active',
    sharePpm: 1_000_000,
    onlyListed: true,
    allowed: [a, b],
    denied: [],
  })
  const both = permit(db, TESTER, publisherId, { offers: { onlyListed: true, allowed: [a], denied: [a] } })
  await assert.rejects(both, OperatorError)
  const unknown = permit(db, TESTER, publisherId, { offers: { onlyListed: true, allowed: [999_999_999], denied: [] } })
  await assert.rejects(unknown, OperatorError)
  await assert.rejects(permit(db, TESTER, 999_999_999, { status: 'active' }), OperatorError)
  assert.deepEqual((await readPermissions(db, publisherId))?.allowed, [a, b])
})

test('a publisher is shown and paid its share of what offers pay; the rest is the network’s', async () => {
  const { live, publisherId } = await createPublisher()
  const [offerId = 0] = await world.createOffers({ payout: '1.5', revenue: '2' })
  const shown = async () => (await world.get(`/v1/offers/${offerId}?userId=u`, live)).body.data.offer
  const { clickId } = await world.click(offerId, live, 'userId=early')
  await permit(world.database.db, TESTER, publisherId, { sharePpm: 800_000 })
  await world.app.refresh()
  const offer = await shown()
  assert.deepEqual([offer.payout, offer.payout_local, offer.goals[0]?.payout], [1.2, 120, 1.2])
  const listed = (await world.get('/v1/offers?userId=u&limit=100', live)).body.data.offers
  assert.equal(listed.find((one) => one.offer_id === offerId)?.payout, 1.2)
  // Promised before.
  await world.confirm(offerId, clickId)
  const conversions = async () => (await world.get('/v1/conversions?limit=10', live)).body.data.conversions
  assert.deepEqual(
    (await conversions()).map(({ payout }) => payout),
    [1.5],
  )
  const later = await world.click(offerId, live, 'userId=late')
  await permit(world.database.db, TESTER, publisherId, { sharePpm: 500_000 })
  await world.app.refresh()
  await world.confirm(offerId, later.clickId)
  await world.report(live, { userId: 'reported', offerId })
  const payouts = new Map((await conversions()).map(({ user_id, payout }) => [user_id, payout]))
  assert.deepEqual(Object.fromEntries(payouts), { early: 1.5, late: 1.2, reported: 0.75 })
  assert.deepEqual(await checkLedger({ pool: world.database.pool }), [])
})

test('a share of a percentage is a smaller percentage, and shares are rounded down', async () => {
  const { live, publisherId } = await createPublisher()
  const [offerId = 0] = await world.createOffers({
    payout: '0.0001',
    goals: [
      { name: 'Buy', payout: '0', payout_percent: '10', revenue_percent: '20' },
      { name: 'Install', payout: '0.0001' },
    ],
  })
  await permit(world.database.db, TESTER, publisherId, { sharePpm: 333_333 })
  await world.app.refresh()
  const { goals } = (await world.get(`/v1/offers/${offerId}?userId=u`, live)).body.data.offer
  assert.deepEqual(
    goals.map(({ payout, payout_percent }) => [payout, payout_percent]),
    [
      [0, 3.3333],
      [0, undefined],
    ],
  )
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId, { amount: '100', goal: 'Buy' })
  const { conversions } = (await world.get('/v1/conversions', live)).body.data
  assert.equal(conversions[0]?.payout, 3.3333)
})

test('a share beyond the whole, or less than nothing, is refused', async () => {
  const { publisherId } = await createPublisher()
  for (const share of [-1, 1_000_001, 0.5])
    await assert.rejects(permit(world.database.db, TESTER, publisherId, { sharePpm: share }), OperatorError)
})
