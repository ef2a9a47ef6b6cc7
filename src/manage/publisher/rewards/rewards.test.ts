import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'

const world = useWorld('manage_rewards')

const DEFAULTS = { kind: 'reward', keeps_balance: false, rounding: 'down', decimals: 4, minimum_reward: null, sale: null, welcome_offer_id: null, daily_limit: null } // prettier-ignore

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

test('rounding and decimals that are changed at once both count', async () => {
  const { appId } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const path = `/apps/${appId}/rewards`
  for (let i = 0; i < 5; i++) {
    await owner.patch(path, { rounding: 'down', decimals: 4 })
    await Promise.all([owner.patch(path, { rounding: 'up' }), owner.patch(path, { decimals: 0 })])
    assert.deepEqual((await owner.get(path)).data, { ...DEFAULTS, rounding: 'up', decimals: 0 })
  }
})

test('what is no setting is refused, with what is wrong about it', async () => {
  const { appId } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const refused = async (body: object) => (await owner.patch(`/apps/${appId}/rewards`, body)).error.details
  assert.deepEqual(Object.keys((await refused({ kind: 'wall' })) ?? {}), ['kind'])
  assert.deepEqual(Object.keys((await refused({ keeps_balance: 'yes' })) ?? {}), ['keeps_balance'])
  assert.deepEqual(Object.keys((await refused({ decimals: 5 })) ?? {}), ['decimals'])
  assert.deepEqual(Object.keys((await refused({ minimum_reward: 0.00001 })) ?? {}), ['minimum_reward'])
  assert.deepEqual(Object.keys((await refused({ welcome_offer_id: 999_999_999 })) ?? {}), ['welcome_offer_id'])
  const [past, future] = ['2020-01-01T00:00:00Z', '2999-01-01T00:00:00Z']
  const before = '2998-01-01T00:00:00Z'
  assert.deepEqual(await refused({ sale: { multiplier: 2, ends_at: past } }), { 'sale.ends_at': 'The end of the sale must be in the future.' }) // prettier-ignore
  assert.deepEqual(await refused({ sale: { multiplier: 2, starts_at: future, ends_at: before } }), { 'sale.ends_at': 'The sale must end after it starts.' }) // prettier-ignore
  for (const multiplier of [1, 11, 1.00001])
    assert.deepEqual(Object.keys((await refused({ sale: { multiplier, ends_at: future } })) ?? {}), ['sale.multiplier'])
  for (const name of ['starts_at', 'ends_at'])
    assert.deepEqual(Object.keys((await refused({ sale: { multiplier: 2, ends_at: future, [name]: 'soon' } })) ?? {}), [`sale.${name}`]) // prettier-ignore
})

test('rounding, minimum, sale, welcome offer and daily limit are set one by one, and taken away', async () => {
  const { appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const sale = { multiplier: 1.25, starts_at: '2998-01-01T00:00:00.000Z', ends_at: '2999-01-01T00:00:00.000Z' }
  const wanted = {
    rounding: 'nearest',
    decimals: 0,
    minimum_reward: 2.5,
    sale,
    welcome_offer_id: offerId,
    daily_limit: 5,
  }
  for (const [name, value] of Object.entries(wanted))
    assert.equal((await owner.patch(`/apps/${appId}/rewards`, { [name]: value })).status, 200, name)
  assert.deepEqual((await owner.get(`/apps/${appId}/rewards`)).data, { ...DEFAULTS, ...wanted })
  const { rounding, decimals, minimum_reward, sale: none, welcome_offer_id, daily_limit } = DEFAULTS
  const { data } = await owner.patch(`/apps/${appId}/rewards`, {
    rounding,
    decimals,
    minimum_reward,
    sale: none,
    welcome_offer_id,
    daily_limit,
  })
  assert.deepEqual(data, DEFAULTS)
})
