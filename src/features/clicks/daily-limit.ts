// How many offers a user of an app may complete in a day of UTC, where the app has such a limit. It is checked when a link
// is followed: what was started before is paid.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { AppUser } from '../offers/completions.ts'
import { readOr } from './read-or.ts'

const DAY_MS = 86_400_000

/** Whether a user may start this offer: one that was completed today already can be followed further. */
export async function isWithinLimit(
  db: Db,
  { appId, isTest, userId, offerId }: AppUser & { offerId: number },
  limit: number,
  nowMs: number,
): Promise<boolean> {
  // Found by the index of users: the IDs of conversions begin with their time.
  const today = uuid7Floor(Math.floor(nowMs / DAY_MS) * DAY_MS)
  const reading = sql<{ offer_id: number }>`
    SELECT DISTINCT offer_id FROM (SELECT offer_id, is_test, status FROM conversions
      WHERE app_id = ${appId} AND user_id = ${userId} AND conversion_id >= ${today}::uuid) c
    WHERE is_test = ${isTest} AND status <> 'rejected'`
    .execute(db)
    .then(({ rows }) => rows.map((row) => row.offer_id))
  const completed = await readOr(reading, [])
  return completed.length < limit || completed.includes(offerId)
}
