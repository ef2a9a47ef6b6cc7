// The catalogue changes between two calls about the same thing: what is there is found, and nothing is paid twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editOffer, prefixed, renamed, repeatable } from '../../../test/edit-offer.ts'
import { useWorld } from '../../../test/world.ts'
import { trustApp } from '../apps/trust.ts'
import { showOffer } from '../offers/offers.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('after_edits')

const STEPS = { goals: [{ name: 'Instal', payout: '1' }, { name: 'Level 10', payout: '2' }] } // prettier-ignore

async function make(record: Record<string, unknown> = STEPS) {
  const { live, appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers('goals' in record ? { payout: null, ...record } : record)
  const statuses = async () => {
    const rows = await world.database.db
      .selectFrom('conversions')
      .select('status')
      .where('app_id', '=', appId)
      .execute()
    return rows.map((row) => row.status)
  }
  return { live, appId, offerId, statuses }
}

const EDITS = { 'a goal is renamed': renamed('Install'), 'a step is put before it': prefixed }

for (const [said, edit] of Object.entries(EDITS)) {
  test(`a confirmation without a goal is not paid again after ${said}`, async () => {
    const { live, offerId, statuses } = await make()
    const { clickId } = await world.click(offerId, live)
    assert.equal((await world.confirm(offerId, clickId, { txn_id: 'order-77' })).outcome, 'approved')
    await editOffer(world, offerId, edit)
    assert.equal((await world.confirm(offerId, clickId, { txn_id: 'order-77' })).outcome, 'duplicate')
    assert.deepEqual(await statuses(), ['approved'])
  })

  test(`a reversal without a goal reaches what was paid after ${said}`, async () => {
    for (const order of [{}, { txn_id: 'order-78' }]) {
      const { live, offerId, statuses } = await make()
      const { clickId } = await world.click(offerId, live)
      await world.confirm(offerId, clickId, order)
      await editOffer(world, offerId, edit)
      assert.equal((await world.confirm(offerId, clickId, { ...order, status: 'reversed' })).outcome, 'reversed')
      assert.deepEqual(await statuses(), ['reversed'])
    }
  })

  for (const withClick of [true, false]) {
    test(`a repeated report ${withClick ? 'with' : 'without'} a click is not taken again after ${said}`, async () => {
      const { live, appId, offerId, statuses } = await make()
      await trustApp(world.database.db, TESTER, appId, [offerId])
      if (withClick) await world.click(offerId, live)
      assert.equal((await world.report(live, { userId: 'u', offerId })).status, 201)
      await editOffer(world, offerId, edit)
      assert.equal((await world.report(live, { userId: 'u', offerId })).status, 200)
      assert.deepEqual(await statuses(), ['approved'])
    })
  }
}

test('a report with its Idempotency-Key is the same, also when its goal is gone', async () => {
  const { live, offerId, statuses } = await make()
  const [, second] = (await showOffer(world.database.db, offerId)).goals
  const send = (goalId?: number) => world.report(live, { userId: 'u', offerId, goalId }, { 'idempotency-key': `k-${goalId ?? 'first'}` }) // prettier-ignore
  const before = [await send(), await send(second?.goal_id)]
  assert.deepEqual(before.map(({ status }) => status), [201, 201]) // prettier-ignore
  await editOffer(world, offerId, ({ goals: [first] }) => ({ goals: [{ ...first, name: 'Another step', external_id: 'new' }] as never })) // prettier-ignore
  const again = [await send(), await send(second?.goal_id)]
  assert.deepEqual(again.map(({ status }) => status), [200, 200]) // prettier-ignore
  assert.deepEqual(again.map(({ body }) => body.data.conversion), before.map(({ body }) => body.data.conversion)) // prettier-ignore
  assert.deepEqual(await statuses(), ['pending', 'pending'])
})

test('a goal that was called otherwise at the click is still found by that name, and by its external id', async () => {
  const { live, offerId } = await make({ goals: [{ name: 'Instal', external_id: 'inst', payout: '1' }, { name: 'Buy', external_id: 'buy', payout: '2' }] }) // prettier-ignore
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId, { goal: 'Instal' })
  await editOffer(world, offerId, renamed('Install'))
  assert.equal((await world.confirm(offerId, clickId, { goal: 'Instal', status: 'reversed' })).outcome, 'reversed')
  assert.equal((await world.confirm(offerId, clickId, { goal: 'BUY' })).outcome, 'approved')
  assert.equal((await world.confirm(offerId, clickId, { goal: 'inst', status: 'reversed' })).outcome, 'duplicate')
})

test('an import keeps the id of a goal that it renames, moves, or knows by its external id', async () => {
  const { offerId } = await make({ goals: [{ name: 'A', payout: '1' }, { name: 'B', payout: '2' }, { name: 'C', payout: '3' }] }) // prettier-ignore
  const ids = async () => {
    const { goals } = await showOffer(world.database.db, offerId)
    return goals.filter((goal) => !goal.is_retired).map((goal) => [goal.name, goal.goal_id] as const)
  }
  const [[, a] = ['', 0], [, b] = ['', 0], [, c] = ['', 0]] = await ids()
  await editOffer(world, offerId, ({ goals }) => ({ goals: goals.toReversed().map((goal) => (goal.name === 'B' ? { ...goal, name: 'B, mended' } : goal)) })) // prettier-ignore
  assert.deepEqual(await ids(), [['C', c], ['B, mended', b], ['A', a]]) // prettier-ignore
  await editOffer(world, offerId, ({ goals }) => ({
    goals: goals.map((goal, i) => ({ ...goal, external_id: `g${i}` })),
  }))
  await editOffer(world, offerId, ({ goals }) => ({ goals: goals.map((goal) => ({ ...goal, name: goal.name === 'C' ? 'A' : goal.name === 'A' ? 'C' : 'D' })) })) // prettier-ignore
  assert.deepEqual(await ids(), [['A', c], ['D', b], ['C', a]]) // prettier-ignore
  await editOffer(world, offerId, ({ goals }) => ({
    goals: goals.map((goal) => ({ ...goal, external_id: undefined })),
  }))
  const { goals } = await showOffer(world.database.db, offerId)
  assert.deepEqual(goals.map((goal) => goal.external_id), ['g0', 'g1', 'g2']) // prettier-ignore
  await editOffer(world, offerId, ({ goals: [first] }) => ({ goals: [first, { ...first, external_id: 'other', name: 'E' }] as never })) // prettier-ignore
  const now = await ids()
  assert.equal(now[0]?.[1], c)
  assert.ok(![a, b, c].includes(now[1]?.[1] ?? 0), 'another external id is another goal')
})

test('a goal that turns repeatable lets a chargeback through, and a report of before is the same one', async () => {
  const { live, appId, offerId, statuses } = await make({})
  await trustApp(world.database.db, TESTER, appId, [offerId])
  const { clickId } = await world.click(offerId, live)
  await world.report(live, { userId: 'u', offerId })
  await editOffer(world, offerId, repeatable(true))
  assert.equal((await world.report(live, { userId: 'u', offerId })).status, 200)
  assert.equal((await world.confirm(offerId, clickId, { status: 'reversed' })).outcome, 'reversed')
  assert.deepEqual(await statuses(), ['reversed'])
})

test('a goal that is no longer repeatable creates no second row of the same transaction', async () => {
  const { live, appId, offerId, statuses } = await make({ goals: [{ name: 'Buy', payout: '1', is_repeatable: true }] })
  await trustApp(world.database.db, TESTER, appId, [offerId])
  await world.report(live, { userId: 'u', offerId, transactionId: 'p-1' })
  await editOffer(world, offerId, repeatable(false))
  assert.equal((await world.report(live, { userId: 'u', offerId, transactionId: 'p-1' })).status, 200)
  assert.deepEqual(await statuses(), ['approved'])
})

test('a goal that no longer repeats can be done once more, on which list, click and payment agree', async () => {
  const { live, offerId, statuses } = await make({ goals: [{ name: 'Buy', payout: '1', is_repeatable: true }] })
  const isListed = async () => {
    const { body } = await world.get('/v1/offers?userId=u', live)
    return body.data.offers.some((offer) => offer.offer_id === offerId)
  }
  const before = await world.click(offerId, live)
  for (const txn_id of ['p-1', 'p-2']) await world.confirm(offerId, before.clickId, { txn_id })
  await editOffer(world, offerId, repeatable(false))
  assert.ok(await isListed())
  const { clickId } = await world.click(offerId, live)
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'p-2' })).outcome, 'duplicate', 'paid before')
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'p-3' })).outcome, 'approved')
  await world.app.refresh()
  assert.ok(!(await isListed()))
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'p-4' })).outcome, 'duplicate')
  // A click of before was promised that it repeats.
  assert.equal((await world.confirm(offerId, before.clickId, { txn_id: 'p-5' })).outcome, 'approved')
  assert.deepEqual(await statuses(), ['approved', 'approved', 'approved', 'approved'])
})
