// Offers and their goals as they are recorded: reading them, pausing and resuming them.
import { sql } from 'kysely'
import type { Since } from '../../db/changes.ts'
import type { Db, Trx } from '../../db/open.ts'
import { OperatorError } from '../../errors.ts'
import type { Category, Platform } from './schema.ts'

export type GoalRecord = {
  goalId: number
  name: string
  description: string
  payoutMicros: number
  /** Millionths of the amount that the advertiser confirms; null when the payout is fixed. */
  payoutPpm: number | null
  isOptional: boolean
  isRepeatable: boolean
}

/** An offer as the catalogue needs it. */
export type OfferRecord = {
  offerId: number
  name: string
  description: string
  category: Category
  payoutMicros: number
  countries: string[]
  platforms: Platform[]
  destinationUrl: string
  imageUrl: string | null
  difficulty: string
  timeEstimate: string
  requirements: string
  paymentRequired: boolean
  conversionType: string
  status: string
  startsAt: Date | null
  endsAt: Date | null
  /** Closed by its caps until then. */
  fullUntilMs: number | null
  termsId: number
  popularity: number
  createdAt: Date
  updatedAt: Date
  changedXid: string
  goals: GoalRecord[]
}

const PAGE = 2_000

/** All offers in the order of their ids, a batch at a time. The next one is read while its reader works on this one. */
export async function* readAllOffers(db: Db): AsyncGenerator<OfferRecord[]> {
  const readAfter = (after: number) => {
    const reading = selectOffers(db).where('offer_id', '>', after).orderBy('offer_id').limit(PAGE).execute()
    reading.catch(() => {}) // whoever waits for it hears of it
    return reading
  }
  for (let reading = readAfter(0); ;) {
    const rows = await reading
    const last = rows.at(-1)
    if (last === undefined) return
    if (rows.length === PAGE) reading = readAfter(last.offer_id)
    yield await withGoals(db, rows)
    if (rows.length < PAGE) return
  }
}

/** The offers changed since then, a batch at a time. */
export async function* readChangedOffers(db: Db, since: Since): AsyncGenerator<OfferRecord[]> {
  for (const isNewer of since.parts) {
    for (let after = { xid: '0', id: -1 }; ;) {
      const rows = await selectOffers(db)
        .where(isNewer)
        .where(sql<boolean>`(changed_xid, offer_id) > (${after.xid}::xid8, ${after.id}::bigint)`)
        .orderBy('changed_xid')
        .orderBy('offer_id')
        .limit(PAGE)
        .execute()
      if (rows.length > 0) yield await withGoals(db, rows)
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) break
      after = { xid: last.changed_xid, id: last.offer_id }
    }
  }
}

/** In types that are quick to read: turning a million texts into dates and arrays takes longer than all the rest. */
const selectOffers = (db: Db) =>
  db
    .selectFrom('offers')
    .select([
      'offer_id',
      'name',
      'description',
      'category',
      'payout_micros',
      'image_url',
      'destination_url',
      'difficulty',
      'time_estimate',
      'requirements',
      'payment_required',
      'conversion_type',
      'status',
      'terms_id',
      'popularity',
      'changed_xid',
    ]) // prettier-ignore
    .select([
      sql<string>`array_to_string(countries, ',')`.as('countries'),
      sql<string>`array_to_string(platforms, ',')`.as('platforms'),
      msOf('starts_at').as('starts_ms'),
      msOf('ends_at').as('ends_ms'),
      msOf('full_until').as('full_until_ms'),
      msOf('created_at').as('created_ms'),
      msOf('updated_at').as('updated_ms'),
    ])

const msOf = (column: string) => sql<number | null>`date_part('epoch', ${sql.ref(column)}) * 1000`

type OfferRow = Awaited<ReturnType<ReturnType<typeof selectOffers>['execute']>>[number]

async function withGoals(db: Db, rows: OfferRow[]): Promise<OfferRecord[]> {
  const offerIds = rows.map((row) => row.offer_id)
  const goals = await db
    .selectFrom('goals')
    .select([
      'offer_id',
      'goal_id',
      'name',
      'description',
      'payout_micros',
      'payout_ppm',
      'is_optional',
      'is_repeatable',
    ])
    .where((is) => is('offer_id', '=', is.fn.any(is.val(offerIds))))
    .where('is_retired', '=', false)
    .orderBy('offer_id')
    .orderBy('place')
    .execute()
  const byOffer = new Map<number, GoalRecord[]>(offerIds.map((id) => [id, []]))
  for (const goal of goals) {
    byOffer.get(goal.offer_id)?.push({
      goalId: goal.goal_id,
      name: goal.name,
      description: goal.description,
      payoutMicros: goal.payout_micros,
      payoutPpm: goal.payout_ppm,
      isOptional: goal.is_optional,
      isRepeatable: goal.is_repeatable,
    })
  }
  return rows.map((row) => ({
    offerId: row.offer_id,
    name: row.name,
    description: row.description,
    category: row.category as Category,
    payoutMicros: row.payout_micros,
    countries: listOf(row.countries),
    platforms: listOf(row.platforms) as Platform[],
    destinationUrl: row.destination_url,
    imageUrl: row.image_url,
    difficulty: row.difficulty,
    timeEstimate: row.time_estimate,
    requirements: row.requirements,
    paymentRequired: row.payment_required,
    conversionType: row.conversion_type,
    status: row.status,
    startsAt: dateOf(row.starts_ms),
    endsAt: dateOf(row.ends_ms),
    fullUntilMs: row.full_until_ms, // a total cap that is full gives Infinity
    termsId: row.terms_id ?? 0,
    popularity: row.popularity,
    createdAt: new Date(row.created_ms ?? 0),
    updatedAt: new Date(row.updated_ms ?? 0),
    changedXid: row.changed_xid,
    goals: byOffer.get(row.offer_id) ?? [],
  }))
}

const listOf = (text: string) => (text === '' ? [] : text.split(','))
const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms))

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
