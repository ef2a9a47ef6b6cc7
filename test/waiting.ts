import { sql } from 'kysely'
import type { Database, Db } from '../src/db/open.ts'
import { until } from './installation.ts'

/** Until a query waits for a lock: of a row that another transaction has changed and not committed, for example. */
export const untilLockIsAwaited = (db: Db): Promise<number> =>
  until(async () => {
    const { rows } = await sql`SELECT FROM pg_locks WHERE NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      UNION ALL
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`.execute(db)
    return rows.length > 0
  })

type Pool = Database['pool']

/** Takes a lock that what comes later has to wait for; the function that it returns lets go of it. */
export async function hold(pool: Pool, statement: string, ...values: string[]): Promise<() => Promise<void>> {
  const holder = await pool.connect()
  await holder.query('BEGIN')
  await holder.query(statement, values)
  return async () => {
    await holder.query('COMMIT')
    holder.release()
  }
}

/** That many statements wait for a lock at once. */
export const untilWaiting = (pool: Pool, count: number): Promise<number> =>
  until(async () => {
    const { rows } = await pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") // prettier-ignore
    return rows.length >= count
  })
