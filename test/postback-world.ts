// Lanes and postbacks put into the queue by hand: for the rules of the queue, without conversions and receivers.
import { sql } from 'kysely'
import type { Db } from '../src/db/open.ts'
import { ensurePartitions } from '../src/db/partitions.ts'
import type { Finished } from '../src/features/postbacks/claims.ts'
import { type Claimed, claimReady, makeReady } from '../src/features/postbacks/queue.ts'
import { DEFAULTS, saveSettings } from '../src/features/postbacks/settings.ts'
import { uuid7 } from '../src/lib/uuid7.ts'
import { SECRET_KEY, type World } from './world.ts'
import { TESTER } from './tester.ts'

export const NOW = new Date()
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const after = (ms: number, from = NOW) => new Date(from.getTime() + ms)
export const before = (ms: number, from = NOW) => after(-ms, from)

type Lane = {
  width: number
  failures: number
  failing_since: Date | null
  last_failure_at: Date | null
  open_until: Date | null
  paused_at: Date | null
  pause_reason: string | null
}

/** An app with a postback URL, whose lane is as given; of its own publisher where none is named. */
export async function createLane(world: World, lane: Partial<Lane> = {}, publisherId?: number): Promise<number> {
  const { db } = world.database
  const { appId } = await world.createApp(
    publisherId === undefined ? {} : { publisherId, name: `App ${uuid7(Date.now())}` },
  )
  await saveSettings(db, TESTER, SECRET_KEY, appId, {
    ...DEFAULTS,
    url: 'https://example.com/{transaction_id}/{status}',
  })
  await setLane(db, appId, { width: 4, ...lane })
  return appId
}

export async function setLane(db: Db, appId: number, lane: Partial<Lane>): Promise<void> {
  await db.updateTable('postback_lanes').set(lane).where('app_id', '=', appId).execute()
}

export const readLane = (db: Db, appId: number) =>
  db.selectFrom('postback_lanes').selectAll().where('app_id', '=', appId).executeTakeFirstOrThrow()

export const publisherOf = async (db: Db, appId: number) => (await readLane(db, appId)).publisher_id

type NewPostback = {
  conversionId: string
  sequence: number
  status: string
  state: 'queued' | 'delivered' | 'dead'
  priority: number
  dueAt: Date
  createdAt: Date
  tries: number
  attempts: number
  isTest: boolean
  lastError: string | null
  scenario: string | null
}

/** So many alike, each of a conversion of its own; due since a second where nothing else is said. Returns their ids. */
export async function putPostbacks(
  db: Db,
  appId: number,
  count: number,
  given: Partial<NewPostback> = {},
): Promise<string[]> {
  const { createdAt = before(MINUTE), dueAt = before(SECOND), state = 'queued' } = given
  const { sequence = 1, status = 'approved', priority = 0, tries = 0, attempts = tries, isTest = false } = given
  const { lastError = state === 'dead' ? 'The server answered 500, not 2xx.' : null, scenario = null } = given
  const ids = Array.from({ length: count }, () => uuid7(createdAt.getTime())).toSorted()
  const conversionId = given.conversionId ?? null
  await sql`
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at, settled_at,
      attempts, last_error, scenario)
    SELECT id, ${appId}, ${isTest}, coalesce(${conversionId}::uuid, id), ${sequence}, ${status}, ${state}, ${createdAt},
      ${state === 'queued' ? null : createdAt}::timestamptz, ${attempts}, ${lastError}, ${scenario}
    FROM unnest(${ids}::uuid[]) AS id`.execute(db)
  await sql`
    UPDATE postback_queue SET due_at = ${dueAt}, tries = ${tries}, attempts = ${attempts},
      priority = CASE WHEN scenario IS NULL THEN ${priority}::smallint ELSE priority END,
      state = ${dueAt <= NOW ? 'ready' : 'later'}
    WHERE app_id = ${appId} AND postback_id = ANY (${ids}::uuid[])`.execute(db)
  return ids
}

export async function putPostback(db: Db, appId: number, given: Partial<NewPostback> = {}): Promise<string> {
  const [id] = await putPostbacks(db, appId, 1, given)
  return id as string
}

/** Conversions whose first event waits for its next attempt, and whose second one has come. */
export async function putBlocked(db: Db, appId: number, count: number): Promise<void> {
  await sql`
    INSERT INTO postbacks (postback_id, app_id, is_test, conversion_id, sequence, status, state, created_at)
    SELECT gen_random_uuid(), ${appId}, false, md5(n || '-' || ${appId})::uuid, sequence,
      CASE sequence WHEN 1 THEN 'pending' ELSE 'approved' END, 'queued', now()
    FROM generate_series(1, ${count}::integer) n, generate_series(1, 2) sequence`.execute(db)
  await sql`
    UPDATE postback_queue SET state = 'later', due_at = ${after(HOUR)}
    WHERE app_id = ${appId} AND sequence = 1`.execute(db)
}

/** The record, and the place in the queue where it has one. */
export async function readPostback(db: Db, id: string) {
  const record = await db.selectFrom('postbacks').selectAll().where('postback_id', '=', id).executeTakeFirstOrThrow()
  const queued = await db.selectFrom('postback_queue').selectAll().where('postback_id', '=', id).executeTakeFirst()
  const state = queued === undefined ? record.state : queued.state === 'sending' ? 'sending' : 'queued'
  return {
    ...record,
    ...queued,
    state,
    place: queued?.state ?? null,
    settled_at: queued === undefined ? record.settled_at : null,
    claim_id: queued?.claim_id ?? null,
    lease_until: queued?.lease_until ?? null,
  }
}

/** As a worker does it, at this time. */
export async function claimDue(db: Db, limit: number, capacity: number, now: Date): Promise<Claimed[]> {
  while ((await makeReady(db, now)) > 0);
  return (await claimReady(db, { limit, capacity, now })).claims
}

/** How many rows of the queue are read. */
export async function countRead(db: Db, work: (db: Db) => Promise<unknown>): Promise<number> {
  return db.transaction().execute(async (trx) => {
    // What this connection has counted before, and not reported yet, is in it, too.
    const count = async () => {
      const { rows } = await sql<{ count: number }>`
        SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) AS count
        FROM pg_stat_xact_user_tables WHERE relname = 'postback_queue'`.execute(trx)
      return rows[0]?.count ?? 0
    }
    const earlier = await count()
    await work(trx)
    return (await count()) - earlier
  })
}

type NewAttempt = { ok: boolean; status: number | null; error: string | null; duration_ms: number }

export async function putAttempt(
  db: Db,
  postbackId: string,
  given: Partial<NewAttempt> = {},
  at = new Date(),
): Promise<void> {
  await ensurePartitions(db, 'postback_attempts', [at.getTime()])
  await db
    .insertInto('postback_attempts')
    .values({
      attempt_id: uuid7(at.getTime()),
      postback_id: postbackId,
      attempt: 1,
      started_at: at,
      duration_ms: 12,
      ok: true,
      phase: null,
      status: 200,
      error: null,
      remote_address: '192.0.2.1',
      request: 'GET https://example.com/',
      response: 'HTTP/1.1 200 OK\r\n\r\nOK',
      ...given,
    })
    .execute()
}

/** Empties the queue and the log: a claim takes from the queue of all apps. */
export async function forgetPostbacks(db: Db): Promise<void> {
  await sql`TRUNCATE postbacks, postback_queue, postback_attempts, postback_replays, notices, mails`.execute(db)
}

/** A delivered attempt, unless given otherwise. */
export function finish(
  claimed: Claimed,
  { nextAt = null, ...given }: Partial<Finished> & { nextAt?: Date | null } = {},
): Finished {
  return {
    attemptId: uuid7(NOW.getTime()),
    claimed,
    settingsVersion: 1,
    startedAt: NOW,
    durationMs: 12.4,
    ok: true,
    waitMs: nextAt === null ? null : nextAt.getTime() - NOW.getTime(),
    phase: null,
    status: 200,
    error: null,
    remoteAddress: '192.0.2.1',
    request: 'GET https://example.com/',
    response: 'HTTP/1.1 200 OK\r\n\r\nOK',
    ...given,
  }
}

/** A refused attempt. */
export const fail = (claimed: Claimed, given: Parameters<typeof finish>[1] = {}): Finished =>
  finish(claimed, { ok: false, status: 500, error: 'The server answered 500, not 2xx.', ...given })

/** How many of these there are of each app. */
export function countByApp(claims: readonly { app_id: number }[]): Map<number, number> {
  return new Map([...Map.groupBy(claims, (claim) => claim.app_id)].map(([appId, some]) => [appId, some.length]))
}

/** A conversion with these events, each with its postback. */
export async function putEvents(
  db: Db,
  appId: number,
  ...events: { status: string; state: 'delivered' | 'dead' }[]
): Promise<string[]> {
  const conversionId = uuid7(NOW.getTime())
  const ids: string[] = []
  for (const [i, { status, state }] of events.entries()) {
    const id = await putPostback(db, appId, { conversionId, sequence: i + 1, status, state })
    await sql`
      INSERT INTO conversion_events (conversion_id, sequence, event_id, app_id, is_test, actor, created_at, status,
        payout_micros, revenue_micros, currency, rate_micros)
      VALUES (${conversionId}, ${i + 1}, ${id}, ${appId}, false, 'advertiser', now(), ${status}, 0, 0, 'Coins', 1000000)`.execute(
      db,
    )
    ids.push(id)
  }
  return ids
}
