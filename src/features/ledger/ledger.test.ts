import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Deal,
  createConversion,
  createDeal,
  moveConversion,
  postAll,
  postChange,
} from '../../../test/conversion-rows.ts'
import { useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { checkLedger } from './check.ts'
import { type Line, movePosting, NETWORK, post, type Posting, readBalances, type Worth } from './ledger.ts'
import { closeDays, rollUp } from './rollup.ts'

const world = useWorld('ledger')
const AT = new Date('2026-11-10T12:00:00Z')
const USD = 1_000_000

const pending = (payout: number, revenue: number): Worth => ({
  status: 'pending',
  payoutMicros: payout,
  revenueMicros: revenue,
})
const approved = (payout: number, revenue: number): Worth => ({ ...pending(payout, revenue), status: 'approved' })

function linesFor(before: Worth | null, after: Worth | null): Record<string, number> | null {
  const ids = { eventId: uuid7(AT.getTime()), conversionId: uuid7(AT.getTime()), publisherId: 5, advertiserId: 7 }
  const posting = movePosting({ ...ids, at: AT, before, after })
  return (
    posting && Object.fromEntries(posting.lines.map((line) => [`${line.account} ${line.partyId}`, line.amountMicros]))
  )
}

const query = async (text: string, values: unknown[] = []) => (await world.database.pool.query(text, values)).rows

async function entriesOf(conversionId: string): Promise<Record<string, number>> {
  const rows = (await query(
    `SELECT account, sum(amount_micros)::bigint AS sum FROM ledger_entries WHERE conversion_id = $1
     GROUP BY account HAVING sum(amount_micros) <> 0`,
    [conversionId],
  )) as { account: string; sum: number }[]
  return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]))
}

test('a conversion is a debit of its advertiser and credits of its publisher and the network', () => {
  assert.deepEqual(linesFor(null, pending(60, 100)), {
    'advertiser_receivable 7': 100,
    'publisher_pending 5': -60,
    'network_margin 0': -40,
  })
  assert.deepEqual(linesFor(null, approved(60, 100)), {
    'advertiser_receivable 7': 100,
    'publisher_payable 5': -60,
    'network_margin 0': -40,
  })
})

test('a payout above the revenue is a debit of the margin', () => {
  assert.equal(linesFor(null, pending(100, 60))?.['network_margin 0'], 40)
})

test('a status change posts the difference, without zero entries', () => {
  assert.deepEqual(linesFor(pending(60, 100), approved(60, 100)), {
    'publisher_pending 5': 60,
    'publisher_payable 5': -60,
  })
  assert.deepEqual(linesFor(pending(60, 100), pending(60, 110)), {
    'advertiser_receivable 7': 10,
    'network_margin 0': -10,
  })
  assert.deepEqual(linesFor(approved(60, 100), null), {
    'advertiser_receivable 7': -100,
    'publisher_payable 5': 60,
    'network_margin 0': 40,
  })
})

test('a change that moves no money has no posting', () => {
  assert.equal(linesFor(null, null), null)
  assert.equal(linesFor(null, pending(0, 0)), null)
  assert.equal(linesFor(pending(60, 100), pending(60, 100)), null)
})

test('whatever a conversion goes through, its entries sum to its current amounts', async () => {
  const deal = await createDeal(world)
  const micros = fc.integer({ min: 0, max: 1_000_000_000_000 })
  const worth = fc.record({
    status: fc.constantFrom('pending', 'approved'),
    payoutMicros: micros,
    revenueMicros: micros,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(worth), { minLength: 1, maxLength: 6 }), async (worths) => {
      const { conversionId } = await createConversion(world, deal, {
        status: 'rejected',
        payoutMicros: 0,
        revenueMicros: 0,
        at: AT,
      })
      for (const [i, after] of worths.entries())
        await postChange(world, deal, { conversionId, at: AT, before: worths[i - 1] ?? null, after: after ?? null })
      const last = worths.at(-1) ?? null
      const due = last && {
        advertiser_receivable: last.revenueMicros,
        [last.status === 'pending' ? 'publisher_pending' : 'publisher_payable']: -last.payoutMicros,
        network_margin: last.payoutMicros - last.revenueMicros,
      }
      const expected = Object.entries(due ?? {}).filter(([, amount]) => amount !== 0)
      assert.deepEqual(await entriesOf(conversionId), Object.fromEntries(expected))
    }),
    { numRuns: 40 },
  )
})

const receipt = (lines: Line[]): Posting => ({
  postingId: uuid7(AT.getTime()),
  kind: 'receipt',
  conversionId: null,
  reference: 'r',
  createdAt: AT,
  lines,
})
const inCash = (amountMicros: number): Line => ({ account: 'cash', partyId: NETWORK, amountMicros })
const owedBy = (partyId: number, amountMicros: number): Line => ({
  account: 'advertiser_receivable',
  partyId,
  amountMicros,
})

test('postings are written together, or none of them when one is unbalanced', async () => {
  const good = receipt([inCash(5), owedBy(1, -5)])
  const bad = receipt([inCash(5), owedBy(1, -4)])
  const written = async () =>
    query('SELECT FROM ledger_entries WHERE posting_id = ANY ($1)', [[good.postingId, bad.postingId]])
  await assert.rejects(postAll(world, [good, bad]), { code: 'OD002', message: new RegExp(bad.postingId) })
  assert.equal((await written()).length, 0)
  await postAll(world, [good])
  assert.equal((await written()).length, 2)
  await postAll(world, [])
})

test('two unbalanced postings that cancel each other out are refused', async () => {
  await assert.rejects(postAll(world, [receipt([inCash(5)]), receipt([inCash(-5)])]), { code: 'OD002' })
})

test('the same posting is not written twice', async () => {
  const posting = receipt([inCash(5), owedBy(1, -5)])
  await postAll(world, [posting])
  await assert.rejects(postAll(world, [posting]), { code: '23505' })
})

test('entries are never changed or deleted', async () => {
  await postAll(world, [receipt([inCash(5), owedBy(1, -5)])])
  await assert.rejects(query('UPDATE ledger_entries SET reference = $1', ['x']), { code: 'OD001' })
  await assert.rejects(query('DELETE FROM ledger_entries'), { code: 'OD001' })
})

async function balances({ publisherId, advertiserId }: Deal) {
  return {
    ...(await readBalances(world.database.db, { publisherId })),
    ...(await readBalances(world.database.db, { advertiserId })),
  }
}

test('balances follow a conversion from pending to approved to reversed', async () => {
  const deal = await createDeal(world)
  assert.deepEqual(await balances(deal), {
    pendingMicros: 0,
    payableMicros: 0,
    paidMicros: 0,
    receivableMicros: 0,
    unconfirmedMicros: 0,
  })
  const first = await createConversion(world, deal, {
    status: 'pending',
    payoutMicros: 2 * USD,
    revenueMicros: 3 * USD,
    at: AT,
  })
  await createConversion(world, deal, { status: 'pending', payoutMicros: USD, revenueMicros: USD, at: AT })
  const stillPending = { paidMicros: 0, receivableMicros: 4 * USD, unconfirmedMicros: 0 }
  assert.deepEqual(await balances(deal), { pendingMicros: 3 * USD, payableMicros: 0, ...stillPending })
  const moved = await moveConversion(world, deal, first, 'approved', AT)
  assert.deepEqual(await balances(deal), { pendingMicros: USD, payableMicros: 2 * USD, ...stillPending })
  await moveConversion(world, deal, moved, 'reversed', AT)
  assert.deepEqual(await balances(deal), {
    pendingMicros: USD,
    payableMicros: 0,
    paidMicros: 0,
    receivableMicros: USD,
    unconfirmedMicros: 0,
  })
})

test('the balances of the network are those of all parties, and balance', async () => {
  const before = await readBalances(world.database.db, 'network')
  const one = await createDeal(world)
  const other = await createDeal(world)
  await createConversion(world, one, { status: 'approved', payoutMicros: 2 * USD, revenueMicros: 3 * USD, at: AT })
  await createConversion(world, other, { status: 'pending', payoutMicros: USD, revenueMicros: 5 * USD, at: AT })
  const after = await readBalances(world.database.db, 'network')
  assert.equal(after.receivableMicros - before.receivableMicros, 8 * USD)
  assert.equal(after.payableMicros - before.payableMicros, 2 * USD)
  assert.equal(after.pendingMicros - before.pendingMicros, USD)
  assert.equal(after.marginMicros - before.marginMicros, 5 * USD)
  assert.equal(
    after.receivableMicros + after.unconfirmedMicros + after.cashMicros,
    after.pendingMicros + after.payableMicros + after.marginMicros,
  )
})

// One test, because closed days stay closed for all of this database.
test('a rollup changes no balance, runs once, and late entries count for the first open day', async () => {
  const { db } = world.database
  const deal = await createDeal(world)
  const convert = (at: string) =>
    createConversion(world, deal, { status: 'approved', payoutMicros: USD, revenueMicros: 2 * USD, at: new Date(at) })
  const daysOf = () =>
    query(
      "SELECT day::text, amount_micros FROM ledger_days WHERE account = 'publisher_payable' AND party_id = $1 ORDER BY day",
      [deal.publisherId],
    )
  for (const at of ['2026-11-20T00:00:00Z', '2026-11-20T23:59:59.999Z', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'])
    await convert(at)
  const before = [await balances(deal), await readBalances(db, 'network')]
  assert.equal(before[0]?.payableMicros, 4 * USD)

  const summedUp = await Promise.all([1, 2, 3].map(() => rollUp(db)))
  assert.equal(await rollUp(db), Math.max(...summedUp))
  const sums = [
    { day: '2026-11-20', amount_micros: -2 * USD },
    { day: '2026-11-21', amount_micros: -USD },
    { day: '2026-11-22', amount_micros: -USD },
  ]
  assert.deepEqual(await daysOf(), sums)
  assert.deepEqual([await balances(deal), await readBalances(db, 'network')], before)

  const now = new Date('2026-11-23T23:59:59Z')
  assert.equal(await closeDays(db, now), '2026-11-21')
  assert.equal(await closeDays(db, now), null)
  assert.equal(await closeDays(db, new Date('2026-11-01T00:00:00Z')), null)
  const { conversionId } = await convert('2026-11-20T12:00:00Z')
  const [entry] = await query('SELECT created_at FROM ledger_entries WHERE conversion_id = $1', [conversionId])
  assert.deepEqual((entry as { created_at: Date }).created_at, new Date('2026-11-22T00:00:00Z'))
  assert.equal((await balances(deal)).payableMicros, 5 * USD)
  await rollUp(db)
  assert.deepEqual(await daysOf(), [...sums.slice(0, 2), { day: '2026-11-22', amount_micros: -2 * USD }])
  assert.equal((await balances(deal)).payableMicros, 5 * USD)
  assert.equal(await closeDays(db, new Date('2027-11-24T00:00:00Z')), '2026-11-22') // no further than the newest entry
})

test('an entry that commits late is rolled up too, after those that came behind it', async () => {
  const { db } = world.database
  const deal = await createDeal(world)
  const convert = () =>
    createConversion(world, deal, { status: 'approved', payoutMicros: USD, revenueMicros: 2 * USD, at: AT })
  const [isPosted, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const lines: Line[] = [
    { account: 'cash', partyId: NETWORK, amountMicros: -USD },
    { account: 'publisher_payable', partyId: deal.publisherId, amountMicros: USD },
  ]
  const paying = db.transaction().execute(async (trx) => {
    await post(trx, [{ postingId: randomUUID(), kind: 'payout', conversionId: null, reference: 'slow', createdAt: AT, lines }]) // prettier-ignore
    isPosted.resolve()
    await mayCommit.promise
  })
  await isPosted.promise
  const brieflyMs = 200
  await rollUp(db, brieflyMs) // gives up waiting for the payment, also where no later transaction has ended
  await convert()
  await rollUp(db, brieflyMs)
  assert.equal((await balances(deal)).payableMicros, USD)
  mayCommit.resolve()
  await paying
  assert.equal((await balances(deal)).payableMicros, 0)
  await rollUp(db)
  assert.equal((await balances(deal)).payableMicros, 0)
  const wrong = (await checkLedger(world.database)).map(({ kind }) => kind)
  assert.ok(!wrong.some((kind) => ['wrong_balance', 'wrong_day', 'wrong_network_day'].includes(kind)), wrong.join())
})
