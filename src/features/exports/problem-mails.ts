// An export that fails for a while is mailed to the operators, once a day while it lasts.
import { sql } from 'kysely'
import type { Trx } from '../../db/open.ts'
import { findOperators, queueMail, type Network, type Writer } from '../accounts/mails.ts'
import type { Kind } from './read-rows.ts'

const DAY_MS = 86_400_000

export async function mailProblem(trx: Trx, target: string, kind: Kind): Promise<void> {
  const { rows } = await sql`UPDATE export_positions SET mailed_at = now()
    WHERE target = ${target} AND kind = ${kind} AND failing_since < now() - interval '10 minutes'
      AND NOT EXISTS (SELECT FROM export_positions e WHERE e.target = ${target} AND e.mailed_at > now() - interval '1 day')
    RETURNING kind`.execute(trx)
  if (rows.length > 0)
    await queueMail(trx, { kind: 'export_problem', about: target, expiresAt: new Date(Date.now() + 3 * DAY_MS) })
}

export const exportProblemWriter = ({ publicUrl }: Pick<Network, 'publicUrl'>): Writer => ({
  async findRecipients(trx, target) {
    return (await findFailing(trx, target)) === undefined ? [] : findOperators(trx)
  },
  async write(trx, target) {
    const failing = await findFailing(trx, target)
    if (failing === undefined) return null
    const { kind, failure, failing_since } = failing
    return {
      subject: 'The export of clicks and conversions needs your attention',
      text:
        `Exporting ${kind} to ${target} has failed since ${failing_since?.toISOString()}: ${failure}\n\n` +
        'Nothing is lost: the export resumes where it stopped once the target works again. Clicks are kept for up to 30 days longer than usual until then.\n\n' +
        `Network: ${publicUrl}\n\n(You get this at most once a day.)\n`,
    }
  },
})

/** Null once it works again: that needs no mail. */
const findFailing = (trx: Trx, target: string) =>
  trx
    .selectFrom('export_positions')
    .select(['kind', 'failure', 'failing_since'])
    .where('target', '=', target)
    .where('failing_since', 'is not', null)
    .orderBy('failing_since')
    .executeTakeFirst()
