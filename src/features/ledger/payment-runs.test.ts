import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { type Deal, createConversion, createDeal, type Made, moveConversion } from '../../../test/conversion-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { OperatorError } from '../../errors.ts'
import type { Trx } from '../../db/open.ts'
import { permit } from '../apps/permissions.ts'
import { checkLedger } from './check.ts'
import { voidPosting } from './corrections.ts'
import { readBalances } from './ledger.ts'
import { cancelRun, createRun, exportRun, listRuns, type Paying, payRun } from './payment-runs.ts'
import { recordPayout } from './payments.ts'
import { readLines, writeRunCsv } from './run-lines.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('payment_runs')
const AT = new Date('2026-11-10T12:00:00Z')
const USD = 1_000_000

const inTrx = <T>(work: (trx: Trx) => Promise<T>) => world.database.db.transaction().execute(work)
const create = (minimumMicros = 0, publisherIds: number[] | null = null) =>
  inTrx((trx) => createRun(trx, TESTER, { minimumMicros, publisherIds, now: AT }))
const pay = (runId: number, more: Partial<Paying> = {}) =>
  inTrx((trx) => payRun(trx, TESTER, runId, { publisherIds: null, isSent: false, now: AT, ...more }))
const cancel = (runId: number, publisherIds: number[] | null = null) =>
  inTrx((trx) => cancelRun(trx, TESTER, runId, { publisherIds, reason: 'Why not.', now: AT }))
const linesOf = (runId: number) => readLines(world.database.db, runId, {}, 100)
const runOf = async (runId: number) => (await listRuns(world.database.db, { runId }, 1))[0]
const payableOf = async ({ publisherId }: Deal) =>
  (await readBalances(world.database.db, { publisherId })).payableMicros
const textOf = async (runId: number) => (await Array.fromAsync(writeRunCsv(world.database.db, runId))).join('')

const refuses = (work: Promise<unknown>, message: RegExp) =>
  assert.rejects(work, (error) => error instanceof OperatorError && message.test(error.message))

type Owed = Deal & { made: Made }

async function owe(micros: number): Promise<Owed> {
  const deal = await createDeal(world)
  const made = await createConversion(world, deal, {
    status: 'approved',
    payoutMicros: micros,
    revenueMicros: micros,
    at: AT,
  })
  return { ...deal, made }
}

const chargeBack = (deal: Owed) => moveConversion(world, deal, deal.made, 'reversed', AT)

/** Settles what earlier tests left owed. */
beforeEach(async () => {
  for (const { run_id, status } of await listRuns(world.database.db, {}, 100))
    if (status === 'open' || status === 'exported') await cancel(run_id)
  await create().then(
    ({ runId }) => pay(runId),
    () => {},
  )
})

test('a run keeps its publishers and amounts, in whole cents, whatever happens afterwards', async () => {
  const [ann, bob] = [await owe(20_123_456), await owe(5 * USD)]
  await owe(9_999)
  const { runId, lines, totalMicros } = await create(0)
  assert.deepEqual([lines, totalMicros], [2, 25_120_000])
  await createConversion(world, ann, { status: 'approved', payoutMicros: USD, revenueMicros: USD, at: AT })
  const stored = await linesOf(runId)
  assert.deepEqual(
    stored.map((line) => [line.publisher_id, line.payable_micros, line.amount_micros, line.payable_now_micros]),
    [[ann.publisherId, 20_123_456, 20_120_000, 21_123_456], [bob.publisherId, 5 * USD, 5 * USD, 5 * USD]],
  ) // prettier-ignore
  await assert.rejects(
    world.database.pool.query('UPDATE payment_run_lines SET amount_micros = 1 WHERE run_id = $1', [runId]),
    { code: 'OD001' },
  )
  await pay(runId)
  const run = await runOf(runId)
  assert.deepEqual([run?.status, run?.due, run?.paid_micros, run?.created_by], ['paid', 0, 25_120_000, TESTER.email])
  assert.equal(await payableOf(ann), 1_003_456)
})

test('a minimum, chosen publishers and suspended ones', async () => {
  const [ann, bob, eve] = [await owe(20 * USD), await owe(5 * USD), await owe(50 * USD)]
  await permit(world.database.db, TESTER, eve.publisherId, { status: 'suspended' })
  const first = await create(10 * USD)
  assert.deepEqual((await linesOf(first.runId)).map((line) => line.publisher_id), [ann.publisherId]) // prettier-ignore
  const second = await create(0, [bob.publisherId, eve.publisherId])
  assert.deepEqual((await linesOf(second.runId)).map((line) => line.publisher_id), [bob.publisherId, eve.publisherId]) // prettier-ignore
  await refuses(create(), /Nothing to pay/)
})

test('of ten runs at once one gets a balance, and it is paid once however often that is requested', async () => {
  const [ann, bob] = [await owe(20 * USD), await owe(5 * USD)]
  const made = await Promise.allSettled(Array.from({ length: 10 }, () => create()))
  const [run] = made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.equal(made.filter(({ status }) => status === 'rejected').length, 9)
  const { runId } = run ?? { runId: 0 }
  const results = (await Promise.all(Array.from({ length: 5 }, () => pay(runId)))).flat()
  assert.equal(results.filter(({ outcome }) => outcome === 'paid').length, 2)
  const again = await pay(runId, { publisherIds: [ann.publisherId, bob.publisherId, 999_999] })
  assert.deepEqual(again.map(({ outcome }) => outcome), ['already', 'already', 'unknown']) // prettier-ignore
  const { paidMicros, payableMicros } = await readBalances(world.database.db, { publisherId: ann.publisherId })
  assert.deepEqual([paidMicros, payableMicros], [20 * USD, 0])
})

test('a payout beside an open run cannot use what is due, even when both come at once', async () => {
  const ann = await owe(20 * USD)
  const { runId } = await create()
  const payout = (micros: number, reference: string) =>
    recordPayout(world.database.db, TESTER, { publisherId: ann.publisherId, amountMicros: micros, reference, at: AT })
  await refuses(payout(USD, 'beside'), /20\.00 USD is in payment run \d+\. Pay or cancel that line first/)
  await createConversion(world, ann, { status: 'approved', payoutMicros: USD, revenueMicros: USD, at: AT })
  assert.equal((await payout(USD, 'beside')).payableMicros, 20 * USD)
  await cancel(runId)

  const both = await Promise.allSettled([create(), payout(20 * USD, 'race'), create(), payout(20 * USD, 'race 2')])
  const won = both.filter(({ status }) => status === 'fulfilled')
  assert.equal(won.length, 1)
})

test('a line that a chargeback made short is cancelled at the export, and is not in the file', async () => {
  const [ann, bob] = [await owe(20 * USD), await owe(5 * USD)]
  const { runId } = await create()
  await chargeBack(ann)
  assert.deepEqual((await linesOf(runId)).map((line) => line.is_short), [true, false]) // prettier-ignore
  const { cancelled } = await inTrx((trx) => exportRun(trx, TESTER, runId, AT))
  assert.deepEqual(cancelled.map((line) => line.publisher_id), [ann.publisherId]) // prettier-ignore
  assert.equal(
    await textOf(runId),
    `publisher_id,publisher,email,amount,currency,reference\r\n${bob.publisherId},${bob.publisher},,5.00,USD,run-${runId}\r\n`,
  )
  assert.match((await linesOf(runId))[0]?.reason ?? '', /fell to 0\.00 USD before/)
  assert.equal((await runOf(runId))?.status, 'exported')
  await pay(runId)
  assert.equal(await textOf(runId), 'publisher_id,publisher,email,amount,currency,reference\r\n')
})

test('a chargeback after the export: the line is paid only if the money was sent, and the rest carried over', async () => {
  const [ann, bob] = [await owe(20 * USD), await owe(5 * USD)]
  const { runId } = await create()
  await inTrx((trx) => exportRun(trx, TESTER, runId, AT))
  await chargeBack(ann)
  assert.deepEqual((await pay(runId)).map(({ outcome }) => outcome), ['short', 'paid']) // prettier-ignore
  assert.equal(await payableOf(ann), 0)
  const [sent] = await pay(runId, { publisherIds: [ann.publisherId], isSent: true })
  assert.deepEqual([sent?.outcome, sent?.payable_micros], ['paid', -20 * USD])
  assert.equal(await payableOf(ann), -20 * USD)
  assert.equal((await runOf(runId))?.status, 'paid')
  await createConversion(world, ann, { status: 'approved', payoutMicros: 25 * USD, revenueMicros: 25 * USD, at: AT })
  const next = await create()
  assert.deepEqual((await linesOf(next.runId)).map((line) => line.amount_micros), [5 * USD]) // prettier-ignore
  assert.equal(await payableOf(bob), 0)
})

test('a publisher suspended after the snapshot is not paid by it, unless the money was sent', async () => {
  const [ann, bob, eve] = [await owe(20 * USD), await owe(5 * USD), await owe(7 * USD)]
  const suspend = ({ publisherId }: Deal) => permit(world.database.db, TESTER, publisherId, { status: 'suspended' })
  await suspend(eve)
  const { runId } = await create(0, [ann.publisherId, bob.publisherId, eve.publisherId])
  await suspend(ann)
  assert.deepEqual((await pay(runId, { publisherIds: [ann.publisherId] })).map(({ outcome }) => outcome), ['suspended']) // prettier-ignore
  const { cancelled } = await inTrx((trx) => exportRun(trx, TESTER, runId, AT))
  assert.deepEqual(cancelled.map((line) => [line.publisher_id, line.reason]), [[ann.publisherId, 'The publisher was suspended before the run was exported.']]) // prettier-ignore
  assert.doesNotMatch(await textOf(runId), /20\.00/)
  assert.equal(await payableOf(ann), 20 * USD)

  await suspend(bob) // after the export
  assert.deepEqual((await linesOf(runId)).map((line) => line.is_suspended), [false, true, false]) // prettier-ignore
  assert.deepEqual((await pay(runId)).map(({ outcome }) => outcome), ['suspended', 'paid']) // prettier-ignore
  assert.deepEqual((await pay(runId, { isSent: true })).map(({ outcome }) => outcome), ['paid']) // prettier-ignore
  assert.deepEqual([await payableOf(bob), await payableOf(eve)], [0, 0])
})

test('what is cancelled stays on the balance and can be in the next run; so can a voided payout', async () => {
  const [ann, bob] = [await owe(20 * USD), await owe(5 * USD)]
  const { runId } = await create()
  assert.equal(await cancel(runId, [bob.publisherId]), 1)
  assert.deepEqual((await pay(runId, { publisherIds: [bob.publisherId] })).map(({ outcome }) => outcome), ['cancelled']) // prettier-ignore
  const [paid] = await pay(runId)
  const posting = { postingId: paid?.posting_id ?? '', reason: 'It bounced.', at: AT }
  await inTrx((trx) => voidPosting(trx, TESTER, posting))
  assert.ok((await linesOf(runId))[0]?.voided_at)
  const next = await create()
  assert.deepEqual((await linesOf(next.runId)).map((line) => line.amount_micros), [20 * USD, 5 * USD]) // prettier-ignore
  assert.equal(await cancel(next.runId), 2)
  assert.equal((await runOf(next.runId))?.status, 'cancelled')
  assert.deepEqual([await cancel(next.runId), (await pay(next.runId)).length], [0, 0])
  await refuses(
    inTrx((trx) => exportRun(trx, TESTER, next.runId, AT)),
    /is already cancelled/,
  )
  await refuses(pay(999_999), /no payment run 999999/)
  assert.equal(await payableOf(ann), 20 * USD)
})

test('a run that fails half way has paid nothing, and is paid when it is requested again', async () => {
  const ann = await owe(20 * USD)
  const { runId } = await create()
  const crash = inTrx(async (trx) => {
    await payRun(trx, TESTER, runId, { publisherIds: null, isSent: false, now: AT })
    throw new Error('The process ends here.')
  })
  await assert.rejects(crash, /ends here/)
  assert.equal(await payableOf(ann), 20 * USD)
  assert.deepEqual((await pay(runId)).map(({ outcome }) => outcome), ['paid']) // prettier-ignore
  assert.equal(await payableOf(ann), 0)
})

test('after all these tests the ledger is right', async () => {
  assert.deepEqual(await checkLedger(world.database), [])
})
