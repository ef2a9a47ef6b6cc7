import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal } from '../../../test/conversion-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { OperatorError } from '../../errors.ts'
import type { Trx } from '../../db/open.ts'
import { checkLedger } from './check.ts'
import { type Adjustment, type Party, recordAdjustment, voidPosting } from './corrections.ts'
import { readBalances } from './ledger.ts'
import { closeDays, rollUp } from './rollup.ts'
import { recordPayout, recordReceipt } from './payments.ts'
import { listAdvertiserBalances, listMovements, listPublisherBalances } from './balances.ts'
import { writeStatement } from './statement.ts'
import { listMonths, listPayouts, readNetworkDays } from './periods.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('corrections')
const AT = new Date('2026-11-10T12:00:00Z')
const USD = 1_000_000

const inTrx = <T>(work: (trx: Trx) => Promise<T>) => world.database.db.transaction().execute(work)
const adjust = (party: Party, amountMicros: number, reference: string, more: Partial<Adjustment> = {}) =>
  inTrx((trx) =>
    recordAdjustment(trx, TESTER, { party, amountMicros, reference, reason: 'A good month.', at: AT, ...more }),
  )
const undo = (postingId: string, at = AT) =>
  inTrx((trx) => voidPosting(trx, TESTER, { postingId, reason: 'It bounced.', at }))
const ofPublisher = ({ publisherId }: Deal) => readBalances(world.database.db, { publisherId })
const ofAdvertiser = ({ advertiserId }: Deal) => readBalances(world.database.db, { advertiserId })
const refuses = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, (error) => error instanceof OperatorError && message.test(error.message))

async function createDealWorth(payoutMicros: number, at = AT): Promise<Deal> {
  const deal = await createDeal(world)
  await createConversion(world, deal, { status: 'approved', payoutMicros, revenueMicros: payoutMicros, at })
  return deal
}

test('a credit raises what a publisher is owed, a debit lowers it, even below zero; the margin pays for it', async () => {
  const deal = await createDealWorth(10 * USD)
  const party = { publisherId: deal.publisherId }
  const before = await readBalances(world.database.db, 'network')
  assert.equal((await adjust(party, 5 * USD, 'bonus')).balanceMicros, 15 * USD)
  const after = await readBalances(world.database.db, 'network')
  assert.deepEqual([after.payableMicros - before.payableMicros, after.marginMicros - before.marginMicros, after.cashMicros - before.cashMicros], [5 * USD, -5 * USD, 0]) // prettier-ignore
  assert.equal((await adjust(party, -20 * USD, 'debit')).balanceMicros, -5 * USD)
  assert.deepEqual(await ofPublisher(deal), { pendingMicros: 0, payableMicros: -5 * USD, paidMicros: 0 })
})

test('an adjustment in an advertiser’s favour lowers what it owes, one against it raises that', async () => {
  const deal = await createDealWorth(10 * USD)
  const party = { advertiserId: deal.advertiserId }
  assert.equal((await adjust(party, 4 * USD, 'discount')).balanceMicros, 6 * USD)
  assert.equal((await adjust(party, -USD, 'fee')).balanceMicros, 7 * USD)
  assert.equal((await ofAdvertiser(deal)).receivableMicros, 7 * USD)
})

test('an adjustment counts once per reference, and needs a party, an amount and a reason', async () => {
  const deal = await createDealWorth(10 * USD)
  const party = { publisherId: deal.publisherId }
  await adjust(party, USD, 'once')
  assert.equal((await adjust(party, USD, ' once ')).isNew, false)
  await refuses(adjust(party, 2 * USD, 'once'), /"once" was already used for 1\.00 USD, not 2\.00 USD/)
  await refuses(adjust(party, -USD, 'once'), /"once" was already used for 1\.00 USD, not -1\.00 USD/)
  await refuses(adjust(party, 0, 'zero'), /above 0 for a credit/)
  await refuses(adjust(party, USD, 'why', { reason: ' ' }), /reason must have 1 to 200/)
  await refuses(adjust({ publisherId: 999_999 }, USD, 'nobody'), /no publisher 999999/)
  await refuses(adjust({ advertiserId: 999_999 }, USD, 'nobody'), /no advertiser 999999/)
  assert.equal((await ofPublisher(deal)).payableMicros, 11 * USD)
})

test('a void undoes a payout, a receipt or an adjustment once, and cannot be voided itself', async () => {
  const deal = await createDealWorth(10 * USD)
  const { db } = world.database
  const payout = { publisherId: deal.publisherId, amountMicros: 4 * USD, reference: 'p', at: AT }
  const receipt = { advertiserId: deal.advertiserId, amountMicros: 3 * USD, reference: 'r', at: AT }
  const made = [
    await recordPayout(db, TESTER, payout),
    await recordReceipt(db, TESTER, receipt),
    await adjust({ publisherId: deal.publisherId }, USD, 'a'),
  ]
  const voids = []
  for (const { postingId } of made) {
    const all = await Promise.all(Array.from({ length: 5 }, () => undo(postingId)))
    assert.equal(all.filter(({ isNew }) => isNew).length, 1)
    voids.push(all[0]?.postingId ?? '')
  }
  assert.deepEqual(await ofPublisher(deal), { pendingMicros: 0, payableMicros: 10 * USD, paidMicros: 0 })
  assert.equal((await ofAdvertiser(deal)).receivableMicros, 10 * USD)
  for (const postingId of voids) await refuses(undo(postingId), /is itself a void/)
  await refuses(undo('01890000-0000-7000-8000-000000000000'), /no payment or adjustment/)
  await refuses(undo('x'), /no payment or adjustment/)
  const [event] = await db.selectFrom('ledger_entries').select('posting_id').where('kind', '=', 'conversion').execute()
  await refuses(undo(event?.posting_id ?? ''), /Reverse the conversion instead/)
  await refuses(recordPayout(db, TESTER, payout), /"p" was voided/)
})

test('statements, months, payments and days show what was voided and adjusted, even after a rollup', async () => {
  const { db } = world.database
  const day = (text: string) => new Date(`2026-12-${text}T08:00:00Z`)
  const deal = await createDealWorth(10 * USD, day('01'))
  const { publisherId } = deal
  const paid = await recordPayout(db, TESTER, { publisherId, amountMicros: 4 * USD, reference: 'p', at: day('02') })
  await adjust({ publisherId }, 2 * USD, 'bonus', { at: day('03'), reason: '=BONUS()' })
  const days = async () =>
    (await readNetworkDays(db, '2026-12-01', '2026-12-31')).filter(({ payoutMicros }) => payoutMicros !== 0)
  const before = await days()
  await undo(paid.postingId, day('04'))
  const rows = (await Array.fromAsync(writeStatement(db, publisherId, '2026-12'))).join('').split('\r\n')
  assert.deepEqual(rows.slice(2, 6).map((row) => row.replace(/^[^,]*,([^,]*),.*,([^,]*,[^,]*,[^,]*,[^,]*)$/, '$1,$2')), [
    'conversion,,10.00,10.00,',
    'payout,p,-4.00,6.00,',
    "adjustment,bonus,2.00,8.00,'=BONUS()",
    'payout_void,p,4.00,12.00,It bounced.',
  ]) // prettier-ignore
  const { months } = await listMonths(db, publisherId, { before: undefined, limit: 1, now: day('05') })
  const [{ month, ...sums } = { month: '' }] = months
  assert.deepEqual([month, sums], ['2026-12', { earnedMicros: 10 * USD, reversedMicros: 0, adjustedMicros: 2 * USD, paidMicros: 0, closingMicros: 12 * USD }]) // prettier-ignore
  const [payment] = await listPayouts(db, publisherId, undefined, 5)
  assert.deepEqual([payment?.amount_micros, payment?.voided_at], [4 * USD, day('04')])
  assert.deepEqual(await days(), before)
  const balances = await ofPublisher(deal)
  await closeDays(db, new Date('2026-12-31T00:00:00Z'))
  await rollUp(db)
  assert.deepEqual([await days(), await ofPublisher(deal)], [before, balances])
  // A void or adjustment for a closed day counts for the first open one.
  const late = await adjust({ publisherId }, USD, 'late', { at: day('01') })
  const [movement] = await listMovements(db, { kind: 'adjustment', before: undefined }, 1)
  assert.deepEqual([late.balanceMicros, movement?.amount_micros, movement?.created_at], [13 * USD, USD, new Date('2026-12-05T00:00:00Z')]) // prettier-ignore
  assert.deepEqual(await checkLedger(world.database), [])
})

test('the database itself refuses an entry without its reason and a second void', async () => {
  const deal = await createDealWorth(10 * USD)
  const { postingId } = await adjust({ publisherId: deal.publisherId }, USD, 'db')
  await undo(postingId)
  const insert = (values: string) =>
    world.database.pool.query(
      `INSERT INTO ledger_entries (posting_id, kind, account, party_id, amount_micros, reference, voids, reason, created_at)
       SELECT gen_random_uuid(), kind, account, party_id, -amount_micros, reference, ${values}, now() FROM ledger_entries WHERE posting_id = $1`,
      [postingId],
    )
  await assert.rejects(insert('posting_id, NULL'), { constraint: 'ledger_entries_reason_check' })
  await assert.rejects(insert("posting_id, 'again'"), /ledger_entries_voids|does not sum to zero/)
})

test('a payment that was voided is not the last one', async () => {
  const deal = await createDealWorth(10 * USD)
  const { db } = world.database
  const page = { search: undefined, limit: 100, offset: 0 }
  const last = async () => {
    const publisher = (await listPublisherBalances(db, 0, page)).find((one) => one.publisher_id === deal.publisherId)
    const advertiser = (await listAdvertiserBalances(db, page)).find((one) => one.advertiser_id === deal.advertiserId)
    return [publisher?.last_paid_at ?? null, advertiser?.last_received_at ?? null]
  }
  const pay = async (at: Date) => {
    const reference = at.toISOString()
    const paid = await recordPayout(db, TESTER, { publisherId: deal.publisherId, amountMicros: USD, reference, at })
    const received = await recordReceipt(db, TESTER, { advertiserId: deal.advertiserId, amountMicros: USD, reference, at }) // prettier-ignore
    return [paid.postingId, received.postingId]
  }
  const [early, later] = ['2027-01-10', '2027-01-11'].map((day) => new Date(day)) as [Date, Date]
  const first = await pay(early)
  const second = await pay(later)
  assert.deepEqual(await last(), [later, later])
  for (const postingId of second) await undo(postingId, later)
  assert.deepEqual(await last(), [early, early])
  for (const postingId of first) await undo(postingId, later)
  assert.deepEqual(await last(), [null, null])
})
