// Users who were erased. Their clicks and conversions go on under a random pseudonym (users/erase.ts), so that late
// confirmations and chargebacks still count.
//
// A row that waited in a spool still has the plain ID. Its user is recognised by a keyed hash, all that is left of the ID.
import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import type { Db } from '../../db/open.ts'
import { createMac } from '../../lib/hmac.ts'
import { deriveKeys } from '../../lib/keys.ts'

export type ErasableUser = { appId: number; isTest: boolean; userId: string }

const PSEUDONYM = /^erased-[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

export const newPseudonym = () => `erased-${randomUUID()}`
export const isPseudonym = (userId: string) => PSEUDONYM.test(userId)

/** The pseudonym that took the place of a user as known at a time; null: that user was not erased. */
export type FindErased = (users: readonly (ErasableUser & { at: Date })[]) => Promise<(string | null)[]>

/** With the key that writes first. */
export function createUserHashes(secretKey: string): (user: ErasableUser) => string[] {
  const macs = deriveKeys(secretKey, 'erased users').map(createMac)
  return ({ appId, isTest, userId }) => macs.map((mac) => mac(`${appId}\n${isTest ? 't' : 'l'}\n${userId}`))
}

export function createErasedFinder(db: Db, secretKey: string): FindErased {
  const hashesOf = createUserHashes(secretKey)
  return async (users) => {
    const hashes = users.map(hashesOf)
    const { rows } = await sql<{ user_hash: string; pseudonym: string; done_at: Date | null }>`
      SELECT user_hash, pseudonym, done_at FROM erasures WHERE user_hash = ANY (${hashes.flat()}::text[])
      ORDER BY erasure_id`.execute(db)
    return users.map(({ at }, i) => {
      const found = rows.find(({ user_hash, done_at }) => hashes[i]?.includes(user_hash) && (done_at === null || at <= done_at)) // prettier-ignore
      return found?.pseudonym ?? null
    })
  }
}

/** How often users were given a pseudonym: a process that remembers users compares it. */
export async function readMoves(db: Db): Promise<number> {
  const { moves } = await db.selectFrom('erasure_moves').select('moves').executeTakeFirstOrThrow()
  return moves
}
