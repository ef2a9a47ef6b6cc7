// Links that verify the address of an application. Only a keyed hash of the latest token is stored.
import { randomBytes } from 'node:crypto'
import type { Db, Trx } from '../../../db/open.ts'
import { createSecretHash, createSecretHashes } from '../../../lib/tokens.ts'
import type { Network } from '../mails.ts'

/** Then the application is deleted. */
export const VALID_MS = 3 * 86_400_000

const named = (token: string) => `sign-up:${token}`

/** The link before is void. */
export async function createSignUpLink(trx: Trx, { secretKey, publicUrl }: Network, applicationId: number) {
  const token = randomBytes(24).toString('base64url')
  await trx
    .updateTable('applications')
    .set({ token_hash: createSecretHash(secretKey)(named(token)) })
    .where('application_id', '=', applicationId)
    .where('status', '=', 'unverified')
    .execute()
  return `${publicUrl}/sign-up/verify#${token}`
}

/** Those whose address can still be verified. */
export const unverified = (db: Db, now: Date) =>
  db
    .selectFrom('applications')
    .selectAll()
    .where('status', '=', 'unverified')
    .where('created_at', '>', new Date(now.getTime() - VALID_MS))

export const byLink = (db: Db, secretKey: string, token: string, now: Date) =>
  unverified(db, now).where('token_hash', 'in', createSecretHashes(secretKey)(named(token)))
