// What is left of dropped clicks is compacted after a while: counts by sub-ID and locker, of which there may be as many as there were
// clicks, become counts by app, quarter of an hour, offer, country and device. All other figures stay exactly the same, in every
// time zone.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

const DAY_MS = 86_400_000
const SLICE_MS = 3_600_000 // a query may take 15 s, and a day may have many counts
/** A year and a month: this month can be compared with the same month of the year before, by sub-ID as well. */
export const SUB_IDS_KEPT_DAYS = 400

/** Returns how many rows are left of those that were compacted. */
export async function compactClickCounts(db: Db, now: Date): Promise<number> {
  const before = new Date(now.getTime() - SUB_IDS_KEPT_DAYS * DAY_MS)
  let left = 0
  for (;;) {
    const { rows: found } = await sql<{ start: Date | null }>`
      SELECT date_trunc('hour', min(quarter)) AS start FROM click_counts WHERE NOT is_compact AND quarter < ${before}`.execute(
      db,
    )
    const start = found[0]?.start ?? null
    if (start === null) return left
    const { rows } = await sql<{ left: number }>`
      WITH detailed AS (
        DELETE FROM click_counts WHERE NOT is_compact AND quarter >= ${start}
          AND quarter < ${new Date(start.getTime() + SLICE_MS)} AND quarter < ${before}
        RETURNING app_id, quarter, offer_id, country, device, clicks
      ), compact AS (
        INSERT INTO click_counts (app_id, quarter, offer_id, country, device, clicks, is_compact)
        SELECT app_id, quarter, offer_id, country, device, sum(clicks), true FROM detailed GROUP BY 1, 2, 3, 4, 5 RETURNING 1
      ) SELECT count(*) AS left FROM compact`.execute(db)
    left += rows[0]?.left ?? 0
  }
}
