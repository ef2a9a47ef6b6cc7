// Payments as they were noted: to publishers, from advertisers.
import { Paper, SegmentedControl, Stack, Table } from '@mantine/core'
import { useEffect } from 'react'
import type { MovementList } from '../../../../../src/manage/ledger/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Time } from '../time.tsx'

const KINDS = [
  { value: '', label: 'All' },
  { value: 'payout', label: 'Paid' },
  { value: 'receipt', label: 'Received' },
]

export function PaymentsTab() {
  const [filters, change] = useFilters()
  const { kind = '' } = filters
  const pages = usePages()
  useEffect(() => pages.reset(), [kind])
  const found = useGet<Reply<typeof MovementList>>(`/ledger/payments${query({ kind, cursor: pages.cursor })}`)
  return (
    <Stack>
      <SegmentedControl
        aria-label="Which payments"
        data={KINDS}
        value={kind}
        onChange={(value) => change({ kind: value })}
        maw={320}
      />
      <Loaded query={found}>
        {({ payments, next_cursor }) =>
          payments.length === 0 ? (
            <Empty title="No payments yet">
              They stand here once you mark publishers as paid, or record what an advertiser paid.
            </Empty>
          ) : (
            <>
              <Paper p={0}>
                <Table.ScrollContainer minWidth={560}>
                  <Table>
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>When</Table.Th>
                        <Table.Th>What</Table.Th>
                        <Table.Th>Reference</Table.Th>
                        <Table.Th ta="right">Amount</Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {payments.map((payment) => (
                        <Table.Tr key={payment.posting_id}>
                          <Table.Td>
                            <Time at={payment.created_at} />
                          </Table.Td>
                          <Table.Td>
                            {payment.kind === 'payout' ? 'Paid to' : 'Received from'} {payment.name}
                          </Table.Td>
                          <Table.Td style={{ overflowWrap: 'anywhere' }}>{payment.reference}</Table.Td>
                          <Table.Td ta="right">{formatUsd(payment.amount)}</Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
              </Paper>
              <Pager pages={pages} nextCursor={next_cursor} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}
