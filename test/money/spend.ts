// A simple model of what advertisers spend, and of the budgets that close their offers.
import assert from 'node:assert/strict'
import type { Db } from '../../src/db/open.ts'
import { type BudgetName, type Budgets, readOne, setBudgets } from '../../src/features/ledger/budgets/budgets.ts'
import type { Deal } from '../conversion-rows.ts'
import { TESTER } from '../tester.ts'

export class Spend {
  readonly #deal: Deal
  readonly #all: { day: string; micros: number }[] = []
  readonly #budgets: Budgets = { daily: null, monthly: null, total: null }
  #before = 0

  constructor(deal: Deal) {
    this.#deal = deal
  }

  add(at: Date, micros: number): void {
    this.#all.push({ day: at.toISOString().slice(0, 10), micros })
  }

  #sum = (start: string) =>
    this.#all.filter(({ day }) => day.startsWith(start)).reduce((sum, { micros }) => sum + micros, 0)

  async set(db: Db, name: BudgetName, micros: number | null, now: Date): Promise<void> {
    await setBudgets(db, TESTER, this.#deal.advertiserId, { [name]: micros }, now)
    if (name === 'total' && this.#budgets.total === null) this.#before = this.#sum('')
    this.#budgets[name] = micros
    if (this.#budgets.total === null) this.#before = 0
  }

  /** After `keepBudgets`. */
  async agree(db: Db, now: Date): Promise<void> {
    const day = now.toISOString().slice(0, 10)
    const spent = { daily: this.#sum(day), monthly: this.#sum(day.slice(0, 7)), total: this.#sum('') - this.#before }
    const { advertiserId, offerId } = this.#deal
    const state = await readOne(db, advertiserId, now)
    assert.deepEqual({ budgets: state.budgets, spent: state.spent }, { budgets: this.#budgets, spent })
    const offer = await db.selectFrom('offers').select('budget_until').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
    const isUsedUp = (name: BudgetName) => this.#budgets[name] !== null && spent[name] >= this.#budgets[name]
    const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
    const until = isUsedUp('total') ? Infinity : isUsedUp('monthly') ? Date.UTC(year, month + 1) : isUsedUp('daily') ? Date.UTC(year, month, date + 1) : 0 // prettier-ignore
    assert.equal(Number(offer.budget_until ?? 0), until)
  }
}
