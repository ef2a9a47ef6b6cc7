// A report as CSV.
import { csvLine } from '../../../lib/csv-line.ts'
import { type NetworkReport, ReportFigures } from './schema.ts'

const FIGURES = Object.keys(ReportFigures.properties) as (keyof NetworkReport['totals'])[]
const OWNERS: Partial<Record<NetworkReport['group_by'], string>> = { app: 'publisher', offer: 'advertiser' }
const HAS_NAME = ['publisher', 'app', 'offer', 'advertiser']

/** The group, its figures and, where they were asked for, those of the period before. An incomplete file says so at its end. */
export function* writeReport({ group_by, rows, previous, has_more }: NetworkReport): Generator<string> {
  const owner = OWNERS[group_by]
  const isNamed = HAS_NAME.includes(group_by)
  const names = isNamed ? [`${group_by}_id`, group_by, ...(owner === undefined ? [] : [owner])] : [group_by]
  yield csvLine([...names, ...FIGURES, ...(previous === null ? [] : FIGURES.map((name) => `previous_${name}`))])
  for (const row of rows) {
    const group = isNamed ? [row.key, row.name, ...(owner === undefined ? [] : [row.owner])] : [row.key]
    const before = row.previous === null ? [] : FIGURES.map((name) => row.previous?.[name] ?? null)
    yield csvLine([...group, ...FIGURES.map((name) => row[name]), ...before])
  }
  if (has_more) yield csvLine([`Only the first ${rows.length} rows: there are more.`])
}
