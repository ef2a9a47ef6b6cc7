// Conversions of all publishers, a row each.
import { Anchor, Checkbox, Paper, Stack, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { ConversionSearch } from '../../../../../src/manage/conversions/schema.ts'
import type { Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { Signals } from '../fraud/signals.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { REASON_NAMES } from './filters.tsx'

export type Row = Reply<typeof ConversionSearch>['conversions'][number]
export type Selection = { chosen: ReadonlySet<string>; choose: (ids: string[], isChosen: boolean) => void }

type TableProps = { rows: Row[]; selection?: Selection | undefined }

export function ConversionTable({ rows, selection }: TableProps) {
  const ids = rows.map((row) => row.conversion_id)
  const chosen = ids.filter((id) => selection?.chosen.has(id))
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={900}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {selection !== undefined && (
                <Table.Th w={40}>
                  <Checkbox
                    aria-label="Choose all on this page"
                    checked={chosen.length === ids.length}
                    indeterminate={chosen.length > 0 && chosen.length < ids.length}
                    onChange={(event) => selection.choose(ids, event.currentTarget.checked)}
                  />
                </Table.Th>
              )}
              <Table.Th>Conversion</Table.Th>
              <Table.Th>Publisher</Table.Th>
              <Table.Th>Offer</Table.Th>
              <Table.Th>User</Table.Th>
              <Table.Th ta="right">Payout</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Signals</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.conversion_id}>
                {selection !== undefined && (
                  <Table.Td>
                    <Checkbox
                      aria-label={`Choose conversion ${shortId(row)}`}
                      checked={selection.chosen.has(row.conversion_id)}
                      onChange={(event) => selection.choose([row.conversion_id], event.currentTarget.checked)}
                    />
                  </Table.Td>
                )}
                <Cells row={row} />
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}

export const shortId = ({ conversion_id }: { conversion_id: string }) => `…${conversion_id.slice(-8)}`

function Cells({ row }: { row: Row }) {
  return (
    <>
      <Table.Td>
        <Anchor component={Link} href={`/network/conversions/${row.conversion_id}`} ff="monospace" size="sm">
          {shortId(row)}
        </Anchor>
        <Text size="xs" c="dimmed" component="div">
          <Time at={row.created_at} ago />
        </Text>
      </Table.Td>
      <Table.Td>
        <Anchor component={Link} href={`/network/publishers/${row.publisher_id}`} size="sm">
          {row.publisher}
        </Anchor>
        <Text size="xs" c="dimmed">
          {row.app}
        </Text>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{row.offer}</Text>
        <Text size="xs" c="dimmed">
          {row.advertiser}
        </Text>
      </Table.Td>
      <Table.Td maw={160}>
        <Text size="sm" truncate title={row.user_id}>
          {row.user_id}
        </Text>
      </Table.Td>
      <Table.Td ta="right">{formatUsd(row.payout)}</Table.Td>
      <Table.Td>
        <Standing row={row} />
      </Table.Td>
      <Table.Td>
        <Signals signals={row.signals} />
      </Table.Td>
    </>
  )
}

type Standing = Pick<Row, 'status' | 'status_reason' | 'hold_until'>

/** How it is with a conversion, and why. */
export function Standing({ row }: { row: Standing }) {
  return (
    <Stack gap={2} align="flex-start">
      <Status value={row.status} />
      {row.status_reason !== null && (
        <Text size="xs" c="dimmed">
          {REASON_NAMES[row.status_reason] ?? row.status_reason}
        </Text>
      )}
      {row.status === 'pending' && row.hold_until !== null && (
        <Text size="xs" c="dimmed" component="div">
          approves itself <Time at={row.hold_until} ago />
        </Text>
      )}
    </Stack>
  )
}
