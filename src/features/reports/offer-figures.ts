// What offers brought in the last 30 days, and offers in the order of one of these figures.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { type FoundOffer, isLike, type OfferFilter, readSummaries } from '../offers/offers.ts'
import type { Metric } from './metrics.ts'
import { presentReportFigures, type ReportFigures } from './network-report.ts'
import type { Range } from './sources.ts'
import { sumUp } from './sum-up.ts'
import { NOTHING, presentFigures } from './figures.ts'

const DAY_MS = 86_400_000
export const OFFER_DAYS = 30
/** How far a ranking can be read: each page sums up all that come before it. */
export const MAX_RANKED = 10_000

export type RankedOffer = FoundOffer & { figures: ReportFigures }

/** Whole days of UTC, today included: all but today comes from rollups. */
function latestDays(now: Date): Range {
  const toMs = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS
  return { fromMs: toMs - OFFER_DAYS * DAY_MS, toMs }
}

export async function addFigures(db: Db, offers: readonly FoundOffer[], now: Date): Promise<RankedOffer[]> {
  const offerIds = offers.map(({ offer_id }) => offer_id)
  const sums = await sumUpOffers(db, { offerIds }, now)
  return offers.map((offer, i) => ({ ...offer, figures: presentReportFigures(sums[i] ?? NOTHING) }))
}

/** What these offers brought in one app, in the order of their ids. */
export async function readFiguresInApp(db: Db, appId: number, offerIds: readonly number[], now: Date) {
  const sums = await sumUpOffers(db, { offerIds, appIds: [appId] }, now)
  return sums.map(presentFigures)
}

async function sumUpOffers(db: Db, of: { offerIds: readonly number[]; appIds?: readonly number[] }, now: Date) {
  const { offerIds } = of
  if (offerIds.length === 0) return []
  const cut = { key: 'offer' as const, periods: [], ...of }
  const { groups } = await sumUp(db, cut, latestDays(now), { limit: offerIds.length })
  const byOffer = new Map(groups.map(({ key, sums }) => [Number(key), sums]))
  return offerIds.map((offerId) => byOffer.get(offerId) ?? NOTHING)
}

export type Ranking = { sort: Metric; isAscending: boolean; offset: number; limit: number }

/** Only offers that had clicks or conversions: the others have nothing to be sorted by. */
export async function rankOffers(db: Db, filter: OfferFilter, ranking: Ranking, now: Date): Promise<RankedOffer[]> {
  const { offset, limit, ...order } = ranking
  const cut = { key: 'offer' as const, periods: [] }
  const best = { ...order, limit: offset + limit, isAsked: isOfferLike(filter) }
  const { groups } = await sumUp(db, cut, latestDays(now), best)
  const figures = new Map(groups.slice(offset).map(({ key, sums }) => [Number(key), presentReportFigures(sums)]))
  const offers = await readSummaries(db, [...figures.keys()])
  return offers.flatMap((offer) => {
    const its = figures.get(offer.offer_id)
    return its === undefined ? [] : [{ ...offer, figures: its }]
  })
}

/** One look-up for each offer that had traffic, however many others there are. */
function isOfferLike(filter: OfferFilter): RawBuilder<unknown> {
  return sql`(SELECT true FROM offers WHERE offer_id = key AND ${isLike(filter)} LIMIT 1)`
}
