import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal } from '../../../../test/conversion-rows.ts'
import { visit, type Visitor } from '../../../../test/people.ts'
import { useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import { permit } from '../../../features/apps/permissions.ts'
import { rollUp } from '../../../features/ledger/rollup.ts'
import { TESTER } from '../../../../test/tester.ts'

const world = useWorld('manage_ledger')
const DAY_MS = 86_400_000

type Owed = {
  publishers: { publisher_id: number; pending: number; payable: number; paid: number; due: number }[]
  total: number
  total_due: number
}

/** A publisher who is owed this much; the advertiser owes twice that. */
async function owe(payoutMicros: number, at = new Date(), status: 'approved' | 'pending' = 'approved'): Promise<Deal> {
  const deal = await createDeal(world)
  await createConversion(world, deal, { status, payoutMicros, revenueMicros: 2 * payoutMicros, at })
  return deal
}

const payable = async (publisherId: number) => {
  const operator = await visit(world, 'operator_reader')
  const { data } = await operator.get<Owed>('/ledger/publishers?limit=200')
  return data.publishers.find(({ publisher_id }) => publisher_id === publisherId)
}

test('who is owed is listed, most first, over folded days and open ones, from a minimum on', async () => {
  const old = await owe(70_123_456, new Date(Date.now() - 10 * DAY_MS))
  const small = await owe(9_000_000)
  const waiting = await owe(500_000_000, new Date(), 'pending')
  await rollUp(world.database.db)
  const operator = await visit(world, 'operator')
  const { data } = await operator.get<Owed>('/ledger/publishers?minimum=50')
  assert.deepEqual(data, {
    publishers: [
      {
        publisher_id: old.publisherId,
        name: old.publisher,
        email: null,
        pending: 0,
        payable: 70.1234,
        paid: 0,
        last_paid_at: null,
        due: 70.12,
        is_suspended: false,
        run_id: null,
      },
    ],
    total: 1,
    total_due: 70.12,
  })
  const all = await operator.get<Owed>('/ledger/publishers')
  const ids = all.data.publishers.map(({ publisher_id }) => publisher_id)
  assert.ok(ids.indexOf(old.publisherId) < ids.indexOf(small.publisherId))
  assert.equal(all.data.publishers.find(({ publisher_id }) => publisher_id === waiting.publisherId)?.pending, 500)
  const found = await operator.get<Owed>(
    `/ledger/publishers?search=${encodeURIComponent(small.publisher.toUpperCase())}`,
  )
  assert.ok(found.data.publishers.some(({ publisher_id }) => publisher_id === small.publisherId))
  assert.equal((await operator.get('/ledger/publishers?minimum=lots')).status, 400)
})

test('what is to pay is what the next payment run pays', async () => {
  const [ann, eve] = [await owe(20_000_000), await owe(30_000_000)]
  await permit(world.database.db, TESTER, eve.publisherId, { status: 'suspended' })
  const operator = await visit(world, 'operator')
  const before = (await operator.get<Owed>('/ledger/publishers?limit=200')).data
  const { data: run } = await operator.post<{ run_id: number; total: number }>('/ledger/payment-runs')
  assert.equal(before.total_due, run.total)
  const { data } = await operator.get<Owed>('/ledger/publishers?limit=200')
  const dueOf = ({ publisherId }: Deal) => data.publishers.find((one) => one.publisher_id === publisherId)?.due
  assert.deepEqual([dueOf(ann), dueOf(eve), data.total_due], [0, 30, 0])
  await operator.post(`/ledger/payment-runs/${run.run_id}/cancel`, { reason: 'Only a test.' })
})

const pay = (operator: Visitor, { publisherId }: Deal, amount: number, reference: string) =>
  operator.post<{ is_new: boolean; payable: number }>('/ledger/payouts', {
    publisher_id: publisherId,
    amount,
    reference,
  })

test('a payout counts once under its reference, however often it is sent', async () => {
  const bob = await owe(30_000_000)
  const operator = await visit(world, 'operator')
  assert.deepEqual((await pay(operator, bob, 12.5, 'transfer 1')).data, { is_new: true, payable: 17.5 })
  assert.deepEqual((await pay(operator, bob, 12.5, 'transfer 1')).data, { is_new: false, payable: 17.5 })
  const other = await pay(operator, bob, 12, 'transfer 1')
  assert.deepEqual([other.status, /used for 12\.50 USD, not 12\.00/.test(other.error.message)], [400, true])
  const row = await payable(bob.publisherId)
  assert.deepEqual([row?.payable, row?.paid], [17.5, 12.5])
  const entries = await listAuditEntries(
    world.database.db,
    { action: 'payout.record', publisherId: bob.publisherId },
    10,
  )
  assert.deepEqual(entries.map(({ details }) => details), [{ amount: 12.5, reference: 'transfer 1' }]) // prettier-ignore
})

test('more than is payable is refused', async () => {
  const ann = await owe(1_000_000)
  const operator = await visit(world, 'operator')
  const more = await pay(operator, ann, 1.01, 'run-2')
  assert.deepEqual([more.status, /more than the payable balance/.test(more.error.message)], [400, true])
  assert.equal((await pay(operator, { ...ann, publisherId: 999_999 }, 1, 'run-2')).status, 400)
  assert.equal((await payable(ann.publisherId))?.payable, 1)
})

test('what an advertiser pays is taken from what it owes, once for each reference', async () => {
  const deal = await owe(5_000_000)
  const operator = await visit(world, 'operator')
  const receipt = { advertiser_id: deal.advertiserId, amount: 4, reference: 'INV 7' }
  const { data } = await operator.post<{ receivable: number }>('/ledger/receipts', receipt)
  assert.equal(data.receivable, 6)
  const again = await operator.post<{ is_new: boolean; receivable: number }>('/ledger/receipts', receipt)
  assert.deepEqual(again.data, { is_new: false, receivable: 6 })
  const other = await operator.post('/ledger/receipts', { ...receipt, amount: 5 })
  assert.deepEqual(
    [other.status, /"INV 7" was already used for 4\.00 USD, not 5/.test(other.error.message)],
    [400, true],
  )
  const list = await operator.get<{ advertisers: { advertiser_id: number; receivable: number; received: number }[] }>('/ledger/advertisers?limit=200') // prettier-ignore
  const row = list.data.advertisers.find(({ advertiser_id }) => advertiser_id === deal.advertiserId)
  assert.deepEqual([row?.receivable, row?.received], [6, 4])
  const [entry] = await listAuditEntries(world.database.db, { action: 'receipt.record' }, 1)
  assert.equal((entry?.details as { reference?: string } | undefined)?.reference, 'INV 7')
  assert.equal((await operator.post('/ledger/receipts', { ...receipt, advertiser_id: 999_999 })).status, 404)
})

test('the balances of the network add up, and the ledger is proven right', async () => {
  await owe(3_000_000)
  const reader = await visit(world, 'operator_reader')
  const { data } = await reader.get<Record<string, number>>('/ledger')
  const [debit, credit] = [(data['receivable'] ?? 0) + (data['unconfirmed'] ?? 0) + (data['cash'] ?? 0), (data['pending'] ?? 0) + (data['payable'] ?? 0) + (data['margin'] ?? 0)] // prettier-ignore
  assert.ok(Math.abs(debit - credit) < 0.001)
  const check = await reader.get<{ is_right: boolean; postings: number; problems: unknown[] }>('/ledger/check')
  assert.deepEqual([check.data.is_right, check.data.problems, check.data.postings > 0], [true, [], true])
})

test('payments page, newest first', async () => {
  const deal = await owe(10_000_000)
  const operator = await visit(world, 'operator')
  for (const reference of ['p1', 'p2', 'p3']) await pay(operator, deal, 1, reference)
  type Page = { payments: { reference: string }[]; next_cursor: string | null }
  const first = await operator.get<Page>('/ledger/payments?limit=2')
  assert.deepEqual(first.data.payments.map(({ reference }) => reference), ['p3', 'p2']) // prettier-ignore
  const second = await operator.get<Page>(`/ledger/payments?limit=1&cursor=${first.data.next_cursor}`)
  assert.deepEqual(second.data.payments.map(({ reference }) => reference), ['p1']) // prettier-ignore
  assert.equal((await operator.get('/ledger/payments?cursor=x')).status, 400)
})

test('bad amounts and references are refused before anything is recorded', async () => {
  const deal = await owe(10_000_000)
  const operator = await visit(world, 'operator')
  const good = { publisher_id: deal.publisherId, amount: 1, reference: 'r' }
  for (const more of [{ reference: '' }, { amount: 0 }, { amount: 1.000001 }, { amount: -1 }])
    assert.equal((await operator.post('/ledger/payouts', { ...good, ...more })).status, 400)
  assert.equal((await payable(deal.publisherId))?.payable, 10)
})

test('read-only operators cannot record payments; a publisher does not see that there is a ledger', async () => {
  const deal = await owe(10_000_000)
  const reader = await visit(world, 'operator_reader')
  const payment = { publisher_id: deal.publisherId, amount: 1, reference: 'r' }
  const receipt = { advertiser_id: deal.advertiserId, amount: 1, reference: 'r' }
  assert.equal((await reader.post('/ledger/payouts', payment)).status, 403)
  assert.equal((await reader.post('/ledger/receipts', receipt)).status, 403)
  const owner = await visit(world, 'publisher_owner', deal.publisherId)
  for (const path of ['', '/publishers', '/payment-runs', '/advertisers', '/payments', '/check'])
    assert.equal((await owner.get(`/ledger${path}`)).status, 404)
  assert.equal((await owner.post('/ledger/payouts', payment)).status, 404)
})
