// What the operator closed, only the operator opens.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPerson, publisherOfApp, visit, Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('closed')

async function createTeam() {
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  return {
    appId,
    publisherId,
    base: `/publishers/${publisherId}`,
    owner: await visit(world, 'publisher_owner', publisherId),
    operator: await visit(world, 'operator'),
  }
}

test('an owner cannot enable a person whom the operator disabled, and sees that', async () => {
  const { base, owner, operator, publisherId } = await createTeam()
  const person = await createPerson(world, 'publisher_developer', publisherId)
  const path = `${base}/people/${person.id}`
  const signIn = () => new Visitor(world).signIn(person.email)
  await operator.patch(path, { disabled: true })
  const refused = await owner.patch(path, { disabled: false })
  assert.deepEqual([refused.status, /operator disabled this account/.test(refused.error.message)], [403, true])
  assert.equal((await owner.patch(path, { disabled: true })).status, 200) // which takes nothing over
  assert.equal((await owner.patch(path, { role: 'publisher_owner', disabled: false })).status, 403)
  await assert.rejects(signIn())
  const { data } = await owner.get<{ people: { id: string; disabled_by_operator: boolean }[] }>(`${base}/people`)
  assert.equal(data.people.find(({ id }) => id === person.id)?.disabled_by_operator, true)
  assert.equal((await operator.patch(path, { disabled: false })).status, 200)
  await signIn()
  await owner.patch(path, { disabled: true })
  assert.equal((await owner.patch(path, { disabled: false })).status, 200) // what the owner closed
  await owner.patch(path, { disabled: true })
  await operator.patch(path, { disabled: true }) // the operator, too
  assert.equal((await owner.patch(path, { disabled: false })).status, 403)
})

test('an owner brings the end that an operator set for a key forward, and does not put it off', async () => {
  const { appId, owner, operator } = await createTeam()
  const path = `/apps/${appId}/credentials/live/expiry`
  const inDays = (days: number) => ({ expires_at: new Date(Date.now() + days * 86_400_000).toISOString() })
  assert.equal((await owner.put(path, inDays(5))).status, 200)
  assert.equal((await owner.put(path, {})).status, 200) // its own
  assert.equal((await operator.put(path, inDays(3))).status, 200)
  for (const body of [{}, inDays(4)]) {
    const { status, error } = await owner.put(path, body)
    assert.deepEqual([status, error.code], [403, 'NOT_ALLOWED'])
  }
  assert.equal((await owner.put(path, inDays(2))).status, 200)
  assert.equal((await owner.put(path, {})).status, 403)
  assert.equal((await operator.put(path, {})).status, 200)
  assert.equal((await owner.put(path, inDays(9))).status, 200)
})

test('a key that was revoked, postbacks that were paused and a publisher that was suspended stay so', async () => {
  const { appId, owner, operator, publisherId } = await createTeam()
  const settings = { url: 'https://example.com/?u={user_id}&t={is_test}' }
  await owner.put(`/apps/${appId}/postback`, settings)
  assert.equal((await operator.post(`/postback-lanes/${appId}/pause`)).status, 200)
  assert.equal((await owner.post(`/apps/${appId}/postback/resume`)).status, 409)
  await owner.put(`/apps/${appId}/postback`, settings)
  await owner.delete(`/apps/${appId}/postback`)
  await owner.put(`/apps/${appId}/postback`, settings)
  const lane = await world.database.db.selectFrom('postback_lanes').select('pause_reason').where('app_id', '=', appId).executeTakeFirst() // prettier-ignore
  assert.equal(lane?.pause_reason, 'operator')

  assert.equal((await operator.post(`/apps/${appId}/credentials/live/revoke`)).status, 200)
  for (const [method, path, body] of [
    ['PUT', `/apps/${appId}/credentials/live/expiry`, {}],
    ['POST', `/apps/${appId}/credentials/live/rotate`, { grace_hours: 0 }],
  ] as const)
    await owner.send(method, path, body)
  const { data } = await owner.get<{ credentials: { mode: string; revoked_at: string | null }[] }>(`/apps/${appId}`)
  assert.notEqual(data.credentials.find(({ mode }) => mode === 'live')?.revoked_at, null)
  assert.equal((await owner.patch(`/publishers/${publisherId}/permissions`, { status: 'active' })).status, 404)
})
