// An advertiser approves and reverses by a file of its transaction IDs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editOffer } from '../../../test/edit-offer.ts'
import { type Visitor, visit } from '../../../test/people.ts'
import { TESTER } from '../../../test/tester.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { setAdvertiser } from '../../features/accounts/advertiser-settings.ts'
import { createAdvertiser } from '../../features/accounts/advertisers.ts'
import { applyCommands } from '../../features/conversions/apply-commands.ts'
import { deleteRule, setFraudRule } from '../../features/conversions/fraud.ts'
import type { IssuedCredentials } from '../../features/apps/keys.ts'
import { searchCalls } from '../../features/conversions/inbound/calls.ts'
import { reprocessCalls } from '../../features/conversions/inbound/confirm.ts'

let live: IssuedCredentials
let self: Visitor
let base: string
let offerId = 0
const world = useWorld('decisions', async () => {
  live = (await world.createApp()).live
  ;[offerId = 0] = await world.createOffers({ name: 'Ours', payout: 3, goals: [{ name: 'Install', payout: 1 }, { name: 'Buy', payout: 2 }] }) // prettier-ignore
  const { advertiser_id: advertiserId } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  base = `/advertisers/${advertiserId}/decisions`
  self = await visit(world, 'advertiser', { publisherId: null, advertiserId })
})

type Shown = { changes: number; rows: { line: number; result: string; status: string | null; message: string }[] }
const resultsOf = ({ rows }: Shown) => rows.map(({ result, status }) => [result, status])

async function convert(user: string, txn: string, status: string, goal = 'Install'): Promise<string> {
  const { clickId } = await world.click(offerId, live, `userId=${user}`)
  const { outcome } = await world.confirm(offerId, clickId, { txn_id: txn, status, goal })
  assert.equal(outcome, status)
  return clickId
}

test('a preview says what each row would do and changes nothing; applied, each does that, and again it does nothing', async () => {
  await convert('a', 't-pending', 'pending')
  await convert('b', 't-denied', 'pending')
  await convert('c', 't-paid', 'approved')
  await convert('d', 't-kept', 'approved')
  await convert('e', 't-gone', 'rejected')
  await convert('f', 't-buy', 'pending', 'Buy')
  const csv = 'Transaction_ID,note,Status\nt-pending,x,approved\nt-denied,,declined\nt-paid,,chargeback\nt-kept,,Approved\nt-gone,,approved\nt-buy,,1\nt-none,,approved\nt-paid,,approved\n,,approved\nt-kept2,,maybe\n' // prettier-ignore
  const { data: preview } = await self.post<Shown>(`${base}/preview`, { csv })
  const planned = [['changes', 'pending'], ['changes', 'pending'], ['changes', 'approved'], ['already', 'approved'], ['final', 'rejected'], ['changes', 'pending'], ['unknown', null], ['repeated', 'approved'], ['invalid', null], ['invalid', null]] // prettier-ignore
  assert.deepEqual([preview.changes, resultsOf(preview)], [4, planned])
  const { data: again } = await self.post<Shown>(`${base}/preview`, { csv })
  assert.deepEqual(again, preview)
  const { data: done } = await self.post<Shown>(base, { csv })
  assert.deepEqual(resultsOf(done).slice(0, 6), [['changes', 'approved'], ['changes', 'rejected'], ['changes', 'reversed'], ['already', 'approved'], ['final', 'rejected'], ['changes', 'approved']]) // prettier-ignore
  const { data: repeated } = await self.post<Shown>(base, { csv })
  assert.equal(repeated.changes, 0)
  const { rows } = await world.database.pool.query<{ count: number }>("SELECT count(*)::int AS count FROM inbound_calls WHERE method = 'CSV'") // prettier-ignore
  assert.equal(rows[0]?.count, 4, 'the log of callbacks has each of them')
})

test('a hold and the operator’s doubts stay, and a file is of one advertiser', async () => {
  const { db } = world.database
  const [held = 0] = await world.createOffers({ name: 'Held', hold: '7d' })
  const { clickId } = await world.click(held, live, 'userId=held')
  await world.confirm(held, clickId, { txn_id: 't-held', status: 'pending' })
  const csv = 'transaction_id,status\nt-held,approved\n'
  const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', held).executeTakeFirstOrThrow() // prettier-ignore
  const stranger = await createAdvertiser(db, TESTER, SECRET_KEY, 'Stranger')
  const other = await visit(world, 'advertiser', { publisherId: null, advertiserId: stranger.advertiser_id })
  assert.equal((await other.post(`/advertisers/${advertiser_id}/decisions`, { csv })).status, 404)
  const { data: none } = await other.post<Shown>(`/advertisers/${stranger.advertiser_id}/decisions`, { csv })
  assert.deepEqual(resultsOf(none), [['unknown', null]])
  const owner = await visit(world, 'advertiser', { publisherId: null, advertiserId: advertiser_id })
  const { data } = await owner.post<Shown>(`/advertisers/${advertiser_id}/decisions`, { csv })
  assert.deepEqual(resultsOf(data), [['changes', 'pending']], 'confirmed, and approved when the hold is over')
  const { data: again } = await owner.post<Shown>(`/advertisers/${advertiser_id}/decisions`, { csv })
  assert.deepEqual(resultsOf(again), [['already', 'pending']])
})

test('a row decides its conversion, whatever the advertiser calls its goals and statuses, also when processed again', async () => {
  const { db } = world.database
  const [offer = 0] = await world.createOffers({ name: 'Like ours', payout: 6, goals: [{ name: 'A', payout: 1, external_id: 'a' }, { name: 'B', payout: 5, external_id: 'b' }] }) // prettier-ignore
  const { goal_id } = await db.selectFrom('goals').select('goal_id').where('offer_id', '=', offer).orderBy('place').executeTakeFirstOrThrow() // prettier-ignore
  await editOffer(world, offer, ({ goals }) => ({ goals: goals.map((goal) => (goal.name === 'B' ? { ...goal, external_id: String(goal_id) } : goal)) })) // prettier-ignore
  const { advertiser_id } = await db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offer).executeTakeFirstOrThrow() // prettier-ignore
  const owner = await visit(world, 'advertiser', { publisherId: null, advertiserId: advertiser_id })
  const { clickId } = await world.click(offer, live, 'userId=like-ours')
  const { conversion_id } = await world.confirm(offer, clickId, { txn_id: 'r-1', goal: 'a' })
  await setAdvertiser(db, TESTER, advertiser_id, { statusMap: [['rejected', 'pending']], reversalPrefix: 'r-', callRules: { ignored: [{ parameter: 'status', is: 'rejected', reason: 'No' }] } }) // prettier-ignore
  const { data } = await owner.post<Shown>(`/advertisers/${advertiser_id}/decisions`, { csv: 'transaction_id,status\nr-1,rejected\n' }) // prettier-ignore
  assert.deepEqual(resultsOf(data), [['changes', 'reversed']])
  const conversions = await db.selectFrom('conversions').select(['conversion_id', 'status']).where('offer_id', '=', offer).execute() // prettier-ignore
  assert.deepEqual(conversions, [{ conversion_id, status: 'reversed' }])
  const { rows: calls } = await searchCalls(db, { advertiserId: advertiser_id, clickId }, 1)
  const [again] = await reprocessCalls(db, TESTER, calls, { countryOf: () => null })
  assert.equal(again?.outcome, 'duplicate')
})

test('what was approved without the advertiser is confirmed by a file, and by a callback, which say so', async () => {
  const { db } = world.database
  const approve = async (user: string, txn: string) => {
    const clickId = await convert(user, txn, 'pending')
    const { conversion_id: conversionId } = await db.selectFrom('conversions').select('conversion_id').where('click_id', '=', clickId).executeTakeFirstOrThrow() // prettier-ignore
    await applyCommands(db, [{ kind: 'move', by: TESTER, conversionId, to: 'approved' }], new Date())
    return { clickId, isUnconfirmed: async () => (await db.selectFrom('conversions').select('is_unconfirmed').where('conversion_id', '=', conversionId).executeTakeFirstOrThrow()).is_unconfirmed } // prettier-ignore
  }
  const byFile = await approve('m', 't-operator')
  const csv = 'transaction_id,status\nt-operator,approved\n'
  assert.equal(await byFile.isUnconfirmed(), true)
  const { data } = await self.post<Shown>(base, { csv })
  assert.deepEqual(resultsOf(data), [['changes', 'approved']])
  assert.equal(await byFile.isUnconfirmed(), false)
  assert.deepEqual(resultsOf((await self.post<Shown>(base, { csv })).data), [['already', 'approved']])
  const byCall = await approve('n', 't-operator-2')
  const said = { txn_id: 't-operator-2', goal: 'Install' }
  assert.equal((await world.confirm(offerId, byCall.clickId, said)).outcome, 'approved')
  assert.equal(await byCall.isUnconfirmed(), false)
  assert.equal((await world.confirm(offerId, byCall.clickId, said)).outcome, 'duplicate')
})

test('a transaction that was rejected for several goals is known', async () => {
  const { clickId } = await world.click(offerId, live, 'userId=two')
  for (const goal of ['Install', 'Buy']) await world.confirm(offerId, clickId, { txn_id: 't-two', goal, status: 'rejected' }) // prettier-ignore
  const resultOf = async (status: string) => (await self.post<Shown>(`${base}/preview`, { csv: `transaction_id,status\nt-two,${status}\n` })).data // prettier-ignore
  assert.deepEqual(resultsOf(await resultOf('rejected')), [['already', 'rejected']])
  assert.deepEqual(resultsOf(await resultOf('approved')), [['final', 'rejected']])
})

test('of what a fraud rule holds, a file says that the operator decides', async () => {
  const rule = { offerId, signal: 'too_fast', threshold: 86_000, action: 'hold' } as const
  await setFraudRule(world.database.db, TESTER, rule)
  const { clickId } = await world.click(offerId, live, 'userId=doubted')
  assert.equal((await world.confirm(offerId, clickId, { txn_id: 't-doubted', goal: 'Install' })).outcome, 'pending')
  await deleteRule(world.database.db, TESTER, rule)
  const { data } = await self.post<Shown>(base, { csv: 'transaction_id,status\nt-doubted,approved\n' })
  assert.deepEqual(data.rows.map(({ result, message }) => [result, message]), [['already', 'Already confirmed: it is held for review, and the operator decides.']]) // prettier-ignore
})

test('what is wrong with a file is said', async () => {
  for (const [csv, message] of [
    ['', /must not be empty/],
    ['transaction_id\nx\n', /status is missing/],
    ['transaction_id,status\n', /no rows/],
    ['transaction_id,status\n"x,approved\n', /Line 2/],
  ] as const) {
    const { status, error } = await self.post(`${base}/preview`, { csv })
    assert.equal(status, 400)
    assert.match(`${error.message} ${JSON.stringify(error.details)}`, message)
  }
})
