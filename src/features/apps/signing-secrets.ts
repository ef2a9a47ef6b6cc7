// The secrets that postbacks are signed with: one for each key of an app, and
// those that it has taken the place of, until their grace is over.
import { type RawBuilder, sql } from 'kysely'
import { type Db, inTransaction } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { deriveKey, deriveKeys, reseal, type Resealed, seal, unseal } from '../../lib/keys.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { createSigningSecret, type Mode } from './secrets.ts'

const HOUR_MS = 3_600_000

export const signingSecretsKey = (secretKey: string) => deriveKey(secretKey, 'signing secrets')

/** Issues a new one; those before sign beside it until the grace of each is over. */
export async function rotateSigningSecret(
  db: Db,
  by: Actor,
  secretKey: string,
  appId: number,
  mode: Mode,
  graceMs: number,
) {
  return inTransaction(db, async (trx) => {
    const found = await trx
      .selectFrom('credentials')
      .innerJoin('apps', 'apps.app_id', 'credentials.app_id')
      .select(['api_key', 'publisher_id'])
      .where('credentials.app_id', '=', appId)
      .where('is_test', '=', mode === 'test')
      .executeTakeFirst()
    if (found === undefined) throw new NoSuch('app', appId)
    const { api_key, publisher_id: publisherId } = found
    const signing_secret = createSigningSecret()
    const sealed = seal(signingSecretsKey(secretKey), signing_secret, api_key)
    const { rows } = await sql<{ expires_at: Date }>`
      WITH old AS (
        SELECT api_key, signing_secret_sealed FROM credentials WHERE api_key = ${api_key} FOR UPDATE
      ), forgotten AS (
        DELETE FROM old_signing_secrets WHERE api_key = ${api_key} AND expires_at <= now()
      ), renewed AS (
        UPDATE credentials c SET signing_secret_sealed = ${sealed} FROM old WHERE c.api_key = old.api_key
      )
      INSERT INTO old_signing_secrets (api_key, sealed, expires_at)
      SELECT api_key, signing_secret_sealed, now() + ${graceMs} * interval '1 millisecond' FROM old
      RETURNING expires_at`.execute(trx)
    const old_signing_secret_expires_at = rows[0]?.expires_at ?? null
    const details = { mode, grace_hours: graceMs / HOUR_MS }
    await recordAudit(trx, by, { action: 'app.rotate_signing_secret', subject: appId, publisherId, details })
    return { app_id: appId, api_key, signing_secret, old_signing_secret_expires_at }
  })
}

export type TimedSecret = { secret: string; /** Infinity: until it is rotated. */ expiresAtMs: number }

/** Those that sign now, the newest first, by app and mode as `signingKeyOf` has it. */
export async function readSigningSecrets(
  db: Db,
  secretKey: string,
  appIds: readonly number[],
): Promise<Map<string, string[]>> {
  const found = await readTimedSecrets(db, secretKey, appIds)
  return new Map([...found].map(([key, secrets]) => [key, secrets.map(({ secret }) => secret)]))
}

/** The same, with their ends. */
export async function readTimedSecrets(
  db: Db,
  secretKey: string,
  appIds: readonly number[],
): Promise<Map<string, TimedSecret[]>> {
  const keys = deriveKeys(secretKey, 'signing secrets')
  const old = (column: RawBuilder<unknown>) => sql`ARRAY(SELECT ${column} FROM old_signing_secrets old
    WHERE old.api_key = c.api_key AND old.expires_at > now() ORDER BY old.expires_at DESC, old.sealed)`
  const rows = await db
    .selectFrom('credentials as c')
    .select(['c.app_id', 'c.is_test', 'c.api_key', 'c.signing_secret_sealed'])
    .select(
      old(sql`old.sealed`)
        .$castTo<Buffer[]>()
        .as('old'),
    )
    .select(
      old(sql`old.expires_at`)
        .$castTo<Date[]>()
        .as('ends'),
    )
    .where((is) => is('c.app_id', '=', is.fn.any(is.val(appIds))))
    .execute()
  return new Map(
    rows.map((row) => {
      const current = { sealed: row.signing_secret_sealed, expiresAtMs: Infinity }
      const older = row.old.map((sealed, i) => ({ sealed, expiresAtMs: row.ends[i]?.getTime() ?? 0 }))
      const secrets = [current, ...older].flatMap(({ sealed, expiresAtMs }) =>
        tryUnseal(keys, sealed, row.api_key).map((secret) => ({ secret, expiresAtMs })),
      )
      return [signingKeyOf(row.app_id, row.is_test), secrets]
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
  const count = { resealed: 0, unreadable: 0 }
  const resealAll = async (
    rows: readonly { api_key: string; sealed: Buffer }[],
    write: (apiKey: string, before: Buffer, after: Buffer) => Promise<unknown>,
  ) => {
    for (const { api_key, sealed } of rows) {
      const after = reseal(secretKey, 'signing secrets', sealed, api_key)
      if (after === 'unreadable') count.unreadable++
      if (typeof after === 'string') continue
      await write(api_key, sealed, after)
      count.resealed++
    }
  }
  // Not one that was rotated meanwhile: that was sealed again.
  const current = await db.selectFrom('credentials').select(['api_key', 'signing_secret_sealed as sealed']).execute()
  await resealAll(current, (apiKey, before, after) =>
    db
      .updateTable('credentials')
      .set({ signing_secret_sealed: after })
      .where('api_key', '=', apiKey)
      .where('signing_secret_sealed', '=', before)
      .execute(),
  )
  const old = await db.selectFrom('old_signing_secrets').select(['api_key', 'sealed']).execute()
  await resealAll(old, (apiKey, before, after) =>
    db
      .updateTable('old_signing_secrets')
      .set({ sealed: after })
      .where('api_key', '=', apiKey)
      .where('sealed', '=', before)
      .execute(),
  )
  return count
}
