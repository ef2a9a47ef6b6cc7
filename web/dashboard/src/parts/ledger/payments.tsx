// Payments, adjustments and voids as they were recorded: to publishers, from advertisers.
import { Button, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCents } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { choicesOf, oneOf, PAYMENT_KINDS } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { FilterSelect } from '../filter-select.tsx'
import { Money } from '../money.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { ReasonModal } from './reason-form.tsx'

type Movement = Schemas['MovementList']['payments'][number]

const WORDS = { payout: 'Paid to', receipt: 'Received from', adjustment: 'Adjustment of' }

export function PaymentsTab() {
  const [filters, change] = useFilters()
  const kind = oneOf(PAYMENT_KINDS, filters['kind'])
  const pages = usePages()
  useEffect(() => pages.reset(), [kind])
  const mayVoid = mayWrite(useMe())
  const found = useGet('/ledger/payments', { query: { kind, cursor: pages.cursor } })
  const [voiding, setVoiding] = useState<Movement | null>(null)
  const voidPayment = useChange(
    ({ postingId, reason }: { postingId: string; reason: string }) =>
      post(`/ledger/payments/${postingId}/void`, { reason }),
    { refresh: ['/ledger'], done: 'Voided.', onError: () => {} },
  )
  return (
    <Stack>
      <FilterBar label="Payments" {...{ filters, change }} names={['kind']}>
        <FilterSelect
          label="Type"
          data={choicesOf(PAYMENT_KINDS)}
          value={kind}
          onChange={(value) => change({ kind: value })}
        />
      </FilterBar>
      <Loaded query={found}>
        {({ payments, next_cursor }) => (
          <DataTable
            rows={payments}
            columns={[...COLUMNS, mayVoid && voidColumn(setVoiding)]}
            rowKey={({ posting_id }) => posting_id}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              <Empty title="No payments yet">
                Payments appear here once you mark publishers as paid or record a receipt from an advertiser.
              </Empty>
            }
          />
        )}
      </Loaded>
      <ReasonModal
        opened={voiding !== null}
        title={voiding === null ? '' : `Void ${formatCents(voiding.amount)}, ${voiding.reference}`}
        about="Voiding reverses the payment on the balance; both stay in the statement. A void can’t be undone: record the payment again under another reference."
        action="Void"
        onClose={() => setVoiding(null)}
        send={(reason) => voidPayment.mutateAsync({ postingId: voiding?.posting_id ?? '', reason })}
      />
    </Stack>
  )
}

const COLUMNS: Column<Movement>[] = [
  {
    name: 'Type',
    isText: true,
    cell: ({ kind, voids, name, reason }) => (
      <>
        {voids === null ? WORDS[kind] : `Void: ${WORDS[kind].toLowerCase()}`} <bdi>{name}</bdi>
        {reason !== null && (
          <Text size="xs" c="dimmed">
            {reason}
          </Text>
        )}
      </>
    ),
  },
  { name: 'Date', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Reference', isText: true, cell: ({ reference }) => reference },
  { name: 'Amount', isNumber: true, cell: ({ amount }) => <Money amount={amount} /> },
  { name: 'Status', cell: ({ voided_at }) => voided_at !== null && <Status value="voided" /> },
]

const voidColumn = (onVoid: (payment: Movement) => void): Column<Movement> => ({
  name: 'Actions',
  cell: (payment) =>
    payment.voided_at === null &&
    payment.voids === null && (
      <Button
        size="xs"
        variant="default"
        aria-label={`Void ${payment.reference} of ${payment.name}`}
        onClick={() => onVoid(payment)}
      >
        Void
      </Button>
    ),
})
