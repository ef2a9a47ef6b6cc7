// The clicks that commands are about. Clicks are partitioned by ID, one partition a day. A named click is read by a
// statement planned for its partition alone. The latest click of a user may be in any partition of a month: planning
// for all of these took longer than everything else, so that plan is cached, and prunes partitions at run time.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { ClickSnapshot } from './decision-context.ts'

const DAY_MS = 86_400_000

const CLICK_COLUMNS = sql.raw(
  'click_id, clicked_at, terms_id, app_id, is_test, user_id, clicks.offer_id, currency, rate_micros, share_ppm, aff_sub, aff_sub2, aff_sub3, aff_sub4, host(ip) AS ip, country, device, signals, attribution_s, goals AS terms',
)

export async function readClicks(db: Db, clickIds: string[]): Promise<Map<string, ClickSnapshot>> {
  if (clickIds.length === 0) return new Map()
  const { rows } = await sql<ClickSnapshot>`SELECT ${CLICK_COLUMNS} FROM clicks JOIN terms USING (terms_id)
    WHERE click_id = ANY (${clickIds}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.click_id ?? '', row]))
}

/**
 * The latest click of each of these users (app_id, is_test, user_id, offer_id) within its attribution window. Looks
 * back one day more than the window: terms that came while the batch waited for its locks may have a longer one, but
 * only for clicks of that moment.
 */
export function latestClicks(users: string, { now, windowS }: { now: Date; windowS: number }): RawBuilder<unknown> {
  const oldest = uuid7Floor(now.getTime() - 1_000 * windowS - DAY_MS)
  const newest = uuid7Floor(now.getTime() + DAY_MS)
  return sql`SELECT c.* FROM ${sql.ref(users)} k CROSS JOIN LATERAL (
      SELECT ${CLICK_COLUMNS} FROM clicks JOIN terms USING (terms_id)
      WHERE clicks.app_id = k.app_id AND clicks.user_id = k.user_id AND clicks.offer_id = k.offer_id AND clicks.is_test = k.is_test
        AND click_id >= ${oldest}::uuid AND click_id < ${newest}::uuid
        AND clicked_at + attribution_s * interval '1 second' >= ${now}::timestamptz
      ORDER BY clicks.app_id DESC, clicks.user_id DESC, click_id DESC LIMIT 1) c`
}

export type ClickJson = Omit<ClickSnapshot, 'clicked_at'> & { clicked_at: string }
export const clickOfJson = (row: ClickJson): ClickSnapshot => ({ ...row, clicked_at: new Date(row.clicked_at) })
