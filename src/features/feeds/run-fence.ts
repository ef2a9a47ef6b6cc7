import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'

/** A run that was ended from elsewhere, because its worker was silent for long or its feed was paused, changes nothing any more. */
export class RunIsOver extends Error {
  override readonly name = 'RunIsOver'
}

/** Keeps the run open until the transaction ends: ending it from elsewhere waits for that. */
export async function holdRun(trx: Trx, runId: number): Promise<void> {
  const { rows } = await sql`SELECT FROM feed_runs WHERE run_id = ${runId} AND ended_at IS NULL FOR SHARE`.execute(trx)
  if (rows.length === 0) throw new RunIsOver('The run was ended.')
}

/** Whichever process has it: nothing of it is applied any more. */
export const endRunOf = (trx: Trx, feedId: number, why: 'paused' | 'removed') =>
  sql`UPDATE feed_runs SET ended_at = now(), outcome = 'failed', message = ${`The feed was ${why} meanwhile.`}
    WHERE feed_id = ${feedId} AND ended_at IS NULL AND (${why} = 'removed' OR taken_at IS NOT NULL AND NOT is_preview)`.execute(
    trx,
  )

const SILENT = '2 minutes'

/** Runs that are silent for long were ended by a crash. What they have fetched goes. */
export async function endSilentRuns(db: Db): Promise<void> {
  await sql`WITH over AS (
      UPDATE feed_runs SET ended_at = now(), outcome = 'failed', message = 'The worker that ran it was stopped. Run it again.'
      WHERE ended_at IS NULL AND taken_at IS NOT NULL AND beat_at < now() - ${SILENT}::interval RETURNING run_id)
    DELETE FROM feed_staging WHERE run_id IN (SELECT run_id FROM over)`.execute(db)
}
