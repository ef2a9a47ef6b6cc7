import { Table, Text } from '@mantine/core'
import type { PaymentList } from '../../../../../src/manage/balance/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

export function Payments({ base }: { base: string }) {
  const pages = usePages()
  const list = useGet<Reply<typeof PaymentList>>(`${base}/payments${query({ cursor: pages.cursor })}`)
  return (
    <Section title="Payments">
      <Loaded query={list}>
        {({ payments, next_cursor }) =>
          payments.length === 0 ? (
            <Text size="sm">Nothing was paid yet. What is payable is paid by the operator of this network.</Text>
          ) : (
            <>
              <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Paid</Table.Th>
                      <Table.Th>Reference</Table.Th>
                      <Table.Th ta="right">Amount</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {payments.map(({ payment_id, paid_at, reference, amount, voided_at }) => (
                      <Table.Tr key={payment_id}>
                        <Table.Td>
                          <Time at={paid_at} />
                        </Table.Td>
                        <Table.Td style={{ overflowWrap: 'anywhere' }}>
                          {reference} {voided_at !== null && <Status value="voided" />}
                        </Table.Td>
                        <Table.Td ta="right">{formatUsd(amount)}</Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </Table.ScrollContainer>
              <Pager pages={pages} nextCursor={next_cursor} />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}
