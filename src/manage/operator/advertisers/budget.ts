// What an advertiser may spend over all its offers.
import { AppError, type Details } from '../../../errors.ts'
import {
  type BudgetName,
  BUDGETS,
  type Budgets,
  type BudgetState,
  readOne,
  setBudgets,
} from '../../../features/ledger/budgets/budgets.ts'
import { parsePayoutCap } from '../../../features/offers/caps.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import type { ManageContext } from '../../context.ts'
import type { ManageRoutes } from '../../route.ts'
import { AdvertiserParams } from '../../shapes.ts'
import { AdvertiserBudget, BudgetChange } from './budget-schema.ts'

const TAG = 'Advertisers of the network'

export function budgetRoutes(routes: ManageRoutes, { db }: ManageContext): void {
  routes.get('/advertisers/:advertiser_id/budget', {
    id: 'getAdvertiserBudget',
    summary: 'Get the budget of an advertiser',
    about: 'What it may spend on all its offers, and what it has spent so far.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    reply: AdvertiserBudget,
    async run({ params: { advertiser_id } }) {
      await findAdvertiserOf(db, advertiser_id)
      return present(await readOne(db, advertiser_id, new Date()))
    },
  })

  routes.patch('/advertisers/:advertiser_id/budget', {
    id: 'changeAdvertiserBudget',
    summary: 'Change the budget of an advertiser',
    about:
      'When a budget is used up, all offers of the advertiser are closed within seconds. Conversions of earlier clicks are still paid.',
    tag: TAG,
    access: 'operator',
    params: AdvertiserParams,
    body: BudgetChange,
    reply: AdvertiserBudget,
    async run({ params: { advertiser_id }, body, by }) {
      await findAdvertiserOf(db, advertiser_id)
      return present(await setBudgets(db, by, advertiser_id, readChange(body), new Date()))
    },
  })
}

function readChange(change: BudgetChange): Partial<Budgets> {
  const details: Details = {}
  const read = (name: BudgetName, value: number | null) => {
    const micros = value === null ? null : parsePayoutCap(value)
    if (value !== null && micros === null)
      details[name] = 'A budget must be above 0 and below 1,000,000,000 dollars, with at most four decimals.'
    return micros
  }
  const budgets = Object.fromEntries(
    BUDGETS.flatMap((name) => (change[name] === undefined ? [] : [[name, read(name, change[name])]])),
  ) as Partial<Budgets>
  if (Object.keys(details).length > 0)
    throw new AppError('INVALID_REQUEST', 'Some parameters are missing or invalid.', details)
  return budgets
}

function present({ budgets, spent, totalSince, closedUntil }: BudgetState): AdvertiserBudget {
  const shown = (name: BudgetName) => {
    const budget = budgets[name]
    return budget === null ? null : { amount: microsToUsd(budget), spent: microsToUsd(Math.max(0, spent[name])) }
  }
  const total = shown('total')
  return {
    daily: shown('daily'),
    monthly: shown('monthly'),
    total: total === null || totalSince === null ? null : { ...total, since: totalSince },
    is_closed: closedUntil !== null,
    opens_at: closedUntil instanceof Date ? closedUntil : null,
  }
}
