// Payments, adjustments and voids as they were recorded: to publishers, from advertisers.
import { Button, Paper, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { MovementList } from '../../../../../src/manage/ledger/schema.ts'
import { post, query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { ReasonModal } from './reason-form.tsx'

type Movement = Reply<typeof MovementList>['payments'][number]

const KINDS = [
  { value: '', label: 'All' },
  { value: 'payout', label: 'Paid' },
  { value: 'receipt', label: 'Received' },
  { value: 'adjustment', label: 'Adjusted' },
]
const WORDS = { payout: 'Paid to', receipt: 'Received from', adjustment: 'Adjustment of' }

export function PaymentsTab() {
  const [filters, change] = useFilters()
  const { kind = '' } = filters
  const pages = usePages()
  useEffect(() => pages.reset(), [kind])
  const mayVoid = mayWrite(useMe())
  const found = useGet<Reply<typeof MovementList>>(`/ledger/payments${query({ kind, cursor: pages.cursor })}`)
  const [voiding, setVoiding] = useState<Movement | null>(null)
  const voidPayment = useChange(
    ({ postingId, reason }: { postingId: string; reason: string }) =>
      post(`/ledger/payments/${postingId}/void`, { reason }),
    { refresh: ['/ledger'], done: 'Voided.', onFault: () => {} },
  )
  return (
    <Stack>
      <SegmentedControl
        aria-label="Which payments"
        data={KINDS}
        value={kind}
        onChange={(value) => change({ kind: value })}
        maw={420}
      />
      <Loaded query={found}>
        {({ payments, next_cursor }) =>
          payments.length === 0 ? (
            <Empty title="No payments yet">
              They appear here once you mark publishers as paid, or record what an advertiser paid.
            </Empty>
          ) : (
            <>
              <MovementTable payments={payments} onVoid={mayVoid ? setVoiding : null} />
              <Pager pages={pages} nextCursor={next_cursor} />
            </>
          )
        }
      </Loaded>
      <ReasonModal
        opened={voiding !== null}
        title={voiding === null ? '' : `Void ${formatUsd(voiding.amount)}, ${voiding.reference}`}
        about="A void undoes it on the balance and stays in the statement. It cannot be undone itself: record the payment again, under another reference."
        action="Void"
        onClose={() => setVoiding(null)}
        send={(reason) => voidPayment.mutateAsync({ postingId: voiding?.posting_id ?? '', reason })}
      />
    </Stack>
  )
}

type MovementTableProps = { payments: Movement[]; onVoid: ((payment: Movement) => void) | null }

function MovementTable({ payments, onVoid }: MovementTableProps) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={640}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>What</Table.Th>
              <Table.Th>Reference</Table.Th>
              <Table.Th ta="right">Amount</Table.Th>
              {onVoid !== null && <Table.Th>Actions</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {payments.map((payment) => (
              <Table.Tr key={payment.posting_id}>
                <Table.Td>
                  <Time at={payment.created_at} />
                </Table.Td>
                <Table.Td>
                  {payment.voids === null ? WORDS[payment.kind] : `Void: ${WORDS[payment.kind].toLowerCase()}`}{' '}
                  {payment.name}
                  {payment.reason !== null && (
                    <Text size="xs" c="dimmed">
                      {payment.reason}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{payment.reference}</Table.Td>
                <Table.Td ta="right">{formatUsd(payment.amount)}</Table.Td>
                {onVoid !== null && (
                  <Table.Td>
                    {payment.voided_at !== null ? (
                      <Status value="voided" />
                    ) : (
                      payment.voids === null && (
                        <Button
                          size="xs"
                          variant="default"
                          aria-label={`Void ${payment.reference} of ${payment.name}`}
                          onClick={() => onVoid(payment)}
                        >
                          Void
                        </Button>
                      )
                    )}
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
