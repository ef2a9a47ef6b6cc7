// How a claim ends: with its result, a renewal, or the end of its lease. The protocol is at the top of queue.ts.
import { sql } from 'kysely'
import { markedTexts, rowsLiteral } from '../../db/arrays.ts'
import { briefly } from '../../db/brief.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { noticeFailed } from './notices.ts'
import { type Claimed, LEASE_MS, ROW_BY_ROW, unblockNext } from './queue.ts'
import { type Lane, waitBeforeAttempt } from './schedule.ts'

/** Returns a claim of which nothing was sent to the queue, unchanged. */
export async function returnClaim(db: Db, claimId: string): Promise<void> {
  await briefly(db, async (trx) => {
    const { rows } = await sql<{ conversion_id: string }>`
      DELETE FROM postback_queue WHERE state = 'sending' AND claim_id = ${claimId}::uuid AND on_failure = 'forget'
      RETURNING conversion_id`.execute(trx)
    await sql`
      UPDATE postback_queue SET state = 'ready', claim_id = NULL, lease_until = NULL, on_failure = NULL,
        attempts = attempts - 1, tries = CASE WHEN on_failure = 'restart' THEN 0 ELSE tries - 1 END
      WHERE state = 'sending' AND claim_id = ${claimId}::uuid`.execute(trx)
    await unblockNext(trx, rows.map((row) => row.conversion_id)) // prettier-ignore
  })
}

/** For long attempts. Claims lost meanwhile are skipped. */
export async function renewLeases(db: Db, claims: readonly Claimed[], now?: Date): Promise<void> {
  if (claims.length === 0) return
  const appIds = claims.map((one) => one.app_id)
  const ids = claims.map((one) => one.postback_id)
  const claimIds = claims.map((one) => one.claim_id)
  await briefly(db, (trx) =>
    sql`
      UPDATE postback_queue q
      SET lease_until = coalesce(${now ?? null}::timestamptz, now()) + ${LEASE_MS}::integer * interval '1 millisecond'
      FROM unnest(${appIds}::bigint[], ${ids}::uuid[], ${claimIds}::uuid[]) AS held (app_id, postback_id, claim_id)
      WHERE q.state = 'sending'
        AND q.app_id = held.app_id AND q.postback_id = held.postback_id AND q.claim_id = held.claim_id`.execute(trx),
  )
}

/** The result of a claim. `waitMs`: how long until the next attempt; null with `ok` false: none. */
export type Finished = {
  /** The ID in the log: the same when it is written again. */
  attemptId: string
  claimed: Pick<Claimed, 'postback_id' | 'claim_id' | 'app_id' | 'attempts' | 'scenario' | 'is_replay'> & {
    lane?: Lane
  }
  /** The version of the settings it was sent with; null: it was not sent. */
  settingsVersion: number | null
  startedAt: Date
  durationMs: number
  ok: boolean
  waitMs: number | null
  phase: string | null
  status: number | null
  error: string | null
  remoteAddress: string | null
  request: string
  response: string
  /** This network failed, not the receiver. */
  isOwnError?: boolean
}

/** The attributes of `postback_result`. */
export const RESULT_COLUMNS = [
  'app_id', 'postback_id', 'claim_id', 'wait_ms', 'status', 'error', 'attempt_id', 'attempt', 'started_at', 'duration_ms', 'ok', 'phase',
  'remote_address',
] as const // prettier-ignore
const resultColumns = sql.raw(RESULT_COLUMNS.join(', '))

const resultRow = (one: Finished) => ({
  app_id: one.claimed.app_id,
  postback_id: one.claimed.postback_id,
  claim_id: one.claimed.claim_id,
  wait_ms: one.waitMs,
  status: one.status,
  error: plain(one.error),
  attempt_id: one.attemptId,
  attempt: one.claimed.attempts,
  started_at: one.startedAt,
  duration_ms: Math.round(one.durationMs),
  ok: one.ok,
  phase: one.phase,
  remote_address: one.remoteAddress,
})

/**
 * Writes the log and ends the claims. A claim lost meanwhile belongs to another worker and is skipped; the others are
 * returned.
 */
export async function finishClaims(db: Db, results: readonly Finished[], now?: Date): Promise<Finished[]> {
  if (results.length === 0) return []
  const texts = (pick: (one: Finished) => string) => sql`string_to_array(${markedTexts(results.map(pick))}, E'\\x1e')`
  const finish = sql<{
    postback_id: string
    conversion_id: string
    is_over: boolean
    is_dead: boolean
  }>`/* postbacks-finish */
    WITH result AS MATERIALIZED (
      SELECT * FROM ROWS FROM (unnest(${rowsLiteral(RESULT_COLUMNS, results.map(resultRow))}::postback_result[]),
        unnest(${texts((one) => one.request)}), unnest(${texts((one) => one.response)}))
        AS t (${resultColumns}, request, response)
    ), logged AS (
      INSERT INTO postback_attempts (attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address, request, response)
      SELECT attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address,
        coalesce(request, ''), coalesce(response, '') FROM result -- a single empty text is an empty array
      ON CONFLICT DO NOTHING -- it was written, and only the answer was lost
    ), delivered AS (
      DELETE FROM postback_queue q USING result
      WHERE result.ok AND q.state = 'sending' AND q.app_id = result.app_id AND q.postback_id = result.postback_id AND q.claim_id = result.claim_id
      RETURNING q.postback_id, q.attempts, result.status
    ), failed AS MATERIALIZED ( -- as the row is now: it may have been replayed, or its replay cancelled
      SELECT q.app_id, q.postback_id, q.attempts, result.status, result.error, result.wait_ms,
        q.on_failure IS NOT DISTINCT FROM 'forget' AS is_forgotten, q.on_failure IS NOT DISTINCT FROM 'restart' AS is_restarted
      FROM result JOIN postback_queue q
        ON q.app_id = result.app_id AND q.postback_id = result.postback_id AND q.claim_id = result.claim_id
      WHERE NOT result.ok AND q.state = 'sending' FOR UPDATE OF q
    ), judged AS MATERIALIZED (
      SELECT *, is_forgotten OR (wait_ms IS NULL AND NOT is_restarted) AS is_over,
        wait_ms IS NULL AND NOT is_forgotten AND NOT is_restarted AS is_dead FROM failed
    ), removed AS (
      DELETE FROM postback_queue q USING judged j
      WHERE j.is_over AND q.state = 'sending' AND q.app_id = j.app_id AND q.postback_id = j.postback_id
    ), kept AS (
      UPDATE postback_queue q SET state = 'later', claim_id = NULL, lease_until = NULL, on_failure = NULL,
        tries = CASE WHEN j.is_restarted THEN 0 ELSE q.tries END,
        due_at = coalesce(${now ?? null}::timestamptz, now())
          + CASE WHEN j.is_restarted THEN ${waitBeforeAttempt(1, 0.5)}::float8 ELSE j.wait_ms END * interval '1 millisecond'
      FROM judged j WHERE NOT j.is_over AND q.state = 'sending' AND q.app_id = j.app_id AND q.postback_id = j.postback_id
    ), outcome AS (
      SELECT postback_id, attempts, status, NULL AS error, 'delivered' AS state, true AS is_over FROM delivered
      UNION ALL
      SELECT postback_id, attempts, status, error, CASE WHEN is_dead THEN 'dead' END, is_over FROM judged
    )
    UPDATE postbacks p SET attempts = o.attempts, last_status = o.status, last_error = o.error,
      state = coalesce(o.state, p.state),
      settled_at = CASE WHEN o.state IS NULL THEN p.settled_at ELSE coalesce(${now ?? null}::timestamptz, now()) END
    FROM outcome o WHERE p.postback_id = o.postback_id
    RETURNING p.postback_id, p.conversion_id, o.is_over, o.state IS NOT DISTINCT FROM 'dead' AS is_dead`
  const write = async (trx: Trx) => {
    const { rows } = await finish.execute(trx)
    await unblockNext(trx, rows.filter((row) => row.is_over).map((row) => row.conversion_id)) // prettier-ignore
    const ours = new Set(rows.map((row) => row.postback_id))
    const dead = new Set(rows.filter((row) => row.is_dead).map((row) => row.postback_id))
    const isReal = ({ claimed }: Finished) => dead.has(claimed.postback_id) && claimed.scenario === null
    await noticeFailed(trx, [...new Set(results.filter(isReal).map(({ claimed }) => claimed.app_id))])
    return results.filter(({ claimed }) => ours.has(claimed.postback_id))
  }
  return briefly(db, write, ROW_BY_ROW)
}

/** PostgreSQL accepts no NUL in a text; receivers send anything. */
const plain = (text: string | null) => text?.replaceAll('\0', '') ?? null

const LOST = 'The worker stopped before it could record the result of this attempt.'

type Expired = Pick<Claimed, 'postback_id' | 'claim_id' | 'app_id' | 'attempts' | 'scenario' | 'is_replay' | 'tries'>

/** Requeues what was claimed by a worker that has not come back, or fails it for good, and logs that. */
export async function reapExpired(db: Db, now?: Date, limit = 1_000): Promise<number> {
  return briefly(db, async (trx) => {
    const { rows } = await sql<Expired & { at: Date }>`
      SELECT postback_id, claim_id, app_id, attempts, scenario, is_replay, tries,
        coalesce(${now ?? null}::timestamptz, now()) AS at
      FROM postback_queue
      WHERE state = 'sending' AND lease_until < coalesce(${now ?? null}::timestamptz, now())
      LIMIT ${limit} FOR UPDATE SKIP LOCKED`.execute(trx)
    await finishClaims(
      trx,
      rows.map(({ at, ...row }) => lostClaim(row, at)),
      now,
    )
    return rows.length
  })
}

function lostClaim({ tries, ...claimed }: Expired, now: Date): Finished {
  return {
    attemptId: uuid7(now.getTime()),
    claimed,
    settingsVersion: null,
    startedAt: now,
    durationMs: 0,
    ok: false,
    waitMs: claimed.scenario === null ? waitBeforeAttempt(tries, Math.random()) : null,
    phase: 'send',
    status: null,
    error: LOST,
    remoteAddress: null,
    request: '',
    response: '',
  }
}
