// The secrets that postbacks are signed with: one for each key of an app, two while one takes the place of the other.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import { deriveKey, deriveKeys, reseal, type Resealed, seal, unseal } from '../../lib/keys.ts'
import { makeSigningSecret, type Mode } from './secrets.ts'

export const signingSecretsKey = (secretKey: string) => deriveKey(secretKey, 'signing secrets')

/** Issues a new one; the one before signs beside it until the grace is over. */
export async function rotateSigningSecret(db: Db, secretKey: string, appId: number, mode: Mode, graceMs: number) {
  const { api_key } =
    (await db
      .selectFrom('credentials')
      .select('api_key')
      .where('app_id', '=', appId)
      .where('is_test', '=', mode === 'test')
      .executeTakeFirst()) ?? noSuchApp(appId)
  const signing_secret = makeSigningSecret()
  const { old_signing_secret_expires_at } = await db
    .updateTable('credentials')
    .set((is) => ({
      old_signing_secret_sealed: is.ref('signing_secret_sealed'),
      old_signing_secret_expires_at: sql<Date>`now() + ${graceMs} * interval '1 millisecond'`,
      signing_secret_sealed: seal(signingSecretsKey(secretKey), signing_secret, api_key),
    }))
    .where('api_key', '=', api_key)
    .returning('old_signing_secret_expires_at')
    .executeTakeFirstOrThrow()
  return { app_id: appId, api_key, signing_secret, old_signing_secret_expires_at }
}

function noSuchApp(appId: number): never {
  throw new OperatorError(`There is no app ${appId}. "offerdeck app list" shows them.`)
}

/** Those that sign now, the newest first, by app and mode as `signingKeyOf` has it. */
export async function readSigningSecrets(
  db: Db,
  secretKey: string,
  appIds: readonly number[],
  now: Date,
): Promise<Map<string, string[]>> {
  const keys = deriveKeys(secretKey, 'signing secrets')
  const rows = await db
    .selectFrom('credentials')
    .select(['app_id', 'is_test', 'api_key', 'signing_secret_sealed', 'old_signing_secret_sealed'])
    .select('old_signing_secret_expires_at')
    .where((is) => is('app_id', '=', is.fn.any(is.val(appIds))))
    .execute()
  return new Map(
    rows.map((row) => {
      const sealed = [row.signing_secret_sealed]
      const { old_signing_secret_sealed: old, old_signing_secret_expires_at: until } = row
      if (old !== null && until !== null && until > now) sealed.push(old)
      return [signingKeyOf(row.app_id, row.is_test), sealed.flatMap((one) => tryUnseal(keys, one, row.api_key))]
    }),
  )
}

/** None when it was sealed with another SECRET_KEY: one app's trouble is not that of others. */
function tryUnseal(keys: readonly Buffer[], sealed: Buffer, apiKey: string): string[] {
  try {
    return [unseal(keys, sealed, apiKey)]
  } catch {
    return []
  }
}

export const signingKeyOf = (appId: number, isTest: boolean) => `${appId}|${isTest ? 't' : 'l'}`

/** Seals them all with the key that writes. */
export async function resealSigningSecrets(db: Db, secretKey: string): Promise<Resealed> {
  const rows = await db
    .selectFrom('credentials')
    .select(['api_key', 'signing_secret_sealed', 'old_signing_secret_sealed'])
    .execute()
  const count = { resealed: 0, unreadable: 0 }
  for (const { api_key, ...sealed } of rows) {
    for (const column of ['signing_secret_sealed', 'old_signing_secret_sealed'] as const) {
      const before = sealed[column]
      const after = before === null ? 'current' : reseal(secretKey, 'signing secrets', before, api_key)
      if (after === 'unreadable') count.unreadable++
      if (before === null || typeof after === 'string') continue
      // Not one that was rotated meanwhile: that was sealed anew.
      const query = db.updateTable('credentials').set(column, after).where('api_key', '=', api_key)
      await query.where(column, '=', before).execute()
      count.resealed++
    }
  }
  return count
}
