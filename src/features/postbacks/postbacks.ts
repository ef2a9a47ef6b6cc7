// Postbacks as they are recorded: finding them, showing them with their attempts, sending one again.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { rfc3339 } from '../../lib/time.ts'
import { isUuid, uuid7Floor } from '../../lib/uuid7.ts'
import { type ReplayFilter, startReplay } from './replays.ts'
import type { Status } from './settings.ts'

export const STATES = ['queued', 'sending', 'delivered', 'dead'] as const
export type State = (typeof STATES)[number]

/** Whose postbacks somebody may see; null: everybody's. */
export type Owner = { appId: number; isTest: boolean } | null
/** The same for people, who see what was done with either key of their app. */
export type Viewer = Owner | { appId: number }

/** Every part narrows; what is absent does not. */
export type PostbackFilter = {
  appId?: number
  isTest?: boolean
  state?: State
  status?: string
  conversionId?: string
  from?: Date
  to?: Date
  /** Only those made before this one. */
  before?: string
}

const COLUMNS = [
  'postback_id',
  'app_id',
  'is_test',
  'conversion_id',
  'sequence',
  'status',
  'state',
  'due_at',
  'attempts',
  'created_at',
  'settled_at',
  'last_status',
  'last_error',
  'scenario',
] as const

const selectPostbacks = (db: Db) => db.selectFrom('postbacks').select(COLUMNS)
export type Postback = Awaited<ReturnType<ReturnType<typeof selectPostbacks>['execute']>>[number]

/** Newest first. */
export async function listPostbacks(db: Db, filter: PostbackFilter, limit: number): Promise<Postback[]> {
  let query = selectPostbacks(db)
  if (filter.appId !== undefined) query = query.where('app_id', '=', filter.appId)
  if (filter.isTest !== undefined) query = query.where('is_test', '=', filter.isTest)
  if (filter.state !== undefined) query = query.where('state', '=', filter.state)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  if (filter.conversionId !== undefined) {
    if (!isUuid(filter.conversionId)) return []
    query = query.where('conversion_id', '=', filter.conversionId)
  }
  if (filter.from !== undefined) query = query.where('created_at', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('created_at', '<', filter.to)
  if (filter.before !== undefined) query = query.where('postback_id', '<', filter.before)
  return query.orderBy('postback_id', 'desc').limit(limit).execute()
}

/** Null when there is none, or it is somebody else's. */
export async function findPostback(db: Db, postbackId: string, owner: Viewer): Promise<Postback | null> {
  if (!isUuid(postbackId)) return null
  let query = selectPostbacks(db).where('postback_id', '=', postbackId)
  if (owner !== null) query = query.where('app_id', '=', owner.appId)
  if (owner !== null && 'isTest' in owner) query = query.where('is_test', '=', owner.isTest)
  return (await query.executeTakeFirst()) ?? null
}

/** Every try, first to last. */
export async function readAttempts(db: Db, ...postbackIds: string[]) {
  return db
    .selectFrom('postback_attempts')
    .selectAll()
    .where((is) => is('postback_id', '=', is.fn.any(is.val(postbackIds))))
    .orderBy('attempt_id')
    .execute()
}
export type Attempt = Awaited<ReturnType<typeof readAttempts>>[number]

/** Sends it again, now and with all its tries. One that is being sent at this moment is left alone. */
export async function replayPostback(db: Db, postbackId: string, owner: Viewer, now: Date): Promise<Postback | null> {
  const found = await findPostback(db, postbackId, owner)
  if (found === null) return null
  await db
    .updateTable('postbacks')
    .set({ state: 'queued', due_at: now, tries: 0, priority: 0, settled_at: null })
    .where('postback_id', '=', postbackId)
    .where('state', '<>', 'sending')
    .execute()
  return findPostback(db, postbackId, owner)
}

/** As publishers see it. */
export function presentPostback(postback: Postback) {
  return {
    postback_id: postback.postback_id,
    conversion_id: postback.conversion_id,
    sequence: postback.sequence,
    status: postback.status as Status,
    state: postback.state as State,
    attempts: postback.attempts,
    next_attempt_at: postback.state === 'queued' ? rfc3339(postback.due_at) : null,
    last_status: postback.last_status,
    last_error: postback.last_error,
    created_at: rfc3339(postback.created_at),
    settled_at: postback.settled_at === null ? null : rfc3339(postback.settled_at),
    scenario: postback.scenario,
    is_test: postback.is_test || postback.scenario !== null,
  }
}

export function presentAttempt(attempt: Attempt) {
  return {
    attempt: attempt.attempt,
    started_at: rfc3339(attempt.started_at),
    duration_ms: attempt.duration_ms,
    ok: attempt.ok,
    phase: attempt.phase,
    status: attempt.status,
    error: attempt.error,
    remote_address: attempt.remote_address,
    request: attempt.request,
    response: attempt.response,
  }
}

/** How the postbacks of apps fare, by app: for the publisher and the operator. Apps that never had any are missing. */
export async function readHealth(db: Db, appIds: readonly number[], now: Date): Promise<Map<number, Health>> {
  const { rows } = await sql<Health & { app_id: number }>`
    SELECT l.app_id, l.paused_at, l.pause_reason, l.failing_since, waiting.queued, waiting.oldest_due_at, given_up.dead
    FROM postback_lanes l
    CROSS JOIN LATERAL (
      SELECT count(*) AS queued, min(p.due_at) FILTER (WHERE p.due_at <= ${now}) AS oldest_due_at FROM postbacks p
      WHERE p.app_id = l.app_id AND p.state = 'queued' AND p.scenario IS NULL
    ) waiting
    CROSS JOIN LATERAL (
      SELECT count(*) AS dead FROM postbacks p WHERE p.app_id = l.app_id AND p.state = 'dead' AND p.scenario IS NULL
    ) given_up
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
  dead: number
}

const NEWEST = 5_000 // enough to tell how an address fares, and quick for the busiest app
const DAY_MS = 24 * 60 * 60 * 1_000

export type Delivery = {
  has_address: boolean
  tries: number
  received: number
  /** Of all tries, 95 of 100 took no longer. */
  p95_ms: number | null
  /** The circuit is open until then: nothing is sent, then one to see. */
  open_until: Date | null
  last_failure: { postback_id: string; started_at: Date; status: number | null; error: string | null } | null
}

/** How the tries of the last 24 hours went, of the newest live postbacks of an app. */
export async function readDelivery(db: Db, appId: number, now: Date): Promise<Delivery> {
  const since = uuid7Floor(now.getTime() - DAY_MS)
  const ofApp = sql`
    SELECT a.* FROM (
      SELECT postback_id FROM postbacks WHERE app_id = ${appId} AND NOT is_test AND scenario IS NULL
      ORDER BY postback_id DESC LIMIT ${NEWEST}
    ) newest JOIN postback_attempts a USING (postback_id) WHERE a.attempt_id >= ${since}`
  const { rows } = await sql<Omit<Delivery, 'last_failure'>>`
    SELECT count(*) AS tries, count(*) FILTER (WHERE ok) AS received,
      percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms) AS p95_ms,
      (SELECT open_until FROM postback_lanes WHERE app_id = ${appId}) AS open_until,
      EXISTS (SELECT FROM postback_settings WHERE app_id = ${appId}) AS has_address
    FROM (${ofApp}) tries`.execute(db)
  const failures = await sql<NonNullable<Delivery['last_failure']>>`
    SELECT postback_id, started_at, status, error FROM (${ofApp}) tries WHERE NOT ok
    ORDER BY attempt_id DESC LIMIT 1`.execute(db)
  return { ...(rows[0] as (typeof rows)[number]), last_failure: failures.rows[0] ?? null }
}

/** How many a replay would send again; of one that has begun, how many it has yet to queue. Counts no further than `limit`. */
export async function countReplayable(
  db: Db,
  appId: number,
  filter: ReplayFilter,
  made: { before: Date; after?: string },
  limit: number,
): Promise<number> {
  let query = db
    .selectFrom('postbacks')
    .select('postback_id')
    .where('app_id', '=', appId)
    .where('is_test', '=', filter.isTest ?? false)
    .where('scenario', 'is', null)
    .where('state', 'in', filter.state === undefined ? ['delivered', 'dead'] : [filter.state])
    .where('created_at', '<', made.before)
  if (made.after !== undefined) query = query.where('postback_id', '>', made.after)
  if (filter.to !== undefined) query = query.where('created_at', '<', new Date(filter.to))
  if (filter.from !== undefined) query = query.where('created_at', '>=', new Date(filter.from))
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  const { count } = await db
    .selectFrom(query.limit(limit).as('some'))
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The ids of an app's replays, newest first. */
export async function listReplays(db: Db, appId: number, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('postback_replays')
    .select('replay_id')
    .where('app_id', '=', appId)
    .orderBy('replay_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => row.replay_id)
}

/** Null while another one of the app is running: two at once would send the same ones twice. */
export async function startOnlyReplay(trx: Trx, appId: number, filter: ReplayFilter): Promise<number | null> {
  await trx.selectFrom('apps').select('app_id').where('app_id', '=', appId).forNoKeyUpdate().execute()
  const running = await trx
    .selectFrom('postback_replays')
    .select('replay_id')
    .where('app_id', '=', appId)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return running === undefined ? startReplay(trx, appId, filter) : null
}
