// Bulk replays: a row says what is to be resent and how far that has come, so that it continues after a crash. What it
// queues comes after everything else in its lane, and only so much of it at a time. A postback that would send an older
// status than the receiver knows is left out: a later event of its conversion was delivered and is not resent.
// A later event whose postback is no longer kept counts as delivered, and so does one that is being sent at this moment.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import { withRetry } from '../../db/pg-errors.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { messageOf, NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import type { State } from './postbacks.ts'
import { unblockNext } from './queue.ts'

const BATCH = 500
const MAX_QUEUED = 1_000
const PRIORITY = 1

export type ReplayFilter = {
  state?: Exclude<State, 'sending' | 'queued'>
  status?: string
  isTest?: boolean
  from?: string
  to?: string
}

export async function startReplay(db: Db, by: Actor, appId: number, filter: ReplayFilter): Promise<number> {
  return inTransaction(db, async (trx) => {
    const publisherId = await findPublisher(trx, appId)
    if (publisherId === null) throw new NoSuch('app', appId)
    const { replay_id } = await trx
      .insertInto('postback_replays')
      .values({ app_id: appId, filter: JSON.stringify(filter) })
      .returning('replay_id')
      .executeTakeFirstOrThrow()
    const { isTest = false, ...rest } = filter
    const details = { app_id: appId, mode: isTest ? 'test' : 'live', ...rest }
    await recordAudit(trx, by, { action: 'replay.start', subject: replay_id, publisherId, details })
    return replay_id
  })
}

async function findPublisher(db: Db, appId: number): Promise<number | null> {
  const app = await db.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
  return app?.publisher_id ?? null
}

export async function readReplay(db: Db, replayId: number) {
  const row = await db.selectFrom('postback_replays').selectAll().where('replay_id', '=', replayId).executeTakeFirst()
  if (row === undefined) throw new NoSuch('replay', replayId)
  const { waiting } = await db
    .selectFrom('postback_queue')
    .select((is) => is.fn.countAll<number>().as('waiting'))
    .where('app_id', '=', row.app_id)
    .where('replay_id', '=', replayId)
    .executeTakeFirstOrThrow()
  return { ...row, waiting }
}

/**
 * Removes from the queue what it has queued and was not sent yet: those postbacks are delivered or failed as before.
 * The same happens to one that is being sent at this moment, if that fails.
 */
export async function cancelReplay(db: Db, by: Actor, replayId: number, now: Date): Promise<void> {
  const { app_id } = await readReplay(db, replayId)
  const cancel = async (trx: Trx) => {
    await trx
      .updateTable('postback_replays')
      .set({ state: 'cancelled', finished_at: now })
      .where('replay_id', '=', replayId)
      .where('state', '=', 'running')
      .execute()
    // Locked first, so that an attempt that fails at this moment is seen with its result.
    const { rows } = await sql<{ postback_id: string; conversion_id: string; state: string }>`
      SELECT postback_id, conversion_id, state FROM postback_queue
      WHERE app_id = ${app_id} AND replay_id = ${replayId} ORDER BY postback_id FOR UPDATE`.execute(trx)
    const [sending, waiting] = [true, false].map((is) => rows.filter(({ state }) => (state === 'sending') === is))
    await sql`
      UPDATE postback_queue SET on_failure = 'forget'
      WHERE app_id = ${app_id} AND postback_id = ANY (${idsOf(sending)}::uuid[])`.execute(trx)
    await sql`
      DELETE FROM postback_queue WHERE app_id = ${app_id} AND postback_id = ANY (${idsOf(waiting)}::uuid[])`.execute(
      trx,
    )
    await unblockNext(trx, waiting?.map((row) => row.conversion_id) ?? [])
    const publisherId = await findPublisher(trx, app_id)
    await recordAudit(trx, by, { action: 'replay.cancel', subject: replayId, publisherId, details: { app_id } })
  }
  if (db.isTransaction) return cancel(db as Trx)
  await withRetry(() => briefly(db, cancel)) // workers lock the same rows in a different order
}

const idsOf = (rows: readonly { postback_id: string }[] = []) => rows.map((row) => row.postback_id)

/** `before`: when it began, so that it never sends anything newer. `after`: how far it has come. */
type Made = { before: Date; after?: string }

/** Whether the row of postbacks by this name is selected. */
function isMeant(name: string, filter: ReplayFilter, before: Date) {
  const column = (column: string) => sql.ref(`${name}.${column}`)
  const states = filter.state === undefined ? ['delivered', 'dead'] : [filter.state]
  return sql<boolean>`(
    ${column('is_test')} = ${filter.isTest ?? false} AND ${column('scenario')} IS NULL
    AND ${column('state')} = ANY (${states}) AND ${column('created_at')} < ${before}
    AND (${filter.to ?? null}::timestamptz IS NULL OR ${column('created_at')} < ${filter.to ?? null})
    AND (${filter.from ?? null}::timestamptz IS NULL OR ${column('created_at')} >= ${filter.from ?? null})
    AND (${filter.status ?? null}::text IS NULL OR ${column('status')} = ${filter.status ?? null}))`
}

/** Whether the postback by this name, of the event `e`, is no longer kept. An app gets none of statuses that it did not select. */
export const isForgotten = (name: string) => sql<boolean>`(${sql.ref(`${name}.postback_id`)} IS NULL
  AND EXISTS (SELECT FROM postback_settings s WHERE s.app_id = e.app_id AND e.status = ANY (s.events)))`

/** Whether the postback by this name is under way: nothing that is queued now comes before it any more. */
export const isBeingSent = (name: string) => sql<boolean>`EXISTS (SELECT FROM postback_queue q
  WHERE q.app_id = ${sql.ref(`${name}.app_id`)} AND q.postback_id = ${sql.ref(`${name}.postback_id`)} AND q.state = 'sending')`

const isOutdated = (filter: ReplayFilter, before: Date) => sql<boolean>`EXISTS (
  SELECT FROM conversion_events e LEFT JOIN postbacks later ON later.postback_id = e.event_id
  WHERE e.conversion_id = p.conversion_id AND e.sequence > p.sequence
    AND (later.state = 'delivered' AND NOT ${isMeant('later', filter, before)} OR ${isBeingSent('later')} OR ${isForgotten('later')}))`

function replayable(db: Db, appId: number, filter: ReplayFilter, { before, after }: Made) {
  return db
    .selectFrom('postbacks as p')
    .select('p.postback_id')
    .where('p.app_id', '=', appId)
    .where(isMeant('p', filter, before))
    .$if(filter.state === 'dead', (query) => query.where('p.last_error', 'is not', null)) // its index
    .$if(after !== undefined, (query) => query.where('p.postback_id', '>', after ?? ''))
    .where(
      sql<boolean>`NOT EXISTS (SELECT FROM postback_queue q WHERE q.app_id = p.app_id AND q.postback_id = p.postback_id)`,
    )
}

/** Advances every running replay by a step. Returns how many postbacks were queued. One that fails stops no other. */
export async function runReplays(db: Db, warn: (message: string) => void = () => {}): Promise<number> {
  const running = await db.selectFrom('postback_replays').select('replay_id').where('state', '=', 'running').execute()
  let queued = 0
  for (const { replay_id } of running)
    queued += await briefly(db, (trx) => runReplay(trx, replay_id)).catch((error: unknown) => {
      warn(`replay ${replay_id} of postbacks did not go on (${messageOf(error)}); it is tried again`)
      return 0
    })
  return queued
}

async function runReplay(trx: Trx, replayId: number): Promise<number> {
  const replay = await trx
    .selectFrom('postback_replays')
    .selectAll()
    .where('replay_id', '=', replayId)
    .where('state', '=', 'running')
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (replay === undefined) return 0
  const waiting = await sql`
    SELECT FROM postback_queue WHERE app_id = ${replay.app_id} AND replay_id IS NOT NULL LIMIT ${MAX_QUEUED}`.execute(
    trx,
  )
  const room = Math.min(BATCH, MAX_QUEUED - waiting.rows.length)
  if (room <= 0) return 0
  const [filter, before] = [replay.filter as ReplayFilter, replay.created_at]
  const rows = await replayable(trx, replay.app_id, filter, { before, after: replay.after })
    .select(isOutdated(filter, before).as('is_outdated'))
    .orderBy('p.postback_id')
    .limit(room)
    .execute()
  const ids = idsOf(rows.filter((row) => !row.is_outdated))
  await sql`
    INSERT INTO postback_queue
      (app_id, postback_id, conversion_id, sequence, status, is_test, priority, attempts, is_replay, replay_id)
    SELECT app_id, postback_id, conversion_id, sequence, status, is_test, ${PRIORITY}, attempts, true, ${replayId}
    FROM postbacks WHERE postback_id = ANY (${ids}::uuid[])
    ON CONFLICT DO NOTHING`.execute(trx)
  const last = rows.at(-1)?.postback_id
  await trx
    .updateTable('postback_replays')
    .set((is) => ({
      queued: is('queued', '+', ids.length),
      skipped: is('skipped', '+', rows.length - ids.length),
      ...(last === undefined ? { state: 'done', finished_at: sql<Date>`now()` } : { after: last }),
    }))
    .where('replay_id', '=', replayId)
    .execute()
  return rows.length
}

/**
 * How many postbacks a replay would resend; once started, how many it has yet to queue. Counts no further than `limit`.
 */
export async function countReplayable(
  db: Db,
  appId: number,
  filter: ReplayFilter,
  made: Made,
  limit: number,
): Promise<number> {
  const { count } = await db
    .selectFrom(replayable(db, appId, filter, made).limit(limit).as('some'))
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** The IDs of an app's replays, newest first. */
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

/** Null while another one of the app is running: two at once would send the same postbacks twice. */
export async function startOnlyReplay(
  trx: Trx,
  by: Actor,
  appId: number,
  filter: ReplayFilter,
): Promise<number | null> {
  await trx.selectFrom('apps').select('app_id').where('app_id', '=', appId).forNoKeyUpdate().execute()
  const running = await trx
    .selectFrom('postback_replays')
    .select('replay_id')
    .where('app_id', '=', appId)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return running === undefined ? startReplay(trx, by, appId, filter) : null
}
