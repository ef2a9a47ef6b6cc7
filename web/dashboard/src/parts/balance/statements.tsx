import { Button, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { formatFullPeriod } from '../../lib/format.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Money } from '../money.tsx'
import { Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'

type StatementsData = Schemas['StatementList']
type Statement = StatementsData['statements'][number]

const sum = (name: string, amountOf: (one: Statement) => number): Column<Statement> => ({
  name,
  isNumber: true,
  cell: (one) => <Money amount={amountOf(one)} />,
})

const columnsOf = (base: `/publishers/${string}`): Column<Statement>[] => [
  { name: 'Month', cell: ({ month, is_open }) => `${formatFullPeriod(month)}${is_open ? ' to date' : ''}` },
  sum('Earned', ({ earned }) => earned),
  sum('Reversed', ({ reversed }) => reversed),
  sum('Adjusted', ({ adjusted }) => adjusted),
  sum('Paid', ({ paid }) => paid),
  sum('Closing balance', ({ closing_balance }) => closing_balance),
  {
    name: 'File',
    cell: ({ month }) => (
      <Button
        component="a"
        href={`/manage/v1${base}/statements/${month}`}
        download
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} />}
        aria-label={`Download the ${formatFullPeriod(month)} statement as CSV`}
      >
        CSV
      </Button>
    ),
  },
]

export function Statements({ base }: { base: `/publishers/${string}` }) {
  const pages = usePages()
  const list = useGet(`${base}/statements`, { query: { cursor: pages.cursor } })
  return (
    <Section
      title="Statements"
      about="One per month, in UTC. The file lists every conversion, reversal, adjustment and payment with the resulting balance."
    >
      <Loaded query={list}>
        {({ statements, next_cursor }) => (
          <DataTable
            rows={statements}
            columns={columnsOf(base)}
            rowKey={({ month }) => month}
            isPlain
            empty={<Text size="sm">No statements yet. The first one starts with your first approved conversion.</Text>}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
          />
        )}
      </Loaded>
    </Section>
  )
}
