// Which apps have postbacks that are due and not sent: what metrics ask for every few seconds.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { COUNTED } from './health.ts'

/** `due` is counted up to `COUNTED`. */
export type LaneBacklog = { app_id: number; oldest_due_at: Date; due: number }

/** Those that have waited longest, of lanes that are not paused. */
export async function readBacklogs(db: Db, most: number): Promise<LaneBacklog[]> {
  const { rows } = await sql<LaneBacklog>`
    SELECT oldest.app_id, oldest.due_at AS oldest_due_at, waiting.due FROM (
      SELECT l.app_id, min(first.due_at) AS due_at
      FROM postback_lanes l CROSS JOIN (VALUES (-1), (0), (1), (2)) AS of (priority) CROSS JOIN LATERAL (
        SELECT due_at FROM postback_queue q WHERE q.app_id = l.app_id AND q.priority = of.priority AND q.state = 'ready'
        ORDER BY q.app_id, q.priority, q.due_at LIMIT 1) AS first
      WHERE l.paused_at IS NULL GROUP BY l.app_id ORDER BY due_at LIMIT ${most}
    ) AS oldest CROSS JOIN LATERAL (
      SELECT count(*) AS due FROM (
        SELECT FROM postback_queue q WHERE q.app_id = oldest.app_id AND q.state = 'ready' LIMIT ${sql.lit(COUNTED)}
      ) AS counted
    ) AS waiting ORDER BY oldest.due_at`.execute(db)
  return rows
}
