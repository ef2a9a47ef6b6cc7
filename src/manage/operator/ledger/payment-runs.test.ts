// Payment runs, adjustments and voids through the door.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from 'typebox'
import { type Deal, createConversion, createDeal, type Made, moveConversion } from '../../../../test/conversion-rows.ts'
import { type Answer, visit, type Visitor } from '../../../../test/people.ts'
import { TESTER } from '../../../../test/tester.ts'
import { useWorld } from '../../../../test/world.ts'
import { listAuditEntries } from '../../../features/accounts/audit.ts'
import type { Cancelled, Exported, LineList, Paid, Run, RunList } from './payment-run-schema.ts'
import type { MovementList } from './schema.ts'

const world = useWorld('manage_payment_runs')

let operator: Visitor
type Owed = Deal & { made: Made }

async function owe(...dollars: number[]): Promise<Owed[]> {
  operator ??= await visit(world, 'operator')
  const owed: Owed[] = []
  for (const amount of dollars) {
    const deal = await createDeal(world)
    const [payoutMicros, at] = [amount * 1_000_000, new Date()]
    const made = await createConversion(world, deal, {
      status: 'approved',
      payoutMicros,
      revenueMicros: 2 * payoutMicros,
      at,
    })
    owed.push({ ...deal, made })
  }
  return owed
}

async function createRun(...deals: Deal[]): Promise<Static<typeof Run>> {
  const publisher_ids = deals.map(({ publisherId }) => publisherId)
  const { data, status, text } = await operator.post<Static<typeof Run>>('/ledger/payment-runs', { publisher_ids })
  assert.equal(status, 200, text)
  return data
}

test('while pages of a run are read, balances change and no publisher is in it twice or missing', async () => {
  const deals = await owe(30, 20, 10)
  const { run_id } = await createRun(...deals)
  const path = `/ledger/payment-runs/${run_id}/lines?limit=1`
  const seen: number[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Answer<Static<typeof LineList>> = await operator.get(
      `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    for (const { publisher_id, amount } of page.data.lines) seen.push(publisher_id, amount)
    // The next publisher is owed most now.
    for (const deal of deals)
      await createConversion(world, deal, { status: 'approved', payoutMicros: seen.length * 1_000_000, revenueMicros: 0, at: new Date() }) // prettier-ignore
    cursor = page.data.next_cursor
  }
  assert.deepEqual(seen, deals.flatMap(({ publisherId }, i) => [publisherId, [30, 20, 10][i]])) // prettier-ignore
})

test('a run is created, exported, paid and listed, with who did it', async () => {
  const [ann, bob] = (await owe(20, 5)) as [Owed, Owed]
  const run = await createRun(ann, bob)
  assert.deepEqual([run.status, run.lines, run.total, run.due_total, /@example/.test(run.created_by)], ['open', 2, 25, 25, true]) // prettier-ignore
  const base = `/ledger/payment-runs/${run.run_id}`
  assert.deepEqual((await operator.get(`${base}/lines.csv`)).status, 409)
  await moveConversion(world, ann, ann.made, 'reversed', new Date())
  const short = await operator.get<Static<typeof LineList>>(`${base}/lines?status=due`)
  assert.deepEqual(short.data.lines.map((line) => [line.payable_now, line.is_short]), [[0, true], [5, false]]) // prettier-ignore
  const exported = await operator.post<Static<typeof Exported>>(`${base}/export`)
  assert.deepEqual([exported.data.cancelled, exported.data.run.status], [1, 'exported'])
  const file = await operator.get(`${base}/lines.csv`)
  assert.equal(file.text, `publisher_id,publisher,email,amount,currency,reference\r\n${bob.publisherId},${bob.publisher},,5.00,USD,run-${run.run_id}\r\n`) // prettier-ignore
  const paid = await operator.post<Static<typeof Paid>>(`${base}/pay`, {})
  assert.deepEqual(paid.data.results.map(({ publisher_id, outcome, payable }) => [publisher_id, outcome, payable]), [[bob.publisherId, 'paid', 0]]) // prettier-ignore
  const again = await operator.post<Static<typeof Paid>>(`${base}/pay`, { publisher_ids: [bob.publisherId] })
  assert.deepEqual([again.data.results[0]?.outcome, again.data.run.status, again.data.run.paid_total], ['already', 'paid', 5]) // prettier-ignore
  const { data } = await operator.get<Static<typeof RunList>>('/ledger/payment-runs?limit=1')
  assert.deepEqual([data.runs[0]?.run_id, data.next_cursor !== null], [run.run_id, true])
  const { db } = world.database
  const entries = await listAuditEntries(db, { action: 'payment_run.', subject: String(run.run_id) }, 10)
  assert.deepEqual(entries.map(({ action }) => action), ['payment_run.pay', 'payment_run.export', 'payment_run.create']) // prettier-ignore
  const payments = await operator.get<Static<typeof MovementList>>('/ledger/payments?limit=1')
  const [payment] = payments.data.payments
  assert.deepEqual([payment?.reference, payment?.amount], [`run-${run.run_id}`, 5])
  const [ofPublisher] = await listAuditEntries(
    db,
    { subject: payment?.posting_id ?? '', publisherId: bob.publisherId },
    10,
  )
  assert.equal(ofPublisher?.action, 'payout.record')
})

test('lines are paid and cancelled one by one, and a run that is not there is 404', async () => {
  const [ann, bob] = (await owe(20, 5)) as [Owed, Owed]
  const { run_id } = await createRun(ann, bob)
  const base = `/ledger/payment-runs/${run_id}`
  const one = await operator.post<Static<typeof Paid>>(`${base}/pay`, { publisher_ids: [ann.publisherId] })
  assert.deepEqual([one.data.run.status, one.data.run.due], ['open', 1])
  const rest = await operator.post<Static<typeof Cancelled>>(`${base}/cancel`, { reason: 'Not yet.' })
  assert.deepEqual([rest.data.cancelled, rest.data.run.status], [1, 'paid'])
  assert.equal((await operator.post(`${base}/cancel`, {})).status, 400)
  for (const verb of ['pay', 'export', 'cancel'])
    assert.equal((await operator.post(`/ledger/payment-runs/999999/${verb}`, verb === 'export' ? undefined : verb === 'cancel' ? { reason: 'x' } : {})).status, 404, verb) // prettier-ignore
  assert.equal((await operator.get('/ledger/payment-runs/999999/lines')).status, 404)
  assert.equal((await operator.post('/ledger/payment-runs', { publisher_ids: [999_999] })).status, 400)
})

test('a publisher sees its bonus and a voided payment, with the reason', async () => {
  const [ann] = (await owe(20)) as [Owed]
  const { publisherId: publisher_id } = ann
  const bonus = { publisher_id, amount: 2.5, reference: 'bonus', reason: 'A good month.' }
  const made = await operator.post<{ is_new: boolean; posting_id: string; balance: number }>(
    '/ledger/adjustments',
    bonus,
  )
  assert.deepEqual([made.data.is_new, made.data.balance], [true, 22.5])
  assert.equal((await operator.post<{ is_new: boolean }>('/ledger/adjustments', bonus)).data.is_new, false)
  for (const more of [
    { amount: 3 },
    { amount: 0 },
    { amount: 0.00001 },
    { advertiser_id: 1 },
    { publisher_id: undefined },
    { reason: '' },
    { publisher_id: 999_999 },
  ])
    // prettier-ignore
    assert.equal((await operator.post('/ledger/adjustments', { ...bonus, ...more })).status, 400, JSON.stringify(more))
  await operator.post('/ledger/payouts', { publisher_id, amount: 10, reference: 'p' })
  const { data } = await operator.get<Static<typeof MovementList>>('/ledger/payments?kind=payout&limit=1')
  const path = `/ledger/payments/${data.payments[0]?.posting_id}/void`
  const voided = await operator.post<{ is_new: boolean; balance: number }>(path, { reason: 'It bounced.' })
  assert.deepEqual(voided.data, { is_new: true, balance: 22.5 })
  assert.deepEqual((await operator.post(path, { reason: 'It bounced.' })).data, { is_new: false, balance: 22.5 })
  assert.equal((await operator.post('/ledger/payments/x/void', { reason: 'x' })).status, 400)

  const owner = await visit(world, 'publisher_owner', publisher_id)
  type Balance = { payable: number; paid: number; period: { adjusted: number; paid: number } }
  const balance = await owner.get<Balance>(`/publishers/${publisher_id}/balance`)
  const { payable, paid, period } = balance.data
  assert.deepEqual([payable, paid, period.adjusted, period.paid], [22.5, 0, 2.5, 0])
  const payments = await owner.get<{ payments: { amount: number; voided_at: string | null }[] }>(`/publishers/${publisher_id}/payments`) // prettier-ignore
  assert.deepEqual(payments.data.payments.map(({ amount, voided_at }) => [amount, voided_at !== null]), [[10, true]]) // prettier-ignore
  const month = new Date().toISOString().slice(0, 7)
  const { text } = await owner.get(`/publishers/${publisher_id}/statements/${month}`)
  assert.match(
    text,
    /adjustment,.*,bonus,2\.50,22\.50,A good month\.\r\n.*payout,.*\r\n.*payout_void,.*,p,10\.00,22\.50,It bounced\./,
  )
  const entries = await listAuditEntries(world.database.db, { publisherId: publisher_id }, 10)
  const actions = entries.filter(({ who }) => who !== TESTER.email).map(({ action }) => action)
  assert.deepEqual(actions.filter((action) => !action.startsWith('session')), ['payout.void', 'payout.record', 'adjustment.record']) // prettier-ignore
})
