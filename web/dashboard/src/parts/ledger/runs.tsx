// Payment runs: stored lists of who is to be paid how much. One of them, or all.
import { Anchor, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { Money } from '../money.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { PaymentRun } from './run.tsx'

type Listed = Schemas['PaymentRunList']['runs'][number]

export const runHref = (runId: number) => `/network/ledger?view=runs&run=${runId}`

export function RunsTab() {
  const [{ run }] = useFilters()
  return run === undefined ? <Runs /> : <PaymentRun runId={run} />
}

const COLUMNS: Column<Listed>[] = [
  {
    name: 'Run',
    cell: ({ run_id }) => (
      <Anchor component={Link} href={runHref(run_id)} size="sm">
        Run {run_id}
      </Anchor>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  {
    name: 'Created',
    cell: ({ created_at, created_by }) => (
      <>
        <Time at={created_at} ago />
        <Text size="xs" c="dimmed">
          {created_by}
        </Text>
      </>
    ),
  },
  { name: 'Publishers', isNumber: true, cell: ({ lines }) => formatCount(lines) },
  { name: 'Total', isNumber: true, cell: ({ total }) => <Money amount={total} /> },
  { name: 'Paid', isNumber: true, cell: ({ paid_total }) => <Money amount={paid_total} /> },
  { name: 'Due', isNumber: true, cell: ({ due_total }) => <Money amount={due_total} /> },
]

function Runs() {
  const pages = usePages()
  const found = useGet('/ledger/payment-runs', { query: { cursor: pages.cursor } })
  return (
    <Loaded query={found}>
      {({ runs, next_cursor }) => (
        <DataTable
          rows={runs}
          columns={COLUMNS}
          rowKey={({ run_id }) => run_id}
          minWidth={720}
          pager={<Pager pages={pages} nextCursor={next_cursor} />}
          empty={
            <Empty title="No payment runs yet">
              Create one under <Link href="/network/ledger">Pay publishers</Link>: it records whom to pay and how much.
            </Empty>
          }
        />
      )}
    </Loaded>
  )
}
