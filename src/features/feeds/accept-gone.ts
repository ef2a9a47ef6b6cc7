// A run that was refused, because more offers would be paused than its feed allows, can be applied once on purpose: a new
// run may then pause as many, and no more. An upstream that has lost even more meanwhile is refused again.
import { sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { WHOLE_PPM } from '../../lib/money.ts'
import type { Actor } from '../accounts/audit.ts'
import { askRunIn } from './asked-runs.ts'

/** A few may always go, unless they are all: of a small feed, a single offer is a large share. */
const A_FEW = 3

export type Gone = { running: number; gone: number }

export function isTooMuch({ running, gone }: Gone, maxGonePpm: number, accepted: number | null): boolean {
  if (accepted !== null && gone <= accepted) return false
  if (gone <= A_FEW && gone < running) return false
  return running > 0 && (gone / running) * WHOLE_PPM > maxGonePpm
}

/** Asks for a run in the place of one that was refused. Returns its run_id. */
export async function applyRefusedRun(db: Db, by: Actor, feedId: number, runId: number): Promise<number> {
  return inTransaction(db, async (trx) =>
    askRunIn(trx, by, feedId, { isPreview: false, acceptedGone: await readRefused(trx, feedId, runId) }),
  )
}

/** How many offers the run would have paused; without an ID, the latest of the feed. Nothing may have been applied since. */
export async function readRefused(db: Db, feedId: number, runId: number | null): Promise<number> {
  const { rows } = await sql<{ gone: number }>`
    SELECT gone FROM feed_runs r WHERE feed_id = ${feedId} AND run_id = coalesce(${runId}, run_id) AND outcome = 'refused' AND gone > 0
      AND NOT EXISTS (SELECT FROM feed_runs later WHERE later.feed_id = r.feed_id AND later.run_id > r.run_id AND later.outcome = 'done' AND NOT later.is_preview)
    ORDER BY run_id DESC LIMIT 1`.execute(db)
  const [refused] = rows
  if (refused === undefined) throw new OperatorError(runId === null ? 'No run of this feed was refused since the last one that was applied.' : `Run ${runId} was not refused, or a later one was applied.`) // prettier-ignore
  return refused.gone
}
