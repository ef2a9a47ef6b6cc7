// Mails before and when a budget is used up: at 80 and at 100 %, once for each day, month and total, also where reversals
// give back and it is used up again; once more when the budget is changed. They go to the advertiser's people and the operators.
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../db/open.ts'
import { exactUsd } from '../../../lib/money.ts'
import { type Network, queueMail, type Writer } from '../../accounts/mails.ts'
import { type BudgetName, BUDGETS, type BudgetState, readBudgets } from './budgets.ts'

const NEAR_PERCENT = 80
const USED_UP_PERCENT = 100
const MAIL_LASTS_MS = 86_400_000

type Warning = { advertiser_id: number; period: BudgetName; starts_on: string; percent: number }

/** Mails what is new; returns how many mails. */
export async function warnOfBudgets(db: Db, now: Date): Promise<number> {
  return inTransaction(db, async (trx) => {
    const wanted = (await readBudgets(trx, now)).flatMap((state) => warningsOf(state, now))
    const given = sql`jsonb_populate_recordset(NULL::budget_warnings, ${JSON.stringify(wanted)}::jsonb)`
    const { rows } = await sql<Warning>`
      INSERT INTO budget_warnings AS old SELECT * FROM ${given} ORDER BY advertiser_id, period, percent
      ON CONFLICT (advertiser_id, period, percent) DO UPDATE SET starts_on = excluded.starts_on WHERE old.starts_on <> excluded.starts_on
      RETURNING advertiser_id, period, percent`.execute(trx)
    const isUsedUp = ({ advertiser_id, period }: Warning) =>
      rows.some(
        (row) => row.advertiser_id === advertiser_id && row.period === period && row.percent === USED_UP_PERCENT,
      )
    const fresh = rows.filter((row) => row.percent === USED_UP_PERCENT || !isUsedUp(row))
    for (const { advertiser_id, period, percent } of fresh)
      await queueMail(trx, {
        kind: 'budget_warning',
        about: `${advertiser_id}:${period}:${percent}`,
        expiresAt: new Date(now.getTime() + MAIL_LASTS_MS),
      })
    return fresh.length
  })
}

function warningsOf({ advertiserId, budgets, spent, totalSince }: BudgetState, now: Date): Warning[] {
  const today = now.toISOString().slice(0, 10)
  const startsOn = {
    daily: today,
    monthly: `${today.slice(0, 7)}-01`,
    total: totalSince?.toISOString().slice(0, 10) ?? today,
  }
  return BUDGETS.flatMap((period) =>
    [NEAR_PERCENT, USED_UP_PERCENT]
      .filter((percent) => isPast(budgets[period], spent[period], percent))
      .map((percent) => ({ advertiser_id: advertiserId, period, starts_on: startsOn[period], percent })),
  )
}

const isPast = (budget: number | null, spent: number, percent: number) =>
  budget !== null && spent * 100 >= budget * percent

const WHEN = {
  daily: { name: 'daily budget', until: 'until midnight UTC' },
  monthly: { name: 'monthly budget', until: 'until the first of next month (UTC)' },
  total: { name: 'total budget', until: 'until it is raised' },
} as const

export const budgetWarningWriter = ({ publicUrl }: Pick<Network, 'publicUrl'>): Writer => ({
  async findRecipients(trx, about) {
    const people = await trx
      .selectFrom('people')
      .select('email')
      .where('disabled_at', 'is', null)
      .where((is) => is.or([is('role', '=', 'operator'), is('advertiser_id', '=', Number(about.split(':')[0]))]))
      .orderBy('created_at')
      .execute()
    return people.map(({ email }) => email)
  },
  /** As it is when the mail is written; none where that is over. */
  async write(trx, about, now) {
    const [id = '', period = '', percent = ''] = about.split(':')
    const [state] = await readBudgets(trx, now, Number(id))
    const name = BUDGETS.find((one) => one === period)
    const budget = name === undefined ? null : (state?.budgets[name] ?? null)
    if (state === undefined || name === undefined || budget === null) return null
    if (!isPast(budget, state.spent[name], Number(percent))) return null
    const { name: advertiser } = await trx
      .selectFrom('advertisers')
      .select('name')
      .where('advertiser_id', '=', state.advertiserId)
      .executeTakeFirstOrThrow()
    const isUsedUp = isPast(budget, state.spent[name], USED_UP_PERCENT)
    const when = WHEN[name]
    const spent = `$${exactUsd(state.spent[name])} of $${exactUsd(budget)}`
    return {
      subject: isUsedUp
        ? `The ${when.name} of ${advertiser} is used up`
        : `${advertiser} has used ${Math.floor((state.spent[name] * 100) / budget)} % of its ${when.name}`,
      text: `${advertiser} has spent ${spent}, its ${when.name}.\n\n${
        isUsedUp
          ? `All its offers are closed ${when.until}.`
          : `When it is used up, all its offers are closed ${when.until}.`
      }\n\nNetwork: ${publicUrl}\n`,
    }
  },
})
