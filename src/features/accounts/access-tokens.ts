// Tokens for programs that use the management API in somebody's name: mt_…, shown once, kept as a hash.
import { randomBytes } from 'node:crypto'
import type { Db } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { base62, createSecretHash, withChecksum } from '../../lib/tokens.ts'

const USE_NOTED_MS = 60_000
const MAX_TOKENS = 50

const COLUMNS = ['token_id', 'name', 'created_at', 'expires_at', 'last_used_at'] as const

export async function createAccessToken(
  db: Db,
  secretKey: string,
  { personId, name, expiresAt }: { personId: string; name: string; expiresAt: Date | null },
) {
  if (name.trim() === '' || name.length > 100)
    throw new OperatorError('The name of a token must have 1 to 100 characters.')
  const token = withChecksum(`mt_${base62(randomBytes(32), 43)}`)
  const token_hash = createSecretHash(secretKey)(token)
  const row = await db.transaction().execute(async (trx) => {
    // One at a time for each person, so that those who ask at once do not all find room.
    await trx.selectFrom('people').select('id').where('id', '=', personId).forNoKeyUpdate().execute()
    if ((await listAccessTokens(trx, personId)).length >= MAX_TOKENS)
      throw new OperatorError(`There are ${MAX_TOKENS} tokens already: revoke one that is not used.`)
    return trx
      .insertInto('access_tokens')
      .values({ person_id: personId, name: name.trim(), token_hash, expires_at: expiresAt })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
  })
  return { ...row, token }
}

export async function listAccessTokens(db: Db, personId: string) {
  return db
    .selectFrom('access_tokens')
    .select(COLUMNS)
    .where('person_id', '=', personId)
    .where('revoked_at', 'is', null)
    .orderBy('token_id', 'desc')
    .execute()
}

/** False when there is no such token of this person. */
export async function revokeAccessToken(db: Db, personId: string, tokenId: number, now: Date): Promise<boolean> {
  const revoked = await db
    .updateTable('access_tokens')
    .set({ revoked_at: now })
    .where('token_id', '=', tokenId)
    .where('person_id', '=', personId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return revoked.numUpdatedRows > 0n
}

/** Whose token has this hash; null when nobody's, or no longer. */
export async function findTokenHolder(db: Db, hash: string, now: Date) {
  const row = await db
    .selectFrom('access_tokens')
    .innerJoin('people', 'people.id', 'access_tokens.person_id')
    .select(['token_id', 'last_used_at', 'people.id', 'people.name', 'email', 'role', 'publisher_id'])
    .where('token_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .where('disabled_at', 'is', null)
    .where((is) => is.or([is('expires_at', 'is', null), is('expires_at', '>', now)]))
    .executeTakeFirst()
  if (row === undefined) return null
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > USE_NOTED_MS)
    await db.updateTable('access_tokens').set({ last_used_at: now }).where('token_id', '=', row.token_id).execute()
  return row
}
