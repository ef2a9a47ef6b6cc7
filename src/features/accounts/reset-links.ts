// Links that let a person set a new password, once, within the hour. Only a keyed hash of the token is stored, so a
// reader of the database cannot set a password. Emailed links verify the address. Those that the command line prints do
// not, so they are stored under another name.
import { randomBytes, randomUUID } from 'node:crypto'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { createSecretHash } from '../../lib/tokens.ts'
import { type Actor, recordAudit } from './audit.ts'
import { hasEnoughLinks, lockLinkMails, type Network, queueMail, type Writer } from './mails.ts'
import { findByTypedEmail, lockPerson, type Person } from './people.ts'

const VALID_MS = 3_600_000

const MAILED = 'reset-password'
const PRINTED = 'printed-reset-password'

const stored = (secretKey: string, kind: string, token: string) => createSecretHash(secretKey)(`${kind}:${token}`)

export type ResetLink = { publicUrl: string; personId: string }

/** For an operator to hand over, in a network that sends no mail. */
export async function issueResetLink(
  trx: Trx,
  by: Actor,
  network: Network,
  { id, email, publisher_id: publisherId }: Person,
  now: Date,
): Promise<string> {
  await recordAudit(trx, by, { action: 'user.reset_password', subject: id, publisherId, details: { email } })
  return createResetLink(trx, network.secretKey, { publicUrl: network.publicUrl, personId: id }, now)
}

export const createResetLink = (db: Db, secretKey: string, { publicUrl, personId }: ResetLink, now: Date) =>
  createLink(db, { secretKey, publicUrl }, { kind: PRINTED, personId }, now)

async function createLink(
  db: Db,
  { secretKey, publicUrl }: Network,
  { kind, personId }: { kind: string; personId: string },
  now: Date,
) {
  const token = randomBytes(24).toString('base64url')
  await db
    .insertInto('verifications')
    .values({
      identifier: stored(secretKey, kind, token),
      value: personId,
      expires_at: new Date(now.getTime() + VALID_MS),
    })
    .execute()
  return `${publicUrl}/reset-password#${token}`
}

/**
 * Queues a row for an unknown address, too, and for one that has had its links: otherwise the response time would reveal
 * whether there is such an account. Such a row is about no one, so nothing is mailed.
 */
export async function queueResetMail(db: Db, typedEmail: string, now: Date): Promise<void> {
  const kind = 'password_reset'
  await inTransaction(db, async (trx) => {
    await lockLinkMails(trx, typedEmail.trim().toLowerCase())
    const about = (await findByTypedEmail(trx, typedEmail))?.id ?? randomUUID()
    const isEnough = await hasEnoughLinks(trx, { kind, about }, now)
    const expiresAt = new Date(now.getTime() + VALID_MS)
    await queueMail(trx, { kind, about: isEnough ? randomUUID() : about, expiresAt })
  })
}

export const resetWriter = (network: Network): Writer => ({
  findRecipients: findEnabledEmail,
  async write(trx, personId, now) {
    const name = await findPersonName(trx, personId)
    const url = await createLink(trx, network, { kind: MAILED, personId }, now)
    return {
      subject: 'Your Offerdeck password',
      text: `Hello ${name},\n\nSet a new password here within the hour:\n${url}\n\nIf you did not request this, you can ignore this email.\n`,
    }
  },
})

/** Where to email a person; nowhere once they are disabled. */
export async function findEnabledEmail(db: Db, personId: string): Promise<string[]> {
  const person = await db
    .selectFrom('people')
    .select('email')
    .where('id', '=', personId)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return person === undefined ? [] : [person.email]
}

export async function findPersonName(db: Db, personId: string): Promise<string> {
  return (await db.selectFrom('people').select('name').where('id', '=', personId).executeTakeFirstOrThrow()).name
}

/** All links of a person, and requested codes: once there is a new password, none of them may set another. */
export async function voidResetLinks(trx: Trx, personId: string): Promise<void> {
  // Mails first: this waits for one that is being written, whose link is there to be deleted then.
  await trx
    .deleteFrom('mails')
    .where('kind', '=', 'password_reset')
    .where('about', '=', personId)
    .where('status', '=', 'queued')
    .execute()
  await trx.deleteFrom('verifications').where('value', '=', personId).execute()
}

/** Consumes a link; returns its person, or null when it was used, has expired, or the person is disabled. */
export async function useResetLink(trx: Trx, secretKey: string, token: string, now: Date) {
  const mailed = stored(secretKey, MAILED, token)
  const links = [mailed, stored(secretKey, PRINTED, token)]
  const found = await trx
    .selectFrom('verifications')
    .select('value')
    .where('identifier', 'in', links)
    .executeTakeFirst()
  if (found === undefined) return null
  const person = await lockPerson(trx, found.value)
  const used = await trx
    .deleteFrom('verifications')
    .where('identifier', 'in', links)
    .where('expires_at', '>', now)
    .returning('identifier')
    .executeTakeFirst()
  if (person === null || person.disabled_at !== null || used === undefined) return null
  return { ...person, id: found.value, isMailed: used.identifier === mailed }
}

/** Whose password was right, while their code is still to come; better-auth keeps that beside the links. */
export async function findChallenged(db: Db, secretKey: string, challengeId: string) {
  const person = await db
    .selectFrom('verifications')
    .innerJoin('people', (join) => join.on((is) => is(is.cast<string>('people.id', 'text'), '=', is.ref('value'))))
    .select(['people.id', 'email', 'publisher_id'])
    .where('identifier', '=', createSecretHash(secretKey)(challengeId))
    .executeTakeFirst()
  return person ?? null
}
