// How many clicks led to something, and what the average click earned.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import type { Stats } from './schema.ts'

const world = useWorld('converted_clicks')

async function readTotals(credentials: IssuedCredentials) {
  const { status, body, text } = await world.get('/v1/stats', credentials)
  assert.equal(status, 200, text)
  return (body.data as unknown as Stats).totals
}

test('conversion rate and EPC compare clicks with what the same clicks led to', async () => {
  const { live } = await world.createApp()
  const goals = [{ name: 'Install', external_id: 'install', payout: '1' }, { name: 'Buy', external_id: 'buy', payout: '4' }] // prettier-ignore
  const [offerId = 0] = await world.createOffers({ payout: '5', goals })
  const visit = async (userId: string, ...confirmed: string[]) => {
    const headers = userId === 'bot' ? { 'user-agent': 'curl/8' } : {}
    const { clickId } = await world.click(offerId, live, `userId=${userId}`, headers)
    for (const goal of confirmed)
      assert.equal((await world.confirm(offerId, clickId, { goal })).outcome, 'approved', goal)
  }
  await visit('buyer', 'install', 'buy')
  await visit('looker')
  await visit('bot', 'install')
  assert.equal((await world.report(live, { userId: 'without a click', offerId })).status, 201)
  const totals = await readTotals(live)
  assert.deepEqual([totals.clicks, totals.conversions, totals.payout], [2, 4, 6])
  assert.deepEqual([totals.converted_clicks, totals.conversion_rate, totals.epc], [1, 0.5, 2.5])
})

test('a click counts once, however often its goal is completed and reported by both sides', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ goals: [{ name: 'Buy', payout: '1', is_repeatable: true }] })
  const { clickId } = await world.click(offerId, live)
  for (const order of ['1', '2', '3']) {
    await world.confirm(offerId, clickId, { txn_id: order })
    await world.report(live, { userId: 'u', offerId, transactionId: `p-${order}` })
  }
  const { conversions, converted_clicks, conversion_rate, epc } = await readTotals(live)
  assert.deepEqual({ conversions, converted_clicks, conversion_rate, epc }, { conversions: 3, converted_clicks: 1, conversion_rate: 1, epc: 3 }) // prettier-ignore
})

test('a click counts as long as one of its conversions is not rejected, whichever came first', async () => {
  const { live } = await world.createApp()
  const goals = ['install', 'play', 'buy'].map((name) => ({ name, external_id: name, payout: '1' }))
  const [offerId = 0] = await world.createOffers({ payout: '3', goals })
  const { clickId } = await world.click(offerId, live)
  const confirm = async (goal: string, status?: string) =>
    (await world.confirm(offerId, clickId, { goal, ...(status === undefined ? {} : { status }) })).outcome
  const convertedClicks = async () => (await readTotals(live)).converted_clicks
  const goalNames = goals.map(({ name }) => name)
  for (const goal of goalNames) assert.equal(await confirm(goal, 'pending'), 'pending')
  for (const [rejected, goal] of goalNames.entries()) {
    assert.equal(await convertedClicks(), 1, `${rejected} rejected`)
    assert.equal(await confirm(goal, 'rejected'), 'rejected')
  }
  assert.equal(await convertedClicks(), 0)
})
