// Counts of what an operator should look at.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { NEARLY_LISTED } from '../conversions/inbound/open-calls.ts'

export type OperatorCounts = {
  pendingConversions: number
  unmatchedCalls: number
  unprocessedCalls: number
  /** Advertisers with so many open calls that the oldest will soon drop off the list. */
  crowdedAdvertisers: number
  pausedLanes: number
  /** Whose last run failed or was refused. */
  troubledFeeds: number
  /** Offers of feeds whose payout waits for approval. */
  heldOffers: number
}

/** Counting stops here: a hint, read on every visit to the page. */
export const MOST_COUNTED = 10_000
/**
 * The limit for work that needs attention, which is lower: pending conversions are in the largest table, whose newest
 * rows are rarely vacuumed.
 */
const MOST_OPEN = 1_000

export const countUpTo = (rows: RawBuilder<unknown>, most = MOST_COUNTED) =>
  sql<number>`(SELECT count(*) FROM (${rows} LIMIT ${sql.lit(most)}) AS counted)`

export async function readOperatorCounts(db: Db): Promise<OperatorCounts> {
  // Ordered like the index of pending conversions: otherwise the planner may scan the table for a thousand of them.
  const pending = sql`SELECT FROM conversions WHERE status = 'pending' AND NOT is_test ORDER BY conversion_id`
  const { rows } = await sql<OperatorCounts>`SELECT
    ${countUpTo(pending, MOST_OPEN)} AS "pendingConversions",
    ${countUpTo(sql`SELECT FROM open_calls WHERE outcome = 'unmatched'`, MOST_OPEN)} AS "unmatchedCalls",
    ${countUpTo(sql`SELECT FROM open_calls WHERE outcome <> 'unmatched'`, MOST_OPEN)} AS "unprocessedCalls",
    (SELECT count(*) FROM (SELECT FROM open_calls GROUP BY advertiser_id HAVING count(*) >= ${NEARLY_LISTED}) crowded)
      AS "crowdedAdvertisers",
    (SELECT count(*) FROM postback_lanes WHERE paused_at IS NOT NULL) AS "pausedLanes",
    (SELECT count(*) FROM feeds WHERE troubled_at IS NOT NULL AND NOT is_paused) AS "troubledFeeds",
    ${countUpTo(sql`SELECT FROM feed_offers WHERE held_hash IS NOT NULL`, MOST_OPEN)} AS "heldOffers"`.execute(db)
  return rows[0] as OperatorCounts
}
