import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addConversions } from '../../../test/seed-rows.ts'
import { TESTER } from '../../../test/tester.ts'
import { useWorld } from '../../../test/world.ts'
import { changeRewardSettings } from '../apps/reward-settings.ts'
import { isWithinLimit } from './daily-limit.ts'

const world = useWorld('daily_limit')

async function createApp(dailyLimit: number | null) {
  const app = await world.createApp()
  const limit = async (to: number | null) => {
    await changeRewardSettings(world.database.db, TESTER, app.appId, { dailyLimit: to })
    await world.app.refresh()
  }
  await limit(dailyLimit)
  return { ...app, limit }
}

test('a user who completed as many offers today as the app allows can start no other one', async () => {
  const app = await createApp(2)
  const goals = [{ name: 'a', payout: '1' }, { name: 'b', payout: '1' }] // prettier-ignore
  const [game = 0, second = 0, third = 0] = await world.createOffers({ payout: undefined, goals }, {}, {})
  const started = await world.click(third, app.live) // before the limit: it is paid
  const first = await world.click(game, app.live)
  assert.equal((await world.confirm(game, first.clickId, { goal: 'a' })).outcome, 'approved')
  const { clickId } = await world.click(second, app.live)
  const { conversion_id } = await world.confirm(second, clickId)
  const refused = await world.click(third, app.live)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /reached today’s limit/)
  assert.equal((await world.click(game, app.live)).status, 302) // it goes on
  assert.equal((await world.click(third, app.live, 'userId=another')).status, 302)
  assert.equal((await world.click(third, app.test)).status, 302)
  assert.equal((await world.confirm(third, started.clickId)).outcome, 'approved')
  assert.ok(conversion_id)
})

test('what was rejected does not count, and a limit that is changed counts at once', async () => {
  const app = await createApp(1)
  const [first = 0, second = 0] = await world.createOffers({}, {})
  const { clickId } = await world.click(first, app.live)
  await world.confirm(first, clickId, { status: 'rejected' })
  const again = await world.click(second, app.live)
  assert.equal(again.status, 302)
  assert.equal((await world.confirm(second, again.clickId)).outcome, 'approved')
  assert.equal((await world.click(first, app.live)).status, 403)
  await app.limit(2)
  assert.equal((await world.click(first, app.live)).status, 302)
  await app.limit(null)
  assert.equal((await world.click(first, app.live)).status, 302)
})

test('a day begins at midnight of UTC: what was completed before it does not count, also when it was started before', async () => {
  const { db } = world.database
  const { appId } = await createApp(1)
  const [late = 0, early = 0, other = 0] = await world.createOffers({}, {}, {})
  const midnight = Date.parse('2026-03-10T00:00:00Z')
  const completed = (offerId: number, atMs: number) =>
    addConversions(db, { at: new Date(atMs).toISOString(), appId, offerId, status: 'approved', user_id: 'ann' })
  const may = (offerId: number, nowMs: number) => isWithinLimit(db, { appId, isTest: false, userId: 'ann', offerId }, 1, nowMs) // prettier-ignore
  await completed(late, midnight - 1)
  assert.deepEqual([await may(other, midnight - 1), await may(late, midnight - 1)], [false, true])
  assert.equal(await may(other, midnight), true)
  await completed(early, midnight) // whenever it was started
  assert.deepEqual([await may(other, midnight), await may(late, midnight), await may(early, midnight)], [false, false, true]) // prettier-ignore
  assert.equal(await may(other, midnight + 86_400_000 - 1), false)
  assert.equal(await may(other, midnight + 86_400_000), true)
})
