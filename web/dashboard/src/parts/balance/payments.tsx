import { Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Money } from '../money.tsx'
import { Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

type Payment = Schemas['PaymentList']['payments'][number]

const COLUMNS: Column<Payment>[] = [
  { name: 'Paid', cell: ({ paid_at }) => <Time at={paid_at} /> },
  {
    name: 'Reference',
    isText: true,
    cell: ({ reference, voided_at }) => (
      <>
        {reference} {voided_at !== null && <Status value="voided" />}
      </>
    ),
  },
  { name: 'Amount', isNumber: true, cell: ({ amount }) => <Money amount={amount} /> },
]

export function Payments({ base }: { base: `/publishers/${string}` }) {
  const pages = usePages()
  const list = useGet(`${base}/payments`, { query: { cursor: pages.cursor } })
  return (
    <Section title="Payments">
      <Loaded query={list}>
        {({ payments, next_cursor }) => (
          <DataTable
            rows={payments}
            columns={COLUMNS}
            rowKey={({ payment_id }) => payment_id}
            minWidth={420}
            isPlain
            empty={<Text size="sm">No payments yet. The operator pays your payable balance.</Text>}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
          />
        )}
      </Loaded>
    </Section>
  )
}
