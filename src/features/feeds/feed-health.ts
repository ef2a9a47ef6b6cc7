// How feeds are doing, in a few cheap reads: what metrics ask for every few seconds.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

export type FeedHealth = {
  feed_id: number
  name: string
  /** In a row. */
  failures: number
  has_problem: boolean
  /** Null when it never ran through. */
  succeeded_at: Date | null
  /** Offers in that run. */
  fetched: number | null
}

/** Of those that are not paused. */
export async function readFeedHealth(db: Db, most: number): Promise<FeedHealth[]> {
  const { rows } = await sql<FeedHealth>`
    SELECT feed_id, name, failures, troubled_at IS NOT NULL AS has_problem, latest.succeeded_at, latest.fetched
    FROM feeds LEFT JOIN LATERAL (
      SELECT ended_at AS succeeded_at, fetched FROM feed_runs r
      WHERE r.feed_id = feeds.feed_id AND r.outcome IN ('done', 'unchanged') AND NOT r.is_preview
      ORDER BY run_id DESC LIMIT 1
    ) AS latest ON true
    WHERE NOT is_paused ORDER BY feed_id LIMIT ${most}`.execute(db)
  return rows
}
