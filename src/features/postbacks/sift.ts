// What an app no longer wants to be sent: its address was saved with fewer kinds of events. Such a postback would hold up
// the later events of its conversion. What was asked for by itself (a replay, a test send) is sent all the same.
import { sql } from 'kysely'
import { briefly } from '../../db/brief.ts'
import type { Db, Trx } from '../../db/open.ts'
import { unblockNext } from './queue.ts'

const BATCH = 1_000
export const UNWANTED = 'Not sent: the app no longer asks for this kind of event.'

/** Looks through the queues of apps whose settings were saved. Returns how many postbacks were given up. */
export async function siftQueues(db: Db): Promise<number> {
  let total = 0
  for (let found; (found = await briefly(db, siftNext)) !== null;) total += found
  return total
}

/** A batch of one lane; null when there is none left, or another process has it. */
async function siftNext(trx: Trx): Promise<number | null> {
  const lane = await trx
    .selectFrom('postback_lanes as l')
    .innerJoin('postback_settings as s', 's.app_id', 'l.app_id')
    .select(['l.app_id', 's.events'])
    .where('l.is_sifted', '=', false)
    .limit(1)
    .forNoKeyUpdate('l')
    .skipLocked()
    .executeTakeFirst()
  if (lane === undefined) return null
  const { rows } = await sql<{ postback_id: string; conversion_id: string }>`
    DELETE FROM postback_queue q USING (
      SELECT app_id, postback_id FROM postback_queue
      WHERE app_id = ${lane.app_id} AND status <> ALL (${lane.events}) AND state <> 'sending' AND NOT is_replay
        AND scenario IS NULL
      LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
    ) unwanted WHERE q.app_id = unwanted.app_id AND q.postback_id = unwanted.postback_id
    RETURNING q.postback_id, q.conversion_id`.execute(trx)
  const ids = rows.map((row) => row.postback_id)
  await sql`
    UPDATE postbacks SET state = 'dead', settled_at = now(), last_error = ${UNWANTED}
    WHERE postback_id = ANY (${ids}::uuid[]) AND state = 'queued'`.execute(trx)
  await unblockNext(trx, rows.map((row) => row.conversion_id)) // prettier-ignore
  if (rows.length < BATCH)
    await trx.updateTable('postback_lanes').set({ is_sifted: true }).where('app_id', '=', lane.app_id).execute()
  return rows.length
}
