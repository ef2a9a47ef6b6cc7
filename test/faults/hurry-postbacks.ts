import { sql } from 'kysely'
import type { Db } from '../../src/db/open.ts'
import { until } from '../installation.ts'

/** Retries wait for hours in the end: they are made due at once. Returns whether nothing is queued or under way any more. */
export async function hurryPostbacks(db: Db): Promise<boolean> {
  await sql`UPDATE postback_queue SET due_at = now() WHERE state = 'later'`.execute(db)
  await sql`UPDATE postback_lanes SET open_until = NULL WHERE open_until > now()`.execute(db)
  return (await sql`SELECT FROM postback_queue LIMIT 1`.execute(db)).rows.length === 0
}

/** Until nothing waits any more: calls for their clicks, and postbacks. */
export async function settle(db: Db, patienceMs?: number): Promise<void> {
  await until(async () => {
    await sql`UPDATE open_calls SET next_attempt_at = now() WHERE next_attempt_at > now()`.execute(db)
    const { rows: open } = await sql`SELECT FROM open_calls LIMIT 1`.execute(db)
    return (await hurryPostbacks(db)) && open.length === 0
  }, patienceMs)
}
