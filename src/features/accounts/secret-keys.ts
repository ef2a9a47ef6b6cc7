// Whether SECRET_KEY is the one that this database is used with, and how another takes its place:
//
//   none known            -> the one that opens what is sealed here is noted (in a new database, any)
//   SECRET_KEY known      -> it is right, if every other known one is given, too
//   SECRET_KEY_OLD known  -> SECRET_KEY is new here, and noted: from now on it writes
//   neither               -> refused: no secret would be recognized, and none could be opened
//   nothing made with SECRET_KEY_OLD is left, or the operator gives that up -> it is retired
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { OLD_KEY_MISSING, OperatorError } from '../../errors.ts'
import { deriveKeys, keyId, splitKeys, unseal } from '../../lib/keys.ts'

const SAMPLE = 20

const WRONG =
  'SECRET_KEY is not the one that this database is used with: no API secret, token or link would be recognized, and no ' +
  'postback signed. Set it to that of the other nodes, or restore the file secret-key of DATA_DIR from a backup. To ' +
  'replace it on purpose, set SECRET_KEY to the new one and SECRET_KEY_OLD to the one before.'

const RETIRED =
  'SECRET_KEY was replaced in this database, and retired. Set it to the one that took its place, and leave out SECRET_KEY_OLD.'

/** Why this database cannot be used with this key, as a sentence that helps; null when it can. Changes nothing. */
export async function findKeyProblem(db: Db, secretKey: string): Promise<string | null> {
  const { problem } = await judge(db, secretKey)
  return problem
}

/** Refuses a key that is not this database's, and notes one that is new. */
export async function useSecretKey(db: Db, secretKey: string): Promise<void> {
  const { problem, toNote } = await judge(db, secretKey)
  if (problem !== null) throw new OperatorError(problem)
  if (toNote.length === 0) return
  await db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE secret_keys IN SHARE ROW EXCLUSIVE MODE`.execute(trx) // two that start at once
    const again = await judge(trx, secretKey)
    if (again.problem !== null) throw new OperatorError(again.problem)
    for (const key_id of again.toNote) await trx.insertInto('secret_keys').values({ key_id }).execute()
  })
}

async function judge(db: Db | Trx, secretKey: string): Promise<{ problem: string | null; toNote: string[] }> {
  const given = splitKeys(secretKey).map(keyId) as [string, ...string[]]
  const [current] = given
  const rows = await db.selectFrom('secret_keys').select(['key_id', 'retired_at']).execute()
  const live = rows.filter((row) => row.retired_at === null).map((row) => row.key_id)
  if (rows.length === 0) {
    const original = await findOriginal(db, secretKey)
    if (original === null) return { problem: WRONG, toNote: [] }
    return { problem: null, toNote: [...new Set([original, current])] }
  }
  if (rows.some((row) => row.key_id === current && row.retired_at !== null)) return { problem: RETIRED, toNote: [] }
  if (!live.some((id) => given.includes(id))) return { problem: WRONG, toNote: [] }
  if (!live.every((id) => given.includes(id))) return { problem: OLD_KEY_MISSING, toNote: [] }
  return { problem: null, toNote: live.includes(current) ? [] : [current] }
}

/** The ID of the key that this database was used with before IDs were stored; null when it is none of these. */
async function findOriginal(db: Db, secretKey: string): Promise<string | null> {
  const rows = await db
    .selectFrom('credentials')
    .select(['api_key', 'signing_secret_sealed'])
    .orderBy('created_at', 'desc')
    .limit(SAMPLE)
    .execute()
  const keys = splitKeys(secretKey)
  const opens = (key: string) =>
    rows.some(({ api_key, signing_secret_sealed }) => {
      try {
        return unseal(deriveKeys(key, 'signing secrets'), signing_secret_sealed, api_key) !== ''
      } catch {
        return false
      }
    })
  const original = rows.length === 0 ? keys[0] : keys.toReversed().find(opens)
  return original === undefined ? null : keyId(original)
}

/** Secrets and tokens that only a previous key recognizes: they are stored again when they are used. */
export async function countOldHashes(db: Db, secretKey: string, now: Date) {
  const ending = `%.${keyId(secretKey)}`
  const { rows } = await sql<{
    api_secrets: number
    advertiser_tokens: number
    access_tokens: number
    invitations: number
  }>`
    SELECT
      (SELECT count(*) FROM api_secrets s JOIN credentials c USING (api_key)
       WHERE s.hash NOT LIKE ${ending} AND (s.expires_at IS NULL OR s.expires_at > ${now}) AND c.revoked_at IS NULL) AS api_secrets,
      (SELECT count(*) FROM advertiser_tokens
       WHERE hash NOT LIKE ${ending} AND (expires_at IS NULL OR expires_at > ${now})) AS advertiser_tokens,
      (SELECT count(*) FROM access_tokens
       WHERE token_hash NOT LIKE ${ending} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})) AS access_tokens,
      (SELECT count(*) FROM invitations
       WHERE token_hash NOT LIKE ${ending} AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ${now}) AS invitations
  `.execute(db)
  return rows[0] as { api_secrets: number; advertiser_tokens: number; access_tokens: number; invitations: number }
}

/** From now on only the present key counts. */
export async function retireOldKeys(db: Db, secretKey: string, now: Date): Promise<void> {
  await db
    .updateTable('secret_keys')
    .set({ retired_at: now })
    .where('key_id', '!=', keyId(secretKey))
    .where('retired_at', 'is', null)
    .execute()
}
