import { Button, Table, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { StatementList } from '../../../../../src/manage/balance/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'

type StatementsData = Reply<typeof StatementList>

const monthName = new Intl.DateTimeFormat('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const formatMonth = (month: string) => monthName.format(new Date(`${month}-01`))

export function Statements({ base }: { base: string }) {
  const pages = usePages()
  const list = useGet<StatementsData>(`${base}/statements${query({ cursor: pages.cursor })}`)
  return (
    <Section
      title="Statements"
      about="One for each month, which begins and ends in UTC. The file lists every conversion, reversal, adjustment and payment, with the balance after it."
    >
      <Loaded query={list}>
        {({ statements, next_cursor }) =>
          statements.length === 0 ? (
            <Text size="sm">There is none yet. The first one begins with the first approved conversion.</Text>
          ) : (
            <>
              <StatementTable base={base} statements={statements} />
              <Pager pages={pages} nextCursor={next_cursor} />
            </>
          )
        }
      </Loaded>
    </Section>
  )
}

function StatementTable({ base, statements }: { base: string; statements: StatementsData['statements'] }) {
  return (
    <Table.ScrollContainer minWidth={640} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Month</Table.Th>
            <Table.Th ta="right">Earned</Table.Th>
            <Table.Th ta="right">Reversed</Table.Th>
            <Table.Th ta="right">Adjusted</Table.Th>
            <Table.Th ta="right">Paid</Table.Th>
            <Table.Th ta="right">Payable at the end</Table.Th>
            <Table.Th>File</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {statements.map(({ month, is_open, earned, reversed, adjusted, paid, closing_balance }) => (
            <Table.Tr key={month}>
              <Table.Th scope="row" fw={400}>
                {formatMonth(month)}
                {is_open && ', so far'}
              </Table.Th>
              <Table.Td ta="right">{formatUsd(earned)}</Table.Td>
              <Table.Td ta="right">{formatUsd(reversed)}</Table.Td>
              <Table.Td ta="right">{formatUsd(adjusted)}</Table.Td>
              <Table.Td ta="right">{formatUsd(paid)}</Table.Td>
              <Table.Td ta="right">{formatUsd(closing_balance)}</Table.Td>
              <Table.Td>
                <Button
                  component="a"
                  href={`/manage/v1${base}/statements/${month}`}
                  download
                  size="xs"
                  variant="default"
                  leftSection={<IconDownload size={14} />}
                  aria-label={`Download the statement of ${formatMonth(month)} as CSV`}
                >
                  CSV
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
