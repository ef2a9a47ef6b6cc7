// Popularity is how often an offer was completed lately. It is recomputed now and then, not counted along: a list that
// re-sorts itself with every conversion would give overlapping pages all day.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { tryLock } from '../../db/try-lock.ts'
import { withRetry } from '../../db/pg-errors.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'

const WINDOW_DAYS = 30

/** Writes what changed and returns how many offers that were. */
export async function recomputePopularity(db: Db, now: Date): Promise<number> {
  return withRetry(() => db.transaction().execute((trx) => recompute(trx, now)))
}

async function recompute(trx: Trx, now: Date): Promise<number> {
  if (!(await tryLock(trx, LOCKS.popularity))) return 0
  const since = now.getTime() - WINDOW_DAYS * 86_400_000 // ids begin with the time they were created
  const changed = await sql`
      WITH recent AS (
        SELECT offer_id, count(*)::integer AS completions FROM conversions
        WHERE NOT is_test AND status IN ('pending', 'approved') AND conversion_id >= ${uuid7Floor(since)}::uuid
        GROUP BY offer_id
      )
      UPDATE offers SET popularity = coalesce(recent.completions, 0)
      FROM offers same LEFT JOIN recent USING (offer_id)
      WHERE offers.offer_id = same.offer_id AND offers.popularity <> coalesce(recent.completions, 0)`.execute(trx)
  return Number(changed.numAffectedRows ?? 0)
}
