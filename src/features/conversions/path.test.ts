// The path of money from end to end: list, click, confirmation, report, ledger, and back to the list.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { checkLedger } from '../ledger/check.ts'
import { readBalances } from '../ledger/ledger.ts'

let live: IssuedCredentials
let appId: number
const world = useWorld('path', async () => {
  ;({ live, appId } = await world.createApp())
})

test('a user follows a link, the advertiser confirms, the publisher is credited, the offer leaves the list', async () => {
  const [offerId = 0] = await world.createOffers({ payout: '1.5', revenue: '2' })
  const before = await world.get('/v1/offers?userId=ann', live)
  assert.ok(before.body.data.offers.some((offer) => offer.offer_id === offerId))
  const click = await world.click(offerId, live, 'userId=ann&aff_sub=mail')
  assert.equal(click.status, 302)
  assert.match(click.location, /^https:\/\/ads\.example\.com\/\?c=[0-9a-f-]{36}$/)
  const confirmed = await world.confirm(offerId, click.clickId, { txn_id: 't1' })
  assert.deepEqual([confirmed.status, confirmed.outcome], [200, 'approved'])
  const { body } = await world.get(`/v1/conversions/${confirmed.conversion_id}`, live)
  const { conversion } = body.data
  assert.deepEqual(
    [
      conversion.status,
      conversion.payout,
      conversion.payout_local,
      conversion.aff_sub,
      conversion.user_id,
      conversion.source,
    ],
    ['approved', 1.5, 150, 'mail', 'ann', 'advertiser'],
  )
  await world.app.refresh()
  const after = await world.get('/v1/offers?userId=ann', live)
  assert.ok(!after.body.data.offers.some((offer) => offer.offer_id === offerId))
  assert.equal(after.body.data.total, before.body.data.total - 1)
  assert.notEqual(after.headers['etag'], before.headers['etag'])
  const { publisher_id } = await world.database.db
    .selectFrom('apps')
    .select('publisher_id')
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  assert.equal((await readBalances(world.database.db, { publisherId: publisher_id })).payableMicros, 1_500_000)
  assert.deepEqual(await checkLedger(world.database), [])
  const events = await world.get('/v1/events', live)
  assert.deepEqual(
    events.body.data.events.map((event) => event.type),
    ['conversion.approved'],
  )
})

test('a report is pending until the advertiser confirms, and the confirmation creates no second row', async () => {
  const [offerId = 0] = await world.createOffers({})
  const click = await world.click(offerId, live, 'userId=bob')
  const reported = await world.report(live, { userId: 'bob', offerId })
  assert.equal(reported.status, 201)
  assert.equal(reported.body.data.conversion.status, 'pending')
  const again = await world.report(live, { userId: 'bob', offerId })
  assert.equal(again.status, 200)
  assert.equal(again.body.data.conversion.conversion_id, reported.body.data.conversion.conversion_id)
  const confirmed = await world.confirm(offerId, click.clickId)
  assert.deepEqual(
    [confirmed.outcome, confirmed.conversion_id],
    ['approved', reported.body.data.conversion.conversion_id],
  )
  assert.equal((await world.confirm(offerId, click.clickId)).outcome, 'duplicate')
  assert.equal((await world.confirm(offerId, click.clickId, { status: 'reversed' })).outcome, 'reversed')
  assert.deepEqual(await checkLedger(world.database), [])
})
