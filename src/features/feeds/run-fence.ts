import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'

/** A run that was ended by another process, because its worker was silent for long, changes nothing any more. */
export class RunIsOver extends Error {
  override readonly name = 'RunIsOver'
}

/** Keeps the run open until the transaction ends. */
export async function holdRun(trx: Trx, runId: number): Promise<void> {
  const { rows } = await sql`SELECT FROM feed_runs WHERE run_id = ${runId} AND ended_at IS NULL FOR KEY SHARE`.execute(
    trx,
  )
  if (rows.length === 0) throw new RunIsOver('The run was ended.')
}
