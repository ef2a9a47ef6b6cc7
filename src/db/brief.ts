// A transaction that waits for no lock for long and holds none for long, whatever becomes of the process that began it: one
// that is stopped in the middle, or whose machine lost power, is ended by the server. The limits are set for the
// transaction only, so that they pass a pooler.
import { sql } from 'kysely'
import type { Db, Trx } from './open.ts'

const LIMITS = `
  SET LOCAL lock_timeout = '1s';
  SET LOCAL statement_timeout = '10s';
  SET LOCAL idle_in_transaction_session_timeout = '3s';
  SET LOCAL tcp_user_timeout = '10s'`

/** `settings`: more of them, as SET LOCAL …, in the same round trip; set in any case. */
export async function briefly<T>(db: Db, work: (trx: Trx) => Promise<T>, settings = ''): Promise<T> {
  if (db.isTransaction) {
    if (settings !== '') await sql.raw(settings).execute(db)
    return work(db as Trx) // the outer transaction has set the limits
  }
  return db.transaction().execute(async (trx) => {
    await sql.raw(settings === '' ? LIMITS : `${LIMITS};${settings}`).execute(trx)
    return work(trx)
  })
}
