// The users of an app, known only by the publisher's own IDs.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { AppUser } from './balances.ts'

/** Of the latest conversions of an app, and of the latest clicks and conversions of a user, so many are looked at. */
const LOOKED_AT = 1_000

export type RecentUser = { user_id: string; last_conversion_at: Date }

/** Those who converted last, the latest first. */
export async function listRecentUsers(
  db: Db,
  { appId, isTest }: { appId: number; isTest: boolean },
  limit: number,
): Promise<RecentUser[]> {
  const { rows } = await sql<RecentUser>`
    SELECT user_id, max(created_at) AS last_conversion_at FROM (
      SELECT user_id, created_at FROM conversions WHERE app_id = ${appId} AND is_test = ${isTest}
      ORDER BY app_id DESC, is_test DESC, conversion_id DESC LIMIT ${LOOKED_AT}) latest
    GROUP BY user_id ORDER BY 2 DESC, 1 LIMIT ${limit}`.execute(db)
  return rows
}

/** The latest clicks or conversions of a user, as a subquery. No index finds those of one offer among very many. */
export const latestOf = (
  table: 'clicks' | 'conversions',
  { appId, isTest, userId }: AppUser,
) => sql`(SELECT * FROM ${sql.table(table)} WHERE app_id = ${appId} AND user_id = ${userId} AND is_test = ${isTest}
    ORDER BY app_id DESC, user_id DESC, ${sql.ref(table === 'clicks' ? 'click_id' : 'conversion_id')} DESC LIMIT ${sql.lit(LOOKED_AT)})`
