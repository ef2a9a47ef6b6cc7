// Links that let somebody set a new password, once, within the hour. Only a keyed hash of what a link carries is stored,
// so whoever reads the database cannot set a password. better-auth makes those that are mailed; they prove who has the
// address. Those that the command line prints prove nothing of the kind, so they are kept under another name.
import { randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../db/open.ts'
import { createSecretHash } from '../../lib/tokens.ts'

export const RESET_VALID_S = 3_600

export const resetUrl = (publicUrl: string, token: string) => `${publicUrl}/reset-password#${token}`

const MAILED = 'reset-password' // as better-auth has it
const PRINTED = 'printed-reset-password'

const stored = (secretKey: string, kind: string, token: string) => createSecretHash(secretKey)(`${kind}:${token}`)

export type ResetLink = { publicUrl: string; personId: string }

/** For networks that send no mail. */
export async function makeResetLink(db: Db, secretKey: string, { publicUrl, personId }: ResetLink, now: Date) {
  const token = randomBytes(24).toString('base64url')
  await db
    .insertInto('verifications')
    .values({
      identifier: stored(secretKey, PRINTED, token),
      value: personId,
      expires_at: new Date(now.getTime() + RESET_VALID_S * 1000),
    })
    .execute()
  return resetUrl(publicUrl, token)
}

/** All links of somebody, and codes asked for: once there is a new password, none of them may set another. */
export async function voidResetLinks(db: Db, personId: string): Promise<void> {
  await db.deleteFrom('verifications').where('value', '=', personId).execute()
}

/** Uses a link up; returns whose it is, or null when it was used, has expired, or is of somebody who is disabled. */
export async function useResetLink(trx: Trx, secretKey: string, token: string, now: Date) {
  const mailed = stored(secretKey, MAILED, token)
  const links = [mailed, stored(secretKey, PRINTED, token)]
  const found = await trx
    .selectFrom('verifications')
    .select('value')
    .where('identifier', 'in', links)
    .executeTakeFirst()
  if (found === undefined) return null
  // The person first, as whoever disables them does (team.ts).
  const person = await trx
    .selectFrom('people')
    .select(['id', 'email', 'publisher_id'])
    .where('id', '=', found.value)
    .where('disabled_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  const used = await trx
    .deleteFrom('verifications')
    .where('identifier', 'in', links)
    .where('expires_at', '>', now)
    .returning('identifier')
    .executeTakeFirst()
  return person === undefined || used === undefined ? null : { ...person, isMailed: used.identifier === mailed }
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
