// What waits to be done, over the whole network.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'

type Queues = {
  postbacks_queued: number
  postbacks_due: number
  postbacks_sending: number
  oldest_due_at: Date | null
  waiting_events: number
  unmatched_calls: number
}

/** Due is what could be sent now: what is held back, waits for a server that fails or for an earlier event, is not. */
export async function readQueues(db: Db): Promise<Queues> {
  const { rows } = await sql<Queues>`
    SELECT queued.*, (SELECT count(*) FROM postback_queue WHERE state = 'sending') AS postbacks_sending,
      (SELECT count(*) FROM waiting_events) AS waiting_events,
      (SELECT count(*) FROM open_calls WHERE next_attempt_at IS NOT NULL) AS unmatched_calls
    FROM (
      SELECT count(*) AS postbacks_queued, count(*) FILTER (WHERE is_due) AS postbacks_due,
        min(due_at) FILTER (WHERE is_due) AS oldest_due_at
      FROM (
        SELECT q.due_at, q.state = 'ready' AND l.paused_at IS NULL AND (l.open_until IS NULL OR l.open_until <= now()) AS is_due
        FROM postback_queue q JOIN postback_lanes l ON l.app_id = q.app_id WHERE q.state <> 'sending'
      ) AS waiting
    ) AS queued`.execute(db)
  return rows[0] as Queues
}
