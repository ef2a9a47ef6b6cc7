import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal } from '../../../test/conversion-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { OperatorError } from '../../errors.ts'
import { checkLedger } from './check.ts'
import { readBalances } from './ledger.ts'
import { recordPayout, recordReceipt } from './payments.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('payments')
const AT = new Date('2026-11-10T12:00:00Z')
const USD = 1_000_000

async function createDealWorth(payoutMicros: number): Promise<Deal> {
  const deal = await createDeal(world)
  await createConversion(world, deal, { status: 'approved', payoutMicros, revenueMicros: payoutMicros, at: AT })
  return deal
}

const pay = ({ publisherId }: Deal, amountMicros: number, reference: string) =>
  recordPayout(world.database.db, TESTER, { publisherId, amountMicros, reference, at: AT })
const receive = ({ advertiserId }: Deal, amountMicros: number, reference: string) =>
  recordReceipt(world.database.db, TESTER, { advertiserId, amountMicros, reference, at: AT })
const balancesOf = ({ publisherId }: Deal) => readBalances(world.database.db, { publisherId })

const refuses = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, (error) => error instanceof OperatorError && message.test(error.message))

test('a payout moves what is payable to what is paid', async () => {
  const deal = await createDealWorth(10 * USD)
  const { payableMicros } = await pay(deal, 4 * USD, 'transfer 1')
  assert.equal(payableMicros, 6 * USD)
  assert.deepEqual(await balancesOf(deal), { pendingMicros: 0, payableMicros: 6 * USD, paidMicros: 4 * USD })
  await pay(deal, 6 * USD, 'transfer 2')
  assert.deepEqual(await balancesOf(deal), { pendingMicros: 0, payableMicros: 0, paidMicros: 10 * USD })
})

test('more than is payable is refused with the payable amount, and pending is not payable', async () => {
  const deal = await createDealWorth(10 * USD)
  await createConversion(world, deal, { status: 'pending', payoutMicros: 5 * USD, revenueMicros: 5 * USD, at: AT })
  await refuses(
    pay(deal, 10 * USD + 1, 'too much'),
    /^10\.000001 USD is more than the payable balance of 10\.00 USD\.$/,
  )
  assert.equal((await balancesOf(deal)).payableMicros, 10 * USD)
  await pay(deal, 10 * USD, 'too much') // a payout that was refused has not used its reference
})

test('a repeated payout counts once, whatever is payable, and another publisher may use its reference', async () => {
  const deal = await createDealWorth(10 * USD)
  const other = await createDealWorth(10 * USD)
  await pay(deal, 6 * USD, 'repeated')
  const again = await pay(deal, 6 * USD, ' repeated ')
  assert.deepEqual([again.isNew, again.payableMicros], [false, 4 * USD])
  await pay(other, USD, 'repeated')
  assert.equal((await balancesOf(deal)).paidMicros, 6 * USD)
})

test('a reference already used for another amount is refused, and nothing is recorded', async () => {
  const deal = await createDealWorth(10 * USD)
  const said = /^The reference "one" was already used for 6\.00 USD, not 4\.00 USD\. Nothing was recorded/
  await pay(deal, 6 * USD, 'one')
  await refuses(pay(deal, 4 * USD, 'one'), said)
  await receive(deal, 6 * USD, 'one')
  await refuses(receive(deal, 4 * USD, 'one'), said)
  assert.equal((await balancesOf(deal)).paidMicros, 6 * USD)
})

test('amounts not above 0 and blank references are refused', async () => {
  const deal = await createDealWorth(10 * USD)
  for (const amount of [0, -1, 0.5, Number.NaN]) {
    await refuses(pay(deal, amount, 'r'), /amount must be above 0/)
    await refuses(receive(deal, amount, 'r'), /amount must be above 0/)
  }
  for (const reference of ['', '  ', 'a\nb', 'a\0', 'x'.repeat(201)])
    await refuses(pay(deal, USD, reference), /reference must have 1 to 200 characters/)
})

test('of 20 payouts at once only those that fit are recorded', async () => {
  const deal = await createDealWorth(10 * USD)
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => pay(deal, 3 * USD, `race ${i}`)))
  const failed = results.filter((result) => result.status === 'rejected')
  assert.equal(failed.length, 17)
  for (const { reason } of failed) assert.match(String(reason), /is more than the payable balance of 1\.00 USD/)
  assert.deepEqual(await balancesOf(deal), { pendingMicros: 0, payableMicros: USD, paidMicros: 9 * USD })
})

test('of 20 commands at once with one reference, one is recorded', async () => {
  const deal = await createDealWorth(100 * USD)
  const all = async (work: () => Promise<{ isNew: boolean }>) => {
    const results = await Promise.all(Array.from({ length: 20 }, work))
    return results.filter(({ isNew }) => isNew).length
  }
  assert.equal(await all(() => pay(deal, USD, 'same')), 1)
  assert.equal(await all(() => receive(deal, USD, 'same')), 1)
  assert.equal((await balancesOf(deal)).paidMicros, USD)
})

test('an advertiser pays what it owes, or ahead of it', async () => {
  const deal = await createDealWorth(10 * USD)
  assert.equal((await receive(deal, 4 * USD, 'invoice 1')).receivableMicros, 6 * USD)
  assert.equal((await receive(deal, 8 * USD, 'invoice 2')).receivableMicros, -2 * USD)
  assert.equal((await receive(deal, 8 * USD, 'invoice 2')).isNew, false)
  const { receivableMicros } = await readBalances(world.database.db, { advertiserId: deal.advertiserId })
  assert.equal(receivableMicros, -2 * USD)
})

test('after all these tests the ledger is right', async () => {
  assert.deepEqual(await checkLedger(world.database), [])
})
