// What waits to be done, over the whole network.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { countUpTo, MOST_COUNTED } from './operator-counts.ts'

type Queues = {
  postbacks_queued: number
  postbacks_due: number
  postbacks_sending: number
  oldest_due_at: Date | null
  waiting_events: number
  unmatched_calls: number
}

/**
 * Due is what could be sent now: what is held back, waits for a server that fails or for an earlier event, is not. Each is
 * counted up to MOST_COUNTED, so that looking at a long queue does not cost more than at a short one.
 */
export async function readQueues(db: Db): Promise<Queues> {
  const isOpen = sql`paused_at IS NULL AND (open_until IS NULL OR open_until <= now())`
  const { rows } = await sql<Queues>`
    SELECT ${countUpTo(sql`SELECT FROM postback_queue WHERE state <> 'sending'`)} AS postbacks_queued,
      ${countUpTo(sql`SELECT FROM postback_lanes l CROSS JOIN LATERAL (
        SELECT FROM postback_queue q WHERE q.app_id = l.app_id AND q.state = 'ready' LIMIT ${sql.lit(MOST_COUNTED)}) AS due WHERE ${isOpen}`)} AS postbacks_due,
      ${countUpTo(sql`SELECT FROM postback_queue WHERE state = 'sending'`)} AS postbacks_sending,
      (SELECT min(first.due_at) FROM postback_lanes l CROSS JOIN (VALUES (-1), (0), (1), (2)) AS of (priority) CROSS JOIN LATERAL (
        SELECT due_at FROM postback_queue q WHERE q.app_id = l.app_id AND q.priority = of.priority AND q.state = 'ready'
        ORDER BY q.app_id, q.priority, q.due_at LIMIT 1) AS first WHERE ${isOpen}) AS oldest_due_at,
      ${countUpTo(sql`SELECT FROM waiting_events`)} AS waiting_events,
      ${countUpTo(sql`SELECT FROM open_calls WHERE next_attempt_at IS NOT NULL`)} AS unmatched_calls`.execute(db)
  return rows[0] as Queues
}
