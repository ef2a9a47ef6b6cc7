import { sql } from 'kysely'
import type { Db } from './open.ts'

/**
 * A transaction ID that every transaction with an ID so far is below: once the oldest running one has reached it, all of
 * those have ended. The xmax of a snapshot would not do: it is one more than the last that ended, and those that run
 * beyond it would be missed.
 */
export async function markTime(db: Db): Promise<string> {
  const { rows } = await sql<{ id: string }>`SELECT pg_current_xact_id()::text AS id`.execute(db)
  return rows[0]?.id ?? ''
}
