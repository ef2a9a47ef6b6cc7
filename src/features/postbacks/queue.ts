// The queue of postbacks: claiming what is due, saying what came of it, taking back what a dead worker held.
//
// Work is claimed fairly: the lanes that have something due are locked, in any order, then the free slots are given to
// them one by one, round and round, within their widths; a publisher gets a quarter of a worker's slots at most. What is
// in flight is counted after the lock was taken, so that two workers never fill the same lane twice.
//
// A try is counted when it is claimed, so that a postback which kills its worker is not tried for ever. Who claims gets a
// lease, and its name is on the row: after the lease the row is somebody else's, and what the first one says then is only
// written to the log.
import { sql } from 'kysely'
import { arrayLiteral, markedTexts } from '../../db/arrays.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import { type Lane, nextTryAt } from './schedule.ts'

export const LEASE_MS = 20_000 // longer than any try; who is slower renews it
const PUBLISHER_SHARE = 4
/** The priority of what was being sent when its replay was cancelled: unless it arrives, it is what it was before. */
export const CANCELLED = 2

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

/** Up to `limit` postbacks that are due, for this worker alone until the lease ends. It has `slots` in all. */
export async function claimDue(
  db: Db,
  limit: number,
  slots: number,
  now: Date,
  claimId = uuid7(now.getTime()),
): Promise<Claimed[]> {
  return db.transaction().execute(async (trx) => {
    const lanes = await lockLanes(trx, limit, now)
    if (lanes.length === 0) return []
    const shares = shareOut(await countRoom(trx, lanes, slots), limit)
    return claimShares(trx, { lanes: new Map(lanes.map((lane) => [lane.app_id, lane])), shares, claimId, now })
  })
}

type LaneRow = {
  app_id: number
  publisher_id: number
  width: number
  failures: number
  failing_since: Date | null
  open_until: Date | null
}

/** Lanes that may send and have something due: some of them, where there are many. Others leave these alone meanwhile. */
async function lockLanes(trx: Trx, limit: number, now: Date): Promise<LaneRow[]> {
  const { rows } = await sql<LaneRow>`/* postbacks-lanes */
    WITH RECURSIVE busy AS ( -- the lanes with anything queued, from one to the next by the index
      (SELECT app_id FROM postbacks WHERE state = 'queued' ORDER BY app_id LIMIT 1)
      UNION ALL
      SELECT (SELECT p.app_id FROM postbacks p WHERE p.state = 'queued' AND p.app_id > busy.app_id ORDER BY p.app_id LIMIT 1)
      FROM busy WHERE busy.app_id IS NOT NULL
    ), due AS MATERIALIZED (
      SELECT app_id FROM busy WHERE EXISTS (SELECT FROM postbacks p
        WHERE p.app_id = busy.app_id AND p.state = 'queued' AND p.priority IN (0, 1) AND p.due_at <= ${now}::timestamptz)
    )
    SELECT l.app_id, l.publisher_id, l.width, l.failures, l.failing_since, l.open_until
    FROM due JOIN postback_lanes l ON l.app_id = due.app_id
    WHERE l.paused_at IS NULL AND (l.open_until IS NULL OR l.open_until <= ${now}::timestamptz)
    ORDER BY random() LIMIT ${limit}::integer
    FOR UPDATE OF l SKIP LOCKED`.execute(trx)
  return rows
}

type Room = { appId: number; publisherId: number; room: number; publisherRoom: number }

async function countRoom(trx: Trx, lanes: readonly LaneRow[], slots: number): Promise<Room[]> {
  const { rows } = await sql<{ app_id: number; publisher_id: number; count: number }>`/* postbacks-room */
    SELECT p.app_id, l.publisher_id, count(*) FROM postbacks p JOIN postback_lanes l ON l.app_id = p.app_id
    WHERE p.state = 'sending' GROUP BY 1, 2`.execute(trx)
  const inFlight = new Map(rows.map((row) => [row.app_id, row.count]))
  const ofPublisher = new Map<number, number>()
  for (const { publisher_id, count } of rows)
    ofPublisher.set(publisher_id, (ofPublisher.get(publisher_id) ?? 0) + count)
  return lanes.map((lane) => ({
    appId: lane.app_id,
    publisherId: lane.publisher_id,
    room: (lane.open_until === null ? lane.width : 1) - (inFlight.get(lane.app_id) ?? 0), // 1: the probe
    publisherRoom: Math.floor(slots / PUBLISHER_SHARE) - (ofPublisher.get(lane.publisher_id) ?? 0),
  }))
}

/** How many each lane gets: one each, then one more each, until nothing is left or nobody has room. */
export function shareOut(lanes: readonly Room[], limit: number): Map<number, number> {
  const shares = new Map<number, number>()
  const left = new Map(lanes.map((lane) => [lane.publisherId, lane.publisherRoom]))
  for (let free = limit, before = 0; free > 0 && free !== before;) {
    before = free
    for (const { appId, publisherId, room } of lanes) {
      const share = shares.get(appId) ?? 0
      const publisherRoom = left.get(publisherId) ?? 0
      if (free === 0 || share >= room || publisherRoom <= 0) continue
      shares.set(appId, share + 1)
      left.set(publisherId, publisherRoom - 1)
      free--
    }
  }
  return shares
}

type Claiming = { lanes: Map<number, LaneRow>; shares: Map<number, number>; claimId: string; now: Date }

async function claimShares(trx: Trx, { lanes, shares, claimId, now }: Claiming): Promise<Claimed[]> {
  if (shares.size === 0) return []
  const { rows } = await sql<Omit<Claimed, 'lane'>>`/* postbacks-claim */
    WITH due AS MATERIALIZED (
      SELECT p.postback_id
      FROM unnest(${[...shares.keys()]}::bigint[], ${[...shares.values()]}::integer[]) AS share (app_id, count)
      CROSS JOIN LATERAL (
        SELECT q.postback_id FROM postbacks q
        WHERE q.app_id = share.app_id AND q.state = 'queued' AND q.due_at <= ${now}::timestamptz
          -- Written so that it is looked up row by row: as a join it would go through the whole lane first.
          AND (SELECT true FROM postbacks e WHERE e.conversion_id = q.conversion_id AND e.sequence < q.sequence
            AND e.state IN ('queued', 'sending') LIMIT 1) IS NULL
        ORDER BY q.app_id, q.priority, q.due_at
        LIMIT share.count
        FOR UPDATE SKIP LOCKED
      ) p
    )
    UPDATE postbacks p SET state = 'sending', attempts = p.attempts + 1, tries = p.tries + 1,
      claim_id = ${claimId}::uuid, lease_until = ${new Date(now.getTime() + LEASE_MS)}::timestamptz
    FROM due WHERE p.postback_id = due.postback_id
    RETURNING p.postback_id, p.app_id, p.is_test, p.conversion_id, p.sequence, p.status, p.attempts, p.tries, p.claim_id,
      p.created_at, p.scenario, p.content`.execute(trx)
  return rows.map((row) => ({ ...row, lane: laneOf(lanes.get(row.app_id) as LaneRow) }))
}

export const laneOf = (row: Omit<LaneRow, 'app_id' | 'publisher_id'>): Lane => ({
  width: row.width,
  failures: row.failures,
  failingSince: row.failing_since,
  openUntil: row.open_until,
})

/** Gives back a claim of which nothing was sent, as if it had not been. */
export async function returnClaim(db: Db, claimId: string): Promise<void> {
  await sql`
    UPDATE postbacks SET state = CASE WHEN priority = ${CANCELLED} THEN replayed_state ELSE 'queued' END,
      settled_at = CASE WHEN priority = ${CANCELLED} THEN replayed_settled_at END,
      claim_id = NULL, lease_until = NULL, attempts = attempts - 1, tries = tries - 1
    WHERE claim_id = ${claimId}::uuid`.execute(db)
}

/** For tries that take long. Those whose claim was lost meanwhile are left alone. */
export async function renewLeases(db: Db, claims: readonly Claimed[], now: Date): Promise<void> {
  if (claims.length === 0) return
  const ids = claims.map((one) => one.postback_id)
  const claimIds = claims.map((one) => one.claim_id)
  await sql`
    UPDATE postbacks p SET lease_until = ${new Date(now.getTime() + LEASE_MS)}
    FROM unnest(${ids}::uuid[], ${claimIds}::uuid[]) AS held (postback_id, claim_id)
    WHERE p.postback_id = held.postback_id AND p.claim_id = held.claim_id`.execute(db)
}

/** What came of a claim. `nextAt`: when to try again; null with `ok` false: no more. */
export type Finished = {
  /** Of the log: the same when it is written again. */
  attemptId: string
  claimed: Pick<Claimed, 'postback_id' | 'claim_id' | 'app_id' | 'attempts' | 'scenario'> & { lane?: Lane }
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

/** Writes the log and lets the claims go. A claim that was lost meanwhile is left to whoever has it now; the others return. */
export async function finishClaims(db: Db, results: readonly Finished[], now: Date): Promise<Finished[]> {
  if (results.length === 0) return []
  const column = (pick: (one: Finished) => string | number | boolean | Date | null) => arrayLiteral(results.map(pick))
  const texts = (pick: (one: Finished) => string) => sql`string_to_array(${markedTexts(results.map(pick))}, E'\\x1e')`
  const { rows } = await sql<{ postback_id: string }>`/* postbacks-finish */
    WITH told AS MATERIALIZED (
      SELECT * FROM unnest(${column((one) => one.claimed.postback_id)}::uuid[], ${column((one) => one.claimed.claim_id)}::uuid[],
        ${column(stateOf)}::text[], ${column((one) => one.nextAt)}::timestamptz[], ${column((one) => one.status)}::integer[],
        ${column((one) => plain(one.error))}::text[], ${column((one) => one.attemptId)}::uuid[], ${column((one) => one.claimed.attempts)}::integer[],
        ${column((one) => one.startedAt)}::timestamptz[], ${column((one) => Math.round(one.durationMs))}::integer[], ${column((one) => one.ok)}::boolean[],
        ${column((one) => one.phase)}::text[], ${column((one) => one.remoteAddress)}::inet[], ${texts((one) => one.request)},
        ${texts((one) => one.response)})
        AS t (postback_id, claim_id, state, next_at, status, error, attempt_id, attempt, started_at, duration_ms, ok, phase, remote_address, request, response)
    ), logged AS (
      INSERT INTO postback_attempts (attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address, request, response)
      SELECT attempt_id, postback_id, attempt, started_at, duration_ms, ok, phase, status, error, remote_address,
        coalesce(request, ''), coalesce(response, '') FROM told -- a single empty text is an empty array
      ON CONFLICT DO NOTHING -- it was written, and only the answer was lost
    )
    UPDATE postbacks p SET due_at = coalesce(told.next_at, p.due_at), claim_id = NULL, lease_until = NULL,
      state = CASE WHEN p.priority = ${CANCELLED} AND NOT told.ok THEN p.replayed_state ELSE told.state END,
      settled_at = CASE WHEN p.priority = ${CANCELLED} AND NOT told.ok THEN p.replayed_settled_at
        WHEN told.state <> 'queued' THEN ${now}::timestamptz END,
      last_status = told.status, last_error = told.error
    FROM told WHERE p.postback_id = told.postback_id AND p.claim_id = told.claim_id
    RETURNING p.postback_id`.execute(db)
  if (rows.length === results.length) return [...results]
  const ours = new Set(rows.map((row) => row.postback_id))
  return results.filter(({ claimed }) => ours.has(claimed.postback_id))
}

function stateOf({ ok, nextAt }: Finished): string {
  if (ok) return 'delivered'
  return nextAt === null ? 'dead' : 'queued'
}

/** PostgreSQL takes no NUL in a text; receivers send what they like. */
const plain = (text: string | null) => text?.replaceAll('\0', '') ?? null

const LOST = 'The worker ended before it could tell what came of this try.'

/** Queues again what was claimed by somebody who has not come back, or gives it up, and notes it in the log. */
export async function reapExpired(db: Db, now: Date, limit = 1_000): Promise<number> {
  const rows = await db
    .selectFrom('postbacks')
    .select(['postback_id', 'claim_id', 'app_id', 'attempts', 'tries', 'scenario'])
    .where('state', '=', 'sending')
    .where('lease_until', '<', now)
    .limit(limit)
    .execute()
  return db.transaction().execute(async (trx) => {
    // Whoever else is at it has some of them, and not the others.
    const { rows: ours } = await sql<{ id: string }>`
      SELECT postback_id AS id FROM postbacks WHERE postback_id = ANY (${rows.map((row) => row.postback_id)}::uuid[])
        AND state = 'sending' AND lease_until < ${now}::timestamptz FOR UPDATE SKIP LOCKED`.execute(trx)
    const taken = new Set(ours.map((row) => row.id))
    const lost = rows.filter((row) => taken.has(row.postback_id)).map((row) => lostClaim(row, now))
    await finishClaims(trx, lost, now)
    return lost.length
  })
}

type Expired = {
  postback_id: string
  claim_id: string | null
  app_id: number
  attempts: number
  tries: number
  scenario: string | null
}

function lostClaim({ tries, claim_id, ...row }: Expired, now: Date): Finished {
  return {
    attemptId: uuid7(now.getTime()),
    claimed: { ...row, claim_id: claim_id ?? '' },
    startedAt: now,
    durationMs: 0,
    ok: false,
    nextAt: row.scenario === null ? nextTryAt(tries, now, Math.random()) : null,
    phase: 'send',
    status: null,
    error: LOST,
    remoteAddress: null,
    request: '',
    response: '',
  }
}
