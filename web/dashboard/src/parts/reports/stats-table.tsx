import { Anchor, Stack, Text } from '@mantine/core'
import { Link, useSearch } from 'wouter'
import { formatFullPeriod } from '../../lib/format.ts'
import { nameWithCode } from '../../lib/countries.ts'
import { labelOf, PLATFORMS } from '../../lib/words.ts'
import { DataTable } from '../data-table.tsx'
import { MetricLabel } from './explained.tsx'
import { MetricValue } from './figure.tsx'
import { METRICS, type Stats, type StatsRow } from './metrics.ts'

export type Narrowing = { country: string }

type StatsTableProps = { appId: string; stats: Stats; onNarrow: (narrowing: Narrowing) => void }

const KEY_NAMES: Record<Stats['group_by'], string> = {
  day: 'Day',
  offer: 'Offer',
  country: 'Country',
  platform: 'Platform',
  locker_id: 'Locker',
  aff_sub: 'aff_sub',
  aff_sub2: 'aff_sub2',
  aff_sub3: 'aff_sub3',
  aff_sub4: 'aff_sub4',
}

const COLUMNS = ['clicks', 'conversions', 'approved', 'pending', 'payout', 'epc', 'conversion_rate'] as const

/** What it says is by the reply itself, which may still be that of the tab before. */
export function StatsTable({ appId, stats, onNarrow }: StatsTableProps) {
  const { group_by, rows, totals, has_more } = stats
  return (
    <Stack gap="xs">
      <DataTable
        minWidth={720}
        rows={group_by === 'day' ? rows.toReversed() : rows}
        rowKey={(row) => keyOf(group_by, row)}
        columns={[
          {
            name: KEY_NAMES[group_by],
            isText: true,
            cell: (row) => <RowName {...{ appId, row, onNarrow }} groupBy={group_by} />,
            total: 'Total',
          },
          ...COLUMNS.map((of) => ({
            name: METRICS[of].label,
            heading: <MetricLabel of={of} />,
            isNumber: true,
            cell: (row: StatsRow) => <MetricValue of={of} value={row[of]} />,
            total: <MetricValue of={of} value={totals[of]} />,
          })),
        ]}
      />
      <Text size="sm" c="dimmed">
        {has_more
          ? `Top ${rows.length} by payout. The CSV file has up to 50,000.`
          : 'Conversions are counted by creation time. Payout includes approved conversions only.'}
      </Text>
    </Stack>
  )
}

/** The page of an offer is about the same days, by day. */
function withoutGrouping(search: string): string {
  const kept = new URLSearchParams(search)
  kept.delete('by')
  return kept.toString()
}

const keyOf = (groupBy: Stats['group_by'], row: StatsRow) =>
  String((groupBy === 'offer' ? row.offer_id : row[groupBy]) ?? '')

type RowNameProps = { groupBy: Stats['group_by']; row: StatsRow } & Omit<StatsTableProps, 'stats'>

function RowName({ appId, groupBy, row, onNarrow }: RowNameProps) {
  const search = useSearch()
  if (groupBy === 'day') return formatFullPeriod(row.day ?? '')
  if (groupBy === 'offer')
    return (
      <Anchor component={Link} size="sm" href={`/apps/${appId}/offers/${row.offer_id}?${withoutGrouping(search)}`}>
        {row.offer_name} ({row.offer_id})
      </Anchor>
    )
  const key = row[groupBy]?.toString() ?? null
  if (key === null)
    return (
      <Text size="sm" c="dimmed" span>
        {groupBy === 'country' || groupBy === 'platform' ? 'Unknown' : 'None'}
      </Text>
    )
  if (groupBy === 'country')
    return (
      <Anchor component="button" size="sm" ta="left" onClick={() => onNarrow({ country: key })}>
        {nameWithCode(key)}
      </Anchor>
    )
  return groupBy === 'platform' ? labelOf(PLATFORMS, key) : key
}
