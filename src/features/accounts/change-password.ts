// A new password, set by its owner or by a reset link, together with what must end with the old one.
import type { Trx } from '../../db/open.ts'
import { AppError } from '../../errors.ts'
import { revokeAccessTokens } from './access-tokens.ts'
import { type Actor, recordAudit } from './audit.ts'
import { verifyEmail } from './email-verification.ts'
import { type Account, lockPerson } from './people.ts'
import { useResetLink, voidResetLinks } from './reset-links.ts'
import { endSessionsOf } from './sessions.ts'

export type NewPassword = {
  hash: string
  /** The hash that was verified; a different one by now means that another request was faster. */
  provedHash: string
  /** The session that goes on; all others end. */
  keptSessionId: string | null
  endTokens: boolean
}

/** Returns how many tokens ended. */
export async function changePassword(
  trx: Trx,
  by: Actor,
  { id, publisherId }: Account,
  { hash, provedHash, keptSessionId, endTokens }: NewPassword,
  now: Date,
): Promise<number> {
  await lockPerson(trx, id)
  if (!(await setHash(trx, id, hash, provedHash, now)))
    throw new AppError('CONFLICT', 'Your password was just changed elsewhere. Sign in again.')
  await endSessionsOf(trx, id, keptSessionId)
  await voidResetLinks(trx, id)
  const tokens_ended = endTokens ? await revokeAccessTokens(trx, id, now) : 0
  await recordAudit(trx, by, { action: 'password.change', subject: id, publisherId, details: { tokens_ended } })
  return tokens_ended
}

/** Consumes a reset link. Returns how many tokens ended. */
export async function resetPassword(
  trx: Trx,
  secretKey: string,
  { token, hash, ip, requestId }: { token: string; hash: string; ip: string; requestId?: string },
  now: Date,
): Promise<number> {
  const person = await useResetLink(trx, secretKey, token, now)
  if (person === null)
    throw new AppError('INVALID_REQUEST', 'This link was already used or has expired. Request a new one.')
  const { id, email, publisher_id: publisherId } = person
  await setHash(trx, id, hash, null, now)
  await endSessionsOf(trx, id, null)
  await voidResetLinks(trx, id)
  const tokens_ended = await revokeAccessTokens(trx, id, now)
  if (person.isMailed) await verifyEmail(trx, id)
  const entry = { action: 'password.reset', subject: id, publisherId, details: { tokens_ended } }
  await recordAudit(trx, { id, email, ip, requestId }, entry)
  return tokens_ended
}

async function setHash(trx: Trx, personId: string, hash: string, provedHash: string | null, now: Date) {
  let change = trx
    .updateTable('sign_ins')
    .set({ password: hash, updated_at: now })
    .where('person_id', '=', personId)
    .where('provider_id', '=', 'credential')
  if (provedHash !== null) change = change.where('password', '=', provedHash)
  return (await change.executeTakeFirst()).numUpdatedRows > 0n
}
