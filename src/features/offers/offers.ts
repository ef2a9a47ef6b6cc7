// Offers and their goals as they are recorded: reading them, pausing and resuming them.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'

/** Keeps others from changing it meanwhile, so that what is compared is what was there. */
export async function lockOffer(trx: Trx, offerId: number): Promise<void> {
  await trx.selectFrom('offers').select('offer_id').where('offer_id', '=', offerId).forNoKeyUpdate().execute()
}

export async function setOfferStatus(db: Db, offerId: number, status: 'active' | 'paused'): Promise<void> {
  const changed = await db
    .updateTable('offers')
    .set({ status, updated_at: sql`date_trunc('second', now())` })
    .where('offer_id', '=', offerId)
    .executeTakeFirst()
  if (changed.numUpdatedRows === 0n) throw noSuchOffer(offerId)
}

export type OfferSummary = {
  offer_id: number
  advertiser: string
  external_id: string
  name: string
  category: string
  payout_micros: number
  status: string
}

export async function listOffers(
  db: Db,
  page: { after: number; limit: number; advertiser?: string },
): Promise<OfferSummary[]> {
  let query = db
    .selectFrom('offers')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'offers.advertiser_id')
    .select([
      'offer_id',
      'advertisers.name as advertiser',
      'external_id',
      'offers.name',
      'category',
      'payout_micros',
      'status',
    ])
    .where('offer_id', '>', page.after)
    .orderBy('offer_id')
    .limit(page.limit)
  if (page.advertiser !== undefined) query = query.where('advertisers.name', '=', page.advertiser)
  return query.execute()
}

export type OfferFilter = {
  /** Part of the name or of the external_id, or the offer_id. */
  search?: string
  status?: string
  advertiserId?: number
  category?: string
  before?: number
}

/** Newest first. */
export async function searchOffers(db: Db, filter: OfferFilter, limit: number) {
  const { search, status, advertiserId, category, before } = filter
  let query = db
    .selectFrom('offers')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'offers.advertiser_id')
    .select(['offer_id', 'offers.advertiser_id', 'advertisers.name as advertiser', 'external_id', 'offers.name'])
    .select(['category', 'payout_micros', 'revenue_micros', 'countries', 'platforms', 'image_url', 'status'])
    .select(['starts_at', 'ends_at', 'full_until', 'offers.updated_at'])
  if (status !== undefined) query = query.where('status', '=', status)
  if (advertiserId !== undefined) query = query.where('offers.advertiser_id', '=', advertiserId)
  if (category !== undefined) query = query.where('category', '=', category)
  if (before !== undefined) query = query.where('offer_id', '<', before)
  if (search !== undefined) {
    const pattern = `%${search.replaceAll(/[%_\\]/g, '\\$&')}%`
    const offerId = /^\d{1,15}$/.test(search) ? Number(search) : null
    query = query.where((is) =>
      is.or([
        is('offers.name', 'ilike', pattern),
        is('external_id', 'ilike', pattern),
        ...(offerId === null ? [] : [is('offer_id', '=', offerId)]),
      ]),
    )
  }
  return query.orderBy('offer_id', 'desc').limit(limit).execute()
}

/** Everything recorded about these offers, their goals included. */
export async function findOffers(db: Db, offerIds: number[]) {
  const offers = await db
    .selectFrom('offers')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'offers.advertiser_id')
    .selectAll('offers')
    .select('advertisers.name as advertiser')
    .where((is) => is('offer_id', '=', is.fn.any(is.val(offerIds))))
    .execute()
  const goals = await db
    .selectFrom('goals')
    .selectAll()
    .where((is) => is('offer_id', '=', is.fn.any(is.val(offerIds))))
    .orderBy('place')
    .execute()
  const byOffer = Map.groupBy(goals, (goal) => goal.offer_id)
  return offers.map((offer) => ({ ...offer, goals: byOffer.get(offer.offer_id) ?? [] }))
}

export type RecordedOffer = Awaited<ReturnType<typeof findOffers>>[number]

export async function showOffer(db: Db, offerId: number): Promise<RecordedOffer> {
  const [offer] = await findOffers(db, [offerId])
  if (offer === undefined) throw noSuchOffer(offerId)
  return offer
}

export function noSuchOffer(offerId: number): OperatorError {
  return new OperatorError(`There is no offer ${offerId}. "offerdeck offer list" shows them.`)
}
