// An offer as the operator sees and sends it: the fields of an import, in dollars and durations.
import type { Db } from '../../../db/open.ts'
import { AppError, type Details } from '../../../errors.ts'
import { showCaps } from '../../../features/offers/caps.ts'
import { FIELDS, type NewOffer, showFields } from '../../../features/offers/fields.ts'
import { describeProblems, readImportRecord } from '../../../features/offers/import-record.ts'
import { warningsOf } from '../../../features/offers/offer-warnings.ts'
import { findOffers, type FoundOffer, type RecordedOffer } from '../../../features/offers/offers.ts'
import { microsToUsd } from '../../../lib/money.ts'
import { notThere } from '../../gate.ts'
import type { ShownOffer, STATES } from './schema.ts'

export async function getOffer(db: Db, offerId: number): Promise<RecordedOffer> {
  const [offer] = await findOffers(db, [offerId])
  if (offer === undefined) throw notThere('There is no such offer.')
  return offer
}

type Summary = FoundOffer
type State = (typeof STATES)[number]

/** What users meet now. */
function stateOf({ status, starts_at, ends_at, full_until }: Summary, now: Date): State {
  if (status === 'paused') return 'paused'
  if (ends_at !== null && ends_at <= now) return 'ended'
  if (starts_at !== null && starts_at > now) return 'scheduled'
  return Number(full_until ?? 0) > now.getTime() ? 'full' : 'active' // full for good is Infinity
}

export function presentSummary(offer: Summary, now: Date) {
  const { payout_micros, revenue_micros, starts_at: _s, ends_at: _e, full_until: _f, ...more } = offer
  return {
    ...(more as Omit<typeof more, 'category' | 'platforms' | 'status'> &
      Pick<ShownOffer, 'category' | 'platforms' | 'status'>),
    payout: microsToUsd(payout_micros),
    revenue: microsToUsd(revenue_micros),
    state: stateOf(offer, now),
  }
}

/** Everything about it, as an import would take it. */
export const presentRecord = (offer: RecordedOffer) => showFields(FIELDS, offer)

export async function presentOffer(db: Db, offer: RecordedOffer, now: Date): Promise<ShownOffer> {
  const record = presentRecord(offer)
  const goals = offer.goals.filter((goal) => !goal.is_retired)
  const { full, today, total } = await showCaps(db, offer.offer_id, now)
  const used = ({ payout_micros, ...counts }: NonNullable<typeof today>) => ({
    ...counts,
    payout: microsToUsd(payout_micros),
  })
  return {
    ...record,
    offer_id: offer.offer_id,
    advertiser_id: offer.advertiser_id,
    goals: record.goals.map((goal, i) => ({ goal_id: goals[i]?.goal_id ?? 0, ...goal })),
    state: stateOf(offer, now),
    created_at: offer.created_at,
    updated_at: offer.updated_at,
    usage: today === null || total === null ? null : { full, today: used(today), total: used(total) },
    warnings: warningsOf(goals),
  }
}

/** Parses the request as an import parses a row; problems are reported by field. */
export function readOffer(record: Record<string, unknown>): NewOffer {
  const read = readImportRecord(record)
  if ('offer' in read) return read.offer
  const { problems } = read
  const details: Details = {}
  for (const { field, message } of problems) details[field ?? 'body'] ??= sentence(message)
  throw new AppError('INVALID_REQUEST', sentence(describeProblems(problems)), details)
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
