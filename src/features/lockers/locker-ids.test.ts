// The locker of a link, all the way to what its publisher reads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { createLinkSigner } from '../offers/links.ts'

const world = useWorld('locker_ids')
const LOCKER = 4711

function linkOf(appId: number, offerId: number, userId: string, lockerId: number | null): string {
  const issuedAt = Math.floor(Date.now() / 1000)
  const context = { appId, isTest: false, issuedAt, requestId: 'req_1', userId, subIds: ['mail', null, null, null] }
  return `${world.config.publicUrl}/c/${offerId}/${createLinkSigner(SECRET_KEY).sign({ ...context, lockerId })}`
}

test('the locker of a link is in its click, its conversion, each event, lists and statistics', async () => {
  const { appId, live } = await world.createApp()
  const [first = 0, second = 0] = await world.createOffers({ payout: '2' }, {})
  const { clickId } = await world.follow(linkOf(appId, first, 'ann', LOCKER))
  const plain = await world.follow(linkOf(appId, second, 'ann', null))
  await world.confirm(first, clickId)
  await world.confirm(second, plain.clickId)
  await world.confirm(first, clickId, { status: 'reversed' })
  await world.app.refresh()
  const { conversions } = (await world.get('/v1/conversions', live)).body.data
  assert.deepEqual(
    conversions.map(({ offer_id, locker_id, aff_sub }) => [offer_id, locker_id, aff_sub]),
    [
      [second, null, 'mail'],
      [first, LOCKER, 'mail'],
    ],
  )
  const { events } = (await world.get('/v1/events', live)).body.data
  assert.deepEqual(events.map(({ data }) => data.locker_id), [LOCKER, null, LOCKER]) // prettier-ignore
  const stats = await world.get('/v1/stats?groupBy=locker_id', live)
  const { rows } = stats.body.data as unknown as { rows: { locker_id: number | null; clicks: number; reversed: number; approved: number }[] } // prettier-ignore
  assert.deepEqual(
    rows.map(({ locker_id, clicks, approved, reversed }) => [locker_id, clicks, approved, reversed]),
    [
      [null, 1, 1, 0],
      [LOCKER, 1, 0, 1],
    ],
  )
})
