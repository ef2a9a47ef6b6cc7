import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal, moveConversion } from '../../../test/conversion-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { closeDays, rollUp } from './rollup.ts'
import { recordPayout, recordReceipt } from './payments.ts'
import { listMonths, listPayouts, readPeriodTotals, readNetworkDays } from './periods.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('ledger_sums')
const USD = 1_000_000
const NOW = new Date('2026-11-10T12:00:00Z')

const make = (deal: Deal, at: string, status: 'approved' | 'pending', dollars = 1) =>
  createConversion(world, deal, {
    status,
    payoutMicros: dollars * USD,
    revenueMicros: dollars * 2 * USD,
    at: new Date(at),
  })
const pay = ({ publisherId }: Deal, at: string, dollars: number, reference: string) =>
  recordPayout(world.database.db, TESTER, { publisherId, amountMicros: dollars * USD, reference, at: new Date(at) })
const dollars = (micros: number) => micros / USD

const asked = async (deal: Deal, before: string | undefined, limit: number) => {
  const { months, hasMore } = await listMonths(world.database.db, deal.publisherId, { before, limit, now: NOW })
  return {
    hasMore,
    months: months.map((one) => [
      one.month,
      ...[one.earnedMicros, one.reversedMicros, one.adjustedMicros, one.paidMicros, one.closingMicros].map(dollars),
    ]),
  }
}

test('months go back to the first entry, quiet ones included, each with its closing payable balance', async () => {
  const deal = await createDeal(world)
  assert.deepEqual(await asked(deal, undefined, 12), { months: [], hasMore: false })
  await make(deal, '2026-07-31T23:59:59Z', 'approved', 5)
  await make(deal, '2026-08-01T00:00:00Z', 'pending', 100)
  const taken = await make(deal, '2026-10-01T00:00:00Z', 'approved', 3)
  await make(deal, '2026-10-02T00:00:00Z', 'approved', 4)
  await moveConversion(world, deal, taken, 'reversed', new Date('2026-10-31T00:00:00Z'))
  await pay(deal, '2026-11-01T00:00:00Z', 6, 'a')
  const all = [
    ['2026-11', 0, 0, 0, 6, 3],
    ['2026-10', 7, 3, 0, 0, 9],
    ['2026-09', 0, 0, 0, 0, 5],
    ['2026-08', 0, 0, 0, 0, 5],
    ['2026-07', 5, 0, 0, 0, 5],
  ]
  assert.deepEqual(await asked(deal, undefined, 12), { months: all, hasMore: false })
  assert.deepEqual(await asked(deal, undefined, 2), { months: all.slice(0, 2), hasMore: true })
  assert.deepEqual(await asked(deal, '2026-10', 2), { months: all.slice(2, 4), hasMore: true })
  assert.deepEqual(await asked(deal, '2026-08', 2), { months: all.slice(4), hasMore: false })
  assert.deepEqual(await asked(deal, '2026-07', 2), { months: [], hasMore: false })
  assert.deepEqual(
    await readPeriodTotals(
      world.database.db,
      deal.publisherId,
      new Date('2026-10-02T00:00:00Z'),
      new Date('2026-11-01T00:00:00Z'),
    ),
    { earnedMicros: 4 * USD, reversedMicros: 3 * USD, adjustedMicros: 0, paidMicros: 0 },
  )
})

test('payments are listed newest first, paged, and only those of the publisher', async () => {
  const [deal, other] = [await createDeal(world), await createDeal(world)]
  for (const one of [deal, other]) await make(one, '2026-10-01T00:00:00Z', 'approved', 10)
  for (const reference of ['one', 'two', 'three']) await pay(deal, '2026-10-05T00:00:00Z', 1, reference)
  await pay(other, '2026-10-05T00:00:00Z', 1, 'not theirs')
  const { db } = world.database
  const page = await listPayouts(db, deal.publisherId, undefined, 2)
  assert.deepEqual(
    page.map(({ reference, amount_micros }) => [reference, amount_micros]),
    [
      ['three', USD],
      ['two', USD],
    ],
  )
  const rest = await listPayouts(db, deal.publisherId, page.at(-1)?.entry_id, 2)
  assert.deepEqual(
    rest.map(({ reference }) => reference),
    ['one'],
  )
})

test('the days of the network are what conversions moved, rolled up or not, without payments', async () => {
  const deal = await createDeal(world)
  const first = await make(deal, '2026-03-01T23:59:59Z', 'approved', 5)
  await make(deal, '2026-03-02T00:00:00Z', 'pending', 1)
  await moveConversion(world, deal, first, 'reversed', new Date('2026-03-04T08:00:00Z'))
  await make(deal, '2026-03-04T09:00:00Z', 'approved', 7)
  await pay(deal, '2026-03-04T10:00:00Z', 2, 'march')
  const { db } = world.database
  await recordReceipt(db, TESTER, {
    advertiserId: deal.advertiserId,
    amountMicros: 9 * USD,
    reference: 'r',
    at: new Date('2026-03-02T10:00:00Z'),
  })
  const days = async () =>
    (await readNetworkDays(db, '2026-03-01', '2026-03-04')).map((one) => [
      one.day,
      dollars(one.payoutMicros),
      dollars(one.marginMicros),
    ])
  const expected = [
    ['2026-03-01', 5, 5],
    ['2026-03-02', 1, 1],
    ['2026-03-04', 2, 2],
  ]
  assert.deepEqual(await days(), expected)
  await closeDays(db, NOW)
  await rollUp(db)
  assert.deepEqual(await days(), expected)
})
