// Figures as CSV.
import type { Stats, StatsRow } from '../../../features/reports/schema.ts'
import { csvLine } from '../../../lib/csv-line.ts'

const FIGURES = ['clicks', 'conversions', 'pending', 'approved', 'rejected', 'reversed', 'payout', 'payout_local', 'epc', 'conversion_rate'] as const // prettier-ignore

/** The columns of the group, then the figures. An incomplete file says so in its last line. */
export function* writeStats({ group_by, rows, has_more }: Stats): Generator<string> {
  const keys: (keyof StatsRow)[] = group_by === 'offer' ? ['offer_id', 'offer_name'] : [group_by]
  const columns = [...keys, ...FIGURES]
  yield csvLine(columns)
  for (const row of rows) yield csvLine(columns.map((column) => row[column] ?? null))
  if (has_more) yield csvLine([`Only the ${rows.length} rows with the highest payout: there are more.`])
}
