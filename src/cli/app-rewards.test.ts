// How an app rewards its users, at the command line.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failsWith, useOperator } from '../../test/operator.ts'

const { home, createApp } = useOperator()

test('the reward settings of an app are shown and set, each alone', async () => {
  const { app_id } = await createApp()
  const set = (...options: string[]) => home.json<Record<string, unknown>>('app', 'set', String(app_id), ...options)
  const shown = await home.json<Record<string, unknown>>('app', 'show', String(app_id))
  const defaults = { kind: 'reward', keeps_balance: false, rounding: 'down', decimals: 4, minimum_reward: null, sale: null, welcome_offer_id: null, daily_limit: null } // prettier-ignore
  for (const [name, value] of Object.entries(defaults)) assert.deepEqual(shown[name], value, name)
  assert.equal((await set('--kind', 'tracking'))['kind'], 'tracking')
  assert.equal((await set('--balances'))['keeps_balance'], true)
  const rounded = await set('--rounding', 'nearest0', '--minimum-reward', '2.5', '--daily-limit', '3')
  assert.deepEqual([rounded['rounding'], rounded['decimals'], rounded['minimum_reward'], rounded['daily_limit'], rounded['keeps_balance']], ['nearest', 0, 2.5, 3, true]) // prettier-ignore
  const { sale } = await set('--sale', '1.5', '--sale-from', '2998-01-01', '--sale-until', '2999-01-01')
  assert.deepEqual(sale, {
    multiplier: 1.5,
    starts_at: '2998-01-01T00:00:00.000Z',
    ends_at: '2999-01-01T00:00:00.000Z',
  })
  const { out } = await home.run(['app', 'show', String(app_id)])
  assert.match(out, /sale +.*1\.5/)
  const none = await set('--sale', 'none', '--minimum-reward', 'none', '--daily-limit', 'none', '--rounding', 'down4', '--no-balances') // prettier-ignore
  assert.deepEqual([none['sale'], none['minimum_reward'], none['daily_limit'], none['rounding'], none['decimals'], none['keeps_balance']], [null, null, null, 'down', 4, false]) // prettier-ignore
})

test('what is wrong with the options is said, all at once', async () => {
  const { app_id } = await createApp()
  const wrong = ['--kind', 'wall', '--rounding', 'half5', '--minimum-reward', '0', '--sale', '2', '--daily-limit', '-1'] // prettier-ignore
  const refused = await home.run(['app', 'set', String(app_id), ...wrong])
  failsWith(refused, /--kind must be.*--rounding must be.*--minimum-reward must be.*--sale needs.*--daily-limit must be/s, 2) // prettier-ignore
  failsWith(await home.run(['app', 'set', String(app_id), '--sale', '11', '--sale-until', '2999-01-01']), /at most 10/)
  failsWith(await home.run(['app', 'set', String(app_id), '--welcome-offer', '99999']), /There is no offer 99999/)
})
