// An app's own figures: parsing the request, and presenting them.
import { badRequest } from '../../errors.ts'
import type { Db } from '../../db/open.ts'
import type { Details } from '../../errors.ts'
import { parseTime, rfc3339 } from '../../lib/time.ts'
import { isTimeZone } from '../../lib/time-zone.ts'
import { type Day, listDays, startOfDay } from './days.ts'
import type { Grouping, Stats, StatsQuery, StatsRow, StatsTotals } from './schema.ts'
import type { Range } from './sources.ts'
import { NOTHING, presentFigures, type Sums } from './figures.ts'
import { type Group, sumUp } from './sum-up.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DEFAULT_DAYS = 7
const MAX_DAYS = 400
const EARLIEST_MS = Date.UTC(2000, 0, 1)
const LATEST_MS = Date.UTC(3000, 0, 1)

type RangeQuery = Pick<StatsQuery, 'from' | 'to' | 'timezone'>

/** The range that a request means; throws all that is wrong with it. */
export function readRange(query: RangeQuery, now: Date): Range {
  const { range, details } = judgeRange(query, now)
  if (Object.keys(details).length > 0) throw badRequest(details)
  return range
}

export function judgeRange(query: RangeQuery, now: Date): { range: Range; details: Details } {
  const { from, to, timezone } = query
  const details: Details = {}
  const isKnown = isTimeZone(timezone)
  if (!isKnown) details['timezone'] = `timezone must be an IANA name such as Europe/Berlin; "${timezone}" is not one.`
  const timeOf = (text: string) => readTime(text, isKnown ? timezone : 'UTC')
  // The second that runs now belongs to it, so that what was just done is counted.
  const toMs = to === undefined ? Math.floor(now.getTime() / 1000 + 1) * 1000 : timeOf(to)
  const fromMs = from === undefined ? toMs - DEFAULT_DAYS * DAY_MS : timeOf(from)
  for (const [name, ms] of Object.entries({ from: fromMs, to: toMs })) {
    if (ms < EARLIEST_MS || ms > LATEST_MS) details[name] = `${name} must be in the years 2000 to 2999.`
  }
  if (fromMs >= toMs) details['from'] ??= 'from must be before to, which defaults to now.'
  // An hour more, for clocks that are set back on the way.
  if (toMs - fromMs > MAX_DAYS * DAY_MS + HOUR_MS) {
    details['from'] ??= `from must be at most ${MAX_DAYS} days before to, which defaults to now.`
  }
  return { range: { fromMs, toMs }, details }
}

function readTime(text: string, timezone: string): number {
  const trimmed = text.trim()
  if (trimmed.length === 10) return startOfDay(timezone, trimmed)
  return Math.floor((parseTime(trimmed)?.getTime() ?? NaN) / 1000) * 1000
}

export async function readStats(
  db: Db,
  { appId, isTest }: { appId: number; isTest: boolean },
  query: Omit<StatsQuery, 'from' | 'to'>,
  range: Range,
): Promise<Stats> {
  const { timezone, groupBy, limit, offerId, country } = query
  const days = groupBy === 'day' ? listDays(timezone, range.fromMs, range.toMs) : []
  const cut = {
    periods: days,
    isByUtcDay: groupBy === 'day' && timezone === 'UTC',
    appIds: [appId],
    ...(groupBy === 'day' ? {} : { key: groupBy }),
    ...(offerId === undefined ? {} : { offerId }),
    ...(country === undefined ? {} : { country }),
  }
  // Nothing done with test credentials is counted, so there is nothing to read for them.
  const { groups, totals } = isTest ? { groups: [], totals: NOTHING } : await sumUp(db, cut, range, { limit })
  const rows = groupBy === 'day' ? fillDays(days, groups) : await nameGroups(db, groupBy, groups)
  return {
    from: rfc3339(new Date(range.fromMs)),
    to: rfc3339(new Date(range.toMs)),
    timezone,
    group_by: groupBy,
    rows: rows.slice(0, limit),
    has_more: rows.length > limit,
    totals: present(totals),
  }
}

function fillDays(days: readonly Day[], groups: readonly Group[]): StatsRow[] {
  const byPlace = new Map(groups.map(({ key, sums }) => [key, sums]))
  return days.map(({ day }, i) => ({ day, ...present(byPlace.get(i + 1) ?? NOTHING) }))
}

async function nameGroups(db: Db, groupBy: Exclude<Grouping, 'day'>, groups: readonly Group[]): Promise<StatsRow[]> {
  if (groupBy !== 'offer') return groups.map(({ key, sums }) => ({ [groupBy]: key, ...present(sums) }))
  const ids = groups.map(({ key }) => Number(key))
  const names = await readOfferNames(db, ids)
  return groups.map(({ sums }, i) => ({
    offer_id: ids[i] ?? 0,
    offer_name: names.get(ids[i] ?? 0) ?? '',
    ...present(sums),
  }))
}

export async function readOfferNames(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const offers = await db.selectFrom('offers').select(['offer_id', 'name']).where('offer_id', 'in', ids).execute()
  return new Map(offers.map(({ offer_id, name }) => [offer_id, name]))
}

const present = (sums: Sums): StatsTotals => ({ ...presentFigures(sums), payout_local: sums.local_steps / 10_000 })
