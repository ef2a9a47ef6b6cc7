// Deletes postbacks that ended long ago, like the log of their attempts. What is still to be sent is kept however old
// it is, and the age of a resent postback counts from then.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'

const DAY_MS = 86_400_000
const BATCH = 2_000
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Returns how many were deleted. IDs are ordered by time, so that only old ones are looked at, each once. */
export async function forgetOldPostbacks(db: Db, keepDays: number, now = new Date()): Promise<number> {
  const before = new Date(now.getTime() - keepDays * DAY_MS)
  // If nothing is younger than what would be deleted, a clock has jumped ahead, or nothing happens: no reason to delete
  // anything.
  const younger = await sql`SELECT FROM postbacks WHERE postback_id >= ${uuid7Floor(before.getTime())} LIMIT 1`.execute(
    db,
  )
  if (younger.rows.length === 0) return 0
  let forgotten = 0
  for (let after = FIRST; ;) {
    const { rows } = await briefly(db, (trx) =>
      sql<{ last: string | null; gone: number }>`
        WITH old AS MATERIALIZED (
          SELECT postback_id, app_id, settled_at FROM postbacks
          WHERE postback_id > ${after}::uuid AND postback_id < ${uuid7Floor(before.getTime())}::uuid
          ORDER BY postback_id LIMIT ${BATCH}
        ), gone AS (
          DELETE FROM postbacks p USING old
          WHERE p.postback_id = old.postback_id AND p.settled_at < ${before}
            AND NOT EXISTS (SELECT FROM postback_queue q WHERE q.app_id = old.app_id AND q.postback_id = old.postback_id)
          RETURNING 1
        )
        SELECT (SELECT postback_id FROM old ORDER BY postback_id DESC LIMIT 1) AS last, (SELECT count(*) FROM gone) AS gone`.execute(
        trx,
      ),
    )
    const [{ last, gone } = { last: null, gone: 0 }] = rows
    forgotten += gone
    if (last === null) return forgotten
    after = last
  }
}
