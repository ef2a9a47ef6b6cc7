// Passwords: what better-auth stores, changed together with what must end with the old one.
import type { Db, Trx } from '../../db/open.ts'
import { revokeAccessTokens } from './access-tokens.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { checkPassword } from './people.ts'
import { voidResetLinks } from './reset-links.ts'

/** The hash that this password matches; null when it is wrong. */
export async function provePassword(db: Db, personId: string, password: string): Promise<string | null> {
  const hash = await readPasswordHash(db, personId)
  return hash !== null && (await verifyPassword({ hash, password })) ? hash : null
}

/** A person's current password hash. `forShare`: waits for a change that is under way. */
export async function readPasswordHash(db: Db, personId: string, forShare = false): Promise<string | null> {
  const found = await db
    .selectFrom('sign_ins')
    .select('password')
    .where('person_id', '=', personId)
    .where('provider_id', '=', 'credential')
    .$if(forShare, (query) => query.forShare())
    .executeTakeFirst()
  return found?.password ?? null
}

export async function hashNewPassword(password: string): Promise<string> {
  checkPassword(password)
  return hashPassword(password)
}

export type NewPassword = {
  personId: string
  hash: string
  /**
   * The hash that was verified; a different one by now means that another request was faster. Null: a link was proof
   * enough.
   */
  provedHash: string | null
  /** The session that goes on; all others end. */
  keptSessionId: string | null
  endTokens: boolean
}

/** How many tokens ended; null when the password was not changed. Open reset links are void. */
export async function setPassword(trx: Trx, wanted: NewPassword, now: Date): Promise<number | null> {
  const { personId, hash, provedHash, keptSessionId, endTokens } = wanted
  let change = trx
    .updateTable('sign_ins')
    .set({ password: hash, updated_at: now })
    .where('person_id', '=', personId)
    .where('provider_id', '=', 'credential')
  if (provedHash !== null) change = change.where('password', '=', provedHash)
  if ((await change.executeTakeFirst()).numUpdatedRows === 0n) return null
  await endSessionsOf(trx, personId, keptSessionId)
  await voidResetLinks(trx, personId)
  return endTokens ? revokeAccessTokens(trx, personId, now) : 0
}

export async function endSession(trx: Trx, token: string): Promise<void> {
  await trx.deleteFrom('sessions').where('token', '=', token).execute()
}

/** All sessions of a person, except one that continues. */
export async function endSessionsOf(trx: Trx, personId: string, keptSessionId: string | null): Promise<void> {
  let ended = trx.deleteFrom('sessions').where('person_id', '=', personId)
  if (keptSessionId !== null) ended = ended.where('id', '<>', keptSessionId)
  await ended.execute()
}
