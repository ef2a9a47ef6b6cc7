// Mails of invitations: queued with the invitation, sent by whichever process comes first, tried again until the invitation
// ends. The link is made for each mail: only a hash of it is kept, so a mail cannot be written again.
import type { Db, Trx } from '../../db/open.ts'
import { isRefusedRecipient, type Mailer } from '../../lib/mail.ts'
import { createInvitationToken, invitationUrl, isOpen } from './invitations.ts'

const BATCH = 50
const FIRST_WAIT_MS = 30_000 // longer than a mail server may take; then twice as long, each time
const MAX_WAIT_MS = 3_600_000

type Network = { secretKey: string; publicUrl: string }
type Claimed = { invitationId: number; attempts: number; email: string; token: string; inviter: string; to: string }

/** Sends what is due. Returns how many were sent; throws what went wrong last, after it has gone through all of them. */
export async function mailInvitations(db: Db, mailer: Mailer | null, network: Network, now: Date): Promise<number> {
  if (mailer === null) return 0
  let [sent, failure] = [0, null as unknown]
  for (let i = 0; i < BATCH; i++) {
    const claimed = await db.transaction().execute((trx) => claimNext(trx, network.secretKey, now))
    if (claimed === null) break
    try {
      await mailer.send(write(claimed, network.publicUrl))
      await settle(db, claimed, { mail_due_at: null, mailed_at: now, mail_failure: null })
      sent++
    } catch (error) {
      failure = error
      if (isRefusedRecipient(error)) await settle(db, claimed, { mail_due_at: null, mail_failure: 'refused' })
      else await settle(db, claimed, { mail_failure: 'unreachable' })
    }
  }
  if (failure !== null) throw failure
  return sent
}

/** The next attempt is due before this one begins: whoever dies meanwhile leaves it to somebody else. */
async function claimNext(trx: Trx, secretKey: string, now: Date): Promise<Claimed | null> {
  const due = await trx
    .selectFrom('invitations')
    .select(['invitation_id', 'email', 'invited_by', 'publisher_id', 'mail_attempts'])
    .where('mail_due_at', '<=', now)
    .where(isOpen(now))
    .orderBy('mail_due_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  if (due === undefined) return null
  const { token, hash } = createInvitationToken(secretKey)
  const attempts = due.mail_attempts + 1
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** due.mail_attempts, MAX_WAIT_MS)
  await trx
    .updateTable('invitations')
    .set({ token_hash: hash, mail_attempts: attempts, mail_due_at: new Date(now.getTime() + waitMs) })
    .where('invitation_id', '=', due.invitation_id)
    .execute()
  const find = (table: 'people' | 'publishers', column: 'id' | 'publisher_id', value: string | number | null) =>
    trx.selectFrom(table).select('name').where(column, '=', value).executeTakeFirst()
  const inviter = await find('people', 'id', due.invited_by)
  const publisher = await find('publishers', 'publisher_id', due.publisher_id)
  return {
    invitationId: due.invitation_id,
    attempts,
    email: due.email ?? '',
    token,
    inviter: inviter?.name ?? 'The operator',
    to: publisher?.name ?? 'the network',
  }
}

const write = ({ email, token, inviter, to }: Claimed, publicUrl: string) => ({
  to: email,
  subject: 'You are invited to Offerdeck',
  text: `${inviter} invites you to ${to} on Offerdeck.\n\nCreate your account here, within a week:\n${invitationUrl(publicUrl, token)}\n`,
})

type Result = { mail_due_at?: null; mailed_at?: Date; mail_failure: 'unreachable' | 'refused' | null }

/** Of this attempt: a later one knows better. */
const settle = (db: Db, { invitationId, attempts }: Claimed, result: Result) =>
  db
    .updateTable('invitations')
    .set(result)
    .where('invitation_id', '=', invitationId)
    .where('mail_attempts', '=', attempts)
    .execute()
