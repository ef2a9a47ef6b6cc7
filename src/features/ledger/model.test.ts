// Payments, runs, voids, adjustments, conversions, chargebacks and budgets in any order, against a simple model of all
// balances: the books sum to zero, no line is paid twice, runs agree with their postings, and budgets close offers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Deal, createConversion, createDeal, type Made, moveConversion } from '../../../test/conversion-rows.ts'
import { dieAt } from '../../../test/crash.ts'
import { diesAt, story, type Step } from '../../../test/money/ledger-steps.ts'
import { Spend } from '../../../test/money/spend.ts'
import { useWorld } from '../../../test/world.ts'
import { OperatorError } from '../../errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { keepBudgets } from './budgets/budgets.ts'
import { checkLedger } from './check.ts'
import { recordAdjustment, voidPosting } from './corrections.ts'
import { readBalances } from './ledger.ts'
import { closeDays, rollUp } from './rollup.ts'
import { cancelRun, createRun, exportRun, listRuns, payRun } from './payment-runs.ts'
import { recordPayout, recordReceipt } from './payments.ts'
import { readLines } from './run-lines.ts'
import { TESTER } from '../../../test/tester.ts'

const world = useWorld('ledger_model')
const START_MS = Date.parse('2026-11-01T00:00:00Z')
const DAY_MS = 86_400_000

/** What can be voided: which amount it added to which balance. */
type Asked = Extract<Step, { do: 'payout' | 'receipt' | 'adjust' }>
type Posted = { postingId: string; who: number; sign: Sums; isVoided: boolean }
type Sums = { payable: number; paid: number; receivable: number }

class Network {
  readonly deals: Deal[]
  readonly sums: Sums[]
  readonly made: Made[][]
  readonly spend: Spend[]
  readonly posted = new Map<string, Posted>()
  /** What was recorded under which reference. */
  readonly asked: Asked[] = []
  now = new Date(START_MS)

  constructor(deals: Deal[]) {
    this.deals = deals
    this.sums = deals.map(() => ({ payable: 0, paid: 0, receivable: 0 }))
    this.made = deals.map(() => [])
    this.spend = deals.map((deal) => new Spend(deal))
  }

  deal = (index: number) => this.deals[index] as Deal

  add(index: number, change: Partial<Sums>): void {
    const sums = this.sums[index] as Sums
    for (const field of ['payable', 'paid', 'receivable'] as const) sums[field] += change[field] ?? 0
  }

  /** A new posting counts; a repeated one must be the same. */
  note(posting: { postingId: string; isNew: boolean }, index: number, change: Partial<Sums>): void {
    assert.equal(posting.isNew, !this.posted.has(posting.postingId))
    const sign = { payable: 0, paid: 0, receivable: 0, ...change }
    if (!posting.isNew) return assert.deepEqual(this.posted.get(posting.postingId)?.sign, sign)
    this.posted.set(posting.postingId, { postingId: posting.postingId, who: index, sign, isVoided: false })
    this.add(index, change)
  }
}

const inTrx = <T>(db: Db, work: (trx: Trx) => Promise<T>) => db.transaction().execute(work)

/** Runs of this round, newest first. */
const runsOf = async (first: number) =>
  (await listRuns(world.database.db, {}, 1_000)).filter(({ run_id }) => run_id >= first)

async function take(network: Network, firstRun: number, now: Step, db: Db): Promise<void> {
  const at = network.now
  if (now.do === 'nextDay') {
    network.now = new Date(at.getTime() + DAY_MS)
    await closeDays(db, network.now)
    await rollUp(db)
  } else if (now.do === 'convert') {
    const made = await createConversion(world, network.deal(now.who), { status: 'approved', payoutMicros: now.micros, revenueMicros: 2 * now.micros, at }) // prettier-ignore
    network.made[now.who]?.push(made)
    network.add(now.who, { payable: now.micros, receivable: 2 * now.micros })
    network.spend[now.who]?.add(at, 2 * now.micros)
  } else if (now.do === 'reverse') {
    const all = network.made[now.who] ?? []
    const [made] = all.splice(now.pick % Math.max(all.length, 1), 1)
    if (made?.worth === null || made === undefined) return
    await moveConversion(world, network.deal(now.who), made, 'reversed', at)
    network.add(now.who, { payable: -made.worth.payoutMicros, receivable: -made.worth.revenueMicros })
    network.spend[now.who]?.add(at, -made.worth.revenueMicros)
  } else if (now.do === 'payout' || now.do === 'receipt' || now.do === 'adjust') await pay(network, now, db)
  else if (now.do === 'budget') await network.spend[now.who]?.set(db, now.of, now.micros, at)
  else if (now.do === 'slowCredit') await creditSlowly(network, now.who, now.micros, db)
  else if (now.do === 'again') {
    const asked = network.asked[now.pick % Math.max(network.asked.length, 1)]
    if (asked === undefined) return
    const again = pay(network, { ...asked, micros: asked.micros + now.more }, db)
    await (now.more === 0 ? again : assert.rejects(again, OperatorError, 'this reference was used for something else'))
  } else if (now.do === 'void') {
    const all = [...network.posted.values()]
    const posted = all[now.pick % Math.max(all.length, 1)]
    if (posted === undefined) return
    const { isNew } = await inTrx(db, (trx) =>
      voidPosting(trx, TESTER, { postingId: posted.postingId, reason: 'Wrong.', at }),
    )
    assert.equal(isNew, !posted.isVoided)
    if (!isNew) return
    posted.isVoided = true
    const { payable, paid, receivable } = posted.sign
    network.add(posted.who, { payable: -payable, paid: -paid, receivable: -receivable })
  } else if (now.do === 'create') {
    const publisherIds = network.deals.map(({ publisherId }) => publisherId)
    await inTrx(db, (trx) => createRun(trx, TESTER, { minimumMicros: now.minimum, publisherIds, now: at }))
  } else await takeRun(network, firstRun, now, db)
}

const BRIEFLY_MS = 100
let credits = 0

async function creditSlowly(network: Network, index: number, amountMicros: number, db: Db): Promise<void> {
  const { publisherId } = network.deal(index)
  const credit = { amountMicros, reference: `slow ${credits++}`, at: network.now, reason: 'Why.' }
  const posting = await inTrx(db, async (trx) => {
    const recorded = await recordAdjustment(trx, TESTER, { party: { publisherId }, ...credit })
    await rollUp(world.database.db, BRIEFLY_MS)
    return recorded
  })
  network.note(posting, index, { payable: amountMicros })
}

/** Refused: nothing has happened. */
function onlyRefused(error: unknown): void {
  if (!(error instanceof OperatorError)) throw error
}

/** A process that dies before its commit has done nothing; a rollup may be done in part. */
async function dieDoing(network: Network, firstRun: number, now: Step, statement: number): Promise<void> {
  if (now.do === 'convert' || now.do === 'reverse') return
  const { database } = world
  if (now.do === 'nextDay') return dieAt(database, statement, async ({ db }) => void (await rollUp(db)))
  await dieAt(database, statement, ({ db }) => take(network, firstRun, now, db), { commits: 0 }).catch(onlyRefused)
}

/** Once per reference. */
async function pay(network: Network, asked: Asked, db: Db): Promise<void> {
  const { who: index, micros: amountMicros, reference: number } = asked
  const { publisherId, advertiserId } = network.deal(index)
  const payment = { amountMicros, reference: `r${number}`, at: network.now }
  if (asked.do === 'payout') {
    const recorded = await recordPayout(db, TESTER, { publisherId, ...payment })
    network.note(recorded, index, { payable: -amountMicros, paid: amountMicros })
    const { payable } = network.sums[index] as Sums
    if (recorded.isNew) assert.ok(payable >= (await dueOf(publisherId)), 'a payout leaves what is due in a run')
  } else if (asked.do === 'receipt') {
    network.note(await recordReceipt(db, TESTER, { advertiserId, ...payment }), index, { receivable: -amountMicros })
  } else {
    const party = asked.isAdvertiser ? { advertiserId } : { publisherId }
    const posting = await inTrx(db, (trx) => recordAdjustment(trx, TESTER, { party, ...payment, reason: 'Why.' }))
    network.note(posting, index, asked.isAdvertiser ? { receivable: -amountMicros } : { payable: amountMicros })
  }
  network.asked.push(asked)
}

/** What a publisher is due in a payment run. */
async function dueOf(publisherId: number): Promise<number> {
  const line = await world.database.db
    .selectFrom('payment_run_lines')
    .select('amount_micros')
    .where('publisher_id', '=', publisherId)
    .where('status', '=', 'due')
    .executeTakeFirst()
  return line?.amount_micros ?? 0
}

type RunStep = Extract<Step, { do: 'export' | 'pay' | 'cancel' }>

async function takeRun(network: Network, firstRun: number, now: RunStep, db: Db): Promise<void> {
  const runs = await runsOf(firstRun)
  const run = runs[now.pick % Math.max(runs.length, 1)]
  if (run === undefined) return
  const at = network.now
  if (now.do === 'export') {
    await inTrx(db, (trx) => exportRun(trx, TESTER, run.run_id, at))
    return
  }
  const publisherIds = now.who === null ? null : [network.deal(now.who).publisherId]
  if (now.do === 'cancel') {
    await inTrx(db, (trx) => cancelRun(trx, TESTER, run.run_id, { publisherIds, reason: 'Why.', now: at }))
    return
  }
  const pay = () => inTrx(db, (trx) => payRun(trx, TESTER, run.run_id, { publisherIds, isSent: now.isSent, now: at }))
  for (const results of await Promise.all(Array.from({ length: now.times }, pay)))
    for (const { outcome, publisher_id, amount_micros, posting_id } of results) {
      if (outcome !== 'paid') continue
      const index = network.deals.findIndex(({ publisherId }) => publisherId === publisher_id)
      const before = (network.sums[index] as Sums).payable
      assert.ok(now.isSent || before >= amount_micros, `${before} ${amount_micros}`)
      network.note({ postingId: posting_id ?? '', isNew: true }, index, {
        payable: -amount_micros,
        paid: amount_micros,
      })
    }
}

async function agree(network: Network, firstRun: number): Promise<void> {
  const { db } = world.database
  await keepBudgets(db, network.now)
  for (const [i, { publisherId, advertiserId }] of network.deals.entries()) {
    const { payableMicros: payable, paidMicros: paid } = await readBalances(db, { publisherId })
    const { receivableMicros: receivable } = await readBalances(db, { advertiserId })
    assert.deepEqual({ payable, paid, receivable }, network.sums[i])
    await network.spend[i]?.agree(db, network.now)
  }
  const all = await readBalances(db, 'network')
  assert.equal(all.receivableMicros + all.cashMicros, all.pendingMicros + all.payableMicros + all.marginMicros)
  const due: number[] = []
  for (const run of await runsOf(firstRun)) {
    const lines = await readLines(db, run.run_id, {}, 100)
    const paid = lines.filter(({ status }) => status === 'paid')
    for (const line of paid) assert.equal(network.posted.get(line.posting_id ?? '')?.sign.paid, line.amount_micros)
    assert.equal(run.paid_micros, paid.reduce((sum, line) => sum + line.amount_micros, 0)) // prettier-ignore
    assert.equal(run.total_micros, lines.reduce((sum, line) => sum + line.amount_micros, 0)) // prettier-ignore
    due.push(...lines.filter(({ status }) => status === 'due').map((line) => line.publisher_id))
    assert.equal(['paid', 'cancelled'].includes(run.status), run.due === 0)
  }
  assert.equal(new Set(due).size, due.length)
}

test('whatever is paid, voided, adjusted and charged back in whatever order, the books balance', async () => {
  let dayMs = START_MS
  await fc.assert(
    fc.asyncProperty(story, fc.infiniteStream(diesAt), async (steps, deaths) => {
      const network = new Network([await createDeal(world), await createDeal(world), await createDeal(world)])
      network.now = new Date(dayMs) // days that are rolled up stay so
      const firstRun = ((await listRuns(world.database.db, {}, 1))[0]?.run_id ?? 0) + 1
      for (const now of steps) {
        const statement: number | null = deaths.next().value
        if (statement !== null) {
          await dieDoing(network, firstRun, now, statement)
          await agree(network, firstRun)
        }
        await take(network, firstRun, now, world.database.db).catch(onlyRefused)
        await agree(network, firstRun)
      }
      dayMs = network.now.getTime()
      assert.deepEqual(await checkLedger(world.database), [])
    }),
    { numRuns: 15 },
  )
})
