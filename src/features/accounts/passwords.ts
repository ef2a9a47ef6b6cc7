// Passwords: verifying what better-auth stores, and hashing new ones.
import type { Db } from '../../db/open.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { checkPassword } from './people.ts'

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
