// Links that let somebody set a new password, once, within the hour. better-auth sends and uses them; only a keyed hash
// of what a link carries is stored, so whoever reads the database cannot set a password.
import { randomBytes } from 'node:crypto'
import type { Db } from '../../db/open.ts'
import { createSecretHash } from '../../lib/tokens.ts'

export const RESET_VALID_S = 3_600

export const resetUrl = (publicUrl: string, token: string) => `${publicUrl}/reset-password#${token}`

const stored = (secretKey: string, token: string) => createSecretHash(secretKey)(`reset-password:${token}`)

export type ResetLink = { publicUrl: string; personId: string }

/** As better-auth makes one, for networks that send no mail. */
export async function makeResetLink(db: Db, secretKey: string, { publicUrl, personId }: ResetLink, now: Date) {
  const token = randomBytes(24).toString('base64url')
  await db
    .insertInto('verifications')
    .values({
      identifier: stored(secretKey, token),
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

/** Whose link has this token, or null. Once it was used nothing tells. */
export async function findByResetToken(db: Db, secretKey: string, token: string) {
  const person = await db
    .selectFrom('verifications')
    .innerJoin('people', (join) => join.on((is) => is(is.cast<string>('people.id', 'text'), '=', is.ref('value'))))
    .select(['people.id', 'email', 'publisher_id'])
    .where('identifier', '=', stored(secretKey, token))
    .executeTakeFirst()
  return person ?? null
}
