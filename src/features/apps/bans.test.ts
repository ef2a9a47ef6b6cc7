import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { OperatorError } from '../../errors.ts'
import { banUser, liftBan, listBans } from './bans.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('bans')

const ban = async (appId: number | null, userId: string) => {
  const isNew = await banUser(world.database.db, TESTER, { appId, userId, reason: 'opened a hundred accounts' })
  await world.app.refresh()
  return isNew
}

test('a banned user sees no offers in that app, and everything again when the ban is lifted', async () => {
  const [one, other] = [await world.createApp(), await world.createApp()]
  const [offerId = 0] = await world.createOffers({})
  const total = async (keys = one.live, userId = 'bad') =>
    (await world.get(`/v1/offers?userId=${userId}`, keys)).body.data.total
  assert.equal(await ban(one.appId, 'bad'), true)
  assert.equal(await ban(one.appId, 'bad'), false)
  assert.equal(await total(), 0)
  assert.ok((await total(one.live, 'good')) > 0)
  assert.ok((await total(other.live)) > 0)
  assert.equal((await world.get(`/v1/offers/${offerId}?userId=bad`, one.live)).status, 404)
  assert.match((await world.get(`/v1/offers/${offerId}/why?userId=bad`, one.live)).text, /banned/)
  const [found] = await listBans(world.database.db, { appId: one.appId }, 10)
  assert.equal((await liftBan(world.database.db, TESTER, found?.ban_id ?? 0))?.user_id, found?.user_id)
  await world.app.refresh()
  assert.ok((await total()) > 0)
  assert.equal(await liftBan(world.database.db, TESTER, found?.ban_id ?? 0), null)
})

test('a ban of the network holds in every app, including those created later', async () => {
  const before = await world.createApp()
  await world.createOffers({})
  await ban(null, 'everywhere')
  const after = await world.createApp()
  for (const { live, test: testKeys } of [before, after])
    for (const keys of [live, testKeys])
      assert.equal((await world.get('/v1/offers?userId=everywhere', keys)).body.data.total, 0)
})

test('the link of a banned user leads nowhere, and their conversions are rejected', async () => {
  const { live, appId } = await world.createApp()
  const [offerId = 0, second = 0] = await world.createOffers({}, {})
  const { body } = await world.get(`/v1/offers/${offerId}?userId=bad`, live)
  const { clickId } = await world.follow(body.data.offer.link)
  await ban(appId, 'bad')
  const followed = await world.follow(body.data.offer.link)
  assert.equal(followed.status, 403)
  assert.match(followed.text, /not available to you/)
  const confirmed = await world.confirm(offerId, clickId)
  assert.deepEqual([confirmed.outcome, confirmed.reason], ['rejected', 'fraud'])
  const reported = (await world.report(live, { userId: 'bad', offerId: second })).body.data.conversion
  assert.deepEqual([reported.status, reported.status_reason], ['rejected', 'fraud'])
  const good = (await world.report(live, { userId: 'good', offerId: second })).body.data.conversion
  assert.equal(good.status, 'pending')
})

test('nonsense is refused', async () => {
  const { db } = world.database
  await assert.rejects(banUser(db, TESTER, { appId: 999_999_999, userId: 'u', reason: 'r' }), OperatorError)
  for (const userId of ['', '   ', '\t\n', '\u00a0\u2003'])
    await assert.rejects(banUser(db, TESTER, { appId: null, userId, reason: 'r' }), {
      name: 'OperatorError',
      field: 'user_id',
      message: 'Enter the user ID to ban: it cannot be blank.',
    })
  await assert.rejects(banUser(db, TESTER, { appId: null, userId: 'u', reason: ' ' }), OperatorError)
})

test('the longest user id that the API takes can be banned, a longer one is refused', async () => {
  assert.equal(await ban(null, '🎲'.repeat(256)), true)
  await assert.rejects(ban(null, 'x'.repeat(257)), OperatorError)
})
