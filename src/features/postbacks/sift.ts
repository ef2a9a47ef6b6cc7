// Removes what an app no longer wants: its URL was saved with fewer kinds of events. Such a postback would hold up the
// later events of its conversion. Explicitly requested ones (a replay, a test send) are sent all the same.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import type { Db, Trx } from '../../db/open.ts'
import { unblockNext } from './queue.ts'

const BATCH = 1_000
export const UNWANTED = 'Not sent: the app no longer asks for this kind of event.'

/**
 * Goes through the queues of apps whose settings were saved. Returns how many postbacks were removed. A lane with one
 * being sent at this moment is looked at again: if that failed, it would wait for its next attempt.
 */
export async function siftQueues(db: Db): Promise<number> {
  const lanes = await db.selectFrom('postback_lanes').select('app_id').where('is_sifted', '=', false).execute()
  let total = 0
  for (const { app_id } of lanes)
    for (let found = BATCH; found === BATCH; total += found) found = await briefly(db, (trx) => siftLane(trx, app_id))
  return total
}

/** One batch. None where another process has the lane. */
async function siftLane(trx: Trx, appId: number): Promise<number> {
  const lane = await trx
    .selectFrom('postback_lanes as l')
    .innerJoin('postback_settings as s', 's.app_id', 'l.app_id')
    .select('s.events')
    .where('l.app_id', '=', appId)
    .where('l.is_sifted', '=', false)
    .forNoKeyUpdate('l')
    .skipLocked()
    .executeTakeFirst()
  if (lane === undefined) return 0
  const isUnwanted = sql<boolean>`app_id = ${appId} AND status <> ALL (${lane.events}) AND NOT is_replay AND scenario IS NULL`
  const { rows } = await sql<{ postback_id: string; conversion_id: string }>`
    DELETE FROM postback_queue WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM postback_queue WHERE ${isUnwanted} AND state <> 'sending' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    )) RETURNING postback_id, conversion_id`.execute(trx)
  const ids = rows.map((row) => row.postback_id)
  await sql`
    UPDATE postbacks SET state = 'dead', settled_at = now(), last_error = ${UNWANTED}
    WHERE postback_id = ANY (${ids}::uuid[]) AND state = 'queued'`.execute(trx)
  await unblockNext(trx, rows.map((row) => row.conversion_id)) // prettier-ignore
  if (rows.length < BATCH)
    await sql`
      UPDATE postback_lanes SET is_sifted = NOT EXISTS (SELECT FROM postback_queue WHERE ${isUnwanted})
      WHERE app_id = ${appId}`.execute(trx)
  return rows.length
}
