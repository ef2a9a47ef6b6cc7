// An offer as the operator and its advertiser see it.
import type { Static } from 'typebox'
import type { Db } from '../db/open.ts'
import type { FIELDS } from '../features/offers/fields.ts'
import { findOffers, type FoundOffer, type RecordedOffer } from '../features/offers/offers.ts'
import { microsToUsd } from '../lib/money.ts'
import { notThere } from './gate.ts'

export const STATES = ['active', 'paused', 'scheduled', 'ended', 'full'] as const

export async function getOffer(db: Db, offerId: number): Promise<RecordedOffer> {
  const [offer] = await findOffers(db, [offerId])
  if (offer === undefined) throw notThere('There is no such offer.')
  return offer
}

type Summary = FoundOffer
type State = (typeof STATES)[number]

/** What users meet now. */
export function stateOf(
  { status, starts_at, ends_at, full_until, budget_until }: Pick<Summary, 'status' | 'starts_at' | 'ends_at' | 'full_until' | 'budget_until'>, // prettier-ignore
  now: Date,
): State {
  if (status === 'paused') return 'paused'
  if (ends_at !== null && ends_at <= now) return 'ended'
  if (starts_at !== null && starts_at > now) return 'scheduled'
  const fullUntil = Math.max(Number(full_until ?? 0), Number(budget_until ?? 0)) // for good is Infinity
  return fullUntil > now.getTime() ? 'full' : 'active'
}

type Chosen = 'category' | 'platforms' | 'status'

export function presentSummary(offer: Summary, now: Date) {
  const { payout_micros, revenue_micros, starts_at: _s, ends_at: _e, full_until: _f, budget_until: _b, ...more } = offer
  return {
    ...(more as Omit<typeof more, Chosen> & { [N in Chosen]: Static<(typeof FIELDS)[N]['shape']> }),
    payout: microsToUsd(payout_micros),
    revenue: microsToUsd(revenue_micros),
    state: stateOf(offer, now),
  }
}
