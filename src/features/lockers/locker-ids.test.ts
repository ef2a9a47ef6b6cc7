// The locker of a link, all the way to what its publisher reads.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { TESTER } from '../../../test/tester.ts'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker } from '../../worker.ts'
import { createLinkSigner } from '../offers/links.ts'
import { DEFAULTS, saveSettings } from '../postbacks/settings.ts'
import { createLocker } from './lockers.ts'
import type { LockerState } from './schema.ts'

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

test('a postback says by {locker_id} which locker the visitor completed the offer in', async (t) => {
  const { appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const received: string[] = []
  const publisher = createServer((request, response) => {
    received.push(request.url ?? '')
    response.end('OK')
  })
  await new Promise<void>((done) => publisher.listen(0, '127.0.0.1', done))
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  const worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  t.after(async () => {
    await worker.close()
    publisher.close()
  })
  const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/?locker={locker_id}&user={user_id}`
  await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url })
  const lockerId = await createLocker(world.database.db, TESTER, world.config, appId, { name: 'Locker' })
  const visit = await world.get(`/locker/v1/lockers/${lockerId}/visits`, undefined, { method: 'POST', payload: {}, headers: { 'user-agent': BROWSER } }) // prettier-ignore
  const { visitor, offers } = visit.body.data as unknown as LockerState
  const { clickId } = await world.follow(offers.find(({ offer_id }) => offer_id === offerId)?.link ?? '')
  await world.confirm(offerId, clickId)
  await until(async () => received.length > 0)
  assert.deepEqual(received, [`/?locker=${lockerId}&user=visitor-${visitor}`])
})
