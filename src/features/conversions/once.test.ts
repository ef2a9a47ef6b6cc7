// Ways in which something might be paid twice, paid after its reversal, or reversed by mistake.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useWorld } from '../../../test/world.ts'
import { trustApp } from '../apps/trust.ts'
import { type Click, recordLateClicks } from '../clicks/clicks.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { ConversionRow } from './conversions.ts'
import { setFraudRule } from './fraud.ts'
import { retryUnmatched } from './inbound/confirm.ts'
import { applyCommands } from './apply-commands.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('once')

const REPEATING = { goals: [{ name: 'Buy', payout: '1', is_repeatable: true }] }

async function make(offer: Record<string, unknown> = {}) {
  const app = await world.createApp()
  const [offerId = 0] = await world.createOffers(offer)
  return { ...app, offerId }
}

const conversionsOf = async (appId: number) =>
  (await world.database.db
    .selectFrom('conversions')
    .selectAll()
    .where('app_id', '=', appId)
    .execute()) as ConversionRow[]

test('the refund of an order that was never paid leaves the paid one alone', async () => {
  const { live, offerId } = await make()
  const { clickId } = await world.click(offerId, live)
  const paid = await world.confirm(offerId, clickId, { txn_id: 'A' })
  const other = await world.confirm(offerId, clickId, { txn_id: 'B' })
  assert.deepEqual([paid.outcome, other.outcome], ['approved', 'duplicate'])
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'B', status: 'reversed' })).outcome, 'duplicate')
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'A', status: 'reversed' })).outcome, 'reversed')
})

test('what the operator approved on the publisher’s word is not paid again when the advertiser confirms it', async () => {
  const { live, appId, offerId } = await make(REPEATING)
  const { clickId } = await world.click(offerId, live)
  const { body } = await world.report(live, { userId: 'u', offerId, transactionId: 'p-1' })
  const conversionId = body.data.conversion.conversion_id
  await applyCommands(world.database.db, [{ kind: 'move', by: TESTER, conversionId, to: 'approved' }], new Date())
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 'a-1' })).outcome, 'approved')
  assert.equal((await conversionsOf(appId)).length, 1)
})

test('a trusted app and its advertiser report the same completions, in any order, and each is paid once', async () => {
  const { live, appId, offerId } = await make(REPEATING)
  await trustApp(world.database.db, TESTER, appId, [offerId])
  const { clickId } = await world.click(offerId, live)
  await world.report(live, { userId: 'u', offerId, transactionId: 'p-1' })
  await world.confirm(offerId, clickId, { txn_id: 'a-1' })
  await world.confirm(offerId, clickId, { txn_id: 'a-2' })
  const second = await world.report(live, { userId: 'u', offerId, transactionId: 'p-2' })
  assert.equal(second.status, 200)
  const third = await world.report(live, { userId: 'u', offerId, transactionId: 'p-3' })
  assert.equal(third.status, 201, 'no third one was reported yet')
  assert.deepEqual(
    (await conversionsOf(appId)).map((one) => [one.publisher_transaction_id, one.advertiser_transaction_id]),
    [
      ['p-1', 'a-1'],
      ['p-2', 'a-2'],
      ['p-3', null],
    ],
  )
})

test('what was approved and then reversed before its click arrived is not paid, however the calls were retried', async () => {
  const { live, appId, offerId } = await make()
  const { db } = world.database
  const { clickId } = await world.click(offerId, live)
  const { rows } = await world.database.pool.query<{ click: Click }>(
    'SELECT to_json(c) AS click FROM clicks c WHERE click_id = $1',
    [clickId],
  )
  const startMs = Date.now()
  const late = { ...(rows[0]?.click as Click), click_id: uuid7(startMs - 1000), user_id: 'late' }
  const nowhere = () => null
  const after = (seconds: number) => new Date(startMs + seconds * 1000)
  assert.equal((await world.confirm(offerId, late.click_id, { txn_id: 't' })).outcome, 'unmatched')
  for (const seconds of [2.5, 7.5, 16.5]) await retryUnmatched(db, after(seconds), nowhere)
  const reversed = await world.confirm(offerId, late.click_id, { txn_id: 't', status: 'reversed' })
  assert.equal(reversed.outcome, 'unmatched')
  await recordLateClicks(db, [late], new Date())
  for (const seconds of [18, 60, 120]) await retryUnmatched(db, after(seconds), nowhere)
  const statuses = (await conversionsOf(appId)).map((one) => [one.user_id, one.status])
  assert.deepEqual(statuses, [['late', 'reversed']])
  assert.equal((await world.confirm(offerId, late.click_id, { txn_id: 't' })).outcome, 'duplicate')
})

test('a publisher’s own word does not stretch the attribution window', async () => {
  const { live, offerId } = await make({ attribution_window: '1h' })
  const { clickId } = await world.click(offerId, live)
  await world.report(live, { userId: 'u', offerId })
  await world.database.pool.query(
    "UPDATE clicks SET clicked_at = clicked_at - interval '2 hours' WHERE click_id = $1",
    [clickId],
  )
  const { outcome, reason } = await world.confirm(offerId, clickId)
  assert.deepEqual([outcome, reason], ['rejected', 'click_expired'])
})

test('what is held for the operator is not let go by the advertiser', async () => {
  const { live, offerId } = await make()
  await setFraudRule(world.database.db, TESTER, { offerId, signal: 'too_fast', threshold: 60, action: 'hold' })
  const { clickId } = await world.click(offerId, live)
  const { body } = await world.report(live, { userId: 'u', offerId })
  assert.deepEqual([body.data.conversion.status, body.data.conversion.status_reason], ['pending', 'fraud'])
  await setFraudRule(world.database.db, TESTER, { offerId, signal: 'too_fast', threshold: 60, action: 'flag' })
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'pending')
  assert.equal((await world.confirm(offerId, clickId)).outcome, 'duplicate')
})

test('a rule about the users of an IP address also holds for those who come at once', async () => {
  const { live, appId, offerId } = await make()
  await setFraudRule(world.database.db, TESTER, { offerId, signal: 'ip_users', threshold: 2, action: 'reject' })
  const clickIds: string[] = []
  for (let i = 0; i < 20; i++) clickIds.push((await world.click(offerId, live, `userId=u${i}`)).clickId)
  await Promise.all(clickIds.map((clickId) => world.confirm(offerId, clickId)))
  const approved = (await conversionsOf(appId)).filter((one) => one.status === 'approved')
  assert.ok(approved.length <= 2, `${approved.length} were approved`)
})

test('reports that are refused again and again create one row, not one each', async () => {
  const { live, appId, offerId } = await make({ status: 'paused' })
  for (let i = 0; i < 5; i++) await world.report(live, { userId: 'u', offerId, transactionId: `t${i}` })
  assert.equal((await conversionsOf(appId)).length, 1)
})
