// Which offers a user has in progress, attempt by attempt.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { TESTER } from '../../../test/tester.ts'
import { signed } from '../../../test/wall/wall-url.ts'
import { BROWSER, useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { createCommandQueue } from '../conversions/command-queue.ts'
import type { Activity } from './schema.ts'

const world = useWorld('activity')
const GOALS = { payout: undefined, goals: [{ name: 'Install', payout: '1' }, { name: 'Finish', payout: '2' }] } // prettier-ignore

/** What is shown as in progress: by offer, each goal with its status. */
async function readStarted(live: IssuedCredentials): Promise<Record<string, (string | null)[]>> {
  const query = new URLSearchParams({ apiKey: live.api_key, ...signed(live) }).toString()
  const reply = await world.app.server.inject({
    url: `/wall/v1/activity?${query}`,
    headers: { 'user-agent': BROWSER },
  })
  const { started } = reply.json<{ data: Static<typeof Activity> }>().data
  return Object.fromEntries(started.map(({ offer_name, goals }) => [offer_name, goals.map(({ status }) => status)]))
}

const click = async (offerId: number, live: IssuedCredentials) =>
  (await world.click(offerId, live, 'userId=ann')).clickId

test('an offer that is started again is in progress again, after a reversal or a rejection', async () => {
  const { live } = await world.createApp()
  const [once = 0, steps = 0] = await world.createOffers({ name: 'Once' }, { name: 'Steps', ...GOALS })
  const [first, second] = [await click(once, live), await click(steps, live)]
  assert.deepEqual(await readStarted(live), { Once: [null], Steps: [null, null] })
  await world.confirm(once, first)
  for (const goal of ['Install', 'Finish']) await world.confirm(steps, second, { goal })
  assert.deepEqual(await readStarted(live), {})
  await world.confirm(once, first, { status: 'reversed' })
  await world.confirm(steps, second, { goal: 'Finish', status: 'reversed' })
  assert.deepEqual(await readStarted(live), {})
  await world.app.refresh()
  const third = await click(once, live)
  await click(steps, live)
  assert.deepEqual(await readStarted(live), { Once: [null], Steps: ['approved', null] })
  await world.confirm(once, third, { status: 'rejected' })
  assert.deepEqual(await readStarted(live), { Steps: ['approved', null] })
  await click(once, live)
  assert.deepEqual(await readStarted(live), { Once: [null], Steps: ['approved', null] })
})

test('a goal that was rejected stays so until the offer is started again', async () => {
  const { live } = await world.createApp()
  const [steps = 0] = await world.createOffers({ name: 'Steps', ...GOALS })
  const clickId = await click(steps, live)
  await world.confirm(steps, clickId, { goal: 'Install', status: 'rejected' })
  assert.deepEqual(await readStarted(live), { Steps: ['rejected', null] })
  await click(steps, live)
  assert.deepEqual(await readStarted(live), { Steps: [null, null] })
})

test('what repeats is in progress again when it is started again', async () => {
  const { live } = await world.createApp()
  const goals = [{ name: 'Join', payout: '1' }, { name: 'Buy', payout: '1', is_repeatable: true }] // prettier-ignore
  const [shop = 0] = await world.createOffers({ name: 'Shop', payout: undefined, goals })
  const first = await click(shop, live)
  await world.confirm(shop, first, { goal: 'Buy', txn_id: 'Buy 1' })
  assert.deepEqual(await readStarted(live), { Shop: [null, 'approved'] })
  await world.confirm(shop, first, { goal: 'Join' })
  assert.deepEqual(await readStarted(live), {})
  const second = await click(shop, live)
  assert.deepEqual(await readStarted(live), { Shop: ['approved', null] })
  await world.confirm(shop, second, { goal: 'Buy', txn_id: 'Buy 2' })
  assert.deepEqual(await readStarted(live), {})
})

test('what cannot be done again is not in progress', async () => {
  const { live } = await world.createApp()
  const [once = 0] = await world.createOffers({ name: 'Once' })
  const { link } = await linkOf(live, once)
  const { clickId } = await world.follow(link)
  const { conversion_id: conversionId } = await world.confirm(once, clickId)
  const queue = createCommandQueue(world.database.db)
  await queue.apply({ kind: 'move', by: TESTER, conversionId: conversionId ?? '', to: 'reversed', reason: 'fraud' })
  await queue.close()
  await world.follow(link)
  assert.deepEqual(await readStarted(live), {})
})

async function linkOf(live: IssuedCredentials, offerId: number): Promise<{ link: string }> {
  const { body } = await world.get(`/v1/offers/${offerId}?userId=ann`, live)
  return body.data.offer
}
