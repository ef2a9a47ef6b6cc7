// Verifies an email address: its owner opens a link that was emailed there and shown nowhere else. An account with an
// unverified address gives way to the person who verifies it.
import { randomBytes } from 'node:crypto'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { createSecretHash } from '../../lib/tokens.ts'
import { revokeAccessTokens } from './access-tokens.ts'
import { recordAudit } from './audit.ts'
import { hasEnoughLinks, lockLinkMails, type Network, queueMail, type Writer } from './mails.ts'
import { isOperatorRole, lockPerson, type Role } from './people.ts'
import { findEnabledEmail, findPersonName, voidResetLinks } from './reset-links.ts'
import { endSessionsOf } from './sessions.ts'
import { revokeInvitationsBy } from './team.ts'

const VALID_MS = 86_400_000

const stored = (secretKey: string, token: string) => createSecretHash(secretKey)(`verify-email:${token}`)

/** For a person who is signed in. */
export async function queueVerificationMail(db: Db, personId: string, now: Date): Promise<void> {
  const mail = { kind: 'email_verification', about: personId } as const
  await inTransaction(db, async (trx) => {
    await lockLinkMails(trx, personId)
    if (await hasEnoughLinks(trx, mail, now))
      throw new AppError(
        'RATE_LIMIT_EXCEEDED',
        'A link is on its way, or you were mailed several within the hour. Check your spam folder, or try again in an hour.',
      )
    await queueMail(trx, { ...mail, expiresAt: new Date(now.getTime() + VALID_MS) })
  })
}

export const verificationWriter = ({ secretKey, publicUrl }: Network): Writer => ({
  findRecipients: findEnabledEmail,
  async write(trx, personId, now) {
    const token = randomBytes(24).toString('base64url')
    const expires_at = new Date(now.getTime() + VALID_MS)
    await trx
      .insertInto('verifications')
      .values({ identifier: stored(secretKey, token), value: personId, expires_at })
      .execute()
    const name = await findPersonName(trx, personId)
    return {
      subject: 'Verify your email address',
      text: `Hello ${name},\n\nOpen this link within a day to verify your address:\n${publicUrl}/verify-email#${token}\n\nIf you did not request this, you can ignore this email.\n`,
    }
  },
})

/** Consumes a link. */
export async function useVerificationLink(
  trx: Trx,
  secretKey: string,
  { token, ip, requestId }: { token: string; ip: string; requestId?: string },
  now: Date,
): Promise<void> {
  const identifier = stored(secretKey, token)
  const found = await trx.selectFrom('verifications').select('value').where('identifier', '=', identifier).executeTakeFirst() // prettier-ignore
  if (found !== undefined) await lockPerson(trx, found.value)
  const used = await trx
    .deleteFrom('verifications')
    .where('identifier', '=', identifier)
    .where('expires_at', '>', now)
    .returning('value')
    .executeTakeFirst()
  const person = used === undefined ? null : await verifyEmail(trx, used.value)
  if (person === null)
    throw new AppError('INVALID_REQUEST', 'This link was already used or has expired. Request a new one.')
  const { id, email, publisher_id: publisherId } = person
  await recordAudit(trx, { id, email, ip, requestId }, { action: 'person.verify_email', subject: id, publisherId })
}

/** Null for a person who is disabled by now. */
export async function verifyEmail(trx: Trx, personId: string) {
  const person = await trx
    .updateTable('people')
    .set({ email_verified: true })
    .where('id', '=', personId)
    .where('disabled_at', 'is', null)
    .returning(['id', 'email', 'publisher_id'])
    .executeTakeFirst()
  return person ?? null
}

/**
 * What happens to the account that has an address when another person verifies it. taken: it stays. An operator's does,
 * because operators vouch for each other; so does a disabled one, or locked-out people would come back by a new
 * invitation.
 */
export type Holder = 'none' | 'gives way' | 'taken'

export async function holderOf(db: Db, email: string): Promise<{ holder: Holder; personId: string | null }> {
  const person = await db
    .selectFrom('people')
    .select(['id', 'role', 'email_verified', 'disabled_at'])
    .where('email', '=', email)
    .executeTakeFirst()
  if (person === undefined) return { holder: 'none', personId: null }
  const stays = person.email_verified || person.disabled_at !== null || isOperatorRole(person.role as Role)
  return { holder: stays ? 'taken' : 'gives way', personId: person.id }
}

/** Removes the address from an account that never verified it, and closes the account. */
export async function releaseAddress(
  trx: Trx,
  { personId, ip, requestId }: { personId: string; ip: string; requestId?: string | undefined },
  now: Date,
) {
  const person = await trx
    .selectFrom('people')
    .select(['email', 'publisher_id'])
    .where('id', '=', personId)
    .where('email_verified', '=', false)
    .forUpdate()
    .executeTakeFirst()
  if (person === undefined) throw new AppError('CONFLICT', 'The owner of this email address has just verified it.')
  await trx
    .updateTable('people')
    .set({ email: `${personId}@unverified.invalid`, disabled_at: now, disabled_by_operator: true })
    .where('id', '=', personId)
    .execute()
  await endSessionsOf(trx, personId, null)
  await voidResetLinks(trx, personId)
  await revokeAccessTokens(trx, personId, now)
  await revokeInvitationsBy(trx, personId, now)
  await recordAudit(
    trx,
    { id: null, email: person.email, ip, requestId },
    {
      action: 'person.give_way',
      subject: personId,
      publisherId: person.publisher_id,
      details: { email: person.email },
    },
  )
}
