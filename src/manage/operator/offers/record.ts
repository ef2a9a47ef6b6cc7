// An offer as the operator sees it.
import type { Db } from '../../../db/open.ts'
import { showCaps } from '../../../features/offers/caps.ts'
import { FIELDS, showFields } from '../../../features/offers/fields.ts'
import { warningsOf } from '../../../features/offers/offer-warnings.ts'
import type { RecordedOffer } from '../../../features/offers/offers.ts'
import { findWaiting } from '../../../features/offers/proposals/proposals.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { stateOf } from '../../offer-record.ts'
import type { ShownOffer } from './schema.ts'

/** Everything about it, as an import would take it. */
export const presentRecord = (offer: RecordedOffer) => showFields(FIELDS, offer)

export async function presentOffer(db: Db, offer: RecordedOffer, now: Date): Promise<ShownOffer> {
  const record = presentRecord(offer)
  const goals = offer.goals.filter((goal) => !goal.is_retired)
  const { full, is_out_of_budget, today, total } = await showCaps(db, offer.offer_id, now)
  const used = ({ payout_micros, revenue_micros, ...counts }: NonNullable<typeof today>) => ({
    ...counts,
    payout: microsToUsd(payout_micros),
    revenue: microsToUsd(revenue_micros),
  })
  return {
    ...record,
    offer_id: offer.offer_id,
    advertiser_id: offer.advertiser_id,
    goals: record.goals.map((goal, i) => ({ goal_id: goals[i]?.goal_id ?? 0, ...goal })),
    state: stateOf(offer, now),
    created_at: offer.created_at,
    behind_offer_id: offer.behind_offer_id,
    waiting_proposal_id: await findWaiting(db, offer),
    is_out_of_budget,
    updated_at: offer.updated_at,
    usage: today === null || total === null ? null : { full, today: used(today), total: used(total) },
    warnings: warningsOf(goals),
  }
}
