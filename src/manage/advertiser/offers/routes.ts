// An advertiser's offers, as it sees them.
import {
  isPausedByAdvertiser,
  pauseForAdvertiser,
  resumeForAdvertiser,
} from '../../../features/offers/advertiser-pauses.ts'
import { showCaps } from '../../../features/offers/caps.ts'
import { FIELDS, GOAL_FIELDS, PROPOSED_GOAL_NAMES, showFields } from '../../../features/offers/fields.ts'
import { findWaiting } from '../../../features/offers/proposals/proposals.ts'
import { type RecordedOffer, searchOffers } from '../../../features/offers/offers.ts'
import { beforeId } from '../../../http/paging.ts'
import { microsToUsd } from '../../../lib/money.ts'
import type { Db } from '../../../db/open.ts'
import type { ManageContext } from '../../context.ts'
import { AdvertiserParams } from '../../shapes.ts'
import { presentSummary, stateOf } from '../../offer-record.ts'
import type { ManageRoutes } from '../../route.ts'
import { findAdvertiserOf } from '../../advertiser-record.ts'
import { getOwnOffer } from '../own.ts'
import { OWN_FIELDS, OwnOffer, OwnOfferList, OwnOfferParams, OwnOfferSearch } from './schema.ts'

const TAG = 'Advertiser account'
const LIMIT = 20

export function advertiserOfferRoutes(routes: ManageRoutes, { db, refresh }: ManageContext): void {
  routes.get('/advertisers/:advertiser_id/offers', {
    id: 'listOffersOfAdvertiser',
    summary: 'List the offers of an advertiser',
    about: 'Newest first, with what you pay. Search by name, ID or external ID.',
    tag: TAG,
    access: 'advertiser',
    params: AdvertiserParams,
    query: OwnOfferSearch,
    reply: OwnOfferList,
    async run({ params: { advertiser_id: advertiserId }, query: { limit = LIMIT, cursor, ...filter } }) {
      await findAdvertiserOf(db, advertiserId)
      const { rows, next } = await searchOffers(db, { ...filter, advertiserId, ...beforeId(cursor) }, limit)
      const now = new Date()
      const offers = rows.map((row) => {
        const { advertiser_id: _id, advertiser: _name, payout: _payout, ...shown } = presentSummary(row, now)
        return shown
      })
      return { offers, next_cursor: next }
    },
  })

  routes.get('/advertisers/:advertiser_id/offers/:offer_id', {
    id: 'getOfferOfAdvertiser',
    summary: 'Get an offer of an advertiser',
    about: 'Its texts, targets, goals with what you pay for them, and the usage of its caps.',
    tag: TAG,
    access: 'advertiser',
    params: OwnOfferParams,
    reply: OwnOffer,
    run: async ({ params }) => presentOwn(db, await getOwnOffer(db, params.advertiser_id, params.offer_id), new Date()),
  })

  for (const [verb, change, summary, about] of [
    [
      'pause',
      pauseForAdvertiser,
      'Pause an offer of an advertiser',
      'Removes it from all lists. Earlier clicks can still convert.',
    ],
    [
      'resume',
      resumeForAdvertiser,
      'Resume an offer of an advertiser',
      'Puts an offer that you paused back on the lists. What the operator paused, the operator resumes.',
    ],
  ] as const)
    // prettier-ignore
    routes.post(`/advertisers/:advertiser_id/offers/:offer_id/${verb}`, {
      id: `${verb}OfferOfAdvertiser`,
      summary,
      about,
      tag: TAG,
      access: 'advertiser',
      params: OwnOfferParams,
      reply: OwnOffer,
      async run({ params: { advertiser_id, offer_id }, by }) {
        await getOwnOffer(db, advertiser_id, offer_id)
        await change(db, by, offer_id)
        await refresh()
        return presentOwn(db, await getOwnOffer(db, advertiser_id, offer_id), new Date())
      },
    })
}

/** Null: it is not paused. */
async function pausedBy(db: Db, { offer_id, status }: RecordedOffer) {
  if (status !== 'paused') return null
  return (await isPausedByAdvertiser(db, offer_id)) ? 'advertiser' : 'operator'
}

export async function presentOwn(db: Db, offer: RecordedOffer, now: Date): Promise<OwnOffer> {
  const record = showFields(FIELDS, offer)
  const { full, is_out_of_budget, today, total } = await showCaps(db, offer.offer_id, now)
  const used = ({ clicks, conversions, revenue_micros }: NonNullable<typeof today>) => ({
    clicks,
    conversions,
    spend: microsToUsd(revenue_micros),
  })
  return {
    offer_id: offer.offer_id,
    external_id: offer.external_id,
    revenue: record.revenue,
    status: record.status,
    state: stateOf(offer, now),
    updated_at: offer.updated_at,
    ...pick(record, OWN_FIELDS),
    goals: offer.goals
      .filter((goal) => !goal.is_retired)
      .map((goal) => ({ goal_id: goal.goal_id, ...pick(showFields(GOAL_FIELDS, goal), PROPOSED_GOAL_NAMES) })),
    paused_by: await pausedBy(db, offer),
    waiting_proposal_id: await findWaiting(db, offer),
    is_out_of_budget,
    usage: today === null || total === null ? null : { full, today: used(today), total: used(total) },
  }
}

const pick = <T extends object, const K extends keyof T>(from: T, keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>
