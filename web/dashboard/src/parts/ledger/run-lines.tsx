// Who is paid how much by a run, as it was created, and what became of each line.
import { Anchor, Badge, Button, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { LineList } from '../../../../../src/manage/ledger/payment-run-schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

export type Line = Reply<typeof LineList>['lines'][number]

type Act = ((line: Line) => void) | null

export function RunLines({ base, onPay, onCancel }: { base: string; onPay: Act; onCancel: Act }) {
  const pages = usePages()
  const found = useGet<Reply<typeof LineList>>(`${base}/lines${query({ cursor: pages.cursor })}`)
  return (
    <Loaded query={found}>
      {({ lines, next_cursor }) => (
        <Stack>
          <Paper p={0}>
            <Table.ScrollContainer minWidth={760}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Publisher</Table.Th>
                    <Table.Th>Status</Table.Th>
                    <Table.Th ta="right">Amount</Table.Th>
                    <Table.Th ta="right">Balance then</Table.Th>
                    <Table.Th ta="right">Balance now</Table.Th>
                    <Table.Th>Settled</Table.Th>
                    {onPay !== null && <Table.Th>Actions</Table.Th>}
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {lines.map((line) => (
                    <LineRow key={line.publisher_id} line={line} onPay={onPay} onCancel={onCancel} />
                  ))}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          </Paper>
          <Pager pages={pages} nextCursor={next_cursor} />
        </Stack>
      )}
    </Loaded>
  )
}

function LineRow({ line, onPay, onCancel }: { line: Line; onPay: Act; onCancel: Act }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor component={Link} href={`/network/publishers/${line.publisher_id}`} size="sm">
          {line.name}
        </Anchor>
        {line.email !== null && (
          <Text size="xs" c="dimmed">
            {line.email}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Group gap={4}>
          <Status value={line.status} />
          {line.is_short && (
            <Badge color="red" variant="light" tt="none" autoContrast>
              short
            </Badge>
          )}
          {line.is_suspended && <Status value="suspended" />}
          {line.voided_at !== null && <Status value="voided" />}
        </Group>
        {line.reason !== null && (
          <Text size="xs" c="dimmed">
            {line.reason}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" fw={600}>
        {formatUsd(line.amount)}
      </Table.Td>
      <Table.Td ta="right">{formatUsd(line.payable)}</Table.Td>
      <Table.Td ta="right">{line.payable_now === null ? '' : formatUsd(line.payable_now)}</Table.Td>
      <Table.Td>
        <Time at={line.settled_at} ago none="" />
      </Table.Td>
      {onPay !== null && onCancel !== null && (
        <Table.Td>
          {line.status === 'due' && (
            <Group gap={4} wrap="nowrap">
              <Button size="xs" variant="default" aria-label={`Mark ${line.name} as paid`} onClick={() => onPay(line)}>
                Paid
              </Button>
              <Button size="xs" variant="default" aria-label={`Cancel ${line.name}`} onClick={() => onCancel(line)}>
                Cancel
              </Button>
            </Group>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  )
}
