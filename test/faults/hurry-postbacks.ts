import { sql } from 'kysely'
import type { Db } from '../../src/db/open.ts'

/** Retries wait for hours in the end: they are made due at once. Returns whether nothing is queued or under way any more. */
export async function hurryPostbacks(db: Db): Promise<boolean> {
  await sql`UPDATE postback_queue SET due_at = now() WHERE state = 'later'`.execute(db)
  await sql`UPDATE postback_lanes SET open_until = NULL WHERE open_until > now()`.execute(db)
  return (await sql`SELECT FROM postback_queue LIMIT 1`.execute(db)).rows.length === 0
}
