// Balances of users against a simple model: rewards, reversals and debits, one after the other and at once, while their
// sums are brought up to date, by processes that die.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createConversion, createDeal, type Deal, type Made, moveConversion } from '../../../test/conversion-rows.ts'
import { dieAt } from '../../../test/crash.ts'
import { HISTORIES } from '../../../test/tier.ts'
import { useWorld } from '../../../test/world.ts'
import type { Db } from '../../db/open.ts'
import { checkLedger } from '../ledger/check.ts'
import { debitUser, listEntries, readBalance } from './balances.ts'
import { rollUpBalances } from './rollup.ts'

const world = useWorld('balances_model')
const AT = new Date('2026-11-05T12:00:00Z')
const USERS = ['ann', 'ben']
const BRIEFLY_MS = 100
const STEPS_PER_MICRO = 1 // at 100 coins a dollar

/** `who` is a user; keys are few, so that some are used again, by another user or with another amount. */
type Reward = { do: 'reward'; who: number; steps: number }
type Reverse = { do: 'reverse'; who: number }
type Debit = { do: 'debit'; who: number; steps: number; key: number }
type Action = Reward | Reverse | Debit | { do: 'sum' }
/** All at once; or one whose transaction stays open while the sums are brought up to date. */
type Step = { actions: Action[]; diesAt: number | null; isSlow: boolean }

const who = fc.nat(USERS.length - 1)
const steps = fc.integer({ min: 1, max: 6 })
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('reward' as const), who, steps: fc.integer({ min: 1, max: 12 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('reverse' as const), who }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('debit' as const), who, steps, key: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sum' as const) }) },
)
const story = fc.array(
  fc.record({
    actions: fc.array(action, { minLength: 1, maxLength: 4 }),
    diesAt: fc.option(fc.integer({ min: 1, max: 8 }), { freq: 6 }),
    isSlow: fc.boolean(),
  }),
  { minLength: 3, maxLength: 15 },
)

/** What the model knows. */
class Book {
  balances = USERS.map(() => 0)
  debits = new Map<number, Debit>()

  /** What the program must answer. */
  take(one: Action, takenBack: number): string {
    if (one.do === 'sum') return 'done'
    const balance = this.balances[one.who] ?? 0
    if (one.do !== 'debit') {
      this.balances[one.who] = balance + (one.do === 'reward' ? one.steps : -takenBack)
      return 'done'
    }
    const earlier = this.debits.get(one.key)
    if (earlier) return earlier.who === one.who && earlier.steps === one.steps ? 'repeated' : 'key_reused'
    if (balance < one.steps) return 'too_small'
    this.debits.set(one.key, one)
    this.balances[one.who] = balance - one.steps
    return 'debited'
  }

  clone(): Book {
    return Object.assign(new Book(), { balances: [...this.balances], debits: new Map(this.debits) })
  }
}

type Given = { made: Made; steps: number }
/** An action, with the reward that it takes back. */
type Chosen = { action: Action; given: Given | null }

class Run {
  deal: Deal
  book = new Book()
  given: Given[][] = USERS.map(() => [])

  constructor(deal: Deal) {
    this.deal = deal
  }

  /** A reward is reversed once, and one that is there. */
  choose(actions: Action[]): Chosen[] {
    return actions.flatMap((one) => {
      const given = one.do === 'reverse' ? (this.given[one.who]?.pop() ?? null) : null
      return one.do === 'reverse' && given === null ? [] : [{ action: one, given }]
    })
  }

  user = (index: number) => ({ appId: this.deal.appId, isTest: false, userId: USERS[index] ?? '' })

  async perform({ action: one, given }: Chosen, db: Db): Promise<string> {
    if (one.do === 'sum') await rollUpBalances(db, BRIEFLY_MS)
    else if (one.do === 'debit') {
      const debit = { amountSteps: one.steps, key: `${this.deal.appId} ${one.key}`, note: null }
      return (await debitUser(db, this.user(one.who), debit, { now: AT, isClosed: false })).kind
    } else if (one.do === 'reverse' && given) await moveConversion(world, this.deal, given.made, 'reversed', AT)
    else if (one.do === 'reward') {
      const payoutMicros = one.steps * STEPS_PER_MICRO
      const row = { status: 'approved' as const, payoutMicros, revenueMicros: payoutMicros, at: AT, userId: USERS[one.who] ?? '' } // prettier-ignore
      this.given[one.who]?.push({ made: await createConversion(world, this.deal, row), steps: one.steps })
    }
    return 'done'
  }

  /** What happened at once happened in some order. */
  async take(chosen: Chosen[], db: Db): Promise<void> {
    const answers = await Promise.all(chosen.map((one) => this.perform(one, db)))
    const read = await Promise.all(USERS.map((_, i) => readBalance(db, this.user(i))))
    for (const order of permutations(chosen.map((_, i) => i))) {
      const book = this.book.clone()
      const said: string[] = []
      for (const i of order) said[i] = book.take(chosen[i]!.action, chosen[i]!.given?.steps ?? 0)
      if (String([said, book.balances]) !== String([answers, read])) continue
      this.book = book
      return
    }
    assert.fail(`${JSON.stringify(chosen)} of ${JSON.stringify(this.book.balances)} gave ${JSON.stringify({ answers, read })}`) // prettier-ignore
  }

  /** A debit that is not committed yet while the sums are brought up to date. */
  async debitSlowly(chosen: Chosen): Promise<void> {
    const { db } = world.database
    await db.transaction().execute(async (trx) => {
      await this.take([chosen], trx)
      await rollUpBalances(db, BRIEFLY_MS)
    })
  }
}

const permutations = <T>(all: T[]): T[][] =>
  all.length < 2 ? [all] : all.flatMap((one, i) => permutations(all.toSpliced(i, 1)).map((rest) => [one, ...rest]))

test('whatever is given, taken back and debited at once, a balance is what its entries sum to', async () => {
  const { database } = world
  await fc.assert(
    fc.asyncProperty(story, async (all: Step[]) => {
      const deal = await createDeal(world)
      await database.db.updateTable('apps').set({ keeps_balance: true }).where('app_id', '=', deal.appId).execute()
      const run = new Run(deal)
      for (const { actions, diesAt, isSlow } of all) {
        const chosen = run.choose(actions)
        const [first] = chosen
        // A process that dies before its commit has done nothing; sums may have been brought up to date in part.
        if (diesAt !== null && (first?.action.do === 'debit' || first?.action.do === 'sum'))
          await dieAt(database, diesAt, ({ db }) => run.perform(first, db), first.action.do === 'debit' ? { commits: 0 } : {}) // prettier-ignore
        if (isSlow && first?.action.do === 'debit') await run.debitSlowly(chosen.shift()!)
        await run.take(chosen, database.db)
      }
      await rollUpBalances(database.db)
      for (const [i, expected] of run.book.balances.entries()) {
        const entries = await listEntries(database.db, run.user(i), null, 1_000)
        assert.equal(entries.reduce((sum, { amount_steps }) => sum + amount_steps, 0), expected) // prettier-ignore
        assert.equal(await readBalance(database.db, run.user(i)), expected)
      }
      assert.deepEqual(await checkLedger(database), [])
    }),
    { numRuns: 10 * HISTORIES, endOnFailure: true },
  )
})
