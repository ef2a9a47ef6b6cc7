// What was decided about a user stands, however much was refused to them since.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('crowded')
const MANY = 60
const GOALS = [{ name: 'Sign up', payout: '1' }, { name: 'Order', payout: '2', is_repeatable: true }] // prettier-ignore

async function make() {
  const { live, appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ payout: null, goals: GOALS })
  const { clickId } = await world.click(offerId, live)
  const conversions = () =>
    world.database.db
      .selectFrom('conversions')
      .select(['conversion_id', 'status'])
      .where('app_id', '=', appId)
      .where('is_repeatable', '=', false)
      .orderBy('conversion_id')
      .execute()
  const confirm = (params: Record<string, string>, click = clickId) => world.confirm(offerId, click, params)
  const turnDownMany = async () => {
    for (let i = 0; i < MANY; i++)
      assert.equal((await confirm({ goal: 'Order', txn_id: `no-${i}`, status: 'rejected' })).outcome, 'rejected')
  }
  return { live, offerId, confirm, conversions, turnDownMany }
}

test('a fraud decision is not forgotten behind many refusals', async () => {
  const made = await make()
  await made.confirm({ goal: 'Sign up', txn_id: 'first', status: 'pending' })
  const [one] = await made.conversions()
  const move = {
    kind: 'move',
    by: TESTER,
    conversionId: one?.conversion_id ?? '',
    to: 'rejected',
    reason: 'fraud',
  } as const
  await applyCommands(world.database.db, [move], new Date())
  await made.turnDownMany()
  const { clickId } = await world.click(made.offerId, made.live)
  assert.equal((await made.confirm({ goal: 'Sign up', txn_id: 'second' }, clickId)).outcome, 'duplicate')
  assert.deepEqual((await made.conversions()).map(({ status }) => status), ['rejected']) // prettier-ignore
})

test('a chargeback is not paid out again behind many refusals', async () => {
  const made = await make()
  await made.confirm({ goal: 'Sign up' })
  await made.confirm({ goal: 'Sign up', status: 'reversed' })
  await made.turnDownMany()
  assert.equal((await made.confirm({ goal: 'Sign up' })).outcome, 'duplicate')
  assert.deepEqual((await made.conversions()).map(({ status }) => status), ['reversed']) // prettier-ignore
})

test('what was refused is answered the same, however long ago', async () => {
  const made = await make()
  await made.turnDownMany()
  const again = await made.confirm({ goal: 'Order', txn_id: 'no-0', status: 'rejected' })
  assert.equal(again.outcome, 'duplicate')
})

test('a report is found behind any number of confirmations of another goal', async () => {
  const { live, appId } = await world.createApp()
  const goals = [{ name: 'Level', payout: '1', is_repeatable: true }, { name: 'Order', payout: '2', is_repeatable: true }] // prettier-ignore
  const [offerId = 0] = await world.createOffers({ payout: null, goals })
  const { clickId } = await world.click(offerId, live)
  const { db } = world.database
  const { goal_id: goalId } = await db.selectFrom('goals').select('goal_id').where('offer_id', '=', offerId).where('name', '=', 'Order').executeTakeFirstOrThrow() // prettier-ignore
  const levels = Array.from({ length: 205 }, (_, i) => world.confirm(offerId, clickId, { goal: 'Level', txn_id: `a${i}` })) // prettier-ignore
  await Promise.all(levels)
  await world.report(live, { userId: 'u', offerId, goalId, transactionId: 'p' })
  await world.confirm(offerId, clickId, { goal: 'Order', txn_id: 'b' })
  const orders = await db.selectFrom('conversions').select(['publisher_transaction_id', 'advertiser_transaction_id']).where('app_id', '=', appId).where('goal_id', '=', goalId).execute() // prettier-ignore
  assert.deepEqual(orders, [{ publisher_transaction_id: 'p', advertiser_transaction_id: 'b' }])
})
