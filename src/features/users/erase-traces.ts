// What is about the user and carries no money goes: sub-IDs, tickets with their images and mails, unlocks of lockers. In
// the audit log the pseudonym takes the place of the ID.
//
// A ban stays, and so do its entries in the audit log: it must outlast an erasure, or asking for one would lift it. The
// pseudonym is banned with the user (apps/bans.ts).
import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import type { AppUser } from './balances.ts'
import type { Job, Step } from './erasure-step.ts'

const AT_ONCE = 100
const VISITOR = 'visitor-'

/** The unlocks of a user who is a visitor of lockers. */
export const unlocksOf = ({ appId, isTest, userId }: AppUser): RawBuilder<boolean> =>
  userId.startsWith(VISITOR)
    ? sql`locker_id IN (SELECT locker_id FROM lockers WHERE app_id = ${appId})
        AND visitor_id = ${userId.slice(VISITOR.length)} AND is_test = ${isTest}`
    : sql`false`

/** Returns how many rows there were. */
export async function eraseTraces(db: Db, step: Step, job: Job): Promise<number> {
  const { user } = job
  const contexts = await step('sub-IDs', async (trx) => {
    const gone = await sql`DELETE FROM user_contexts WHERE app_id = ${user.appId} AND user_id = ${user.userId}
      AND is_test = ${user.isTest}`.execute(trx)
    return Number(gone.numAffectedRows ?? 0)
  })
  let tickets = 0
  for (;;) {
    const ids = await findTickets(db, user)
    if (ids.length === 0) break
    tickets += await step('tickets', (trx) => deleteTickets(trx, job, ids))
  }
  const unlocks = await step('unlocks', async (trx) => {
    const gone = await sql`DELETE FROM locker_unlocks WHERE ${unlocksOf(user)}`.execute(trx)
    return Number(gone.numAffectedRows ?? 0)
  })
  await step('audit entries', (trx) => renameBans(trx, job))
  return contexts + tickets + unlocks
}

async function findTickets(db: Db, { appId, isTest, userId }: AppUser): Promise<string[]> {
  const { rows } = await sql<{ ticket_id: string }>`SELECT ticket_id FROM tickets
    WHERE app_id = ${appId} AND is_test = ${isTest} AND user_id = ${userId} LIMIT ${sql.lit(AT_ONCE)}`.execute(db)
  return rows.map((row) => row.ticket_id)
}

async function deleteTickets(trx: Trx, { user, pseudonym }: Job, ids: string[]): Promise<number> {
  await sql`UPDATE audit_log SET details = details || jsonb_build_object('user_id', ${pseudonym}::text)
    WHERE subject = ANY (${ids}::text[]) AND starts_with(action, 'ticket.') AND details->>'user_id' = ${user.userId}`.execute(
    trx,
  )
  await sql`DELETE FROM mails WHERE (kind = 'ticket' AND about = ANY (${ids}::text[])) OR (kind = 'ticket_answer' AND about = ANY (
    ARRAY(SELECT message_id::text FROM ticket_messages WHERE ticket_id = ANY (${ids}::uuid[]))))`.execute(trx)
  const gone = await sql`DELETE FROM tickets WHERE ticket_id = ANY (${ids}::uuid[])`.execute(trx)
  return Number(gone.numAffectedRows ?? 0)
}

/** Entries of the audit log about bans of this user that were lifted. */
export const liftedBansOf = ({ appId, isTest, userId }: AppUser): RawBuilder<boolean> =>
  isTest
    ? sql`false`
    : sql`subject = ${userId} AND action IN ('user.ban', 'user.unban')
        AND (details->>'app_id' IS NULL OR details->>'app_id' = ${String(appId)})
        AND NOT EXISTS (SELECT FROM banned_users b WHERE b.user_id = audit_log.subject
          AND b.app_id IS NOT DISTINCT FROM (audit_log.details->>'app_id')::bigint)`

async function renameBans(trx: Trx, { user, pseudonym }: Job): Promise<number> {
  const renamed = await sql`UPDATE audit_log SET subject = ${pseudonym} WHERE ${liftedBansOf(user)}`.execute(trx)
  return Number(renamed.numAffectedRows ?? 0)
}
