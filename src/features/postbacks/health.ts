// Postback health: of one app for its publisher, of all lanes for the operator.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'

const DAY_MS = 86_400_000
const NEWEST = 5_000 // enough to judge an endpoint, and quick for the busiest app
const NEWEST_OF_MANY = 500 // per app, where many apps are listed
const MOST_TRIES = 20 // per postback and day
export const COUNTED = 10_000 // and no further: this is queried every few seconds

export const LANE_STATES = ['ok', 'failing', 'waiting', 'paused'] as const
export type LaneState = (typeof LANE_STATES)[number]

export type LaneRow = {
  app_id: number
  app: string
  publisher_id: number
  publisher: string
  has_address: boolean
  state: LaneState
  paused_at: Date | null
  pause_reason: string | null
  failing_since: Date | null
  open_until: Date | null
}

const lanes = (now: Date) => sql`
  SELECT l.app_id, apps.name AS app, l.publisher_id, publishers.name AS publisher,
    EXISTS (SELECT FROM postback_settings s WHERE s.app_id = l.app_id) AS has_address,
    l.paused_at, l.pause_reason, l.failing_since, l.open_until,
    CASE WHEN l.paused_at IS NOT NULL THEN 'paused' WHEN l.open_until > ${now} THEN 'waiting'
      WHEN l.failures > 0 THEN 'failing' ELSE 'ok' END AS state
  FROM postback_lanes l JOIN apps USING (app_id) JOIN publishers ON publishers.publisher_id = l.publisher_id`

export type LaneFilter = {
  state: LaneState | undefined
  search: string | undefined
  limit: number
  offset: number
}

/** Those that need attention first. */
export async function listLanes(
  db: Db,
  { state, search, limit, offset }: LaneFilter,
  now: Date,
): Promise<{ lanes: LaneRow[]; total: number }> {
  const { rows } = await sql<LaneRow & { total?: number }>`
    SELECT *, count(*) OVER () AS total FROM (${lanes(now)}) AS lane
    WHERE (${state ?? null}::text IS NULL OR state = ${state ?? null})
      AND (${search ?? null}::text IS NULL OR position(lower(${search ?? null}) IN lower(app || ' ' || publisher)) > 0)
    ORDER BY array_position(ARRAY['paused', 'waiting', 'failing', 'ok'], state), failing_since NULLS LAST, app_id
    LIMIT ${limit} OFFSET ${offset}`.execute(db)
  const total = rows[0]?.total ?? 0
  for (const row of rows) delete row.total
  return { lanes: rows, total }
}

export async function countLanes(db: Db, now: Date): Promise<Record<LaneState, number>> {
  const { rows } = await sql<{ state: LaneState; count: number }>`
    SELECT state, count(*) AS count FROM (${lanes(now)}) AS lane GROUP BY state`.execute(db)
  return { ok: 0, failing: 0, waiting: 0, paused: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.count])) }
}

/**
 * Postback health by app, for the publisher and the operator. Apps that never had postbacks are missing. Postbacks are
 * read in the order of an index that begins with their app: else the planner may read everybody's for an app with none.
 * Where the app is given by an equation, the planner takes it out of the order.
 */
export async function readHealth(db: Db, appIds: readonly number[]): Promise<Map<number, Health>> {
  const { rows } = await sql<Health & { app_id: number }>`
    SELECT l.app_id, l.paused_at, l.pause_reason, l.failing_since, waiting.queued, waiting.oldest_due_at, failed.dead
    FROM postback_lanes l
    CROSS JOIN LATERAL (
      SELECT count(*) AS queued, min(q.due_at) FILTER (WHERE q.state = 'ready') AS oldest_due_at FROM postback_queue q
      WHERE q.app_id = l.app_id AND q.state <> 'sending' AND q.scenario IS NULL
    ) waiting
    CROSS JOIN LATERAL (
      SELECT count(*) AS dead FROM (
        SELECT FROM postbacks p
        WHERE p.app_id BETWEEN l.app_id AND l.app_id AND p.last_error IS NOT NULL AND p.state = 'dead' AND p.scenario IS NULL
          AND NOT EXISTS (SELECT FROM postback_queue q WHERE q.app_id = p.app_id AND q.postback_id = p.postback_id)
        ORDER BY p.app_id, p.postback_id LIMIT ${COUNTED}
      ) AS counted
    ) failed
    WHERE l.app_id = ANY (${appIds}::bigint[])`.execute(db)
  return new Map(rows.map(({ app_id, ...health }) => [app_id, health]))
}

export type Health = {
  paused_at: Date | null
  pause_reason: string | null
  /** Nothing but failures since then. */
  failing_since: Date | null
  queued: number
  /** Of those that are due. */
  oldest_due_at: Date | null
  /** Counted up to `COUNTED`. */
  dead: number
}

export type Delivery = {
  has_address: boolean
  attempts: number
  /** The 95th percentile of attempt durations. */
  p95_ms: number | null
  /** The circuit is open until then: nothing is sent, then one probe. */
  open_until: Date | null
  last_failure: { postback_id: string; started_at: Date; status: number | null; error: string | null } | null
}

/**
 * The attempts of the last 24 hours, of the newest live postbacks of each app. Each postback's attempts are looked up
 * separately, which the limits ensure: with a join, the planner would scan the attempts of the whole network.
 */
const attemptsOf = (appIds: readonly number[], newest: number, now: Date) => sql`
  SELECT app.app_id, a.* FROM unnest(${appIds}::bigint[]) AS app (app_id)
  CROSS JOIN LATERAL (
    SELECT postback_id FROM postbacks p WHERE p.app_id = app.app_id AND NOT is_test AND scenario IS NULL
    ORDER BY app_id DESC, is_test DESC, postback_id DESC LIMIT ${newest}
  ) newest
  CROSS JOIN LATERAL (
    SELECT * FROM postback_attempts a WHERE a.postback_id = newest.postback_id
      AND a.attempt_id >= ${uuid7Floor(now.getTime() - DAY_MS)} AND a.attempt_id < ${uuid7Floor(now.getTime() + DAY_MS)}
    LIMIT ${MOST_TRIES}
  ) a`

const P95 = sql<number | null>`percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms)`

/** The results of the last 24 hours' attempts, of the newest live postbacks of an app. */
export async function readDelivery(db: Db, appId: number, now: Date): Promise<Delivery> {
  const ofApp = attemptsOf([appId], NEWEST, now)
  const { rows } = await sql<Omit<Delivery, 'last_failure'>>`
    SELECT count(*) AS attempts, ${P95} AS p95_ms,
      (SELECT open_until FROM postback_lanes WHERE app_id = ${appId}) AS open_until,
      EXISTS (SELECT FROM postback_settings WHERE app_id = ${appId}) AS has_address
    FROM (${ofApp}) tries`.execute(db)
  const failures = await sql<NonNullable<Delivery['last_failure']>>`
    SELECT postback_id, started_at, status, error FROM (${ofApp}) tries WHERE NOT ok
    ORDER BY attempt_id DESC LIMIT 1`.execute(db)
  return { ...(rows[0] as (typeof rows)[number]), last_failure: failures.rows[0] ?? null }
}

export type Day = { delivered_24h: number; failed_24h: number; last_error: string | null }

/** The results of the last day's live postbacks, by app: delivered, or attempted in vain so far. Their IDs are ordered by time. */
export async function readDay(db: Db, appIds: readonly number[], now: Date): Promise<Map<number, Day>> {
  const { rows } = await sql<Day & { app_id: number }>`
    SELECT app_id, count(*) FILTER (WHERE state = 'delivered') AS delivered_24h,
      count(*) FILTER (WHERE state <> 'delivered' AND attempts > 0) AS failed_24h,
      (array_agg(last_error ORDER BY postback_id DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS last_error
    FROM postbacks
    WHERE app_id = ANY (${appIds}::bigint[]) AND postback_id >= ${uuid7Floor(now.getTime() - DAY_MS)}::uuid
      AND NOT is_test AND scenario IS NULL
    GROUP BY app_id`.execute(db)
  return new Map(rows.map(({ app_id, ...day }) => [app_id, day]))
}

/** How long attempts take, by app, as in `Delivery`. */
export async function readP95(db: Db, appIds: readonly number[], now: Date): Promise<Map<number, number>> {
  const { rows } = await sql<{ app_id: number; p95_ms: number }>`
    SELECT app_id, ${P95} AS p95_ms FROM (${attemptsOf(appIds, NEWEST_OF_MANY, now)}) tries GROUP BY app_id`.execute(db)
  return new Map(rows.map(({ app_id, p95_ms }) => [app_id, p95_ms]))
}
