import { sql } from 'kysely'
import type { Db } from '../src/db/open.ts'
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
