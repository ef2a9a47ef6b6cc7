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

/** One that is slow does not keep others waiting. */
const AT_A_TIME = 3

const inLanes = (lane: () => Promise<void>) => Promise.all(Array.from({ length: AT_A_TIME }, lane))

/** Another process may be faster: its run counts. */
export async function runDueFeeds(runner: FeedRunner, warn: (message: string) => void): Promise<void> {
  await endSilentRuns(runner.db)
  const due = await runner.db
    .selectFrom('feeds')
    .select(['feed_id', 'name'])
    .where('is_paused', '=', false)
    .where('due_at', '<=', sql<Date>`now()`)
    .orderBy('due_at')
    .limit(AT_ONCE)
    .execute()
  await inLanes(async () => {
    for (let feed = due.shift(); feed !== undefined; feed = due.shift()) {
      const { feed_id, name } = feed
      await runFeed(runner, BY_ITSELF, feed_id).catch((error: unknown) => warn(`The feed "${name}" failed: ${messageOf(error)}`)) // prettier-ignore
    }
  })
}

/** What people asked for. */
export async function runAskedFeeds(runner: FeedRunner, warn: (message: string) => void): Promise<void> {
  const take = () => takeAskedRun(runner.db)
  await inLanes(async () => {
    for (let run = await take(); run !== null; run = await take()) {
      const { runId, feedId } = run
      await carryOut(runner, run).catch((error: unknown) => warn(`Run ${runId} of feed ${feedId} failed: ${messageOf(error)}`)) // prettier-ignore
    }
  })
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
