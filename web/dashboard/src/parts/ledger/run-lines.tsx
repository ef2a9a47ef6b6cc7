// Who is paid how much by a run, as it was created, and what became of each line.
import { Anchor, Button, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Money } from '../money.tsx'
import { Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status, Tag } from '../status.tsx'
import { Time } from '../time.tsx'

export type Line = Schemas['PaymentRunLineList']['lines'][number]

type Act = ((line: Line) => void) | null

export function RunLines({
  base,
  onPay,
  onCancel,
}: {
  base: `/ledger/payment-runs/${string}`
  onPay: Act
  onCancel: Act
}) {
  const pages = usePages()
  const found = useGet(`${base}/lines`, { query: { cursor: pages.cursor } })
  return (
    <Loaded query={found}>
      {({ lines, next_cursor }) => (
        <DataTable
          rows={lines}
          columns={[...COLUMNS, onPay !== null && onCancel !== null && actions(onPay, onCancel)]}
          rowKey={({ publisher_id }) => publisher_id}
          minWidth={760}
          pager={<Pager pages={pages} nextCursor={next_cursor} />}
        />
      )}
    </Loaded>
  )
}

const COLUMNS: Column<Line>[] = [
  {
    name: 'Publisher',
    isText: true,
    cell: ({ publisher_id, name, email }) => (
      <>
        <Anchor component={Link} href={`/network/publishers/${publisher_id}`} size="sm">
          {name}
        </Anchor>
        {email !== null && (
          <Text size="xs" c="dimmed">
            {email}
          </Text>
        )}
      </>
    ),
  },
  { name: 'Status', cell: (line) => <LineStatus line={line} /> },
  { name: 'Amount', isNumber: true, isStrong: true, cell: ({ amount }) => <Money amount={amount} /> },
  { name: 'Balance at creation', isNumber: true, cell: ({ payable }) => <Money amount={payable} /> },
  {
    name: 'Balance now',
    isNumber: true,
    cell: ({ payable_now }) => payable_now !== null && <Money amount={payable_now} />,
  },
  { name: 'Closed', cell: ({ settled_at }) => settled_at !== null && <Time at={settled_at} ago /> },
]

function LineStatus({ line }: { line: Line }) {
  return (
    <>
      <Group gap={4}>
        <Status value={line.status} />
        {line.is_short && <Tag color="red">Balance too low</Tag>}
        {line.is_suspended && <Status value="suspended" />}
        {line.voided_at !== null && <Status value="voided" />}
      </Group>
      {line.reason !== null && (
        <Text size="xs" c="dimmed">
          {line.reason}
        </Text>
      )}
    </>
  )
}

const actions = (onPay: (line: Line) => void, onCancel: (line: Line) => void): Column<Line> => ({
  name: 'Actions',
  cell: (line) =>
    line.status === 'due' && (
      <Group gap={4} wrap="nowrap">
        <Button size="xs" variant="default" aria-label={`Mark ${line.name} as paid`} onClick={() => onPay(line)}>
          Paid
        </Button>
        <Button size="xs" variant="default" aria-label={`Cancel ${line.name}`} onClick={() => onCancel(line)}>
          Cancel
        </Button>
      </Group>
    ),
})
