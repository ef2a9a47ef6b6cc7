// Replays in bulk: a row says what is to be sent again and how far that has come, so that it goes on after a crash. What
// it queues comes after everything else in its lane, and only so much of it at a time.
import { sql } from 'kysely'
import { retrying } from '../../db/faults.ts'
import type { Db, Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import type { State } from './postbacks.ts'
import { CANCELLED } from './queue.ts'

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

export async function startReplay(db: Db, appId: number, filter: ReplayFilter): Promise<number> {
  const app = await db.selectFrom('apps').select('app_id').where('app_id', '=', appId).executeTakeFirst()
  if (app === undefined) throw new OperatorError(`There is no app ${appId}. "offerdeck app list" shows them.`)
  const { replay_id } = await db
    .insertInto('postback_replays')
    .values({ app_id: appId, filter: JSON.stringify(filter) })
    .returning('replay_id')
    .executeTakeFirstOrThrow()
  return replay_id
}

export async function readReplay(db: Db, replayId: number) {
  const row = await db.selectFrom('postback_replays').selectAll().where('replay_id', '=', replayId).executeTakeFirst()
  if (row === undefined) throw new OperatorError(`There is no replay ${replayId}.`)
  const { waiting } = await db
    .selectFrom('postbacks')
    .select((is) => is.fn.countAll<number>().as('waiting'))
    .where('app_id', '=', row.app_id)
    .where('replay_id', '=', replayId)
    .where((is) => is.or([is('state', '=', 'queued'), is('state', '=', 'sending')])) // each has its index
    .executeTakeFirstOrThrow()
  return { ...row, waiting }
}

/**
 * What it has queued and was not sent yet is what it was before: delivered, or dead. So is what is being sent at this
 * moment, once that fails.
 */
export async function cancelReplay(db: Db, replayId: number, now: Date): Promise<void> {
  const { app_id } = await readReplay(db, replayId)
  const cancel = async (trx: Trx) => {
    await trx
      .updateTable('postback_replays')
      .set({ state: 'cancelled', finished_at: now })
      .where('replay_id', '=', replayId)
      .where('state', '=', 'running')
      .execute()
    // One statement for both: between two, a try could fail, and its postback would be in neither.
    await sql`
      UPDATE postbacks SET priority = ${CANCELLED},
        state = CASE WHEN state = 'queued' THEN replayed_state ELSE state END,
        settled_at = CASE WHEN state = 'queued' THEN replayed_settled_at END
      WHERE app_id = ${app_id} AND replay_id = ${replayId} AND priority = ${PRIORITY}
        AND (state = 'queued' OR state = 'sending')`.execute(trx)
  }
  if (db.isTransaction) return cancel(db as Trx)
  await retrying(() => db.transaction().execute(cancel)) // workers lock the same rows, in an order of their own
}

/** `before`: when it began, so that it never sends what was made since. `after`: how far it has come. */
type Made = { before: Date; after?: string }

function replayable(db: Db, appId: number, filter: ReplayFilter, made: Made) {
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
  return query
}

/** Takes every running replay a step further. Returns how many postbacks were queued. */
export async function runReplays(db: Db, now: Date): Promise<number> {
  const running = await db.selectFrom('postback_replays').select('replay_id').where('state', '=', 'running').execute()
  let queued = 0
  for (const { replay_id } of running) queued += await db.transaction().execute((trx) => runReplay(trx, replay_id, now))
  return queued
}

async function runReplay(trx: Trx, replayId: number, now: Date): Promise<number> {
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
    SELECT FROM postbacks WHERE app_id = ${replay.app_id} AND state = 'queued' AND priority = ${PRIORITY} LIMIT ${MAX_QUEUED}`.execute(
    trx,
  )
  const room = Math.min(BATCH, MAX_QUEUED - waiting.rows.length)
  if (room <= 0) return 0
  const made = { before: replay.created_at, after: replay.after }
  const rows = await replayable(trx, replay.app_id, replay.filter as ReplayFilter, made)
    .orderBy('postback_id')
    .limit(room)
    .execute()
  const ids = rows.map((row) => row.postback_id)
  const last = ids.at(-1)
  if (last !== undefined)
    await sql`
      UPDATE postbacks SET state = 'queued', due_at = ${now}, tries = 0, priority = ${PRIORITY}, replay_id = ${replayId},
        replayed_state = state, replayed_settled_at = settled_at, settled_at = NULL
      WHERE postback_id = ANY (${ids}::uuid[]) AND state IN ('delivered', 'dead')`.execute(trx)
  await trx
    .updateTable('postback_replays')
    .set((is) => ({
      queued: is('queued', '+', ids.length),
      ...(last === undefined ? { state: 'done', finished_at: now } : { after: last }),
    }))
    .where('replay_id', '=', replayId)
    .execute()
  return ids.length
}

/** How many a replay would send again; of one that has begun, how many it has yet to queue. Counts no further than `limit`. */
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
