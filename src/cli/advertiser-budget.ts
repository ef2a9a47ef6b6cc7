import { Command } from 'commander'
import {
  type BudgetName,
  BUDGETS,
  type Budgets,
  type BudgetState,
  readOne,
  setBudgets,
} from '../features/ledger/budgets/budgets.ts'
import { parsePayoutCap } from '../features/offers/caps.ts'
import { microsToUsd } from '../lib/money.ts'
import { withChange, withDatabase } from './context.ts'
import { findAdvertiser } from './find.ts'
import { fields, type OutputOptions, show } from './output.ts'
import { UsageError } from './usage.ts'

type BudgetOptions = OutputOptions & Partial<Record<BudgetName, string>>

export const budgetCommand = () =>
  new Command('budget')
    .description('show or set what an advertiser may spend on all its offers, in USD')
    .argument('<advertiser>', 'ID or name')
    .option('--daily <usd>', 'maximum per day (UTC), or "none"')
    .option('--monthly <usd>', 'maximum per month (UTC), or "none"')
    .option('--total <usd>', 'maximum in total, counted since this was first set, or "none"')
    .action(async (named: string, options: BudgetOptions) => {
      const given = readBudgetOptions(options)
      const state =
        Object.keys(given).length === 0
          ? await withDatabase(async ({ database: { db } }) =>
              readOne(db, (await findAdvertiser(db, named)).advertiser_id, new Date()),
            )
          : await withChange(async ({ database: { db }, by }) =>
              setBudgets(db, by, (await findAdvertiser(db, named)).advertiser_id, given, new Date()),
            )
      show(options, present(state), fields)
    })

function readBudgetOptions(options: BudgetOptions): Partial<Budgets> {
  const given: Partial<Budgets> = {}
  for (const name of BUDGETS) {
    const text = options[name]
    if (text === undefined) continue
    const micros = text === 'none' ? null : parsePayoutCap(text)
    if (micros === null && text !== 'none')
      throw new UsageError(`--${name} must be an amount in USD above 0, such as 500, or "none".`)
    given[name] = micros
  }
  return given
}

function present({ advertiserId, budgets, spent, totalSince, closedUntil }: BudgetState) {
  const of = (name: BudgetName) => {
    const budget = budgets[name]
    return {
      [`${name}_budget`]: budget === null ? null : microsToUsd(budget),
      [`${name}_spent`]: budget === null ? null : microsToUsd(Math.max(0, spent[name])),
    }
  }
  return {
    advertiser_id: advertiserId,
    ...of('daily'),
    ...of('monthly'),
    ...of('total'),
    total_since: totalSince,
    closed_until: closedUntil === Infinity ? 'the total is raised' : closedUntil,
  }
}
