// Lanes of all apps, and how each of them fares.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import type { LANE_STATES } from './schema.ts'

const DAY_MS = 86_400_000

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

/** Those that need somebody first. */
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

export type Day = { delivered_24h: number; failed_24h: number; last_error: string | null }

/** What came of the postbacks of the last day, by app. Their ids are in the order of time. */
export async function readDay(db: Db, appIds: readonly number[], now: Date): Promise<Map<number, Day>> {
  const { rows } = await sql<Day & { app_id: number }>`
    SELECT app_id, count(*) FILTER (WHERE state = 'delivered') AS delivered_24h,
      count(*) FILTER (WHERE state <> 'delivered' AND attempts > 0) AS failed_24h,
      (array_agg(last_error ORDER BY postback_id DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS last_error
    FROM postbacks
    WHERE app_id = ANY (${appIds}::bigint[]) AND postback_id >= ${uuid7Floor(now.getTime() - DAY_MS)}::uuid
      AND scenario IS NULL
    GROUP BY app_id`.execute(db)
  return new Map(rows.map(({ app_id, ...day }) => [app_id, day]))
}

/** What is queued is kept, and waits. False when there is no lane, or it was paused already. */
export async function pauseLane(db: Db, appId: number, now: Date): Promise<boolean> {
  const paused = await db
    .updateTable('postback_lanes')
    .set({ paused_at: now, pause_reason: 'operator' })
    .where('app_id', '=', appId)
    .where('paused_at', 'is', null)
    .executeTakeFirst()
  return paused.numUpdatedRows > 0n
}
