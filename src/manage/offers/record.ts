// An offer as the operator sees and sends it: the fields of an import, in dollars and durations.
import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../db/open.ts'
import { AppError, type Details } from '../../errors.ts'
import { showCaps } from '../../features/offers/caps.ts'
import { asImported } from '../../features/offers/import-plan.ts'
import { IMPORT_FIELDS, type NewOffer, readImportRecord } from '../../features/offers/import-record.ts'
import { warningsOf } from '../../features/offers/offer-warnings.ts'
import { findOffers, type FoundOffer, type RecordedOffer } from '../../features/offers/offers.ts'
import { formatDuration } from '../../lib/duration.ts'
import { microsToUsd } from '../../lib/money.ts'
import { notThere } from '../gate.ts'
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

const percent = (ppm: number | null) => (ppm === null ? null : ppm / 10_000)
const usdOrNull = (micros: number | null) => (micros === null ? null : microsToUsd(micros))

/** Everything about it, as an import would take it. */
export function presentRecord(offer: RecordedOffer) {
  return {
    external_id: offer.external_id,
    advertiser: offer.advertiser,
    name: offer.name,
    description: offer.description,
    category: offer.category as ShownOffer['category'],
    payout: microsToUsd(offer.payout_micros),
    revenue: microsToUsd(offer.revenue_micros),
    countries: offer.countries,
    platforms: offer.platforms as ShownOffer['platforms'],
    destination_url: offer.destination_url,
    image_url: offer.image_url,
    difficulty: offer.difficulty as ShownOffer['difficulty'],
    time_estimate: offer.time_estimate,
    requirements: offer.requirements,
    payment_required: offer.payment_required,
    conversion_type: offer.conversion_type as ShownOffer['conversion_type'],
    goals: offer.goals
      .filter((goal) => !goal.is_retired)
      .map((goal) => ({
        external_id: goal.external_id,
        name: goal.name,
        description: goal.description,
        payout: microsToUsd(goal.payout_micros),
        revenue: microsToUsd(goal.revenue_micros),
        is_optional: goal.is_optional,
        is_repeatable: goal.is_repeatable,
        payout_percent: percent(goal.payout_ppm),
        revenue_percent: percent(goal.revenue_ppm),
      })),
    status: offer.status as ShownOffer['status'],
    starts_at: offer.starts_at,
    ends_at: offer.ends_at,
    attribution_window: formatDuration(offer.attribution_s * 1_000),
    hold: formatDuration(offer.hold_s * 1_000),
    confirm_within: formatDuration(offer.confirm_within_s * 1_000),
    redo_after_reversal: offer.redo_after_reversal,
    over_cap: offer.over_cap as ShownOffer['over_cap'],
    daily_click_cap: offer.daily_click_cap,
    total_click_cap: offer.total_click_cap,
    daily_conversion_cap: offer.daily_conversion_cap,
    total_conversion_cap: offer.total_conversion_cap,
    daily_payout_cap: usdOrNull(offer.daily_payout_cap_micros),
    total_payout_cap: usdOrNull(offer.total_payout_cap_micros),
  }
}

export async function presentOffer(db: Db, offer: RecordedOffer, now: Date): Promise<ShownOffer> {
  const record = presentRecord(offer)
  const ids = new Map(offer.goals.filter((goal) => !goal.is_retired).map((goal) => [goal.name, goal.goal_id]))
  const { full, today, total } = await showCaps(db, offer.offer_id, now)
  const used = ({ payout_micros, ...counts }: NonNullable<typeof today>) => ({
    ...counts,
    payout: microsToUsd(payout_micros),
  })
  return {
    ...record,
    offer_id: offer.offer_id,
    advertiser_id: offer.advertiser_id,
    goals: record.goals.map((goal) => ({ goal_id: ids.get(goal.name) ?? 0, ...goal })),
    state: stateOf(offer, now),
    created_at: offer.created_at,
    updated_at: offer.updated_at,
    usage: today === null || total === null ? null : { full, today: used(today), total: used(total) },
    warnings: warningsOf(asImported(offer).goals),
  }
}

type Change = { before: unknown; after: unknown }

/** What is different, field by field, as the audit log keeps it. */
export function compareRecords(before: RecordedOffer, after: RecordedOffer): Record<string, Change> {
  const [old, now] = [presentRecord(before), presentRecord(after)]
  const changed = IMPORT_FIELDS.filter((field) => !isDeepStrictEqual(old[field], now[field]))
  return Object.fromEntries(changed.map((field) => [field, { before: old[field], after: now[field] }]))
}

/** Parses the request as an import parses a row; problems are reported by field. */
export function readOffer(record: Record<string, unknown>): NewOffer {
  const read = readImportRecord(record)
  if ('offer' in read) return read.offer
  throw new AppError('INVALID_REQUEST', sentence(read.problems.join('; ')), detailsOf(read.problems))
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** The fault of the second goal's payout is under goals.1.payout. */
function detailsOf(problems: string[]): Details {
  const details: Details = {}
  for (const problem of problems) {
    const [, place = '', inGoal = ''] = /^goals\[(\d+)\]\.(\w+) /.exec(problem) ?? []
    const [field = ''] = /^\w+/.exec(problem) ?? []
    if (inGoal !== '' && inGoal !== 'unknown')
      details[`goals.${Number(place) - 1}.${inGoal}`] ??= sentence(problem.slice(problem.indexOf('.') + 1))
    else if (field === 'goals' || problem.startsWith('its goals')) details['goals'] ??= sentence(problem)
    else details[IMPORT_FIELDS.some((known) => known === field) ? field : 'body'] ??= sentence(problem)
  }
  return details
}
