// Callbacks that come again, word for word, long after what they were about has ended.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { TESTER } from '../../../test/tester.ts'
import { applyCommands } from './apply-commands.ts'
import { deleteRule, setFraudRule } from './fraud.ts'
import { trustApp } from '../apps/trust.ts'

const world = useWorld('retries')

const REPEATING = { payout: undefined, goals: [{ name: 'Buy', payout: 2, revenue: 3, is_repeatable: true }] }

async function make(offer: Record<string, unknown> = {}) {
  const app = await world.createApp()
  const [offerId = 0] = await world.createOffers(offer)
  const { clickId } = await world.click(offerId, app.live)
  const report = (transactionId?: string) =>
    world.report(app.live, { userId: 'u', offerId, ...(transactionId === undefined ? {} : { transactionId }) })
  const clickAgain = async () => (await world.click(offerId, app.live)).clickId
  const confirm = async (click: string, more: Record<string, string> = {}) =>
    (await world.confirm(offerId, click, more)).outcome
  /** Of the conversions, the oldest first. */
  const statuses = async () =>
    (
      await world.database.db
        .selectFrom('conversions')
        .select(['status', 'advertiser_transaction_id as txn'])
        .where('offer_id', '=', offerId)
        .orderBy('conversion_id')
        .execute()
    ).map(({ status, txn }) => (txn === null ? status : `${status} ${txn}`))
  return { ...app, offerId, clickId, report, clickAgain, confirm, statuses }
}

const dropClick = (clickId: string) => world.database.db.deleteFrom('clicks').where('click_id', '=', clickId).execute()

test('a rejection that is repeated rejects no other report of a repeatable goal', async () => {
  const { clickId, report, confirm, statuses } = await make(REPEATING)
  for (const transactionId of ['p1', 'p2', 'p3']) await report(transactionId)
  const outcomes: string[] = []
  for (let i = 0; i < 3; i++) outcomes.push(await confirm(clickId, { txn_id: 't1', status: 'rejected' }))
  assert.deepEqual(outcomes, ['rejected', 'duplicate', 'duplicate'])
  assert.deepEqual(await statuses(), ['rejected t1', 'pending', 'pending'])
})

test('a rejection that is repeated reverses nothing that was paid on the publisher’s word since', async () => {
  const { appId, offerId, clickId, report, confirm, statuses } = await make(REPEATING)
  await trustApp(world.database.db, TESTER, appId, [offerId])
  await confirm(clickId, { txn_id: 't0', status: 'rejected' })
  await report('p2')
  assert.equal(await confirm(clickId, { txn_id: 't0', status: 'rejected' }), 'duplicate')
  assert.deepEqual(await statuses(), ['rejected t0', 'approved'])
})

test('a rejection that is repeated does not reject what the user completed after another click', async () => {
  const { clickId, report, clickAgain, confirm, statuses } = await make()
  await confirm(clickId, { txn_id: 't1', status: 'rejected' })
  await clickAgain()
  await report()
  assert.equal(await confirm(clickId, { txn_id: 't1', status: 'rejected' }), 'duplicate')
  assert.deepEqual(await statuses(), ['rejected t1', 'pending'])
})

test('an approval that a fraud rule refused takes no other report when it is repeated', async () => {
  const { offerId, clickId, report, confirm, statuses } = await make(REPEATING)
  for (const transactionId of ['p1', 'p2']) await report(transactionId)
  const rule = { offerId, signal: 'too_fast', threshold: 86_000, action: 'reject' } as const
  await setFraudRule(world.database.db, TESTER, rule)
  assert.equal(await confirm(clickId, { txn_id: 't1' }), 'rejected')
  assert.equal(await confirm(clickId, { txn_id: 't1' }), 'duplicate')
  await deleteRule(world.database.db, TESTER, rule)
  assert.equal(await confirm(clickId, { txn_id: 't1' }), 'duplicate')
  assert.deepEqual(await statuses(), ['rejected t1', 'pending'])
})

test('an approval whose conversion the operator rejected confirms no other report when it is repeated', async () => {
  const { offerId, clickId, report, confirm, statuses } = await make({ ...REPEATING, hold: '1d' })
  for (const transactionId of ['p1', 'p2']) await report(transactionId)
  const { conversion_id } = await world.confirm(offerId, clickId, { txn_id: 't1' })
  const move = { kind: 'move', by: TESTER, conversionId: conversion_id ?? '', to: 'rejected', reason: 'fraud' } as const
  await applyCommands(world.database.db, [move], new Date())
  assert.equal(await confirm(clickId, { txn_id: 't1' }), 'duplicate')
  assert.deepEqual(await statuses(), ['rejected t1', 'pending'])
})

test('a pending that came too late names no other report when it is repeated', async () => {
  const { clickId, report, confirm, statuses } = await make({ ...REPEATING, attribution_window: '1h' })
  const { db, pool } = world.database
  await report('p1')
  await pool.query("UPDATE clicks SET clicked_at = clicked_at - interval '2 hours' WHERE click_id = $1", [clickId])
  await confirm(clickId, { txn_id: 't1', status: 'pending' })
  const { conversion_id: conversionId } = await db.selectFrom('conversions').select('conversion_id').where('click_id', '=', clickId).executeTakeFirstOrThrow() // prettier-ignore
  await pool.query("UPDATE conversions SET confirm_by = now() - interval '1 second' WHERE conversion_id = $1", [conversionId]) // prettier-ignore
  await applyCommands(db, [{ kind: 'expire', conversionId }], new Date())
  await report('p2')
  assert.equal(await confirm(clickId, { txn_id: 't1', status: 'pending' }), 'duplicate')
  assert.deepEqual(await statuses(), ['rejected t1', 'pending'])
})

for (const status of ['reversed', 'rejected'])
  for (const isDropped of [false, true])
    test(`${status} that is repeated without a transaction leaves alone what was done again${isDropped ? ', with the click gone' : ''}`, async () => {
      const { clickId, clickAgain, confirm, statuses } = await make()
      if (status === 'reversed') await confirm(clickId)
      assert.equal(await confirm(clickId, { status }), status)
      const next = await clickAgain()
      assert.equal(await confirm(next), 'approved')
      if (isDropped) await dropClick(clickId)
      assert.equal(await confirm(clickId, { status }), 'duplicate')
      assert.deepEqual(await statuses(), [status, 'approved'])
      assert.equal(await confirm(next, { status }), 'reversed', 'its own click is heard')
    })

test('a rejection of a younger click, which is not known yet, still denies what was done again', async () => {
  const { clickId, clickAgain, report, confirm, statuses } = await make()
  await confirm(clickId, { status: 'rejected' })
  const next = await clickAgain()
  await clickAgain()
  await report()
  assert.equal(await confirm(next, { status: 'rejected' }), 'rejected')
  assert.deepEqual(await statuses(), ['rejected', 'rejected'])
})

test('an approval that is repeated after its reversal confirms nothing that was done again', async () => {
  const { clickId, clickAgain, report, confirm, statuses } = await make()
  const other = await clickAgain()
  await confirm(clickId)
  assert.equal(await confirm(other), 'duplicate')
  await confirm(clickId, { status: 'reversed' })
  await clickAgain()
  await report()
  for (const click of [clickId, other]) assert.equal(await confirm(click), 'duplicate')
  assert.deepEqual(await statuses(), ['reversed', 'pending'])
})

test('a rejection that names another click of the user than the report creates nothing when it is repeated', async () => {
  const { clickId, clickAgain, report, confirm, statuses } = await make()
  await clickAgain()
  await report()
  const outcomes: string[] = []
  for (let i = 0; i < 3; i++) outcomes.push(await confirm(clickId, { status: 'rejected' }))
  assert.deepEqual(outcomes, ['rejected', 'duplicate', 'duplicate'])
  assert.deepEqual(await statuses(), ['rejected'])
})

test('a rejection of a transaction is the same whichever click it names', async () => {
  const { clickId, clickAgain, confirm, statuses } = await make()
  const next = await clickAgain()
  await confirm(clickId, { txn_id: 't1', status: 'rejected' })
  assert.equal(await confirm(next, { txn_id: 't1', status: 'rejected' }), 'duplicate')
  assert.deepEqual(await statuses(), ['rejected t1'])
})
