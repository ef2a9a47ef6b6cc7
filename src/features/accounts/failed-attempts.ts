// Wrong passwords and codes in the audit log. An attacker must not be able to fill it: for each account, and for all
// unknown email addresses together, the first, the tenth, the hundredth… failure within an hour is recorded.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { recordAudit } from './audit.ts'

export type FailedTry = {
  /** Null: no account has this email address. The address is not recorded: it may be a password in the wrong field. */
  person: { id: string; email: string; publisher_id: number | null } | null
  kind: 'password' | 'code'
  ip: string
  requestId: string
}

export async function recordFailure(db: Db, { person, kind, ip, requestId }: FailedTry, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ failures: number; since: Date }>`
      INSERT INTO failed_tries AS one (account, kind, since, failures) VALUES (${person?.id ?? 'unknown'}, ${kind}, ${now}, 1)
      ON CONFLICT (account, kind) DO UPDATE SET
        since    = CASE WHEN one.since > ${now}::timestamptz - interval '1 hour' THEN one.since ELSE ${now} END,
        failures = CASE WHEN one.since > ${now}::timestamptz - interval '1 hour' THEN one.failures + 1 ELSE 1 END
      RETURNING failures, since`.execute(trx)
    const { failures = 0, since = now } = rows[0] ?? {}
    if (!/^10*$/.test(String(failures))) return
    await recordAudit(
      trx,
      { id: null, email: person?.email ?? 'unknown', ip, requestId },
      {
        action: kind === 'password' ? 'session.wrong_password' : 'session.wrong_code',
        subject: person?.id ?? 'unknown',
        publisherId: person?.publisher_id ?? null,
        details: { failures, since: since.toISOString() },
      },
    )
  })
}
