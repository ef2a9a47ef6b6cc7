// Totals of the ledger by period: months and payments of a publisher, days of the network. Months and days are UTC, as
// in statements and in ledger_days.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { readPayableBefore } from './ledger.ts'
import { MARGIN, PAYOUT } from './rollup.ts'

/** What became payable, what of it was reversed, what was adjusted, and what was paid out, less voided payouts. */
export type PeriodTotals = { earnedMicros: number; reversedMicros: number; adjustedMicros: number; paidMicros: number }
export type Month = PeriodTotals & { month: string; closingMicros: number }

const TOTALS = sql<PeriodTotals>`
  coalesce(-sum(amount_micros) FILTER (WHERE kind = 'conversion' AND amount_micros < 0), 0)::bigint AS "earnedMicros",
  coalesce(sum(amount_micros) FILTER (WHERE kind = 'conversion' AND amount_micros > 0), 0)::bigint AS "reversedMicros",
  coalesce(-sum(amount_micros) FILTER (WHERE kind = 'adjustment'), 0)::bigint AS "adjustedMicros",
  coalesce(sum(amount_micros) FILTER (WHERE kind = 'payout'), 0)::bigint AS "paidMicros"`
const NO_TOTALS: PeriodTotals = { earnedMicros: 0, reversedMicros: 0, adjustedMicros: 0, paidMicros: 0 }

/** `to` is exclusive. */
export async function readPeriodTotals(db: Db, publisherId: number, from: Date, to: Date): Promise<PeriodTotals> {
  const { rows } = await sql<PeriodTotals>`SELECT ${TOTALS} FROM ledger_entries
    WHERE account = 'publisher_payable' AND party_id = ${publisherId}
      AND created_at >= ${from} AND created_at < ${to}`.execute(db)
  return rows[0] ?? NO_TOTALS
}

/** Newest first, from the first month with an entry to the current one; `before` is the oldest month already listed. */
export async function listMonths(
  db: Db,
  publisherId: number,
  { before, limit, now }: { before: string | undefined; limit: number; now: Date },
): Promise<{ months: Month[]; hasMore: boolean }> {
  const first = await readFirstMonth(db, publisherId)
  if (first === null) return { months: [], hasMore: false }
  const all = monthsBetween(first, nextMonth(now.toISOString().slice(0, 7)))
  const asked = all.filter((month) => before === undefined || month < before)
  const names = asked.slice(-limit)
  const [oldest] = names
  const newest = names.at(-1)
  if (oldest === undefined || newest === undefined) return { months: [], hasMore: false }
  const { rows } = await sql<PeriodTotals & { month: string }>`
    SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, ${TOTALS} FROM ledger_entries
    WHERE account = 'publisher_payable' AND party_id = ${publisherId}
      AND created_at >= ${startOf(oldest)} AND created_at < ${startOf(nextMonth(newest))}
    GROUP BY 1`.execute(db)
  const byMonth = new Map(rows.map(({ month, ...totals }) => [month, totals]))
  let closingMicros = await readPayableBefore(db, publisherId, `${oldest}-01`)
  const months = names.map((month) => {
    const totals = byMonth.get(month) ?? NO_TOTALS
    closingMicros += totals.earnedMicros - totals.reversedMicros + totals.adjustedMicros - totals.paidMicros
    return { month, ...totals, closingMicros }
  })
  return { months: months.toReversed(), hasMore: asked.length > names.length }
}

async function readFirstMonth(db: Db, publisherId: number): Promise<string | null> {
  const { rows } = await sql<{ first: Date | null }>`SELECT min(created_at) AS first FROM ledger_entries
    WHERE account = 'publisher_payable' AND party_id = ${publisherId}`.execute(db)
  return rows[0]?.first?.toISOString().slice(0, 7) ?? null
}

const startOf = (month: string) => new Date(`${month}-01T00:00:00Z`)

function nextMonth(month: string): string {
  const start = startOf(month)
  start.setUTCMonth(start.getUTCMonth() + 1)
  return start.toISOString().slice(0, 7)
}

function monthsBetween(first: string, end: string): string[] {
  const months: string[] = []
  for (let month = first; month < end; month = nextMonth(month)) months.push(month)
  return months
}

/** Payouts to a publisher, newest first, with the time a payout was voided. */
export async function listPayouts(db: Db, publisherId: number, before: number | undefined, limit: number) {
  let query = db
    .selectFrom('ledger_entries as e')
    .leftJoin('ledger_entries as v', (join) =>
      join
        .onRef('v.voids', '=', 'e.posting_id')
        .onRef('v.account', '=', 'e.account')
        .onRef('v.party_id', '=', 'e.party_id'),
    )
    .select(['e.entry_id', 'e.created_at', 'e.amount_micros', 'e.reference', 'v.created_at as voided_at'])
    .where('e.kind', '=', 'payout')
    .where('e.account', '=', 'publisher_payable')
    .where('e.party_id', '=', publisherId)
    .where('e.voids', 'is', null)
  if (before !== undefined) query = query.where('e.entry_id', '<', before)
  return query.orderBy('e.entry_id', 'desc').limit(limit).execute()
}

/** What conversions moved on a day, pending ones included. Revenue is payout plus margin. */
export type NetworkDay = { day: string; payoutMicros: number; marginMicros: number }

/** The days in this range that have any amounts. One statement, like everything that reads totals. */
export async function readNetworkDays(db: Db, firstDay: string, lastDay: string): Promise<NetworkDay[]> {
  const { rows } = await sql<NetworkDay>`
    SELECT day::text AS day, sum(payout_micros)::bigint AS "payoutMicros", sum(margin_micros)::bigint AS "marginMicros"
    FROM (
      SELECT day, payout_micros, margin_micros FROM network_days
      UNION ALL
      SELECT (created_at AT TIME ZONE 'UTC')::date, ${PAYOUT}, ${MARGIN} FROM open_entries()
      WHERE kind = 'conversion' GROUP BY 1
    ) AS moved
    WHERE day BETWEEN ${firstDay}::date AND ${lastDay}::date
    GROUP BY 1 ORDER BY 1`.execute(db)
  return rows
}
