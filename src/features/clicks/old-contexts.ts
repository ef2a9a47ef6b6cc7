// Remembered sub-IDs of users who were not seen for as long as clicks are kept are forgotten. They are needed for a
// conversion that is reported without a click; whatever such a report is about was clicked within that time, or the user
// asked for offers again.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import type { Db } from '../../db/open.ts'
import { keptClickDays } from './retention.ts'

const DAY_MS = 86_400_000
const PAGES = 500

/**
 * Walks through the table in slices of pages: an index on `seen_at` would make every request with new sub-IDs more
 * expensive, and each update of a row. Returns how many were deleted.
 */
export async function forgetOldContexts(db: Db, now: Date, keepDays: number, pages = PAGES): Promise<number> {
  const before = new Date(now.getTime() - (await keptClickDays(db, keepDays)) * DAY_MS)
  if (!(await isAnySeenSince(db, before))) return 0
  const { rows } = await sql<{ pages: number }>`
    SELECT pg_relation_size('user_contexts') / current_setting('block_size')::integer AS pages`.execute(db)
  const last = rows[0]?.pages ?? 0
  let forgotten = 0
  for (let page = 0; page < last; page += pages) {
    const [from, to] = [`(${page},0)`, `(${page + pages},0)`]
    const gone = await briefly(db, (trx) =>
      sql`DELETE FROM user_contexts WHERE ctid >= ${from}::tid AND ctid < ${to}::tid AND seen_at < ${before}`.execute(
        trx,
      ),
    )
    forgotten += Number(gone.numAffectedRows ?? 0)
  }
  return forgotten
}

/** If no user was seen since, a clock has jumped ahead, or nothing happens: no reason to delete anything. */
async function isAnySeenSince(db: Db, time: Date): Promise<boolean> {
  const { rows } = await sql`SELECT FROM user_contexts WHERE seen_at >= ${time} LIMIT 1`.execute(db)
  return rows.length > 0
}
