// Which rows of a table can be added up for good. IDs are taken early and committed late, so a row that is seen says
// nothing of those with lower IDs. But the last ID taken at some time is settled once every transaction of that time has
// ended, if a transaction gets its own ID before its rows get theirs.
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { markTime } from './mark-time.ts'
import type { Db } from './open.ts'

const LOOK_MS = 50

/** The last ID that no lower one can still follow. Zero while a transaction stays open for longer than `patienceMs`. */
export async function findLastSettled(db: Db, sequence: string, patienceMs: number): Promise<number> {
  const taken = await sql<{ id: number }>`
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS id FROM ${sql.table(sequence)}`.execute(db)
  const mark = await markTime(db) // a separate statement: it comes after the IDs that were taken
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += LOOK_MS) {
    const { rows } = await sql<{ ended: boolean }>`
      SELECT pg_snapshot_xmin(pg_current_snapshot()) >= ${mark}::xid8 AS ended`.execute(db)
    if (rows[0]?.ended) return taken.rows[0]?.id ?? 0
    await wait(LOOK_MS)
  }
  return 0
}
