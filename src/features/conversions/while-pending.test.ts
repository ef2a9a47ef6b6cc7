// What changes about a conversion while it stays pending has no event. The conversion, the books and the next event agree.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editOffer } from '../../../test/edit-offer.ts'
import { until } from '../../../test/installation.ts'
import { useWorld } from '../../../test/world.ts'
import { checkLedger } from '../ledger/check.ts'
import { readBalances } from '../ledger/ledger.ts'
import type { Move } from './commands.ts'
import { numberEvents } from './events.ts'
import { setFraudRule } from './fraud.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('while_pending')

async function make(goal: Record<string, unknown>) {
  const { live, appId } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ payout: undefined, goals: [{ name: 'Order', ...goal }] })
  const { db } = world.database
  const { publisher_id: publisherId } = await db
    .selectFrom('apps')
    .select('publisher_id')
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  const shown = async () => {
    const { conversions } = (await world.get('/v1/conversions', live)).body.data
    assert.equal(conversions.length, 1)
    const [{ status, status_reason, payout, aff_sub } = assert.fail()] = conversions
    return [status, status_reason, payout, aff_sub]
  }
  const events = async () => {
    await until(async () => {
      await numberEvents(db)
      return (await db.selectFrom('waiting_events').selectAll().execute()).length === 0
    })
    return (await world.get('/v1/events', live)).body.data.events.map(({ data }) => [
      data.status,
      data.status_reason,
      data.payout,
      data.aff_sub,
    ])
  }
  const balances = async () => {
    const { pendingMicros, payableMicros } = await readBalances(db, { publisherId })
    return [pendingMicros / 1e6, payableMicros / 1e6]
  }
  const click = async (subId: string) => (await world.click(offerId, live, `userId=u&aff_sub=${subId}`)).clickId
  const confirm = async (clickId: string, said: Record<string, string> = {}) =>
    (await world.confirm(offerId, clickId, said)).outcome
  return { live, offerId, db, shown, events, balances, click, confirm }
}

/** Twice the payout, for clicks from now on. */
const raise = (offerId: number) =>
  editOffer(world, offerId, ({ payout_micros, goals }) => ({
    payout_micros: payout_micros * 2,
    goals: goals.map((goal) => ({ ...goal, payout_micros: goal.payout_micros * 2, payout_ppm: goal.payout_ppm && goal.payout_ppm * 2 })),
  })) // prettier-ignore

test('where the payout is fixed, an amount for another click moves the conversion no more than a call without one', async () => {
  for (const said of [{ amount: '50' }, {}]) {
    const { offerId, shown, events, balances, click, confirm } = await make({ payout: '1' })
    const first = await click('one')
    await raise(offerId)
    const second = await click('two')
    assert.equal(await confirm(first, { status: 'pending' }), 'pending')
    assert.equal(await confirm(second, { status: 'pending', ...said }), 'duplicate')
    assert.deepEqual([await shown(), await balances()], [['pending', null, 1, 'one'], [1, 0]]) // prettier-ignore
    assert.equal(await confirm(second, said), 'approved')
    assert.deepEqual([await shown(), await balances()], [['approved', null, 1, 'one'], [0, 1]]) // prettier-ignore
    assert.deepEqual(await events(), [['pending', null, 1, 'one'], ['approved', null, 1, 'one']]) // prettier-ignore
  }
  assert.deepEqual(await checkLedger(world.database), [])
})

test('where a share is paid, the last amount and its click count: at once in the books, with the approval in an event', async () => {
  const { offerId, shown, events, balances, click, confirm } = await make({ payout: '0', payout_percent: '10' })
  const first = await click('one')
  await raise(offerId)
  const second = await click('two')
  assert.equal(await confirm(first, { status: 'pending', amount: '70' }), 'pending')
  assert.deepEqual([await shown(), await balances()], [['pending', null, 7, 'one'], [7, 0]]) // prettier-ignore
  assert.equal(await confirm(second, { status: 'pending', amount: '50' }), 'pending')
  assert.deepEqual([await shown(), await balances()], [['pending', null, 10, 'two'], [10, 0]]) // prettier-ignore
  assert.deepEqual(await events(), [['pending', null, 7, 'one']]) // prettier-ignore
  assert.equal(await confirm(second), 'approved')
  assert.deepEqual([await shown(), await balances()], [['approved', null, 10, 'two'], [0, 10]]) // prettier-ignore
  assert.deepEqual((await events()).at(-1), ['approved', null, 10, 'two'])
  assert.equal(await confirm(second, { status: 'reversed' }), 'reversed')
  assert.deepEqual([(await events()).at(-1), await balances()], [['reversed', 'advertiser_reversed', -10, 'two'], [0, 0]]) // prettier-ignore
  assert.deepEqual(await checkLedger(world.database), [])
})

test('a reported conversion that is held when it is confirmed says so, and the operator’s decision is its next event', async () => {
  const decisions: [Move['to'], unknown[], number[]][] = [
    ['approved', ['approved', 'operator', 1, 'one'], [0, 1]],
    ['rejected', ['rejected', 'fraud', 1, 'one'], [0, 0]],
  ]
  for (const [to, last, owed] of decisions) {
    const { live, offerId, db, shown, events, balances, click, confirm } = await make({ payout: '1' })
    const clickId = await click('one')
    const { conversion } = (await world.report(live, { userId: 'u', offerId })).body.data
    await setFraudRule(db, TESTER, { offerId, signal: 'too_fast', threshold: 600, action: 'hold' })
    assert.equal(await confirm(clickId), 'pending')
    assert.deepEqual([await shown(), await balances()], [['pending', 'fraud', 1, 'one'], [1, 0]]) // prettier-ignore
    assert.deepEqual(await events(), [['pending', null, 1, 'one']]) // prettier-ignore
    const reason = to === 'rejected' ? { reason: 'fraud' as const } : {}
    await applyCommands(
      db,
      [{ kind: 'move', by: TESTER, conversionId: conversion.conversion_id, to, ...reason }],
      new Date(),
    )
    assert.deepEqual([await shown(), (await events()).at(-1), await balances()], [last, last, owed])
  }
  assert.deepEqual(await checkLedger(world.database), [])
})
