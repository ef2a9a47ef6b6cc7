// Totals of entries, so that no query reads every entry ever written: of each party overall and by day (UTC), and of
// what conversions moved over the whole network by day.
//
// The totals include all entries up to ledger_rollup.entry_id; a reader adds those behind it, open_entries(), in the
// same statement. Days are closed separately: what is posted for a closed day later counts for the first open one.
//
// To rebuild the totals, empty the three tables and set ledger_rollup.entry_id to 0, in one transaction.
import { type RawBuilder, sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { tryLock } from '../../db/try-lock.ts'
import type { Db, Trx } from '../../db/open.ts'
import { findLastSettled } from '../../db/settled-ids.ts'

const DAY_MS = 86_400_000
const ENTRIES_AT_ONCE = 100_000 // so that a long backlog stays within the statement timeout
const PATIENCE_MS = 5_000

/** The start of the first open day. */
export const FIRST_OPEN_TIME = sql<Date>`(SELECT (through + 1)::timestamp AT TIME ZONE 'UTC' FROM ledger_rollup)`

/** Totals of all entries that match a condition on account and party: rows to be summed, in one statement. */
export const sumLines = (condition: RawBuilder<boolean>) => sql`
  SELECT account, party_id, amount_micros FROM ledger_balances WHERE ${condition}
  UNION ALL
  SELECT account, party_id, amount_micros FROM open_entries() WHERE ${condition}`

/** The same for entries before a day. */
export const sumLinesBefore = (condition: RawBuilder<boolean>, day: string) => sql`
  SELECT account, party_id, amount_micros FROM ledger_days WHERE ${condition} AND day < ${day}::date
  UNION ALL
  SELECT account, party_id, amount_micros FROM open_entries() WHERE ${condition}
    AND created_at < ${day}::date::timestamp AT TIME ZONE 'UTC'`

/**
 * Closes the days up to the day before yesterday and returns the last one, or null when there was none to close. Never
 * beyond the newest entry: a clock that jumped ahead would close days in the future.
 */
export async function closeDays(db: Db, now: Date): Promise<string | null> {
  const until = new Date(now.getTime() - 2 * DAY_MS).toISOString().slice(0, 10)
  const { rows } = await sql<{ through: string }>`
    UPDATE ledger_rollup SET through = last.day FROM (
      SELECT least(${until}::date, max(created_at AT TIME ZONE 'UTC')::date) AS day FROM ledger_entries) AS last
    WHERE through < last.day RETURNING through::text`.execute(db)
  return rows[0]?.through ?? null
}

/** Adds open entries to the totals, and returns the last entry they include now. */
export async function rollUp(db: Db, patienceMs = PATIENCE_MS): Promise<number> {
  const last = await findLastSettled(db, 'ledger_entries_entry_id_seq', patienceMs)
  for (;;) {
    const through = await db.transaction().execute((trx) => addSome(trx, last))
    if (through.isDone) return through.entryId
  }
}

async function addSome(trx: Trx, last: number): Promise<{ entryId: number; isDone: boolean }> {
  const isLocked = await tryLock(trx, LOCKS.ledgerRollup)
  const { entry_id: from } = await trx.selectFrom('ledger_rollup').select('entry_id').executeTakeFirstOrThrow()
  // One process at a time; a second one finds nothing to add.
  if (!isLocked || from >= last) return { entryId: from, isDone: true }
  const to = Math.min(last, from + ENTRIES_AT_ONCE)
  await sql`
    WITH added AS (
      SELECT account, party_id, kind, (created_at AT TIME ZONE 'UTC')::date AS day, amount_micros FROM ledger_entries
      WHERE entry_id > ${from} AND entry_id <= ${to}
    ), days AS (
      INSERT INTO ledger_days AS old (account, party_id, day, amount_micros)
      SELECT account, party_id, day, sum(amount_micros) FROM added GROUP BY 1, 2, 3
      ON CONFLICT (account, party_id, day) DO UPDATE SET amount_micros = old.amount_micros + excluded.amount_micros
    ), network AS (
      INSERT INTO network_days AS old (day, payout_micros, margin_micros)
      SELECT day, ${PAYOUT}, ${MARGIN} FROM added WHERE kind = 'conversion' GROUP BY 1
      ON CONFLICT (day) DO UPDATE SET payout_micros = old.payout_micros + excluded.payout_micros,
        margin_micros = old.margin_micros + excluded.margin_micros
    )
    INSERT INTO ledger_balances AS old (account, party_id, amount_micros)
    SELECT account, party_id, sum(amount_micros) FROM added GROUP BY 1, 2
    ON CONFLICT (account, party_id) DO UPDATE SET amount_micros = old.amount_micros + excluded.amount_micros`.execute(
    trx,
  )
  await sql`UPDATE ledger_rollup SET entry_id = ${to}`.execute(trx)
  return { entryId: to, isDone: to === last }
}

/** What conversions moved for publishers, pending ones included, and for the network. */
export const PAYOUT = sql<number>`coalesce(-sum(amount_micros) FILTER (WHERE account IN ('publisher_pending', 'publisher_payable')), 0)::bigint`
export const MARGIN = sql<number>`coalesce(-sum(amount_micros) FILTER (WHERE account = 'network_margin'), 0)::bigint`
