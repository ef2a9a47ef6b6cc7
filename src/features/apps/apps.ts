// Apps as they are recorded: creating, changing and listing them. Their keys are in keys.ts.
import { sql } from 'kysely'
import type { Since } from '../../db/changes.ts'
import { isUniqueViolation } from '../../db/pg-errors.ts'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { containing, idOf } from '../../db/search.ts'
import { AppError, NoSuch, OperatorError } from '../../errors.ts'
import { microsToUsd } from '../../lib/money.ts'
import type { Reference } from '../../lib/reference.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { issueCredentials } from './keys.ts'
import { lockPublisher } from './permissions.ts'
import { modeOf } from './secrets.ts'

const NO_SUCH_REFERENCE = '23503'
/** Of a publisher: they are listed whole. */
const MOST_APPS = 1_000

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

export async function createApp(db: Db, by: Actor, secretKey: string, input: NewApp, mostApps = MOST_APPS) {
  try {
    return await inTransaction(db, async (trx) => {
      await checkRoom(trx, input.publisherId, mostApps)
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
      const { publisherId, name, currency, rateMicros } = input
      const details = { name, currency, rate: microsToUsd(rateMicros) }
      await recordAudit(trx, by, { action: 'app.create', subject: app_id, publisherId, details })
      return { app_id, live, test }
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`This publisher already has an app "${input.name}".`, 'name')
    if ((error as { code?: string }).code === NO_SUCH_REFERENCE) throw new NoSuch('publisher', input.publisherId)
    throw error
  }
}

/** Under lock, so that those who ask at once do not all find room. */
async function checkRoom(trx: Trx, publisherId: number, mostApps: number): Promise<void> {
  await lockPublisher(trx, publisherId)
  const { count } = await trx
    .selectFrom('apps')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('publisher_id', '=', publisherId)
    .executeTakeFirstOrThrow()
  if (count >= mostApps)
    throw new AppError(
      'CONFLICT',
      `A publisher can have ${mostApps} apps.${mostApps < MOST_APPS ? ' Ask the operator if you need more.' : ''}`,
    )
}

export type AppChange = { name?: string; currency?: string; rateMicros?: number }

/** Absent fields stay. Conversions keep the currency and rate they were created with. */
export async function changeApp(db: Db, by: Actor, appId: number, change: AppChange): Promise<void> {
  const { rateMicros, ...given } = change
  if (Object.keys(change).length === 0) return
  await inTransaction(db, async (trx) => {
    const found = await trx
      .selectFrom('apps')
      .select(['publisher_id', 'name', 'currency', 'rate_micros'])
      .where('app_id', '=', appId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (found === undefined) throw new NoSuch('app', appId)
    const { publisher_id: publisherId, rate_micros, ...before } = found
    await updateApp(trx, appId, { ...given, ...(rateMicros === undefined ? {} : { rate_micros: rateMicros }) })
    const details = {
      ...given,
      ...(rateMicros === undefined ? {} : { rate: microsToUsd(rateMicros) }),
      before: { ...before, rate: microsToUsd(rate_micros) },
    }
    await recordAudit(trx, by, { action: 'app.change', subject: appId, publisherId, details })
  })
}

async function updateApp(trx: Trx, appId: number, set: { name?: string; currency?: string; rate_micros?: number }) {
  try {
    await trx.updateTable('apps').set(set).where('app_id', '=', appId).execute()
  } catch (error) {
    if (isUniqueViolation(error)) throw new OperatorError(`This publisher already has an app "${set.name}".`, 'name')
    throw error
  }
}

/** Of the app as a whole: null while one of its keys is good. */
export const REVOKED_AT = sql<Date | null>`(SELECT CASE WHEN bool_and(k.revoked_at IS NOT NULL) THEN max(k.revoked_at) END
  FROM credentials k WHERE k.app_id = apps.app_id)`

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
      // None of the secrets from before the leak is good any more.
      sql<boolean>`revoked_at IS NOT NULL OR NOT EXISTS (SELECT FROM api_secrets s WHERE s.api_key = credentials.api_key
        AND s.created_at <= secret_leaked_at AND (s.expires_at IS NULL OR s.expires_at > now()))`.as('is_leak_over'),
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

/** The offers that are allowed, and those that are not, of each publisher once: all its apps have them. */
async function readListedOffers(db: Db, publisherIds: readonly number[]): Promise<(of: Listing) => number[]> {
  const { rows } = await sql<{ publisher_id: number; is_allowed: boolean; offer_ids: number[] }>`
    SELECT publisher_id, is_allowed, json_agg(offer_id ORDER BY offer_id) AS offer_ids FROM publisher_offers
    WHERE publisher_id = ANY (${[...new Set(publisherIds)]}::bigint[]) GROUP BY 1, 2`.execute(db)
  const lists = new Map(
    rows.map(({ publisher_id, is_allowed, offer_ids }) => [`${publisher_id} ${is_allowed}`, offer_ids]),
  )
  return ({ publisher_id, only_listed_offers }) => lists.get(`${publisher_id} ${only_listed_offers}`) ?? []
}
type Listing = { publisher_id: number; only_listed_offers: boolean }

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
      'kind',
      'keeps_balance',
      'rounding',
      'min_reward_steps',
      'sale_multiplier_ppm',
      'sale_starts_at',
      'sale_ends_at',
      'welcome_offer_id',
      'daily_limit',
    ])
    .select(['api_key', 'is_test', 'expires_at', 'revoked_at', 'publishers.status', 'only_listed_offers', 'share_ppm'])
    .select('apps.publisher_id')
    .select(BANNED_USERS.as('banned_users'))
    .where(since.isNewer)
    .execute()
  const listedOf = await readListedOffers(db, apps.map((app) => app.publisher_id)) // prettier-ignore
  const keys = apps.map((app) => app.api_key)
  const secrets = await db
    .selectFrom('api_secrets')
    .select(['api_key', 'hash', 'expires_at'])
    .where((is) => is('api_key', '=', is.fn.any(is.val(keys))))
    .orderBy('api_secret_id', 'desc')
    .execute()
  const byKey = Map.groupBy(secrets, (secret) => secret.api_key)
  return apps.map((app) => ({ ...app, listed_offers: listedOf(app), secrets: byKey.get(app.api_key) ?? [] }))
}

/** Those with this ID or this name, which only the apps of one publisher have once: "Publisher/App" says whose. */
export async function matchApps(db: Db, { id, name }: Reference) {
  return db
    .selectFrom('apps')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['app_id', 'apps.name', 'publishers.name as publisher'])
    .where((is) =>
      is.or([
        is('app_id', '=', id),
        is('apps.name', '=', name),
        is(sql`publishers.name || '/' || apps.name`, '=', name),
      ]),
    )
    .orderBy('app_id')
    .execute()
}

/** Newest first; `text` is part of a name, or an ID, which comes before all others. */
export async function searchApps(db: Db, text: string, publisherId: number | null, limit: number) {
  let query = db
    .selectFrom('apps')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['app_id', 'apps.name', 'apps.publisher_id', 'publishers.name as publisher'])
    .where((is) => is.or([is('apps.name', 'ilike', containing(text)), is('app_id', '=', idOf(text))]))
  if (publisherId !== null) query = query.where('apps.publisher_id', '=', publisherId)
  return query
    .orderBy((is) => is('app_id', '=', idOf(text)), 'desc')
    .orderBy('app_id', 'desc')
    .limit(limit)
    .execute()
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
