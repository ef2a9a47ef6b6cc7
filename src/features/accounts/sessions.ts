// Sessions of people. better-auth creates and checks them; what we do with them is here.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { type Actor, recordAudit } from './audit.ts'
import { readPasswordHash } from './passwords.ts'
import { type Account, lockPerson } from './people.ts'
import { noteSignInPlace } from './sign-in-places.ts'

/** Of a person. A program that signs in again and again ends its own earlier ones. */
const MAX_SESSIONS = 100

export type NewSession = {
  token: string
  /** The password's hash before it was verified. */
  hash: string | null
}

/**
 * False when the password was changed meanwhile: that ended the sessions which the old one had started, and so this one
 * ends, too.
 */
export async function startSession(
  trx: Trx,
  { id, email, publisherId }: Account & { email: string },
  { token, hash }: NewSession,
  { ip, requestId }: { ip: string; requestId: string },
  now: Date,
): Promise<boolean> {
  if ((await readPasswordHash(trx, id, true)) !== hash) {
    await trx.deleteFrom('sessions').where('token', '=', token).execute()
    return false
  }
  await sql`DELETE FROM sessions WHERE person_id = ${id} AND id IN (
    SELECT id FROM sessions WHERE person_id = ${id} ORDER BY updated_at DESC OFFSET ${MAX_SESSIONS})`.execute(trx)
  const details = (await noteSignInPlace(trx, id, ip, now)) ? { new_place: true } : {}
  await recordAudit(trx, { id, email, ip, requestId }, { action: 'session.start', subject: id, publisherId, details })
  return true
}

/** A person's sessions, the latest first. */
export async function listSessions(db: Db, personId: string, now: Date) {
  return db
    .selectFrom('sessions')
    .select(['id', 'ip_address', 'user_agent', 'created_at', 'updated_at'])
    .where('person_id', '=', personId)
    .where('expires_at', '>', now)
    .orderBy('updated_at', 'desc')
    .execute()
}

/** False when there is no such session of this person. */
export async function endSession(
  trx: Trx,
  by: Actor,
  { id, publisherId }: Account,
  sessionId: string,
): Promise<boolean> {
  await lockPerson(trx, id)
  const session = await trx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .where('person_id', '=', id)
    .executeTakeFirst()
  if (session === undefined) return false
  const details = { session_id: sessionId }
  // Before it ends: it may be the one that this is done with.
  await recordAudit(trx, by, { action: 'session.end', subject: id, publisherId, details })
  await trx.deleteFrom('sessions').where('id', '=', sessionId).execute()
  return true
}

/** All sessions of a person, who is locked, except one that continues. Part of a change that has an entry of its own. */
export async function endSessionsOf(trx: Trx, personId: string, keptSessionId: string | null): Promise<void> {
  let ended = trx.deleteFrom('sessions').where('person_id', '=', personId)
  if (keptSessionId !== null) ended = ended.where('id', '<>', keptSessionId)
  await ended.execute()
}

/** Records that the person of this session was verified just now. */
export async function proveSession(db: Db, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('sessions').set({ proven_at: now }).where('id', '=', sessionId).execute()
}

/** A code of the second factor was given for this session. Without that it is over once its person has one. */
export async function noteCodeGiven(db: Db, session: { id: string } | { token: string }): Promise<void> {
  const [name, value] = 'id' in session ? (['id', session.id] as const) : (['token', session.token] as const)
  await db.updateTable('sessions').set({ with_code: true }).where(name, '=', value).execute()
}

/** Deletes expired sessions, with the IP addresses and browsers they name, and unused links and codes. */
export async function forgetExpired(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', now).execute()
  await db.deleteFrom('verifications').where('expires_at', '<', now).execute()
}
