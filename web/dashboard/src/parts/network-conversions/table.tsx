// Conversions of all publishers, a row each.
import { Anchor, Checkbox, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { STATUS_REASONS } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Signals } from '../fraud/signals.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { Price } from '../money.tsx'

export type Row = Schemas['ConversionSummaryList']['conversions'][number]
export type Selection = { chosen: ReadonlySet<string>; choose: (ids: string[], isChosen: boolean) => void }

type TableProps = { rows: Row[]; selection?: Selection | undefined; pager?: ReactNode; isPlain?: boolean }

export function ConversionTable({ rows, selection, pager, isPlain = false }: TableProps) {
  return (
    <DataTable
      rows={rows}
      columns={[selection !== undefined && selectColumn(rows, selection), ...COLUMNS]}
      rowKey={({ conversion_id }) => conversion_id}
      minWidth={900}
      pager={pager}
      isPlain={isPlain}
    />
  )
}

export const shortId = ({ conversion_id }: { conversion_id: string }) => `…${conversion_id.slice(-8)}`

function selectColumn(rows: Row[], selection: Selection): Column<Row> {
  const ids = rows.map((row) => row.conversion_id)
  const chosen = ids.filter((id) => selection.chosen.has(id))
  return {
    name: 'Select',
    header: (
      <Checkbox
        aria-label="Select all on this page"
        checked={chosen.length === ids.length}
        indeterminate={chosen.length > 0 && chosen.length < ids.length}
        onChange={(event) => selection.choose(ids, event.currentTarget.checked)}
      />
    ),
    cell: (row) => (
      <Checkbox
        aria-label={`Select conversion ${shortId(row)}`}
        checked={selection.chosen.has(row.conversion_id)}
        onChange={(event) => selection.choose([row.conversion_id], event.currentTarget.checked)}
      />
    ),
  }
}

const COLUMNS: Column<Row>[] = [
  {
    name: 'Conversion',
    cell: (row) => (
      <>
        <Anchor component={Link} href={`/network/conversions/${row.conversion_id}`} ff="monospace" size="sm">
          {shortId(row)}
        </Anchor>
        <Text size="xs" c="dimmed" component="div">
          <Time at={row.created_at} ago />
        </Text>
      </>
    ),
  },
  {
    name: 'Publisher',
    isText: true,
    cell: ({ publisher_id, publisher, app }) => (
      <>
        <Anchor component={Link} href={`/network/publishers/${publisher_id}`} size="sm">
          {publisher}
        </Anchor>
        <Text size="xs" c="dimmed">
          {app}
        </Text>
      </>
    ),
  },
  {
    name: 'Offer',
    isText: true,
    cell: ({ offer, advertiser }) => (
      <>
        <Text size="sm">{offer}</Text>
        <Text size="xs" c="dimmed">
          {advertiser}
        </Text>
      </>
    ),
  },
  { name: 'User', isText: true, cell: ({ user_id }) => user_id },
  { name: 'Payout', isNumber: true, cell: ({ payout }) => <Price amount={payout} /> },
  { name: 'Status', cell: (row) => <Standing row={row} /> },
  { name: 'Signals', cell: ({ signals }) => <Signals signals={signals} /> },
]

type Standing = Pick<Row, 'status' | 'status_reason' | 'hold_until'>

/** How it is with a conversion, and why. */
export function Standing({ row }: { row: Standing }) {
  return (
    <Stack gap={2} align="flex-start">
      <Status value={row.status} />
      {row.status_reason !== null && (
        <Text size="xs" c="dimmed">
          {STATUS_REASONS[row.status_reason]}
        </Text>
      )}
      {row.status === 'pending' && row.hold_until !== null && (
        <Text size="xs" c="dimmed" component="div">
          auto-approves <Time at={row.hold_until} ago />
        </Text>
      )}
    </Stack>
  )
}
