// Which feeds are due, one after the other; and what is deleted of old runs.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { messageOf } from '../../errors.ts'
import type { Actor } from '../accounts/audit.ts'
import { takeAskedRun } from './asked-runs.ts'
import { endSilentRuns } from './run-fence.ts'
import { carryOut, type FeedRunner, runFeed } from './run.ts'

const DAY_MS = 86_400_000
const AT_ONCE = 100
/** Whom the audit log names where no one asked for a run. */
const BY_ITSELF: Actor = { id: null, email: 'schedule', ip: null }

/** The first that is due and not running, other than these. */
const findDue = async (db: Db, tried: readonly number[]) =>
  (await sql<{ feed_id: number; name: string }>`
    SELECT feed_id, name FROM feeds f WHERE NOT is_paused AND due_at <= now() AND feed_id <> ALL (${[...tried]}::bigint[])
      AND NOT EXISTS (SELECT FROM feed_runs r WHERE r.feed_id = f.feed_id AND r.ended_at IS NULL AND NOT r.is_preview)
    ORDER BY due_at LIMIT 1`.execute(db)).rows[0] // prettier-ignore

/** One after the other: a worker has several lanes for them, so that one that is slow does not keep others waiting. */
export async function runDueFeeds(runner: FeedRunner, warn: (message: string) => void): Promise<void> {
  const { db } = runner
  await endSilentRuns(db)
  const tried: number[] = []
  for (let feed = await findDue(db, tried); feed !== undefined; feed = await findDue(db, tried)) {
    const { feed_id, name } = feed
    tried.push(feed_id)
    await runFeed(runner, BY_ITSELF, feed_id).catch((error: unknown) => warn(`The feed "${name}" failed: ${messageOf(error)}`)) // prettier-ignore
  }
}

/** What people asked for, in lanes as well. */
export async function runAskedFeeds(runner: FeedRunner, warn: (message: string) => void): Promise<void> {
  const take = () => takeAskedRun(runner.db)
  for (let run = await take(); run !== null; run = await take()) {
    const { runId, feedId } = run
    await carryOut(runner, run).catch((error: unknown) => warn(`Run ${runId} of feed ${feedId} failed: ${messageOf(error)}`)) // prettier-ignore
  }
}

/** The last run of each feed stays. */
export async function forgetOldRuns(db: Db, now: Date, keepDays: number): Promise<void> {
  const before = new Date(now.getTime() - keepDays * DAY_MS)
  for (let gone = AT_ONCE; gone === AT_ONCE;) {
    const { numAffectedRows } = await sql`DELETE FROM feed_runs WHERE run_id IN (
      SELECT run_id FROM feed_runs r WHERE ended_at < ${before} AND EXISTS (SELECT FROM feed_runs later WHERE later.feed_id = r.feed_id AND later.run_id > r.run_id)
      ORDER BY ended_at LIMIT ${AT_ONCE})`.execute(db)
    gone = Number(numAffectedRows ?? 0)
  }
}
