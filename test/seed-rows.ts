// Clicks and conversions inserted straight into the database, for tests of what is reported about them.
import { randomUUID } from 'node:crypto'
import { ensurePartitions } from '../src/db/partitions.ts'
import type { Db } from '../src/db/open.ts'
import { uuid7 } from '../src/lib/uuid7.ts'

type SubIds = { aff_sub?: string; aff_sub2?: string; aff_sub3?: string; aff_sub4?: string }

export type ClickSeed = SubIds & {
  at: string
  appId: number
  offerId: number
  country?: string
  device?: string
  os?: string
  isTest?: boolean
  signals?: string[]
  /** One of its own, where it is not given. */
  click_id?: string
}

export async function addClicks(db: Db, ...seeds: ClickSeed[]): Promise<void> {
  await ensurePartitions(
    db,
    'clicks',
    seeds.map(({ at }) => Date.parse(at)),
  )
  const rows = seeds.map(({ at, appId, offerId, isTest = false, signals, ...more }) => ({
    click_id: uuid7(Date.parse(at)),
    clicked_at: new Date(at),
    app_id: appId,
    is_test: isTest,
    user_id: 'a secret user',
    offer_id: offerId,
    terms_id: 1,
    currency: 'Coins',
    rate_micros: 1_000_000,
    request_id: 'req_1',
    signals: signals ?? null,
    ...more,
  }))
  await db.insertInto('clicks').values(rows).execute()
}

export type ConversionSeed = SubIds & {
  at: string
  appId: number
  offerId: number
  status: 'pending' | 'approved' | 'rejected' | 'reversed'
  payoutMicros?: number
  /** The payout, where it is not given. */
  revenueMicros?: number
  rateMicros?: number
  rounding?: string | null
  country?: string
  device?: string
  isTest?: boolean
  /** One of its own, where it is not given. */
  click_id?: string
  /** Null: of a bot's click. */
  nthOfClick?: number | null
  /** One of its own, where it is not given. */
  user_id?: string
}

/** Each belongs by default to a user and a click of its own. A reversed one is inserted as approved first, as the database demands. */
export async function addConversions(db: Db, ...seeds: ConversionSeed[]): Promise<void> {
  for (const {
    at,
    appId,
    offerId,
    status,
    payoutMicros = 0,
    revenueMicros = payoutMicros,
    rateMicros = 1_000_000,
    isTest = false,
    nthOfClick = 1,
    ...more
  } of seeds) {
    const app = await db.selectFrom('apps').selectAll().where('app_id', '=', appId).executeTakeFirstOrThrow()
    const offer = await db.selectFrom('offers').selectAll().where('offer_id', '=', offerId).executeTakeFirstOrThrow()
    const goal = await db.selectFrom('goals').selectAll().where('offer_id', '=', offerId).executeTakeFirstOrThrow()
    const created_at = new Date(at)
    const conversion_id = uuid7(created_at.getTime())
    const isApproved = status === 'approved' || status === 'reversed'
    await db
      .insertInto('conversions')
      .values({
        conversion_id,
        app_id: appId,
        publisher_id: app.publisher_id,
        advertiser_id: offer.advertiser_id,
        offer_id: offerId,
        goal_id: goal.goal_id,
        user_id: `secret user ${conversion_id}`,
        is_test: isTest,
        is_repeatable: false,
        status: isApproved ? 'approved' : status,
        status_reason: status === 'rejected' ? 'operator' : null,
        source: 'publisher',
        payout_micros: payoutMicros,
        revenue_micros: revenueMicros,
        currency: 'Coins',
        rate_micros: rateMicros,
        created_at,
        approved_at: isApproved ? created_at : null,
        rejected_at: status === 'rejected' ? created_at : null,
        sequence: 1,
        event_id: randomUUID(),
        actor: 'operator',
        click_id: uuid7(created_at.getTime()),
        nth_of_click: nthOfClick,
        ...more,
      })
      .execute()
    if (status !== 'reversed') continue
    await db
      .updateTable('conversions')
      .set({ status, status_reason: 'operator', reversed_at: created_at, sequence: 2, event_id: randomUUID() })
      .where('conversion_id', '=', conversion_id)
      .execute()
  }
}
