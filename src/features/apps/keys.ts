// An app's keys and their secrets: issuing, rotating, ending and revoking them.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError, NoSuch, OperatorError } from '../../errors.ts'
import { seal } from '../../lib/keys.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { createSecretHash, createApiKey, createApiSecret, createSigningSecret, type Mode } from './secrets.ts'
import { signingSecretsKey } from './signing-secrets.ts'

const HOUR_MS = 3_600_000

/** Shown once; only hashes (and the signing secret, encrypted) are kept. */
export type IssuedCredentials = { api_key: string; api_secret: string; signing_secret: string }

export async function issueCredentials(
  trx: Trx,
  secretKey: string,
  appId: number,
  mode: Mode,
  expiresAt: Date | null,
): Promise<IssuedCredentials> {
  const issued = {
    api_key: createApiKey(mode),
    api_secret: createApiSecret(mode),
    signing_secret: createSigningSecret(),
  }
  await trx
    .insertInto('credentials')
    .values({
      api_key: issued.api_key,
      app_id: appId,
      is_test: mode === 'test',
      signing_secret_sealed: seal(signingSecretsKey(secretKey), issued.signing_secret, issued.api_key),
      expires_at: expiresAt,
    })
    .execute()
  await addSecret(trx, secretKey, issued.api_key, issued.api_secret)
  return issued
}

async function addSecret(trx: Trx, secretKey: string, apiKey: string, secret: string): Promise<void> {
  await trx
    .insertInto('api_secrets')
    .values({ api_key: apiKey, hash: createSecretHash(secretKey)(secret) })
    .execute()
}

/**
 * Issues a new secret for an app's key. Previous ones stay valid for the grace period: none, for a secret that leaked.
 */
export async function rotateSecret(db: Db, by: Actor, secretKey: string, appId: number, mode: Mode, graceMs: number) {
  return inTransaction(db, async (trx) => {
    const publisherId = await touchApp(trx, appId)
    const { api_key, revoked_at } = await trx
      .selectFrom('credentials')
      .select(['api_key', 'revoked_at'])
      .where('app_id', '=', appId)
      .where('is_test', '=', mode === 'test')
      .executeTakeFirstOrThrow()
    if (revoked_at !== null)
      throw new OperatorError(
        `The ${mode} key of app ${appId} is permanently revoked, so a new secret would not work. Create a new app.`,
      )
    const goodUntil = sql<Date>`now() + ${graceMs} * interval '1 millisecond'`
    // Only the newest of those before gets the grace: two live secrets, never three.
    const before = await trx
      .selectFrom('api_secrets')
      .select('api_secret_id')
      .where('api_key', '=', api_key)
      .orderBy('api_secret_id', 'desc')
      .execute()
    const [newest, ...older] = before.map((row) => row.api_secret_id)
    if (older.length > 0) await trx.deleteFrom('api_secrets').where('api_secret_id', 'in', older).execute()
    let oldGoodUntil: Date | null = null
    if (newest !== undefined) {
      const { expires_at } = await trx
        .updateTable('api_secrets')
        .set({ expires_at: sql<Date>`least(expires_at, ${goodUntil})` })
        .where('api_secret_id', '=', newest)
        .returning('expires_at')
        .executeTakeFirstOrThrow()
      oldGoodUntil = expires_at
    }
    const api_secret = createApiSecret(mode)
    await addSecret(trx, secretKey, api_key, api_secret)
    const details = { mode, grace_hours: graceMs / HOUR_MS }
    await recordAudit(trx, by, { action: 'app.rotate_secret', subject: appId, publisherId, details })
    return { app_id: appId, api_key, api_secret, old_secret_expires_at: oldGoodUntil }
  })
}

/** Ends the secrets that are only valid for the rest of a grace period; returns how many there were. */
export async function endOldSecrets(db: Db, by: Actor, appId: number, mode: Mode): Promise<number> {
  return inTransaction(db, async (trx) => {
    const publisherId = await touchApp(trx, appId)
    const { numDeletedRows } = await trx
      .deleteFrom('api_secrets')
      .where('expires_at', 'is not', null)
      .where('api_key', 'in', (is) =>
        is
          .selectFrom('credentials')
          .select('api_key')
          .where('app_id', '=', appId)
          .where('is_test', '=', mode === 'test'),
      )
      .executeTakeFirst()
    const ended = Number(numDeletedRows)
    await recordAudit(trx, by, { action: 'app.end_old_secret', subject: appId, publisherId, details: { mode, ended } })
    return ended
  })
}

/**
 * Null: the key does not expire. An end that an operator set, the publisher may bring forward and not put off: what the
 * operator closes, only the operator opens.
 */
export async function setExpiry(
  db: Db,
  by: Actor,
  appId: number,
  mode: Mode,
  expiresAt: Date | null,
  as: 'operator' | 'publisher' = 'operator',
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const publisherId = await touchApp(trx, appId)
    let change = trx
      .updateTable('credentials')
      .set({ expires_at: expiresAt, ...(as === 'operator' ? { expiry_by_operator: expiresAt !== null } : {}) })
      .where('app_id', '=', appId)
      .where('is_test', '=', mode === 'test')
    if (as === 'publisher')
      change = change.where((is) =>
        is.or([
          is('expiry_by_operator', '=', false),
          is('expires_at', 'is', null),
          ...(expiresAt === null ? [] : [is('expires_at', '>=', expiresAt)]),
        ]),
      )
    if ((await change.executeTakeFirst()).numUpdatedRows === 0n && as === 'publisher')
      throw new AppError('NOT_ALLOWED', 'The operator set the expiry of this key. Only an operator can extend it.')
    const details = { mode, expires_at: expiresAt?.toISOString() ?? null }
    await recordAudit(trx, by, { action: 'app.set_expiry', subject: appId, publisherId, details })
  })
}

/** Ends both keys of an app, or only one of them, for good. */
export async function revokeApp(db: Db, by: Actor, appId: number, only?: Mode): Promise<void> {
  await inTransaction(db, async (trx) => {
    const publisherId = await touchApp(trx, appId)
    let ending = trx
      .updateTable('credentials')
      .set({ revoked_at: sql<Date>`now()` })
      .where('app_id', '=', appId)
      .where('revoked_at', 'is', null)
    if (only !== undefined) ending = ending.where('is_test', '=', only === 'test')
    await ending.execute()
    const entry = only === undefined ? { action: 'app.revoke' } : { action: 'app.revoke_key', details: { mode: only } }
    await recordAudit(trx, by, { ...entry, subject: appId, publisherId })
  })
}

/** Stores a secret as the present SECRET_KEY hashes it, once it was used: then the key before is not needed for it. */
export async function renewHash(db: Db, stored: string, present: string): Promise<void> {
  await db.updateTable('api_secrets').set({ hash: present }).where('hash', '=', stored).execute()
}

/**
 * Stamps the app as changed, which every API process looks for, and keeps others from changing it meanwhile. Returns its
 * publisher_id.
 */
async function touchApp(trx: Trx, appId: number): Promise<number> {
  const touched = await trx
    .updateTable('apps')
    .set((is) => ({ name: is.ref('name') }))
    .where('app_id', '=', appId)
    .returning('publisher_id')
    .executeTakeFirst()
  if (touched === undefined) throw new NoSuch('app', appId)
  return touched.publisher_id
}
