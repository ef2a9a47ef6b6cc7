// Budgets: what an advertiser may spend over all its offers, a day and a month (UTC) and in total. While one is used up, all its
// offers are closed. Spend is what its conversions are worth, pending ones included; payments and adjustments are none.
//
// Caps are kept by each conversion under a lock; budgets are looked at every few seconds, since a lock on an advertiser
// would make all its conversions wait for each other. So what is completed in these seconds, and by users who had clicked
// before, is paid beyond the budget.
import { type RawBuilder, sql } from 'kysely'
import { LOCKS } from '../../../db/locks.ts'
import { type Db, inTransaction, type Trx } from '../../../db/open.ts'
import { tryLock } from '../../../db/try-lock.ts'
import { withRetry } from '../../../db/pg-errors.ts'
import { NoSuch } from '../../../errors.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { type Actor, recordAudit } from '../../accounts/audit.ts'
import { closeOffers } from './close-offers.ts'

export const BUDGETS = ['daily', 'monthly', 'total'] as const
export type BudgetName = (typeof BUDGETS)[number]
/** In millionths of a dollar; null: none. */
export type Budgets = Record<BudgetName, number | null>

export type BudgetState = {
  advertiserId: number
  budgets: Budgets
  spent: Record<BudgetName, number>
  totalSince: Date | null
  /** Its offers are closed until then; Infinity: until the total is raised. Null: they are not. */
  closedUntil: Date | typeof Infinity | null
}

type Row = {
  advertiser_id: number
  daily_micros: number | null
  monthly_micros: number | null
  total_micros: number | null
  total_since: Date | null
  spent_before: number | null
  today: number
  month: number
  ever: number
}

const isSpend = (table: string) =>
  sql<boolean>`${sql.ref(`${table}.account`)} IN ('advertiser_receivable', 'advertiser_unconfirmed')`
const DAY = sql`(created_at AT TIME ZONE 'UTC')::date`

/** What advertisers have spent of which budgets; those without budgets only where they are asked for. */
export async function readBudgets(db: Db, now: Date, advertiserId?: number): Promise<BudgetState[]> {
  const today = now.toISOString().slice(0, 10)
  const asked: RawBuilder<unknown> =
    advertiserId === undefined ? sql`advertiser_budgets` : sql`(SELECT ${advertiserId}::bigint AS advertiser_id)`
  const { rows } = await sql<Row>`
    WITH asked AS (SELECT advertiser_id FROM ${asked} AS of_them), recent AS MATERIALIZED (
      SELECT party_id, ${DAY} AS day, amount_micros FROM open_entries() AS e WHERE ${isSpend('e')}
    ), moved AS MATERIALIZED ( -- payments and adjustments, which are among the sums
      SELECT e.party_id, ${DAY} AS day, -e.amount_micros AS amount_micros
      FROM asked JOIN ledger_entries e ON e.party_id = asked.advertiser_id AND ${isSpend('e')} AND e.kind <> 'conversion'
    ), days AS (
      SELECT d.party_id, d.day, d.amount_micros
      FROM asked JOIN ledger_days d ON d.party_id = asked.advertiser_id AND ${isSpend('d')} AND d.day >= date_trunc('month', ${today}::date)::date
      UNION ALL SELECT * FROM recent UNION ALL SELECT * FROM moved
    ), sums AS (
      SELECT party_id, sum(amount_micros) FILTER (WHERE day = ${today}::date)::bigint AS today,
        sum(amount_micros) FILTER (WHERE day >= date_trunc('month', ${today}::date) AND day < date_trunc('month', ${today}::date) + interval '1 month')::bigint AS month
      FROM days GROUP BY 1
    ), ever AS (
      SELECT party_id, sum(amount_micros)::bigint AS micros FROM (
        SELECT b.party_id, b.amount_micros FROM asked JOIN ledger_balances b ON b.party_id = asked.advertiser_id AND ${isSpend('b')}
        UNION ALL SELECT party_id, amount_micros FROM recent UNION ALL SELECT party_id, amount_micros FROM moved
      ) AS line GROUP BY 1
    )
    SELECT asked.advertiser_id, b.daily_micros, b.monthly_micros, b.total_micros, b.total_since, b.spent_before,
      coalesce(sums.today, 0) AS today, coalesce(sums.month, 0) AS month, coalesce(ever.micros, 0) AS ever
    FROM asked LEFT JOIN advertiser_budgets b USING (advertiser_id)
    LEFT JOIN sums ON sums.party_id = asked.advertiser_id LEFT JOIN ever ON ever.party_id = asked.advertiser_id
    ORDER BY asked.advertiser_id`.execute(db)
  return rows.map((row) => stateOf(row, now))
}

function stateOf(row: Row, now: Date): BudgetState {
  const budgets = { daily: row.daily_micros, monthly: row.monthly_micros, total: row.total_micros }
  const spent = { daily: row.today, monthly: row.month, total: row.ever - (row.spent_before ?? 0) }
  const isUsedUp = (name: BudgetName) => budgets[name] !== null && spent[name] >= budgets[name]
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const closedUntil = isUsedUp('total')
    ? Infinity
    : isUsedUp('monthly')
      ? new Date(Date.UTC(year, month + 1))
      : isUsedUp('daily')
        ? new Date(Date.UTC(year, month, day + 1))
        : null
  return { advertiserId: row.advertiser_id, budgets, spent, totalSince: row.total_since, closedUntil }
}

/**
 * Sets those that are given, and closes or opens the advertiser's offers. A total counts from when it is
 * first set.
 */
export async function setBudgets(
  db: Db,
  by: Actor,
  advertiserId: number,
  given: Partial<Budgets>,
  now: Date,
): Promise<BudgetState> {
  const setInOrder = async (trx: Trx) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCKS.budgets}::bigint)`.execute(trx)
    const found = await sql`SELECT FROM advertisers WHERE advertiser_id = ${advertiserId}`.execute(trx)
    if (found.rows.length === 0) throw new NoSuch('advertiser', advertiserId)
    const before = await readOne(trx, advertiserId, now)
    const after = { ...before.budgets, ...given }
    await write(trx, before, after, now)
    const changed = BUDGETS.filter((name) => after[name] !== before.budgets[name])
    const details = { changes: Object.fromEntries(changed.map((name) => [name, { before: dollars(before.budgets[name]), after: dollars(after[name]) }])) } // prettier-ignore
    if (changed.length > 0) {
      await recordAudit(trx, by, { action: 'advertiser.budget', subject: advertiserId, details })
      await trx.deleteFrom('budget_warnings').where('advertiser_id', '=', advertiserId).where('period', 'in', changed).execute() // prettier-ignore
    }
    const state = await readOne(trx, advertiserId, now)
    await closeOffers(trx, [state], advertiserId)
    return state
  }
  // Others lock offers in no order; a transaction of the caller's is the caller's to retry.
  return db.isTransaction ? inTransaction(db, setInOrder) : withRetry(() => inTransaction(db, setInOrder))
}

async function write(trx: Trx, { advertiserId, spent }: BudgetState, after: Budgets, now: Date): Promise<void> {
  if (Object.values(after).every((amount) => amount === null)) {
    await trx.deleteFrom('advertiser_budgets').where('advertiser_id', '=', advertiserId).execute()
    return
  }
  const old = (column: string) =>
    sql`(SELECT ${sql.ref(column)} FROM advertiser_budgets WHERE advertiser_id = ${advertiserId})`
  // Where there was no total, `spent.total` is what was spent ever.
  const since =
    after.total === null
      ? sql`NULL, NULL`
      : sql`coalesce(${old('total_since')}, ${now}::timestamptz), coalesce(${old('spent_before')}, ${spent.total}::bigint)`
  await sql`
    INSERT INTO advertiser_budgets (advertiser_id, daily_micros, monthly_micros, total_micros, total_since, spent_before)
    VALUES (${advertiserId}, ${after.daily}, ${after.monthly}, ${after.total}, ${since})
    ON CONFLICT (advertiser_id) DO UPDATE SET daily_micros = excluded.daily_micros, monthly_micros = excluded.monthly_micros,
      total_micros = excluded.total_micros, total_since = excluded.total_since, spent_before = excluded.spent_before`.execute(
    trx,
  )
}

export async function readOne(db: Db, advertiserId: number, now: Date): Promise<BudgetState> {
  const [state] = await readBudgets(db, now, advertiserId)
  if (state === undefined) throw new NoSuch('advertiser', advertiserId)
  return state
}

const dollars = (micros: number | null) => (micros === null ? null : microsToUsd(micros))

/** Closes and opens offers as budgets say now. Where another process does, or a budget is being set, that is enough. */
export async function keepBudgets(db: Db, now: Date): Promise<void> {
  await withRetry(() =>
    inTransaction(db, async (trx) => {
      if (!(await tryLock(trx, LOCKS.budgets))) return
      const states = await readBudgets(trx, now)
      await closeOffers(trx, states)
    }),
  )
}
