import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('manage_users')

type User = {
  ban: { is_everywhere: boolean } | null
  clicks: { offer_name: string }[]
  balance: number
  keeps_balance: boolean
  entries: { kind: string; amount: number }[]
}
type List = { users: { user_id: string }[] }

test('a user of an app: clicks, balance and ban, live and test apart, for the people of its publisher', async () => {
  const { appId, live, test: testKeys } = await world.createApp()
  const other = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  await owner.patch(`/apps/${appId}/rewards`, { keeps_balance: true })
  const [offerId = 0] = await world.createOffers({ name: 'Castle Quest' })
  const userId = 'ann/ä ?'
  const path = `/apps/${appId}/users/${encodeURIComponent(userId)}`
  const { clickId } = await world.click(offerId, live, `userId=${encodeURIComponent(userId)}`)
  await world.confirm(offerId, clickId)
  await world.report(testKeys, { userId: 'tester', offerId })
  const { data } = await owner.get<User>(path)
  assert.deepEqual(
    [data.ban, data.clicks.map((one) => one.offer_name), data.balance, data.entries.map(({ kind, amount }) => [kind, amount])],
    [null, ['Castle Quest'], 100, [['reward', 100]]],
  ) // prettier-ignore
  const inTest = (await owner.get<User>(`${path}?mode=test`)).data
  assert.deepEqual([inTest.clicks, inTest.balance, inTest.entries], [[], 0, []])
  const users = async (query = '') => (await owner.get<List>(`/apps/${appId}/users${query}`)).data.users
  assert.deepEqual((await users()).map((one) => one.user_id), [userId]) // prettier-ignore
  assert.deepEqual((await users('?mode=test')).map((one) => one.user_id), ['tester']) // prettier-ignore
  const operator = await visit(world, 'operator')
  await operator.post('/bans', { app_id: appId, user_id: userId, reason: 'a hundred accounts' })
  const banned = await owner.get<User>(path)
  assert.equal(banned.data.ban?.is_everywhere, false)
  assert.ok(!banned.text.includes('a hundred accounts'))
  const stranger = await visit(world, 'publisher_owner', await publisherOfApp(world, other.appId))
  assert.equal((await stranger.get(path)).status, 404)
})
