// Offers and their goals as they are recorded: reading them, pausing and resuming them.
import { sql } from 'kysely'
import { type Db, inTransaction, type Trx } from '../../db/open.ts'
import { allOf, containing, type Found, idOf, search } from '../../db/search.ts'
import { NoSuch } from '../../errors.ts'
import type { Reference } from '../../lib/reference.ts'
import { type Actor, recordAudit } from '../accounts/audit.ts'

/** Keeps others from changing it meanwhile, so that what is compared is what was there. */
export async function lockOffer(trx: Trx, offerId: number): Promise<void> {
  await trx.selectFrom('offers').select('offer_id').where('offer_id', '=', offerId).forNoKeyUpdate().execute()
}

const VERBS = { active: 'resume', paused: 'pause' } as const

export type OfferStatus = keyof typeof VERBS

/** Pauses or resumes an offer. One that has this status already stays as it is. */
export async function setOfferStatus(db: Db, by: Actor, offerId: number, status: OfferStatus): Promise<void> {
  const { missing } = await setOfferStatuses(db, by, [offerId], status)
  if (missing.length > 0) throw new NoSuch('offer', offerId)
}

export type StatusChange = { changed: number[]; unchanged: number[]; missing: number[] }

/** Without an audit entry: the caller records it. */
export async function changeStatuses(trx: Trx, offerIds: readonly number[], status: OfferStatus) {
  // In one order, so that two who change the same offers do not wait for each other.
  const found = await trx
    .selectFrom('offers')
    .select(['offer_id', 'status'])
    .where((is) => is('offer_id', '=', is.fn.any(is.val([...offerIds]))))
    .orderBy('offer_id')
    .forNoKeyUpdate()
    .execute()
  const changed = found.filter((offer) => offer.status !== status)
  await trx
    .updateTable('offers')
    .set({ status, updated_at: sql`date_trunc('second', now())` })
    .where((is) => is('offer_id', '=', is.fn.any(is.val(changed.map(({ offer_id }) => offer_id)))))
    .execute()
  return { found, changed }
}

/** Pauses or resumes offers, all or none. Each has its own audit entry, so that its history shows it. */
export async function setOfferStatuses(
  db: Db,
  by: Actor,
  offerIds: readonly number[],
  status: OfferStatus,
): Promise<StatusChange> {
  const asked = [...new Set(offerIds)]
  return inTransaction(db, async (trx) => {
    const { found, changed } = await changeStatuses(trx, asked, status)
    for (const { offer_id, status: before } of changed) {
      const details = { changes: { status: { before, after: status } } }
      await recordAudit(trx, by, { action: `offer.${VERBS[status]}`, subject: offer_id, details })
    }
    if (status === 'paused') await takeOverPauses(trx, by, asked)
    const known = new Set(found.map(({ offer_id }) => offer_id))
    return {
      changed: changed.map(({ offer_id }) => offer_id),
      unchanged: found.filter((offer) => offer.status === status).map(({ offer_id }) => offer_id),
      missing: asked.filter((offerId) => !known.has(offerId)),
    }
  })
}

/** What its advertiser had paused stays paused until the operator resumes it. */
async function takeOverPauses(trx: Trx, by: Actor, offerIds: readonly number[]): Promise<void> {
  const taken = await trx
    .deleteFrom('advertiser_pauses')
    .where((is) => is('offer_id', '=', is.fn.any(is.val([...offerIds]))))
    .returning('offer_id')
    .execute()
  for (const { offer_id } of taken) {
    const details = { changes: { paused_by: { before: 'advertiser', after: 'operator' } } }
    await recordAudit(trx, by, { action: 'offer.pause', subject: offer_id, details })
  }
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

export const readOfferNames = (db: Db, offerIds: number[]) =>
  db
    .selectFrom('offers')
    .select(['offer_id', 'name'])
    .where(sql<boolean>`offer_id = ANY (${offerIds}::bigint[])`)
    .execute()

export type OfferFilter = {
  /** Part of the name or of the external_id, or the offer_id. */
  search?: string
  status?: string
  advertiserId?: number
  category?: string
  before?: number
}

/** Newest first; an offer with exactly this ID, ours or its advertiser's, before all others. */
export async function searchOffers(db: Db, filter: OfferFilter, limit: number): Promise<Found<FoundOffer>> {
  const { search: text, status, advertiserId, category, before } = filter
  const exact = text === undefined ? [] : await findExactly(db, text.trim())
  // The index of an advertiser's offers, or of the paused ones: few among many. The rest is filtered on the way.
  const indexed = [
    ...(advertiserId === undefined ? [] : [sql<boolean>`advertiser_id = ${advertiserId}::bigint`]),
    ...(status === 'paused' ? [sql<boolean>`status = 'paused'`] : []),
  ]
  const filters = [
    ...(status === 'active' ? [sql<boolean>`status = 'active'`] : []),
    ...(category === undefined ? [] : [sql<boolean>`category = ${category}`]),
    ...(text === undefined ? [] : [sayingText(text), sql<boolean>`offer_id <> ALL (${exact}::bigint[])`]),
  ]
  const range = before === undefined ? [] : [sql<boolean>`offer_id < ${before}::bigint`]
  const [walkedBy, ...more] = indexed
  const { rows, next } = await search<{ offer_id: number }>(
    db,
    {
      id: 'offer_id',
      filters: [...more, ...filters],
      walk: (order, most) =>
        sql`SELECT * FROM (SELECT offer_id, external_id, name, category, status FROM offers
          WHERE ${allOf([...(walkedBy === undefined ? [] : [walkedBy]), ...range])} ${order} LIMIT ${most}::integer) AS o`,
    },
    limit,
  )
  const found = await readSummaries(db, [...(before === undefined ? exact : []), ...rows.map((row) => row.offer_id)])
  const fits = ({ offer_id, ...offer }: FoundOffer) =>
    !exact.includes(offer_id) ||
    ((status ?? offer.status) === offer.status &&
      (category ?? offer.category) === offer.category &&
      (advertiserId ?? offer.advertiser_id) === offer.advertiser_id)
  return { rows: found.filter(fits), next }
}

/** The same filter, for statements that order offers by something else. */
export function isLike({ search: text, status, advertiserId, category }: OfferFilter) {
  return allOf([
    ...(status === undefined ? [] : [sql<boolean>`status = ${status}`]),
    ...(advertiserId === undefined ? [] : [sql<boolean>`advertiser_id = ${advertiserId}::bigint`]),
    ...(category === undefined ? [] : [sql<boolean>`category = ${category}`]),
    ...(text === undefined ? [] : [sql<boolean>`(offer_id = ${idOf(text)}::bigint OR ${sayingText(text)})`]),
  ])
}

function sayingText(text: string) {
  const pattern = containing(text)
  return sql<boolean>`(name ILIKE ${pattern} OR external_id ILIKE ${pattern})`
}

const MOST_EXACT = 20

/** Those with this ID, this name, or this ID of their advertiser. */
export async function matchOffers(db: Db, { id, name }: Reference) {
  return db
    .selectFrom('offers')
    .select(['offer_id', 'name'])
    .where((is) => is.or([is('offer_id', '=', id), is('name', '=', name), is('external_id', '=', name)]))
    .orderBy('offer_id')
    .limit(MOST_EXACT)
    .execute()
}

async function findExactly(db: Db, text: string): Promise<number[]> {
  const { rows } = await sql<{ offer_id: number }>`
    SELECT offer_id FROM offers WHERE offer_id = ${idOf(text)}
    UNION (SELECT offer_id FROM offers WHERE external_id = ${text} ORDER BY offer_id DESC LIMIT ${MOST_EXACT}::integer)`.execute(
    db,
  )
  return rows.map((row) => row.offer_id)
}

const selectSummaries = (db: Db) =>
  db
    .selectFrom('offers')
    .innerJoin('advertisers', 'advertisers.advertiser_id', 'offers.advertiser_id')
    .select(['offer_id', 'offers.advertiser_id', 'advertisers.name as advertiser', 'external_id', 'offers.name'])
    .select(['category', 'payout_micros', 'revenue_micros', 'countries', 'platforms', 'image_url', 'status'])
    .select(['starts_at', 'ends_at', 'full_until', 'budget_until', 'offers.updated_at'])
export type FoundOffer = Awaited<ReturnType<ReturnType<typeof selectSummaries>['execute']>>[number]

/** In the order of these ids. */
export async function readSummaries(db: Db, offerIds: readonly number[]): Promise<FoundOffer[]> {
  const rows = await selectSummaries(db)
    .where((is) => is('offer_id', '=', is.fn.any(is.val([...offerIds]))))
    .execute()
  const byId = new Map(rows.map((row) => [row.offer_id, row]))
  return offerIds.flatMap((id) => byId.get(id) ?? [])
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
  if (offer === undefined) throw new NoSuch('offer', offerId)
  return offer
}
