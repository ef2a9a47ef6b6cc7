// Offers for which the operator takes an app's word: its reports are approved at once. Off by default.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'

/** Which offers: these, or all that there are now. */
export type TrustedOffers = readonly number[] | 'all'

/** Returns how many were not trusted before. */
export async function trustApp(db: Db, appId: number, offers: TrustedOffers): Promise<number> {
  await checkIds(db, appId, offers)
  const added = await sql`
    INSERT INTO trusted_offers (app_id, offer_id)
    SELECT ${appId}, offer_id FROM offers WHERE ${isAmong(offers)} ON CONFLICT DO NOTHING`.execute(db)
  return Number(added.numAffectedRows ?? 0)
}

/** Returns how many were trusted before. What is approved stays so. */
export async function distrustApp(db: Db, appId: number, offers: TrustedOffers): Promise<number> {
  await checkIds(db, appId, offers)
  const removed = await sql`DELETE FROM trusted_offers WHERE app_id = ${appId} AND ${isAmong(offers)}`.execute(db)
  return Number(removed.numAffectedRows ?? 0)
}

const isAmong = (offers: TrustedOffers) =>
  offers === 'all' ? sql<boolean>`true` : sql<boolean>`offer_id = ANY (${[...offers]}::bigint[])`

async function checkIds(db: Db, appId: number, offers: TrustedOffers): Promise<void> {
  const app = await db.selectFrom('apps').select('app_id').where('app_id', '=', appId).executeTakeFirst()
  if (app === undefined) throw new OperatorError(`There is no app ${appId}. "offerdeck app list" shows them.`)
  if (offers === 'all') return
  const found = await db
    .selectFrom('offers')
    .select('offer_id')
    .where('offer_id', 'in', [...offers])
    .execute()
  const missing = offers.filter((id) => !found.some((row) => row.offer_id === id))
  if (missing.length > 0)
    throw new OperatorError(`There is no offer ${missing.join(', ')}. "offerdeck offer list" shows them.`)
}
