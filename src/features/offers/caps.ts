// Caps of offers: how many clicks, conversions, and dollars of payout and revenue an offer accepts, a day (UTC) and in total.
//
// Only capped offers are counted. A transaction that counts holds the lock on caps, shared, and the offer's usage rows
// until it commits, so two never take the same place. No transaction holds the lock exclusively: it shows which
// transactions may not have seen caps that were just set (cap-counts.ts), where earlier usage is counted. Clicks are
// the exception: they are many and are dropped in time, so they count from when the offer was first capped.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import type { Db, Trx } from '../../db/open.ts'
import { NoSuch } from '../../errors.ts'
import { parseUsd } from '../../lib/money.ts'

export const OVER_CAP = ['honour', 'reject'] as const

const DAY_MS = 86_400_000
export const TOTAL = 0 // the day that stands for all days together
const DAYS_KEPT = 7
/** What an offer pays at most. */
export const MAX_PAYOUT_MICROS = 100_000 * 1_000_000
export const MAX_COUNT_CAP = 1_000_000_000_000

export const CAP_COLUMN = {
  dailyClicks: 'daily_click_cap',
  totalClicks: 'total_click_cap',
  dailyConversions: 'daily_conversion_cap',
  totalConversions: 'total_conversion_cap',
  dailyPayoutMicros: 'daily_payout_cap_micros',
  totalPayoutMicros: 'total_payout_cap_micros',
  dailyRevenueMicros: 'daily_revenue_cap_micros',
  totalRevenueMicros: 'total_revenue_cap_micros',
} as const
export const CAP_COLUMNS = Object.values(CAP_COLUMN)

/** Null: no cap. */
export type Caps = Record<keyof typeof CAP_COLUMN, number | null>
export type CapRow = Record<(typeof CAP_COLUMNS)[number], number | null>
/** What the publisher earns, and what the advertiser pays. */
export type Worth = { payoutMicros: number; revenueMicros: number }
export type Usage = Worth & { clicks: number; conversions: number }
export type UsageDelta = Usage & { offerId: number; day: number }

/** Usage of a capped offer. `earlier`: what counted on past days on which a pending conversion may still change its amount. */
export type OfferUsage = { today: Usage; total: Usage; earlier: Map<number, Worth> }

const isReached = (cap: number | null, used: number) => cap !== null && used >= cap

/** Taken before a transaction looks whether an offer is capped, and held until it ends. */
export async function lockCaps(trx: Trx): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${LOCKS.caps}::bigint)`.execute(trx)
}

/** Days since 1970-01-01, in UTC. */
export const dayNumber = (now: Date): number => Math.floor(now.getTime() / DAY_MS)

/** A cap that is reached is full: nothing more fits. `refreshFull` has the same rule in SQL. */
export function isFull(caps: Caps, today: Usage, total: Usage): 'no' | 'today' | 'for good' {
  if (
    isReached(caps.totalClicks, total.clicks) ||
    isReached(caps.totalConversions, total.conversions) ||
    isReached(caps.totalPayoutMicros, total.payoutMicros) ||
    isReached(caps.totalRevenueMicros, total.revenueMicros)
  )
    return 'for good'
  const isFullToday =
    isReached(caps.dailyClicks, today.clicks) ||
    isReached(caps.dailyConversions, today.conversions) ||
    isReached(caps.dailyPayoutMicros, today.payoutMicros) ||
    isReached(caps.dailyRevenueMicros, today.revenueMicros)
  return isFullToday ? 'today' : 'no'
}

/** Whether a cap has closed the offer, or this payout or revenue would exceed one. `used` is undefined for an offer without caps. */
export const isOverCap = (caps: Caps, used: OfferUsage | undefined, worth: Worth): boolean =>
  used !== undefined && (isFull(caps, used.today, used.total) !== 'no' || isSpent(caps, used, worth))

/** The same for a user who has clicked, and so is counted among the clicks: only conversions, payout and revenue can exceed a cap. */
export function isSpent(caps: Caps, used: OfferUsage | undefined, { payoutMicros, revenueMicros }: Worth): boolean {
  if (used === undefined) return false
  const isPassed = (cap: number | null, spent: number, more: number) =>
    isReached(cap, spent) || (cap !== null && spent + more > cap)
  return (
    isReached(caps.dailyConversions, used.today.conversions) ||
    isReached(caps.totalConversions, used.total.conversions) ||
    isPassed(caps.dailyPayoutMicros, used.today.payoutMicros, payoutMicros) ||
    isPassed(caps.totalPayoutMicros, used.total.payoutMicros, payoutMicros) ||
    isPassed(caps.dailyRevenueMicros, used.today.revenueMicros, revenueMicros) ||
    isPassed(caps.totalRevenueMicros, used.total.revenueMicros, revenueMicros)
  )
}

/**
 * Whether raising the payout or revenue of a conversion that is already counted would exceed a cap of an offer that rejects beyond its
 * caps: in total, and on the day of the conversion, for which it counts.
 */
export function isRaisedBeyondCap(
  offer: { caps: Caps; overCap: string },
  used: OfferUsage | undefined,
  one: Worth & { createdAt: Date; isTest: boolean },
  worth: Worth,
  now: Date,
): boolean {
  if (used === undefined || offer.overCap !== 'reject' || one.isTest) return false
  const { caps } = offer
  const day = dayNumber(one.createdAt)
  const ofDay = day === dayNumber(now) ? used.today : (used.earlier.get(day) ?? { payoutMicros: 0, revenueMicros: 0 })
  const isPassed = (of: keyof Worth, total: number | null, daily: number | null) => {
    const raise = worth[of] - one[of]
    const isOver = (cap: number | null, spent: number) => cap !== null && spent + raise > cap
    return raise > 0 && (isOver(total, used.total[of]) || isOver(daily, ofDay[of]))
  }
  return (
    isPassed('payoutMicros', caps.totalPayoutMicros, caps.dailyPayoutMicros) ||
    isPassed('revenueMicros', caps.totalRevenueMicros, caps.dailyRevenueMicros)
  )
}

/** The caps of these offers; those without any are there, too. */
export async function readCaps(db: Db, offerIds: number[]): Promise<Map<number, Caps>> {
  const rows = await db
    .selectFrom('offers')
    .select('offer_id')
    .select(CAP_COLUMNS)
    .where((is) => is('offer_id', '=', is.fn.any(is.val(offerIds))))
    .execute()
  return new Map(rows.map((row) => [row.offer_id, capsOf(row)]))
}

export const capsOf = (row: CapRow): Caps => ({
  dailyClicks: row.daily_click_cap,
  totalClicks: row.total_click_cap,
  dailyConversions: row.daily_conversion_cap,
  totalConversions: row.total_conversion_cap,
  dailyPayoutMicros: row.daily_payout_cap_micros,
  totalPayoutMicros: row.total_payout_cap_micros,
  dailyRevenueMicros: row.daily_revenue_cap_micros,
  totalRevenueMicros: row.total_revenue_cap_micros,
})

/** Keeps these offers' usage of the day and in total for this transaction alone. To be called under `lockCaps`. */
export async function lockUsage(
  trx: Trx,
  offerIds: number[],
  day: number,
): Promise<Map<number, { today: Usage; total: Usage }>> {
  // All missing rows first, then all locks, both in one order: so no two transactions wait for each other.
  await sql`
    INSERT INTO offer_usage (offer_id, day)
    SELECT DISTINCT id, day FROM unnest(${offerIds}::bigint[]) AS id CROSS JOIN unnest(ARRAY[${TOTAL}, ${day}]::integer[]) AS day
    ORDER BY id, day
    ON CONFLICT DO NOTHING`.execute(trx)
  const rows = await trx
    .selectFrom('offer_usage')
    .selectAll()
    .where((is) => is('offer_id', '=', is.fn.any(is.val(offerIds))))
    .where('day', 'in', [TOTAL, day])
    .orderBy('offer_id')
    .orderBy('day')
    .forUpdate()
    .execute()
  const locked = new Map(offerIds.map((id) => [id, { today: noUsage(), total: noUsage() }]))
  for (const { offer_id, clicks, conversions, payout_micros, revenue_micros, ...row } of rows) {
    const usage = locked.get(offer_id)?.[row.day === TOTAL ? 'total' : 'today']
    if (usage !== undefined) Object.assign(usage, { clicks, conversions, payoutMicros: payout_micros, revenueMicros: revenue_micros }) // prettier-ignore
  }
  return locked
}

const noUsage = (): Usage => ({ clicks: 0, conversions: 0, payoutMicros: 0, revenueMicros: 0 })

/**
 * Adds to the day's usage and to the total. A day without a row was not counted, so nothing is subtracted from it: a
 * late reversal lowers the total, and its day only where that is known.
 */
export async function addUsage(trx: Trx, deltas: UsageDelta[]): Promise<void> {
  if (deltas.length === 0) return
  const rows = deltas.flatMap(
    ({ offerId, day, clicks, conversions, payoutMicros, revenueMicros }) =>
    [TOTAL, day].map((each) => ({ offer_id: offerId, day: each, clicks, conversions, payout_micros: payoutMicros, revenue_micros: revenueMicros })), // prettier-ignore
  )
  await sql`
    INSERT INTO offer_usage AS old (offer_id, day, clicks, conversions, payout_micros, revenue_micros)
    SELECT d.offer_id, d.day, sum(d.clicks), sum(d.conversions), sum(d.payout_micros), sum(d.revenue_micros)
    FROM jsonb_populate_recordset(NULL::offer_usage, ${JSON.stringify(rows)}) d
    GROUP BY d.offer_id, d.day
    HAVING least(sum(d.clicks), sum(d.conversions), sum(d.payout_micros), sum(d.revenue_micros)) >= 0
      OR EXISTS (SELECT FROM offer_usage u WHERE u.offer_id = d.offer_id AND u.day = d.day)
    ORDER BY d.offer_id, d.day
    ON CONFLICT (offer_id, day) DO UPDATE SET clicks = old.clicks + excluded.clicks,
      conversions = old.conversions + excluded.conversions, payout_micros = old.payout_micros + excluded.payout_micros, revenue_micros = old.revenue_micros + excluded.revenue_micros`.execute(
    trx,
  )
}

/** Closes and opens these offers as their usage says. To be called under `lockCaps`, with their usage locked. */
export async function refreshFull(trx: Trx, offerIds: number[], now: Date): Promise<void> {
  if (offerIds.length === 0) return
  const day = dayNumber(now)
  await sql`
    UPDATE offers SET full_until = state.full_until
    FROM (
      SELECT o.offer_id, CASE
        WHEN total.clicks >= o.total_click_cap OR total.conversions >= o.total_conversion_cap
          OR total.payout_micros >= o.total_payout_cap_micros OR total.revenue_micros >= o.total_revenue_cap_micros THEN 'infinity'::timestamptz
        WHEN today.clicks >= o.daily_click_cap OR today.conversions >= o.daily_conversion_cap
          OR today.payout_micros >= o.daily_payout_cap_micros OR today.revenue_micros >= o.daily_revenue_cap_micros THEN ${startOf(day + 1)}::timestamptz
        END AS full_until
      FROM offers o
      LEFT JOIN offer_usage total ON total.offer_id = o.offer_id AND total.day = ${TOTAL}
      LEFT JOIN offer_usage today ON today.offer_id = o.offer_id AND today.day = ${day}
      WHERE o.offer_id = ANY (${offerIds}::bigint[])
    ) state
    WHERE offers.offer_id = state.offer_id AND offers.full_until IS DISTINCT FROM state.full_until`.execute(trx)
}

/** Past days matter no more: caps are of today and of all days together. */
export async function forgetPastUsage(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('offer_usage')
    .where('day', '>', TOTAL)
    .where('day', '<', dayNumber(now) - DAYS_KEPT)
    .execute()
}

export const startOf = (day: number) => new Date(day * DAY_MS)

/**
 * The caps of an offer and what it has used of them, as an operator sees it. Without caps nothing is counted. A budget of
 * its advertiser closes it, too.
 */
export async function showCaps(db: Db, offerId: number, now: Date) {
  const offer = await db
    .selectFrom('offers')
    .select(['offer_id', 'over_cap', 'is_capped', 'budget_until'])
    .select(CAP_COLUMNS)
    .where('offer_id', '=', offerId)
    .executeTakeFirst()
  if (offer === undefined) throw new NoSuch('offer', offerId)
  const { is_capped, budget_until, ...caps } = offer
  const settings = { ...caps, is_out_of_budget: budget_until !== null && now < budget_until }
  if (!is_capped) return { ...settings, full: 'no' as const, today: null, total: null }
  const rows = await db
    .selectFrom('offer_usage')
    .select(['day', 'clicks', 'conversions', 'payout_micros', 'revenue_micros'])
    .where('offer_id', '=', offerId)
    .where('day', 'in', [TOTAL, dayNumber(now)])
    .execute()
  const used = (isTotal: boolean): Usage => {
    const row = rows.find(({ day }) => (day === TOTAL) === isTotal)
    return row === undefined
      ? noUsage()
      : { ...row, payoutMicros: row.payout_micros, revenueMicros: row.revenue_micros }
  }
  const present = ({ clicks, conversions, payoutMicros, revenueMicros }: Usage) => ({
    clicks,
    conversions,
    payout_micros: payoutMicros,
    revenue_micros: revenueMicros,
  })
  const [today, total] = [used(false), used(true)]
  return { ...settings, full: isFull(capsOf(offer), today, total), today: present(today), total: present(total) }
}

/** A cap on clicks or conversions as people write it, or null when it is not a whole number from 1 to 10^12. */
export function parseCountCap(value: string | number): number | null {
  const text = String(value).trim()
  const count = /^\d{1,13}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= MAX_COUNT_CAP ? count : null
}

/** A cap on payout or revenue as people write it, in micros, or null when it is not an amount above 0 and below 10^9 dollars. */
export function parsePayoutCap(value: string | number): number | null {
  const micros = parseUsd(value)
  return micros !== null && micros > 0 ? micros : null
}
