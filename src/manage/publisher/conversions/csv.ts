// Conversions as CSV (RFC 4180).
import type { Db } from '../../../db/open.ts'
import { type ConversionRow, presentConversion, readNames } from '../../../features/conversions/conversions.ts'
import { type ConversionFilter, searchConversions } from '../../../features/conversions/search.ts'
import { csvLine } from '../../../lib/csv-line.ts'

const PAGE = 1_000
const COLUMNS = [
  'conversion_id',
  'created_at',
  'status',
  'status_reason',
  'offer_id',
  'offer_name',
  'goal_id',
  'user_id',
  'publisher_transaction_id',
  'payout',
  'payout_local',
  'currency',
  'aff_sub',
  'aff_sub2',
  'aff_sub3',
  'aff_sub4',
  'country',
  'device',
  'source',
  'click_at',
  'approved_at',
  'rejected_at',
  'reversed_at',
  'hold_until',
  'is_test',
  'multiplier',
] as const

/** Newest first, at most so many; piece by piece, so that it never is in memory as a whole. */
export async function* writeConversions(db: Db, filter: ConversionFilter, limit: number): AsyncGenerator<string> {
  let wanted = { ...filter }
  for (let left = limit, head = csvLine(COLUMNS); left > 0; head = '') {
    const { rows, next } = await searchConversions(db, wanted, Math.min(PAGE, left))
    const names = await readNames(db, rows)
    yield head + rows.map((one) => line(one, names.get(one.conversion_id)?.offer ?? '')).join('')
    if (next === null) return
    left -= rows.length
    wanted = { ...filter, before: next }
  }
}

function line(conversion: ConversionRow, offerName: string): string {
  const shown = { ...presentConversion(conversion), offer_name: offerName }
  return csvLine(COLUMNS.map((name) => shown[name]))
}
