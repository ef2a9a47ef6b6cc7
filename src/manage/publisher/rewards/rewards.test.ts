import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('manage_rewards')

const DEFAULTS = { kind: 'reward', keeps_balance: false }

test('an owner changes some reward settings; the others stay, and the change is in the audit log', async () => {
  const { appId, live } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const path = `/apps/${appId}/rewards`
  assert.deepEqual((await owner.get(path)).data, DEFAULTS)
  assert.equal((await owner.patch(path, { keeps_balance: true })).status, 200)
  const changed = await owner.patch(path, { kind: 'tracking' })
  assert.deepEqual(changed.data, { ...DEFAULTS, kind: 'tracking', keeps_balance: true })
  assert.deepEqual((await owner.get(path)).data, changed.data)
  const { body } = await world.get('/v1/users/u', live)
  assert.equal((body.data as unknown as { keeps_balance: boolean }).keeps_balance, true)
  const entries = await world.database.db.selectFrom('audit_log').select('details').where('action', '=', 'rewards.change').orderBy('audit_id').execute() // prettier-ignore
  assert.deepEqual(entries[1]?.details, { before: { ...DEFAULTS, keeps_balance: true }, after: changed.data })
})

test('what is no setting is refused, with what is wrong about it', async () => {
  const { appId } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const refused = async (body: object) => (await owner.patch(`/apps/${appId}/rewards`, body)).error.details
  assert.deepEqual(Object.keys((await refused({ kind: 'wall' })) ?? {}), ['kind'])
  assert.deepEqual(Object.keys((await refused({ keeps_balance: 'yes' })) ?? {}), ['keeps_balance'])
})
