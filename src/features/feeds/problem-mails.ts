// Runs that fail or are refused are mailed to the operators: a refused one at once, failed ones when the third in a row
// was, and at most once a day for each feed. The overview shows them from the first on.
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { queueMail, type Network, type Writer } from '../accounts/mails.ts'

const DAY_MS = 86_400_000
/** One alone is most often over by itself. */
const FAILURES = 3

export async function mailProblem(trx: Trx, feedId: number, runId: number): Promise<void> {
  const { rows } = await sql`UPDATE feeds SET mailed_at = now()
    WHERE feed_id = ${feedId} AND troubled_at IS NOT NULL AND (failures = 0 OR failures >= ${FAILURES})
      AND (mailed_at IS NULL OR mailed_at < now() - interval '1 day') RETURNING feed_id`.execute(trx)
  if (rows.length > 0)
    await queueMail(trx, { kind: 'feed_problem', about: runId, expiresAt: new Date(Date.now() + 3 * DAY_MS) })
}

export const feedProblemWriter = ({ publicUrl }: Pick<Network, 'publicUrl'>): Writer => ({
  async findRecipients(trx, runId) {
    if ((await findRun(trx, runId)) === undefined) return []
    const people = await trx.selectFrom('people').select('email').where('role', '=', 'operator').where('disabled_at', 'is', null).orderBy('created_at').execute() // prettier-ignore
    return people.map(({ email }) => email)
  },
  async write(trx, runId) {
    const run = await findRun(trx, runId)
    if (run === undefined) return null
    const { feed_id, name, outcome, message, failures } = run
    const what =
      outcome === 'refused'
        ? `The last run of the feed "${name}" was not applied: ${message}`
        : `The feed "${name}" failed ${failures} times in a row: ${message}`
    return {
      subject: `Feed ${name} needs your attention`,
      text: `${what}\n\nIts offers stay as they are until a run succeeds. See its runs:\n${publicUrl}/network/feeds/${feed_id}\n\n(You get this at most once a day for each feed.)\n`,
    }
  },
})

/** Of a feed that is still in trouble: what was mended meanwhile needs no mail. */
const findRun = (trx: Trx, runId: string) =>
  trx
    .selectFrom('feed_runs')
    .innerJoin('feeds', 'feeds.feed_id', 'feed_runs.feed_id')
    .select(['feeds.feed_id', 'feeds.name', 'outcome', 'message', 'failures'])
    .where('run_id', '=', Number(runId))
    .where('troubled_at', 'is not', null)
    .executeTakeFirst()
