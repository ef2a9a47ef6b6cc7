// The queue of postbacks: what is still to be sent, and which worker sends it. `postbacks` records the results.
//
// A row of `postback_queue` is in one of four states:
//
//   ready ----> sending ----> (row deleted: delivered, or failed)
//   ^  ^  \        |
//   |  |   v       v
//   |  | behind  later      behind: an earlier event of its conversion is still in the queue
//   |  +---+       |        later: its time has not come; `makeReady` moves it when it has
//   +--------------+
//
// A claim only looks at `ready` rows, in the order of their priority and time, so that its cost does not depend on what
// waits. A row is inserted as `ready` without looking at others. A claim that finds a row with an earlier event of the same
// conversion in the queue puts it `behind`; deleting that earlier row makes the next one `ready` again (`unblockNext`). For
// this the claim locks the earlier row: its deletion then waits until the claim has committed, and sees the row that is
// behind. Where the lock is not free, the row stays `ready` for the next claim. A claim itself never waits for a row lock.
//
// Claims are fair: lanes that have something ready, and room, are locked, in any order; then capacity is given to them one
// by one, round and round. A publisher may hold a quarter of a worker's capacity, and never more than is free: so there is
// always room for one more publisher. What is in flight is counted after the lanes were locked, so that two workers never
// fill the same lane twice.
//
// An attempt is counted when it is claimed, so that a postback which kills its worker is not retried for ever. A claim has a
// lease and an id: after the lease the row belongs to another worker, and the first one's result is only logged. All times
// are the database's; `now` is passed by tests alone.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { Lane } from './schedule.ts'
import { type Room, shareOut } from './share-out.ts'

/** The notification that something is due. */
export const POSTBACKS_DUE = 'postbacks_due'
export const LEASE_MS = 20_000 // longer than any attempt; slower ones renew it
const PUBLISHER_SHARE = 4
const READY_BATCH = 1_000
// A lane may hold many rows behind others: some of these lanes are searched further at once, the rest by the next
// claim.
const SEARCHED_LANES = 4
const SEARCHED_ROWS = 500

// The queue is empty at one moment and full at the next, and its statistics are always outdated: plans must not depend
// on them. A join of the rows to write with rows found before is no way to write them: where the statistics say that the
// queue is empty, it is read from beginning to end for each of them. They are locked and written by their place (ctid),
// or, where they are being sent, by the index of those.
const IN_ORDER = `
  SET LOCAL jit = off;
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_bitmapscan = off;
  SET LOCAL enable_sort = off;
  SET LOCAL enable_incremental_sort = off`
/** For statements on single rows of the queue, each found by an index. */
export const ROW_BY_ROW = `${IN_ORDER};
  SET LOCAL enable_hashjoin = off;
  SET LOCAL enable_mergejoin = off`

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
  scenario: string | null
  is_replay: boolean
  lane: Lane
  settings_version: number
}

export type ClaimOptions = {
  limit: number
  /** The total capacity of this worker. */
  capacity: number
  /** How much of it is free now. */
  free?: number
  claimId?: string
  now?: Date | undefined
}

/** `isMore`: lanes were not searched to their end. `at`: the database's time, where there were lanes. */
export type Claim = { claims: Claimed[]; isMore: boolean; at: Date | null }

/** Claims up to `limit` postbacks for this worker alone until the lease ends. */
export async function claimReady(db: Db, options: ClaimOptions): Promise<Claim> {
  const { limit, capacity, free = capacity, claimId = uuid7(Date.now()), now } = options
  const claim = async (trx: Trx) => {
    const { lanes, at } = await lockLanes(trx, limit, now)
    if (lanes.length === 0) return { claims: [], isMore: false, at }
    const shares = shareOut(await countRoom(trx, lanes, capacity, free), limit)
    const found = await claimShares(trx, lanes, shares, claimId, now)
    const unfilled = new Map([...found.behind].slice(0, SEARCHED_LANES))
    const more =
      unfilled.size === 0 ? [] : (await claimShares(trx, lanes, unfilled, claimId, now, SEARCHED_ROWS)).claims
    return { claims: [...found.claims, ...more], isMore: found.behind.size > 0, at }
  }
  return briefly(db, claim, IN_ORDER)
}

type LaneRow = {
  app_id: number
  publisher_id: number
  width: number
  failures: number
  failing_since: Date | null
  last_failure_at: Date | null
  open_until: Date | null
  settings_version: number
  /** Its circuit is open: only test sends go through. */
  is_testing: boolean
}

/** Lanes that may send, have something ready and have room: some of them, where there are many. */
async function lockLanes(
  trx: Trx,
  limit: number,
  now: Date | undefined,
): Promise<{ lanes: LaneRow[]; at: Date | null }> {
  const { rows } = await sql<LaneRow & { at: Date }>`/* postbacks-lanes */
    WITH RECURSIVE busy AS ( -- from one lane to the next by the index
      (SELECT app_id, priority FROM postback_queue WHERE state = 'ready' ORDER BY app_id, priority, due_at LIMIT 1)
      UNION ALL
      SELECT next.app_id, next.priority FROM busy CROSS JOIN LATERAL (
        SELECT q.app_id, q.priority FROM postback_queue q WHERE q.state = 'ready' AND q.app_id > busy.app_id
        ORDER BY q.app_id, q.priority, q.due_at LIMIT 1
      ) next
    ), sending AS MATERIALIZED (
      SELECT app_id, count(*) AS count FROM postback_queue WHERE state = 'sending' GROUP BY app_id
    ), clock AS MATERIALIZED (SELECT coalesce(${now ?? null}::timestamptz, now()) AS at)
    SELECT l.app_id, l.publisher_id, l.width, l.failures, l.failing_since, l.last_failure_at, l.open_until, l.settings_version, clock.at,
      coalesce(l.open_until > clock.at, false) AS is_testing
    FROM clock, busy JOIN postback_lanes l ON l.app_id = busy.app_id LEFT JOIN sending ON sending.app_id = l.app_id
    WHERE l.paused_at IS NULL AND (l.open_until IS NULL OR l.open_until <= clock.at OR busy.priority < 0)
      AND coalesce(sending.count, 0) < CASE WHEN l.open_until IS NULL THEN l.width ELSE 1 END
    ORDER BY random() LIMIT ${limit}::integer
    FOR UPDATE OF l SKIP LOCKED`.execute(trx)
  return { lanes: rows, at: rows[0]?.at ?? null }
}

/** Also applies ROW_BY_ROW on top of IN_ORDER, for the statements that follow. */
async function countRoom(trx: Trx, lanes: readonly LaneRow[], capacity: number, free: number): Promise<Room[]> {
  const { rows } = await sql<{ app_id: number; publisher_id: number; count: number }>`/* postbacks-room */
    WITH plans AS MATERIALIZED (
      SELECT set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)
    )
    SELECT q.app_id, l.publisher_id, count(*) FROM postback_queue q JOIN postback_lanes l ON l.app_id = q.app_id
    WHERE q.state = 'sending' GROUP BY 1, 2
    UNION ALL SELECT 0, 0, 0 FROM plans -- of no app`.execute(trx)
  const inFlight = new Map(rows.map((row) => [row.app_id, row.count]))
  const ofPublisher = new Map<number, number>()
  for (const { publisher_id, count } of rows)
    ofPublisher.set(publisher_id, (ofPublisher.get(publisher_id) ?? 0) + count)
  return lanes.map((lane) => ({
    appId: lane.app_id,
    publisherId: lane.publisher_id,
    room: (lane.open_until === null ? lane.width : 1) - (inFlight.get(lane.app_id) ?? 0), // 1: the probe
    held: ofPublisher.get(lane.publisher_id) ?? 0,
    mostHeld: Math.floor(capacity / PUBLISHER_SHARE),
    free,
  }))
}

type Found = {
  claims: Claimed[]
  /** How much of its share a lane did not get, because rows were found behind others. */
  behind: Map<number, number>
}

async function claimShares(
  trx: Trx,
  lanes: readonly LaneRow[],
  shares: ReadonlyMap<number, number>,
  claimId: string,
  now: Date | undefined,
  rowsToSearch = 0,
): Promise<Found> {
  const byApp = new Map(lanes.map((lane) => [lane.app_id, lane]))
  const appIds = [...shares.keys()]
  const counts = [...shares.values()]
  if (appIds.length === 0) return { claims: [], behind: new Map() }
  const isTesting = appIds.map((appId) => byApp.get(appId)?.is_testing ?? false)
  const { rows } = await sql<Omit<Claimed, 'lane' | 'settings_version'> & { behind: number }>`/* postbacks-claim */
    WITH seen AS MATERIALIZED (
      SELECT q.*, share.count, row_number() OVER (PARTITION BY q.app_id, q.after IS NULL ORDER BY q.priority, q.due_at) AS place
      FROM unnest(${appIds}::bigint[], ${counts}::integer[], ${isTesting}::boolean[]) AS share (app_id, count, is_testing)
      CROSS JOIN LATERAL (
        SELECT r.ctid AS row, r.app_id, r.postback_id, r.conversion_id, r.priority, r.due_at, (
          SELECT e.sequence FROM postback_queue e WHERE e.conversion_id = r.conversion_id AND e.sequence < r.sequence
          ORDER BY e.sequence DESC LIMIT 1
        ) AS after
        FROM postback_queue r
        WHERE r.app_id = share.app_id AND r.state = 'ready' AND (r.priority < 0 OR NOT share.is_testing)
        ORDER BY r.app_id, r.priority, r.due_at LIMIT greatest(share.count, ${rowsToSearch}::integer)
        FOR UPDATE SKIP LOCKED
      ) q
    ), earlier AS MATERIALIZED (
      SELECT e.*, seen.row AS later_row, seen.priority AS later_priority FROM seen CROSS JOIN LATERAL (
        SELECT e.ctid AS row, e.postback_id, e.priority FROM postback_queue e
        WHERE e.conversion_id = seen.conversion_id AND e.sequence = seen.after
        LIMIT 1 FOR UPDATE SKIP LOCKED
      ) e
    ), parked AS (
      UPDATE postback_queue SET state = 'behind' WHERE ctid = ANY (ARRAY (SELECT later_row FROM earlier))
    ), urgent AS MATERIALIZED ( -- a replay in bulk that something live waits for is not for later any more
      SELECT row, min(later_priority) AS priority FROM earlier
      WHERE priority > later_priority AND NOT EXISTS (SELECT FROM seen WHERE seen.postback_id = earlier.postback_id)
      GROUP BY row
    ), raised AS (
      UPDATE postback_queue q SET priority = (SELECT urgent.priority FROM urgent WHERE urgent.row = q.ctid)
      WHERE ctid = ANY (ARRAY (SELECT row FROM urgent))
    ), claimed AS (
      UPDATE postback_queue q SET state = 'sending', attempts = q.attempts + 1, tries = q.tries + 1,
        claim_id = ${claimId}::uuid,
        lease_until = coalesce(${now ?? null}::timestamptz, now()) + ${LEASE_MS}::integer * interval '1 millisecond'
      WHERE ctid = ANY (ARRAY (SELECT row FROM seen WHERE after IS NULL AND place <= count))
      RETURNING q.app_id, q.postback_id, q.is_test, q.conversion_id, q.sequence, q.status, q.attempts, q.tries, q.claim_id,
        q.scenario, q.is_replay
    )
    SELECT *, 0 AS behind FROM claimed
    UNION ALL
    SELECT app_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, count(*)
    FROM seen WHERE after IS NOT NULL GROUP BY app_id`.execute(trx)
  const claims = rows
    .filter((row) => row.behind === 0)
    .map((row) => {
      const lane = byApp.get(row.app_id) as LaneRow
      return { ...row, lane: laneOf(lane), settings_version: lane.settings_version }
    })
  return { claims, behind: new Map(rows.filter((row) => row.behind > 0).map((row) => [row.app_id, row.behind])) }
}

export const laneOf = (row: Omit<LaneRow, 'app_id' | 'publisher_id' | 'is_testing' | 'settings_version'>): Lane => ({
  width: row.width,
  failures: row.failures,
  failingSince: row.failing_since,
  lastFailureAt: row.last_failure_at,
  openUntil: row.open_until,
})

/** Makes delayed rows ready whose time has come. Returns how many, up to a thousand. */
export async function makeReady(db: Db, now?: Date): Promise<number> {
  const move = async (trx: Trx) => {
    const { rows } = await sql`/* postbacks-ready */
      UPDATE postback_queue SET state = 'ready' WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM postback_queue
        WHERE state = 'later' AND due_at <= coalesce(${now ?? null}::timestamptz, now())
        ORDER BY due_at LIMIT ${READY_BATCH}::integer FOR UPDATE SKIP LOCKED
      )) RETURNING 1`.execute(trx)
    return rows.length
  }
  return briefly(db, move, ROW_BY_ROW)
}

/**
 * Call this after rows of these conversions were deleted from the queue, in the same transaction: rows behind them
 * become ready.
 */
export async function unblockNext(trx: Trx, conversionIds: readonly string[]): Promise<void> {
  if (conversionIds.length === 0) return
  const { rows } = await sql<{ row: string }>`/* postbacks-behind */
    SELECT next.row FROM unnest(${conversionIds}::uuid[]) AS settled (conversion_id)
    CROSS JOIN LATERAL ( -- each by the index, however long the queue is
      SELECT ctid AS row FROM postback_queue
      WHERE conversion_id = settled.conversion_id AND state = 'behind' ORDER BY sequence LIMIT 1 FOR UPDATE
    ) next`.execute(trx)
  if (rows.length === 0) return
  await sql`/* postbacks-unblock */
    UPDATE postback_queue SET state = 'ready' WHERE ctid = ANY (${rows.map(({ row }) => row)}::tid[])`.execute(trx)
}
