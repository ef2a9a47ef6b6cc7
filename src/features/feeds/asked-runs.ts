// Runs and previews that a person asks for: a worker takes them, so that no request waits for an upstream.
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { NoSuch } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

/** Returns its run_id; that of the one that runs or waits already, if there is one. */
export async function askRun(db: Db, by: Actor, feedId: number, isPreview: boolean): Promise<number> {
  try {
    return await insertRun(db, by, feedId, isPreview)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    return insertRun(db, by, feedId, isPreview) // a worker began one meanwhile
  }
}

function insertRun(db: Db, by: Actor, feedId: number, isPreview: boolean): Promise<number> {
  return inTransaction(db, async (trx) => {
    const feed = await trx.selectFrom('feeds').select('name').where('feed_id', '=', feedId).forNoKeyUpdate().executeTakeFirst() // prettier-ignore
    if (feed === undefined) throw new NoSuch('feed', feedId)
    const open = await trx.selectFrom('feed_runs').select('run_id').where('feed_id', '=', feedId).where('ended_at', 'is', null).where('is_preview', '=', isPreview).executeTakeFirst() // prettier-ignore
    if (open !== undefined) return open.run_id
    const auditId = await recordAudit(trx, by, { action: isPreview ? 'feed.preview' : 'feed.run', subject: feedId, details: { name: feed.name } }) // prettier-ignore
    const { id, email, ip, via } = by
    const { run_id } = await trx
      .insertInto('feed_runs')
      .values({
        feed_id: feedId,
        is_preview: isPreview,
        asked_by: JSON.stringify({ id, email, ip, via }),
        audit_id: auditId,
        taken_at: null,
      }) // prettier-ignore
      .returning('run_id')
      .executeTakeFirstOrThrow()
    return run_id
  })
}

export type AskedRun = { runId: number; feedId: number; isPreview: boolean; by: Actor; auditId: number }

/** The one that waits longest, which then is this process's to run. */
export async function takeAskedRun(db: Db): Promise<AskedRun | null> {
  const { rows } = await sql<{
    run_id: number
    feed_id: number
    is_preview: boolean
    asked_by: Actor
    audit_id: number
  }>`
    UPDATE feed_runs SET taken_at = now(), beat_at = now(), started_at = now() WHERE run_id = (
      SELECT run_id FROM feed_runs WHERE ended_at IS NULL AND taken_at IS NULL ORDER BY run_id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING run_id, feed_id, is_preview, asked_by, audit_id`.execute(db)
  const [row] = rows
  return row === undefined ? null : { runId: row.run_id, feedId: row.feed_id, isPreview: row.is_preview, by: row.asked_by, auditId: row.audit_id } // prettier-ignore
}
