import assert from 'node:assert/strict'
import { test } from 'node:test'
import { visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('manage_bans')

type List = { bans: { ban_id: number; user_id: string; app_id: number | null }[]; next_cursor: string | null }

test('an operator bans a user, finds the ban, and lifts it', async () => {
  const { appId, live } = await world.createApp()
  await world.createOffers({})
  const operator = await visit(world, 'operator')
  const total = async () => (await world.get('/v1/offers?userId=bad', live)).body.data.total
  const ban = { app_id: appId, user_id: 'bad', reason: 'a hundred accounts' }
  assert.equal((await operator.post<{ is_new: boolean }>('/bans', ban)).data.is_new, true)
  assert.equal((await operator.post<{ is_new: boolean }>('/bans', ban)).data.is_new, false)
  assert.equal(await total(), 0)
  const { data } = await operator.get<List>(`/bans?user_id=bad&app_id=${appId}`)
  assert.equal(data.bans.length, 1)
  assert.equal((await operator.delete(`/bans/${data.bans[0]?.ban_id}`)).status, 200)
  assert.ok((await total()) > 0)
  assert.equal((await operator.delete(`/bans/${data.bans[0]?.ban_id}`)).status, 404)
})

test('bans come newest first, in pages', async () => {
  const operator = await visit(world, 'operator')
  for (const user_id of ['one', 'two', 'three']) await operator.post('/bans', { user_id, reason: 'spam' })
  const first = (await operator.get<List>('/bans?limit=2')).data
  assert.deepEqual(
    first.bans.map((ban) => ban.user_id),
    ['three', 'two'],
  )
  const second = (await operator.get<List>(`/bans?limit=2&cursor=${first.next_cursor}`)).data
  assert.equal(second.bans[0]?.user_id, 'one')
})

test('what is missing or unknown is said', async () => {
  const operator = await visit(world, 'operator')
  const { status, error } = await operator.post('/bans', { app_id: 999_999, user_id: 'u', reason: 'r' })
  assert.deepEqual([status, error.message], [400, 'There is no app 999999.'])
  const empty = await operator.post('/bans', {})
  assert.deepEqual(Object.keys(empty.error.details ?? {}), ['user_id', 'reason'])
})
