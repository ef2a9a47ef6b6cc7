import { formatCount } from '../../lib/format.ts'
import { APP_METRICS, type Stats } from './metrics.ts'
import { OverTime } from './over-time.tsx'

/** An app's figures by day. */
export function StatsOverTime({ stats: { rows, totals }, table }: { stats: Stats; table: string }) {
  return (
    <OverTime
      metrics={APP_METRICS}
      totals={totals}
      points={rows.map((row) => ({ ...row, day: row.day ?? '' }))}
      table={table}
      about={{ conversions: `${formatCount(totals.approved)} approved, ${formatCount(totals.pending)} pending` }}
    />
  )
}
