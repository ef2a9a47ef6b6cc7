// Sums of the entries of each user, so that reading a balance never reads a whole past. They include all entries up to
// user_balances_rollup.entry_id; the function user_balance adds those behind it, in one statement.
//
// To rebuild the sums, empty user_balances and set user_balances_rollup.entry_id to 0, in one transaction.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { findLastSettled } from '../../db/settled-ids.ts'
import { tryLock } from '../../db/try-lock.ts'

const ENTRIES_AT_ONCE = 100_000 // so that a long backlog stays within the statement timeout
const PATIENCE_MS = 5_000

export async function rollUpBalances(db: Db, patienceMs = PATIENCE_MS): Promise<void> {
  const last = await findLastSettled(db, 'user_entries_entry_id_seq', patienceMs)
  let isDone = false
  while (!isDone) isDone = await db.transaction().execute((trx) => addSome(trx, last))
}

/** Whether all are added up to the last one. */
async function addSome(trx: Trx, last: number): Promise<boolean> {
  if (!(await tryLock(trx, LOCKS.userBalances))) return true // another process does it
  const { entry_id: from } = await trx.selectFrom('user_balances_rollup').select('entry_id').executeTakeFirstOrThrow()
  if (from >= last) return true
  const to = Math.min(last, from + ENTRIES_AT_ONCE)
  await sql`
    INSERT INTO user_balances AS old (app_id, user_id, is_test, amount_steps)
    SELECT app_id, user_id, is_test, sum(amount_steps) FROM user_entries
    WHERE entry_id > ${from} AND entry_id <= ${to} GROUP BY 1, 2, 3
    ON CONFLICT (app_id, user_id, is_test) DO UPDATE SET amount_steps = old.amount_steps + excluded.amount_steps`.execute(
    trx,
  )
  await trx.updateTable('user_balances_rollup').set({ entry_id: to }).execute()
  return to === last
}
