// Apps and their credentials as they are recorded: making, listing, rotating and revoking them.
import { sql } from 'kysely'
import type { Since } from '../../db/changes.ts'
import { isUniqueViolation } from '../../db/faults.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { AppError, OperatorError } from '../../errors.ts'
import { seal } from '../../lib/keys.ts'
import { createSecretHash, makeApiKey, makeApiSecret, makeSigningSecret, type Mode, modeOf } from './secrets.ts'
import { signingSecretsKey } from './signing-secrets.ts'

const NO_SUCH_REFERENCE = '23503'

export type NewApp = {
  publisherId: number
  name: string
  currency: string
  rateMicros: number
  rateLimit: number
  expiresAt: Date | null
  blockedCategories: string[]
  blockedKeywords: string[]
  paymentOffers: boolean
}

/** Shown once; only hashes (and the signing secret, encrypted) are kept. */
export type IssuedCredentials = { api_key: string; api_secret: string; signing_secret: string }

export async function createApp(db: Db, secretKey: string, input: NewApp, mostApps = Infinity) {
  try {
    return await inTransaction(db, async (trx) => {
      if (mostApps !== Infinity) await checkRoom(trx, input.publisherId, mostApps)
      const { app_id } = await trx
        .insertInto('apps')
        .values({
          publisher_id: input.publisherId,
          name: input.name,
          currency: input.currency,
          rate_micros: input.rateMicros,
          rate_limit: input.rateLimit,
          blocked_categories: input.blockedCategories,
          blocked_keywords: input.blockedKeywords,
          payment_offers: input.paymentOffers,
        })
        .returning('app_id')
        .executeTakeFirstOrThrow()
      const live = await issueCredentials(trx, secretKey, app_id, 'live', input.expiresAt)
      const test = await issueCredentials(trx, secretKey, app_id, 'test', input.expiresAt)
      return { app_id, live, test }
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`This publisher has an app "${input.name}" already.`)
    if ((error as { code?: string }).code === NO_SUCH_REFERENCE)
      throw new OperatorError(`There is no publisher ${input.publisherId}.`)
    throw error
  }
}

/** One at a time for each publisher, so that those who ask at once do not all find room. */
async function checkRoom(trx: Trx, publisherId: number, mostApps: number): Promise<void> {
  await trx
    .selectFrom('publishers')
    .select('publisher_id')
    .where('publisher_id', '=', publisherId)
    .forNoKeyUpdate()
    .execute()
  const { count } = await trx
    .selectFrom('apps')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('publisher_id', '=', publisherId)
    .executeTakeFirstOrThrow()
  if (count >= mostApps)
    throw new AppError('CONFLICT', `A publisher can have ${mostApps} apps. Ask the operator if you need more.`)
}

async function issueCredentials(
  trx: Trx,
  secretKey: string,
  appId: number,
  mode: Mode,
  expiresAt: Date | null,
): Promise<IssuedCredentials> {
  const issued = { api_key: makeApiKey(mode), api_secret: makeApiSecret(mode), signing_secret: makeSigningSecret() }
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

/** Issues a new secret for an app's key. Those before stay good for the grace: none, for a secret that leaked. */
export async function rotateSecret(db: Db, secretKey: string, appId: number, mode: Mode, graceMs: number) {
  return inTransaction(db, async (trx) => {
    await touchApp(trx, appId)
    const { api_key, revoked_at } = await trx
      .selectFrom('credentials')
      .select(['api_key', 'revoked_at'])
      .where('app_id', '=', appId)
      .where('is_test', '=', mode === 'test')
      .executeTakeFirstOrThrow()
    if (revoked_at !== null)
      throw new OperatorError(
        `The ${mode} key of app ${appId} is revoked, for good: a new secret would not work. Make a new app.`,
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
    const api_secret = makeApiSecret(mode)
    await addSecret(trx, secretKey, api_key, api_secret)
    return { app_id: appId, api_key, api_secret, old_secret_expires_at: oldGoodUntil }
  })
}

/** Ends the secrets that are only good for the rest of a rotation's grace; says how many there were. */
export async function endOldSecrets(db: Db, appId: number, mode: Mode): Promise<number> {
  return inTransaction(db, async (trx) => {
    await touchApp(trx, appId)
    const ended = await trx
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
    return Number(ended.numDeletedRows)
  })
}

/**
 * Null: the key does not expire. An end that an operator set, the publisher may bring forward and not put off: what the
 * operator closes, only the operator opens.
 */
export async function setExpiry(
  db: Db,
  appId: number,
  mode: Mode,
  expiresAt: Date | null,
  by: 'operator' | 'publisher' = 'operator',
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await touchApp(trx, appId)
    let change = trx
      .updateTable('credentials')
      .set({ expires_at: expiresAt, ...(by === 'operator' ? { expiry_by_operator: expiresAt !== null } : {}) })
      .where('app_id', '=', appId)
      .where('is_test', '=', mode === 'test')
    if (by === 'publisher')
      change = change.where((is) =>
        is.or([
          is('expiry_by_operator', '=', false),
          is('expires_at', 'is', null),
          ...(expiresAt === null ? [] : [is('expires_at', '>=', expiresAt)]),
        ]),
      )
    if ((await change.executeTakeFirst()).numUpdatedRows === 0n && by === 'publisher')
      throw new AppError('NOT_ALLOWED', 'The operator of this network set when this key ends: only they put it off.')
  })
}

export type AppChange = { name?: string; currency?: string; rateMicros?: number }

/** What is absent stays. Conversions keep the currency and the rate that they were made with. */
export async function changeApp(db: Db, appId: number, { name, currency, rateMicros }: AppChange): Promise<void> {
  const set = {
    ...(name === undefined ? {} : { name }),
    ...(currency === undefined ? {} : { currency }),
    ...(rateMicros === undefined ? {} : { rate_micros: rateMicros }),
  }
  if (Object.keys(set).length === 0) return
  try {
    await db.updateTable('apps').set(set).where('app_id', '=', appId).execute()
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`This publisher has an app "${name}" already.`)
    throw error
  }
}

/** Ends both keys of an app, or only one of them, for good. */
export async function revokeApp(db: Db, appId: number, only?: Mode): Promise<void> {
  await inTransaction(db, async (trx) => {
    await touchApp(trx, appId)
    let ending = trx
      .updateTable('credentials')
      .set({ revoked_at: sql<Date>`now()` })
      .where('app_id', '=', appId)
      .where('revoked_at', 'is', null)
    if (only !== undefined) ending = ending.where('is_test', '=', only === 'test')
    await ending.execute()
  })
}

/** Of the app as a whole: null while one of its keys is good. */
export const REVOKED_AT = sql<Date | null>`(SELECT CASE WHEN bool_and(k.revoked_at IS NOT NULL) THEN max(k.revoked_at) END
  FROM credentials k WHERE k.app_id = apps.app_id)`

/** Stamps the app as changed, which every API process looks for, and keeps others from changing it meanwhile. */
async function touchApp(trx: Trx, appId: number): Promise<void> {
  const touched = await trx
    .updateTable('apps')
    .set((is) => ({ name: is.ref('name') }))
    .where('app_id', '=', appId)
    .executeTakeFirst()
  if (touched.numUpdatedRows === 0n)
    throw new OperatorError(`There is no app ${appId}. "offerdeck app list" shows them.`)
}

export async function listApps(db: Db) {
  const rows = await db
    .selectFrom('apps')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .innerJoin('credentials', 'credentials.app_id', 'apps.app_id')
    .leftJoin('postback_settings', 'postback_settings.app_id', 'apps.app_id')
    .select([
      'apps.app_id',
      'publishers.name as publisher',
      'apps.name',
      'currency',
      'rate_micros',
      'rate_limit',
      'postback_settings.url as postback_url',
    ])
    .select([
      'secret_leaked_at',
      'secret_leaked_origin',
      'api_key',
      'is_test',
      'expires_at',
      'revoked_at',
      'apps.created_at',
    ])
    .orderBy('apps.app_id')
    .orderBy('is_test')
    .execute()
  return rows.map(({ is_test, ...row }) => ({ ...row, mode: modeOf(is_test) }))
}

/** Those that are allowed, where only those are; else those that are not. */
const LISTED_OFFERS = sql<number[] | null>`(SELECT json_agg(o.offer_id ORDER BY o.offer_id) FROM publisher_offers o
  WHERE o.publisher_id = apps.publisher_id AND o.is_allowed = publishers.only_listed_offers)`
const BANNED_USERS = sql<string[] | null>`(SELECT json_agg(b.user_id) FROM banned_users b WHERE b.app_id = apps.app_id)`

/** Everything a process needs to check and serve requests, for the apps changed since then. */
export async function readChangedApps(db: Db, since: Since) {
  const apps = await db
    .selectFrom('apps')
    .innerJoin('credentials', 'credentials.app_id', 'apps.app_id')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select([
      'apps.app_id',
      'currency',
      'rate_micros',
      'rate_limit',
      'blocked_categories',
      'blocked_keywords',
      'payment_offers',
    ])
    .select(['api_key', 'is_test', 'expires_at', 'revoked_at', 'publishers.status', 'only_listed_offers', 'share_ppm'])
    .select(LISTED_OFFERS.as('listed_offers'))
    .select(BANNED_USERS.as('banned_users'))
    .where(since.isNewer)
    .execute()
  const keys = apps.map((app) => app.api_key)
  const secrets = await db
    .selectFrom('api_secrets')
    .select(['api_key', 'hash', 'expires_at'])
    .where((is) => is('api_key', '=', is.fn.any(is.val(keys))))
    .orderBy('api_secret_id', 'desc')
    .execute()
  const byKey = Map.groupBy(secrets, (secret) => secret.api_key)
  return apps.map((app) => ({ ...app, secrets: byKey.get(app.api_key) ?? [] }))
}

/** Whose app it is; null when there is none. */
export async function findAppOwner(db: Db, appId: number) {
  const app = await db
    .selectFrom('apps')
    .select(['app_id', 'publisher_id'])
    .where('app_id', '=', appId)
    .executeTakeFirst()
  return app === undefined ? null : { appId: app.app_id, publisherId: app.publisher_id }
}

/** Stores a secret as the present SECRET_KEY hashes it, once it was used: then the key before is not needed for it. */
export async function renewHash(db: Db, stored: string, present: string): Promise<void> {
  await db.updateTable('api_secrets').set({ hash: present }).where('hash', '=', stored).execute()
}
