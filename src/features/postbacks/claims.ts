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
  const renew = async (trx: Trx) => {
    const held = await lockHeld(trx, claims)
    await sql`
      UPDATE postback_queue
      SET lease_until = coalesce(${now ?? null}::timestamptz, now()) + ${LEASE_MS}::integer * interval '1 millisecond'
      WHERE ctid = ANY (${held.map(({ row }) => row)}::tid[])`.execute(trx)
  }
  await briefly(db, renew, ROW_BY_ROW)
}

type Held = Pick<Claimed, 'postback_id' | 'claim_id' | 'conversion_id'> & {
  row: string
  on_failure: 'forget' | 'restart' | null
}

/**
 * The claims that still belong to the worker, with the place of their rows. It stays theirs until the transaction ends,
 * so that what follows can write them there. Each is found by the primary key, however outdated the statistics are.
 */
async function lockHeld(
  trx: Trx,
  claims: readonly Pick<Claimed, 'app_id' | 'postback_id' | 'claim_id'>[],
): Promise<Held[]> {
  const inOrder = claims.toSorted((a, b) => (a.postback_id < b.postback_id ? -1 : 1)) // two of these never wait for each other
  const { rows } = await sql<Held>`/* postbacks-held */
    SELECT q.* FROM unnest(${inOrder.map((one) => one.app_id)}::bigint[], ${inOrder.map((one) => one.postback_id)}::uuid[],
      ${inOrder.map((one) => one.claim_id)}::uuid[]) AS held (app_id, postback_id, claim_id)
    CROSS JOIN LATERAL (
      SELECT ctid AS row, postback_id, claim_id, conversion_id, on_failure FROM postback_queue
      WHERE app_id = held.app_id AND postback_id = held.postback_id AND claim_id = held.claim_id LIMIT 1 FOR UPDATE
    ) q`.execute(trx)
  return rows
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
  const write = async (trx: Trx) => {
    const held = await lockHeld(trx, results.map((one) => one.claimed)) // prettier-ignore
    const byClaim = new Map(held.map((row) => [keyOf(row), row]))
    const judged = results.map((one) => judge(one, byClaim.get(keyOf(one.claimed))))
    await writeResults(trx, judged, now)
    const ours = judged.filter((one) => one.held !== null)
    await unblockNext(trx, ours.flatMap(({ held, next }) => (held !== null && next === null ? held.conversion_id : []))) // prettier-ignore
    const failed = ours.filter(({ state, result }) => state === 'dead' && result.claimed.scenario === null)
    await noticeFailed(trx, [...new Set(failed.map(({ result }) => result.claimed.app_id))])
    return ours.map(({ result }) => result)
  }
  return briefly(db, write, ROW_BY_ROW)
}

/** A worker that lost a claim may have another one of the same postback. */
const keyOf = ({ postback_id, claim_id }: Pick<Claimed, 'postback_id' | 'claim_id'>) => `${postback_id} ${claim_id}`

type Judged = {
  result: Finished
  /** Null: the claim was lost. */
  held: Held | null
  /** What becomes of the postback. */
  state: 'delivered' | 'dead' | 'unchanged'
  /** The next attempt; null: the row leaves the queue. */
  next: { waitMs: number; isFirst: boolean } | null
}

const FIRST_WAIT_MS = waitBeforeAttempt(1, 0.5) ?? 0

/** As the row is now: it may have been replayed while it was sent, or its replay cancelled. */
function judge(result: Finished, held: Held | null = null): Judged {
  if (result.ok) return { result, held, state: 'delivered', next: null }
  if (held?.on_failure === 'forget') return { result, held, state: 'unchanged', next: null }
  if (held?.on_failure === 'restart')
    return { result, held, state: 'unchanged', next: { waitMs: FIRST_WAIT_MS, isFirst: true } }
  if (result.waitMs === null) return { result, held, state: 'dead', next: null }
  return { result, held, state: 'unchanged', next: { waitMs: result.waitMs, isFirst: false } }
}

async function writeResults(trx: Trx, judged: readonly Judged[], now: Date | undefined): Promise<void> {
  const results = judged.map(({ result }) => result)
  const texts = (pick: (one: Finished) => string) => sql`string_to_array(${markedTexts(results.map(pick))}, E'\\x1e')`
  const states = judged.map(({ held, state }) => (held === null ? null : state))
  const left = judged.flatMap(({ held, next }) => (held !== null && next === null ? held.row : []))
  const kept = judged.flatMap(({ held, next }) => (held !== null && next !== null ? { row: held.row, ...next } : []))
  const keptRows = kept.map(({ row }) => row)
  const at = sql`coalesce(${now ?? null}::timestamptz, now())`
  await sql`/* postbacks-finish */
    WITH result AS MATERIALIZED (
      SELECT * FROM ROWS FROM (unnest(${rowsLiteral(RESULT_COLUMNS, results.map(resultRow))}::postback_result[]),
        unnest(${texts((one) => one.request)}), unnest(${texts((one) => one.response)}), unnest(${states}::text[]))
        AS t (${resultColumns}, request, response, state)
    ), logged AS (
      INSERT INTO postback_attempts (attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address, request, response)
      SELECT attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address,
        coalesce(request, ''), coalesce(response, '') FROM result -- a single empty text is an empty array
      ON CONFLICT DO NOTHING -- it was written, and only the answer was lost
    ), removed AS (
      DELETE FROM postback_queue WHERE ctid = ANY (${left}::tid[])
    ), kept AS (
      UPDATE postback_queue SET state = 'later', claim_id = NULL, lease_until = NULL, on_failure = NULL,
        tries = CASE WHEN (${kept.map(({ isFirst }) => isFirst)}::boolean[])[array_position(${keptRows}::tid[], ctid)] THEN 0 ELSE tries END,
        due_at = ${at} + (${kept.map(({ waitMs }) => waitMs)}::float8[])[array_position(${keptRows}::tid[], ctid)] * interval '1 millisecond'
      WHERE ctid = ANY (${keptRows}::tid[])
    )
    UPDATE postbacks p SET attempts = result.attempt, last_status = result.status, last_error = result.error,
      state = CASE result.state WHEN 'unchanged' THEN p.state ELSE result.state END,
      settled_at = CASE result.state WHEN 'unchanged' THEN p.settled_at ELSE ${at} END
    FROM result WHERE p.postback_id = result.postback_id AND result.state IS NOT NULL`.execute(trx)
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
