// What an operator should look at, in numbers.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { NEARLY_LISTED } from '../conversions/inbound/open-calls.ts'

export type Attention = {
  pendingConversions: number
  unmatchedCalls: number
  unprocessedCalls: number
  /** Advertisers with so many open calls that the oldest will soon leave the list. */
  crowdedAdvertisers: number
  pausedLanes: number
}

/** Where there are more, this many are counted: a hint, read on every visit to the page. */
export const MOST_COUNTED = 10_000
/** Of what needs attention. Fewer: pending conversions are in the largest table, whose newest rows are rarely vacuumed. */
const MOST_NAMED = 1_000

export const countUpTo = (rows: RawBuilder<unknown>, most = MOST_COUNTED) =>
  sql<number>`(SELECT count(*) FROM (${rows} LIMIT ${sql.lit(most)}) AS counted)`

export async function countAttention(db: Db): Promise<Attention> {
  // Ordered as the index of pending conversions is: the planner might hope to find a thousand of them in the table.
  const pending = sql`SELECT FROM conversions WHERE status = 'pending' AND NOT is_test ORDER BY conversion_id`
  const { rows } = await sql<Attention>`SELECT
    ${countUpTo(pending, MOST_NAMED)} AS "pendingConversions",
    ${countUpTo(sql`SELECT FROM open_calls WHERE outcome = 'unmatched'`, MOST_NAMED)} AS "unmatchedCalls",
    ${countUpTo(sql`SELECT FROM open_calls WHERE outcome <> 'unmatched'`, MOST_NAMED)} AS "unprocessedCalls",
    (SELECT count(*) FROM (SELECT FROM open_calls GROUP BY advertiser_id HAVING count(*) >= ${NEARLY_LISTED}) crowded)
      AS "crowdedAdvertisers",
    (SELECT count(*) FROM postback_lanes WHERE paused_at IS NOT NULL) AS "pausedLanes"`.execute(db)
  return (
    rows[0] ?? { pendingConversions: 0, unmatchedCalls: 0, unprocessedCalls: 0, crowdedAdvertisers: 0, pausedLanes: 0 }
  )
}
