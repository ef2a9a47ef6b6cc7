import { Anchor, Paper, Stack, Table, Text } from '@mantine/core'
import { formatCents, formatCount, formatShare, formatUsd } from '../../lib/format.ts'
import { formatFullDay, type Stats, type StatsRow, type Totals } from './metrics.ts'

export type Narrowing = { offer?: string; country?: string }

type StatsTableProps = { stats: Stats; onNarrow: (narrowing: Narrowing) => void }

const KEY_NAMES: Record<Stats['group_by'], string> = {
  day: 'Day',
  offer: 'Offer',
  country: 'Country',
  platform: 'Platform',
  aff_sub: 'aff_sub',
  aff_sub2: 'aff_sub2',
  aff_sub3: 'aff_sub3',
  aff_sub4: 'aff_sub4',
}
const PLATFORMS: Record<string, string> = { android: 'Android', ios: 'iOS', web: 'Web' }
const countries = new Intl.DisplayNames('en', { type: 'region' })
const COLUMNS = ['Clicks', 'Conversions', 'Approved', 'Pending', 'Payout', 'EPC', 'Conversion rate']

/** What it says is by the reply itself, which may still be that of the tab before. */
export function StatsTable({ stats, onNarrow }: StatsTableProps) {
  const { group_by, rows, totals, has_more } = stats
  const shown = group_by === 'day' ? rows.toReversed() : rows
  return (
    <Stack gap="xs">
      <Paper p={0}>
        <Table.ScrollContainer minWidth={720} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th miw={150}>{KEY_NAMES[group_by]}</Table.Th>
                {COLUMNS.map((name) => (
                  <Table.Th key={name} ta="right">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((row) => (
                <Table.Tr key={keyOf(group_by, row)}>
                  <Table.Th scope="row" fw={400}>
                    <RowName {...{ row, onNarrow }} groupBy={group_by} />
                  </Table.Th>
                  <FigureCells figures={row} />
                </Table.Tr>
              ))}
            </Table.Tbody>
            <Table.Tfoot>
              <Table.Tr>
                <Table.Th scope="row">Total</Table.Th>
                <FigureCells figures={totals} isTotal />
              </Table.Tr>
            </Table.Tfoot>
          </Table>
        </Table.ScrollContainer>
      </Paper>
      <Text size="sm" c="dimmed">
        {has_more
          ? `Top ${rows.length} by payout. The CSV file has up to 50,000.`
          : 'Conversions are counted by creation time. Payout includes approved conversions only.'}
      </Text>
    </Stack>
  )
}

const keyOf = (groupBy: Stats['group_by'], row: StatsRow) =>
  groupBy === 'offer' ? String(row.offer_id) : (row[groupBy] ?? '')

function RowName({
  groupBy,
  row,
  onNarrow,
}: { groupBy: Stats['group_by']; row: StatsRow } & Pick<StatsTableProps, 'onNarrow'>) {
  if (groupBy === 'day') return formatFullDay(row.day ?? '')
  if (groupBy === 'offer')
    return (
      <Anchor component="button" size="sm" ta="left" onClick={() => onNarrow({ offer: String(row.offer_id) })}>
        {row.offer_name} ({row.offer_id})
      </Anchor>
    )
  const key = row[groupBy]
  if (key === null || key === undefined)
    return (
      <Text size="sm" c="dimmed" span>
        {groupBy === 'country' || groupBy === 'platform' ? 'Unknown' : 'None'}
      </Text>
    )
  if (groupBy === 'country')
    return (
      <Anchor component="button" size="sm" ta="left" onClick={() => onNarrow({ country: key })}>
        {countries.of(key)} ({key})
      </Anchor>
    )
  return groupBy === 'platform' ? (PLATFORMS[key] ?? key) : <span style={{ overflowWrap: 'anywhere' }}>{key}</span>
}

function FigureCells({ figures, isTotal = false }: { figures: Totals; isTotal?: boolean }) {
  const { clicks, conversions, approved, pending, payout, epc, conversion_rate } = figures
  const cells = [
    formatCount(clicks),
    formatCount(conversions),
    formatCount(approved),
    formatCount(pending),
    formatCents(payout),
    epc === null ? '–' : formatUsd(epc),
    conversion_rate === null ? '–' : formatShare(conversion_rate),
  ]
  return cells.map((cell, i) => (
    <Table.Td key={COLUMNS[i]} ta="right" {...(isTotal ? { fw: 700 } : {})}>
      {cell}
    </Table.Td>
  ))
}
