// Conversions put straight into the database, with the postings that belong to them: for tests of what reads them.
import { type Change, movePosting, post, type Posting, type Worth } from '../src/features/ledger/ledger.ts'
import { uuid7 } from '../src/lib/uuid7.ts'
import type { World } from './world.ts'

type Status = 'pending' | 'approved' | 'rejected' | 'reversed'

export type Deal = {
  appId: number
  publisherId: number
  publisher: string
  advertiserId: number
  offerId: number
  goalId: number
}

export type Made = { conversionId: string; worth: Worth | null }

/** A publisher with an app, and an advertiser with an offer. */
export async function createDeal(world: World, offer: Record<string, unknown> = {}, appName = 'App'): Promise<Deal> {
  const { db } = world.database
  const { appId } = await world.createApp({ name: appName })
  const [offerId = 0] = await world.createOffers(offer)
  const { publisher_id, name } = await db
    .selectFrom('apps')
    .innerJoin('publishers', 'publishers.publisher_id', 'apps.publisher_id')
    .select(['publishers.publisher_id', 'publishers.name'])
    .where('app_id', '=', appId)
    .executeTakeFirstOrThrow()
  const { advertiser_id, goal_id } = await db
    .selectFrom('offers')
    .innerJoin('goals', 'goals.offer_id', 'offers.offer_id')
    .select(['advertiser_id', 'goal_id'])
    .where('offers.offer_id', '=', offerId)
    .executeTakeFirstOrThrow()
  return { appId, publisherId: publisher_id, publisher: name, advertiserId: advertiser_id, offerId, goalId: goal_id }
}

export type NewRow = {
  status: Status
  payoutMicros: number
  revenueMicros: number
  at: Date
  isTest?: boolean
  userId?: string
}

/** Inserts a conversion and what it posts. A reversed one was approved first. */
export async function createConversion(world: World, deal: Deal, row: NewRow): Promise<Made> {
  const conversionId = uuid7(row.at.getTime())
  const first = row.status === 'reversed' ? 'approved' : row.status
  await world.database.db
    .insertInto('conversions')
    .values({
      conversion_id: conversionId,
      app_id: deal.appId,
      publisher_id: deal.publisherId,
      advertiser_id: deal.advertiserId,
      offer_id: deal.offerId,
      goal_id: deal.goalId,
      user_id: row.userId ?? conversionId,
      click_id: uuid7(row.at.getTime()),
      advertiser_transaction_id: row.userId === undefined ? null : conversionId, // a user can complete an offer again
      is_test: row.isTest ?? false,
      is_repeatable: row.userId !== undefined,
      status: first,
      status_reason: first === 'rejected' ? 'operator' : null,
      source: 'advertiser',
      payout_micros: row.payoutMicros,
      revenue_micros: row.revenueMicros,
      currency: 'Coins',
      rate_micros: 100_000_000,
      created_at: row.at,
      approved_at: first === 'approved' ? row.at : null,
      rejected_at: first === 'rejected' ? row.at : null,
      sequence: 1,
      event_id: conversionId,
      actor: 'system',
    })
    .execute()
  const made: Made = { conversionId, worth: amountsOf(first, row) }
  if (!row.isTest) await postChange(world, deal, { conversionId, at: row.at, before: null, after: made.worth })
  return row.status === 'reversed' ? moveConversion(world, deal, made, 'reversed', row.at) : made
}

/** Moves a conversion that is not a test, and posts the difference. */
export async function moveConversion(world: World, deal: Deal, made: Made, to: Status, at: Date): Promise<Made> {
  const { conversionId } = made
  const eventId = uuid7(at.getTime())
  const row = await world.database.db
    .updateTable('conversions')
    .set((is) => ({
      status: to,
      status_reason: to === 'approved' ? null : 'operator',
      [`${to}_at`]: at,
      sequence: is('sequence', '+', 1),
      event_id: eventId,
    }))
    .where('conversion_id', '=', conversionId)
    .returning(['payout_micros as payoutMicros', 'revenue_micros as revenueMicros'])
    .executeTakeFirstOrThrow()
  const after = amountsOf(to, row)
  await postChange(world, deal, { conversionId, at, before: made.worth, after }, eventId)
  return { conversionId, worth: after }
}

type Moved = Pick<Change, 'conversionId' | 'at' | 'before' | 'after'>

export async function postChange(
  world: World,
  { publisherId, advertiserId }: Deal,
  change: Moved,
  eventId = uuid7(change.at.getTime()),
): Promise<void> {
  const posting = movePosting({ ...change, publisherId, advertiserId, eventId })
  if (posting !== null) await postAll(world, [posting])
}

export async function postAll(world: World, postings: Posting[]): Promise<void> {
  await world.database.db.transaction().execute((trx) => post(trx, postings))
}

function amountsOf(status: Status, { payoutMicros, revenueMicros }: Omit<Worth, 'status'>): Worth | null {
  return status === 'pending' || status === 'approved' ? { status, payoutMicros, revenueMicros } : null
}
