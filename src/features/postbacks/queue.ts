// The queue of postbacks: claiming what is due, saying what came of it, taking back what a dead worker held.
//
// Work is claimed fairly: every lane that has something due gets its share of the free slots, a publisher with many
// lanes no more than a quarter of them. A try is counted when it is claimed, so that a postback which kills its worker
// is not tried for ever. Who claims gets a lease, and its name is on the row: after the lease the row is somebody else's,
// and what the first one says then is only written to the log.
import { sql } from 'kysely'
import { arrayLiteral } from '../../db/arrays.ts'
import type { Db } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { Lane } from './schedule.ts'

export const LEASE_MS = 60_000
const PUBLISHER_SHARE = 4

export type Claimed = {
  postback_id: string
  app_id: number
  is_test: boolean
  conversion_id: string
  sequence: number
  status: string
  attempts: number
  tries: number
  claim_id: string
  created_at: Date
  scenario: string | null
  content: unknown
  lane: Lane
}

type LaneColumns = { width: number; failures: number; failing_since: Date | null; open_until: Date | null }

/** Up to `limit` postbacks that are due, for this worker alone until the lease ends. */
export async function claimDue(db: Db, limit: number, slots: number, now: Date): Promise<Claimed[]> {
  const claimId = uuid7(now.getTime())
  const { rows } = await sql<Omit<Claimed, 'lane'> & LaneColumns>`/* postbacks-claim */
    WITH RECURSIVE busy AS ( -- the lanes with anything queued, from one to the next by the index
      (SELECT app_id FROM postbacks WHERE state = 'queued' ORDER BY app_id LIMIT 1)
      UNION ALL
      SELECT (SELECT p.app_id FROM postbacks p WHERE p.state = 'queued' AND p.app_id > busy.app_id ORDER BY p.app_id LIMIT 1)
      FROM busy WHERE busy.app_id IS NOT NULL
    ), open AS MATERIALIZED (
      SELECT l.* FROM busy JOIN postback_lanes l ON l.app_id = busy.app_id
      WHERE l.paused_at IS NULL AND (l.open_until IS NULL OR l.open_until <= ${now}::timestamptz)
      FOR UPDATE OF l SKIP LOCKED
    ), sending AS MATERIALIZED (
      SELECT l.publisher_id, p.app_id, count(*) AS count FROM postbacks p JOIN postback_lanes l ON l.app_id = p.app_id
      WHERE p.state = 'sending' GROUP BY 1, 2
    ), room AS MATERIALIZED (
      SELECT o.*, least(
        (CASE WHEN o.open_until IS NULL THEN o.width ELSE 1 END) - coalesce((SELECT count FROM sending s WHERE s.app_id = o.app_id), 0),
        greatest(${limit}::integer / count(*) OVER (), 1),
        greatest((${slots}::integer / ${PUBLISHER_SHARE}::integer - coalesce((SELECT sum(count) FROM sending s WHERE s.publisher_id = o.publisher_id), 0))
          / count(*) OVER (PARTITION BY o.publisher_id),
          CASE WHEN row_number() OVER (PARTITION BY o.publisher_id ORDER BY random()) <= ${slots}::integer / ${PUBLISHER_SHARE}::integer
            - coalesce((SELECT sum(count) FROM sending s WHERE s.publisher_id = o.publisher_id), 0) THEN 1 ELSE 0 END)
      )::integer AS free
      FROM open o
    ), due AS MATERIALIZED (
      SELECT p.postback_id, room.width, room.failures, room.failing_since, room.open_until
      FROM room CROSS JOIN LATERAL (
        SELECT q.postback_id FROM postbacks q
        WHERE q.app_id = room.app_id AND q.state = 'queued' AND q.due_at <= ${now}::timestamptz
          AND NOT EXISTS (SELECT FROM postbacks e WHERE e.conversion_id = q.conversion_id AND e.sequence < q.sequence
            AND e.state IN ('queued', 'sending'))
        ORDER BY q.app_id, q.priority, q.due_at
        LIMIT greatest(room.free, 0)
        FOR UPDATE SKIP LOCKED
      ) p
      LIMIT ${limit}::integer
    )
    UPDATE postbacks p SET state = 'sending', attempts = p.attempts + 1, tries = p.tries + 1,
      claim_id = ${claimId}::uuid, lease_until = ${new Date(now.getTime() + LEASE_MS)}::timestamptz
    FROM due WHERE p.postback_id = due.postback_id
    RETURNING p.postback_id, p.app_id, p.is_test, p.conversion_id, p.sequence, p.status, p.attempts, p.tries, p.claim_id,
      p.created_at, p.scenario, p.content, due.width, due.failures, due.failing_since, due.open_until`.execute(db)
  return rows.map(({ width, failures, failing_since, open_until, ...row }) => ({
    ...row,
    lane: { width, failures, failingSince: failing_since, openUntil: open_until },
  }))
}

/** What came of a claim. `nextAt`: when to try again; null with `ok` false: no more. */
export type Finished = {
  claimed: Claimed
  startedAt: Date
  durationMs: number
  ok: boolean
  nextAt: Date | null
  phase: string | null
  status: number | null
  error: string | null
  remoteAddress: string | null
  request: string
  response: string
}

/** Writes the log and lets the claims go. A claim that was lost meanwhile is left to whoever has it now. */
export async function finishClaims(db: Db, results: readonly Finished[], now: Date): Promise<void> {
  const column = (pick: (one: Finished) => string | number | boolean | Date | null) => arrayLiteral(results.map(pick))
  await sql`/* postbacks-finish */
    WITH told AS MATERIALIZED (
      SELECT * FROM unnest(${column((one) => one.claimed.postback_id)}::uuid[], ${column((one) => one.claimed.claim_id)}::uuid[],
        ${column(stateOf)}::text[], ${column((one) => one.nextAt)}::timestamptz[], ${column((one) => one.status)}::integer[],
        ${column((one) => one.error)}::text[], ${column((one) => uuid7(one.startedAt.getTime()))}::uuid[], ${column((one) => one.claimed.attempts)}::integer[],
        ${column((one) => one.startedAt)}::timestamptz[], ${column((one) => Math.round(one.durationMs))}::integer[], ${column((one) => one.ok)}::boolean[],
        ${column((one) => one.phase)}::text[], ${column((one) => one.remoteAddress)}::inet[], ${column((one) => one.request)}::text[],
        ${column((one) => one.response)}::text[])
        AS t (postback_id, claim_id, state, next_at, status, error, attempt_id, attempt, started_at, duration_ms, ok, phase, remote_address, request, response)
    ), logged AS (
      INSERT INTO postback_attempts (attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address, request, response)
      SELECT attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address, request, response FROM told
    )
    UPDATE postbacks p SET state = told.state, due_at = coalesce(told.next_at, p.due_at), claim_id = NULL, lease_until = NULL,
      settled_at = CASE WHEN told.state = 'queued' THEN NULL ELSE ${now}::timestamptz END, last_status = told.status, last_error = told.error
    FROM told WHERE p.postback_id = told.postback_id AND p.claim_id = told.claim_id`.execute(db)
}

function stateOf({ ok, nextAt }: Finished): string {
  if (ok) return 'delivered'
  return nextAt === null ? 'dead' : 'queued'
}

/** Queues again what was claimed by somebody who has not come back, and notes it in the log. Returns how many. */
export async function reapExpired(db: Db, now: Date, limit = 1_000): Promise<number> {
  const ids = await sql<{ id: string }>`
    SELECT postback_id AS id FROM postbacks WHERE state = 'sending' AND lease_until < ${now}::timestamptz LIMIT ${limit}`.execute(
    db,
  )
  if (ids.rows.length === 0) return 0
  const { rows } = await sql`
    WITH lost AS (
      UPDATE postbacks SET state = 'queued', claim_id = NULL, lease_until = NULL, last_error = ${LOST}
      WHERE postback_id = ANY (${ids.rows.map((row) => row.id)}::uuid[]) AND state = 'sending' AND lease_until < ${now}::timestamptz
      RETURNING postback_id, attempts
    )
    INSERT INTO postback_attempts (attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, error, request, response)
    SELECT made.id, lost.postback_id, lost.attempts, ${now}, 0, false, 'send', ${LOST}, '', ''
    FROM (SELECT *, row_number() OVER () AS n FROM lost) lost
    JOIN unnest(${ids.rows.map(() => uuid7(now.getTime()))}::uuid[]) WITH ORDINALITY AS made (id, n) ON made.n = lost.n
    RETURNING postback_id`.execute(db)
  return rows.length
}

const LOST = 'The worker ended before it could tell what came of this try.'
