// Runs and previews that a person asks for: a worker takes them, so that no request waits for an upstream.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { OperatorError } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { lockFeed } from './feeds.ts'

/** `acceptedGone`: as many offers may be paused, whatever the bound of the feed is. */
export type Wanted = { isPreview: boolean; acceptedGone: number | null }

/** Returns its run_id; that of the one that runs or waits already, if there is one. */
export async function askRun(db: Db, by: Actor, feedId: number, isPreview: boolean): Promise<number> {
  const ask = () => inTransaction(db, (trx) => askRunIn(trx, by, feedId, { isPreview, acceptedGone: null }))
  try {
    return await ask()
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    return ask() // a worker began one meanwhile
  }
}

export async function askRunIn(trx: Trx, by: Actor, feedId: number, { isPreview, acceptedGone }: Wanted): Promise<number> {
  const feed = await lockFeed(trx, feedId)
  const open = await trx.selectFrom('feed_runs').select('run_id').where('feed_id', '=', feedId).where('ended_at', 'is', null).where('is_preview', '=', isPreview).executeTakeFirst() // prettier-ignore
  if (open !== undefined && acceptedGone === null) return open.run_id
  if (open !== undefined) throw new OperatorError('This feed is already running. Try again when the run has finished.')
  const auditId = await recordAudit(trx, by, { action: actionOf({ isPreview, acceptedGone }), subject: feedId, details: { name: feed.name, ...(acceptedGone === null ? {} : { accepted_gone: acceptedGone }) } }) // prettier-ignore
  const { id, email, ip, via } = by
  const { run_id } = await trx
    .insertInto('feed_runs')
    .values({
      feed_id: feedId,
      is_preview: isPreview,
      asked_by: JSON.stringify({ id, email, ip, via }),
      audit_id: auditId,
      taken_at: null,
      accepted_gone: acceptedGone,
    })
    .returning('run_id')
    .executeTakeFirstOrThrow()
  return run_id
} // prettier-ignore

/** How the audit log calls it. */
export const actionOf = ({ isPreview, acceptedGone }: Wanted) =>
  isPreview ? 'feed.preview' : acceptedGone === null ? 'feed.run' : 'feed.apply_refused'

export type AskedRun = Wanted & { runId: number; feedId: number; by: Actor; auditId: number }

/** The one that waits longest, which then is this process's to run. */
export async function takeAskedRun(db: Db): Promise<AskedRun | null> {
  const { rows } = await sql<{
    run_id: number
    feed_id: number
    is_preview: boolean
    asked_by: Actor
    audit_id: number
    accepted_gone: number | null
  }>`
    UPDATE feed_runs SET taken_at = now(), beat_at = now(), started_at = now() WHERE run_id = (
      SELECT run_id FROM feed_runs WHERE ended_at IS NULL AND taken_at IS NULL ORDER BY run_id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING run_id, feed_id, is_preview, asked_by, audit_id, accepted_gone`.execute(db)
  const [row] = rows
  return row === undefined ? null : { runId: row.run_id, feedId: row.feed_id, isPreview: row.is_preview, acceptedGone: row.accepted_gone, by: row.asked_by, auditId: row.audit_id } // prettier-ignore
}
