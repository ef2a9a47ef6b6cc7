// What the operator allows an app. Its word is taken for trusted offers: reports are approved at once. Off by default.
import { type RawBuilder, sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { allOf, containing, type Found, idOf, search } from '../../db/search.ts'
import { NoSuch, OperatorError } from '../../errors.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'
import { REVOKED_AT } from './apps.ts'

/** Which offers: these, or all that there are now. */
export type TrustedOffers = readonly number[] | 'all'

/** Returns how many were not trusted before. */
export const trustApp = (db: Db, by: Actor, appId: number, offers: TrustedOffers): Promise<number> =>
  changeTrust(db, by, { appId, offers, action: 'app.trust' }, (trx) =>
    sql`
      INSERT INTO trusted_offers (app_id, offer_id)
      SELECT ${appId}, offer_id FROM offers WHERE ${isAmong(offers)} ON CONFLICT DO NOTHING`.execute(trx),
  )

/** Returns how many were trusted before. What is approved stays so. */
export const distrustApp = (db: Db, by: Actor, appId: number, offers: TrustedOffers): Promise<number> =>
  changeTrust(db, by, { appId, offers, action: 'app.distrust' }, (trx) =>
    sql`DELETE FROM trusted_offers WHERE app_id = ${appId} AND ${isAmong(offers)}`.execute(trx),
  )

const changeTrust = (
  db: Db,
  by: Actor,
  { appId, offers, action }: { appId: number; offers: TrustedOffers; action: string },
  write: (trx: Trx) => Promise<{ numAffectedRows?: bigint }>,
): Promise<number> =>
  inTransaction(db, async (trx) => {
    const publisherId = await checkIds(trx, appId, offers)
    const changed = Number((await write(trx)).numAffectedRows ?? 0)
    await recordAudit(trx, by, { action, subject: appId, publisherId, details: { offers, changed } })
    return changed
  })

/** Every part narrows; what is absent does not. `search` is part of an offer's name, or its id. */
export type TrustFilter = { search?: string; isTrusted?: boolean; before?: number }

/** All offers, newest first, each with whether the app is trusted for it. */
export async function listTrust(db: Db, appId: number, filter: TrustFilter, limit: number): Promise<Found<Trust>> {
  const { search: text, isTrusted, before } = filter
  const range = before === undefined ? [] : [sql<boolean>`o.offer_id < ${before}::bigint`]
  const trusted = sql`LEFT JOIN trusted_offers t ON t.app_id = ${appId}::bigint AND t.offer_id = o.offer_id`
  const walk = (order: RawBuilder<unknown>, most: number) =>
    isTrusted === true
      ? sql`SELECT o.offer_id, name, status, trusted_since FROM (
          SELECT o.offer_id, created_at AS trusted_since FROM trusted_offers o
          WHERE ${allOf([sql`app_id = ${appId}::bigint`, ...range])} ${order} LIMIT ${most}::integer) AS o JOIN offers USING (offer_id)`
      : sql`SELECT o.*, t.created_at AS trusted_since FROM (
          SELECT offer_id, name, status FROM offers o WHERE ${allOf(range)} ${order} LIMIT ${most}::integer) AS o ${trusted}`
  const filters = [
    ...(text === undefined ? [] : [namedSo(text)]),
    ...(isTrusted === false ? [sql<boolean>`trusted_since IS NULL`] : []),
  ]
  return search(db, { walk, id: 'offer_id', filters }, limit)
}

export type Trust = { offer_id: number; name: string; status: string; trusted_since: Date | null }

function namedSo(text: string) {
  return sql<boolean>`(name ILIKE ${containing(text)} OR offer_id = ${idOf(text)}::bigint)`
}

/** For how many offers each app of a publisher is trusted, with what else the operator decides about it. */
export async function listAllowances(db: Db, publisherId: number) {
  return db
    .selectFrom('apps')
    .select(['app_id', 'name', 'currency', 'rate_micros', 'rate_limit', 'created_at'])
    .select(REVOKED_AT.as('revoked_at'))
    .select((is) => [
      is
        .selectFrom('trusted_offers')
        .select((count) => count.fn.countAll<number>().as('trusted'))
        .whereRef('trusted_offers.app_id', '=', 'apps.app_id')
        .as('trusted_offers'),
      is
        .selectFrom('credentials')
        .leftJoin('credential_uses', 'credential_uses.api_key', 'credentials.api_key')
        .select((last) => last.fn.max('last_used_at').as('last_used_at'))
        .whereRef('credentials.app_id', '=', 'apps.app_id')
        .as('last_used_at'),
    ])
    .where('publisher_id', '=', publisherId)
    .orderBy('app_id')
    .execute()
}

/** Requests a minute for each of the app's keys. */
export async function setRateLimit(db: Db, by: Actor, appId: number, rateLimit: number): Promise<void> {
  await inTransaction(db, async (trx) => {
    const before = await trx
      .selectFrom('apps')
      .select(['publisher_id', 'rate_limit'])
      .where('app_id', '=', appId)
      .forUpdate()
      .executeTakeFirst()
    if (before === undefined) throw new NoSuch('app', appId)
    await trx.updateTable('apps').set({ rate_limit: rateLimit }).where('app_id', '=', appId).execute()
    const details = { rate_limit: rateLimit, rate_limit_before: before.rate_limit }
    const publisherId = before.publisher_id
    await recordAudit(trx, by, { action: 'app.set_rate_limit', subject: appId, publisherId, details })
  })
}

const isAmong = (offers: TrustedOffers) =>
  offers === 'all' ? sql<boolean>`true` : sql<boolean>`offer_id = ANY (${[...offers]}::bigint[])`

/** Returns the app's publisher_id. */
async function checkIds(db: Db, appId: number, offers: TrustedOffers): Promise<number> {
  const app = await db.selectFrom('apps').select('publisher_id').where('app_id', '=', appId).executeTakeFirst()
  if (app === undefined) throw new NoSuch('app', appId)
  if (offers === 'all') return app.publisher_id
  const found = await db
    .selectFrom('offers')
    .select('offer_id')
    .where('offer_id', 'in', [...offers])
    .execute()
  const missing = offers.filter((id) => !found.some((row) => row.offer_id === id))
  const [one, ...others] = missing
  if (one !== undefined && others.length === 0) throw new NoSuch('offer', one)
  if (missing.length > 0) throw new OperatorError(`There is no offer ${missing.join(', ')}.`)
  return app.publisher_id
}
