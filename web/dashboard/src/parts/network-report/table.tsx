import { Anchor, Text } from '@mantine/core'
import { Link, useLocation } from 'wouter'
import { formatFullPeriod } from '../../lib/format.ts'
import { nameWithCode } from '../../lib/countries.ts'
import type { Filters } from '../../lib/use-filters.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { ShortDifference } from '../reports/difference.tsx'
import { MetricValue } from '../reports/figure.tsx'
import { METRICS, type MetricName, NETWORK_METRICS } from '../reports/metrics.ts'
import { type Sort, sortable } from '../reports/sort-heading.tsx'
import { type FilterName, furtherFrom, type Grouping, hrefOf, isTime, type Report, type Row } from './use-report.ts'

export const DEVICES: Record<string, string> = { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet', tv: 'TV' }
const HEADS: Record<Grouping, string> = {
  hour: 'Hour (UTC)',
  day: 'Day (UTC)',
  week: 'Week of (UTC)',
  month: 'Month (UTC)',
  publisher: 'Publisher',
  app: 'App',
  offer: 'Offer',
  advertiser: 'Advertiser',
  country: 'Country',
  device: 'Device',
  aff_sub: 'aff_sub',
  aff_sub2: 'aff_sub2',
  aff_sub3: 'aff_sub3',
  aff_sub4: 'aff_sub4',
}

type TableProps = {
  report: Report
  filters: Filters
  isChosen: (name: FilterName) => boolean
  sort: Sort
  onSort: (of: MetricName) => void
}

/** What it says is by the reply itself, which may still be that of the tab before. */
export function ReportTable({ report, filters, isChosen, sort, onSort }: TableProps) {
  const [path] = useLocation()
  const { group_by: by, rows, has_more } = report
  const further = ({ key }: Row) => {
    const changed = furtherFrom(by, key, isChosen)
    if (changed === null) return null
    if (by === 'offer') return hrefOf(`/network/offers/${key}/report`, filters, { ...changed, offer_id: null })
    return hrefOf(path, filters, changed)
  }
  const columns: Column<Row>[] = [
    { name: HEADS[by], isText: true, cell: (row) => <RowName {...{ by, row }} href={further(row)} /> },
    ...NETWORK_METRICS.map((of) => ({
      ...sortable<Row>(of, sort, onSort),
      cell: (row: Row) => (
        <>
          <MetricValue of={of} value={row[of]} />
          {row.previous !== null && (
            <Text size="xs" c="dimmed">
              <ShortDifference of={of} now={row[of]} before={row.previous[of]} />
            </Text>
          )}
        </>
      ),
    })),
  ]
  return (
    <>
      <DataTable
        rows={isTime(by) ? inOrder(rows, sort) : rows}
        columns={columns}
        rowKey={({ key }) => key ?? ''}
        minWidth={940}
      />
      {has_more && (
        <Text size="sm" c="dimmed">
          Top {rows.length} by {(METRICS[sort.by as MetricName] ?? METRICS.payout).label}. The CSV file has up to
          50,000.
        </Text>
      )}
    </>
  )
}

/** Periods come in their own order, and all of them: the newest first, or by a figure. */
function inOrder(rows: readonly Row[], { by, isAscending }: Sort): Row[] {
  const metric = NETWORK_METRICS.find((name) => name === by)
  if (metric === undefined) return rows.toReversed()
  const sorted = rows.toSorted((a, b) => (a[metric] ?? -Infinity) - (b[metric] ?? -Infinity))
  return isAscending ? sorted : sorted.toReversed()
}

function RowName({ by, row, href }: { by: Grouping; row: Row; href: string | null }) {
  const name = nameOf(by, row)
  return (
    <>
      {href === null ? (
        <Text size="sm" {...(row.key === null ? { c: 'dimmed' } : {})}>
          {name}
        </Text>
      ) : (
        <Anchor component={Link} href={href} size="sm">
          {name}
        </Anchor>
      )}
      {row.name !== null && (
        <Text size="xs" c="dimmed">
          {[row.key, row.owner].filter((one) => one !== null).join(' · ')}
        </Text>
      )}
    </>
  )
}

function nameOf(by: Grouping, { key, name }: Row): string {
  if (key === null) return by === 'country' || by === 'device' ? 'Unknown' : 'None'
  if (isTime(by)) return formatFullPeriod(key)
  if (by === 'country') return nameWithCode(key)
  return by === 'device' ? (DEVICES[key] ?? key) : (name ?? key)
}
