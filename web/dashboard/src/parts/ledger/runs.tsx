// Payment runs: stored lists of who is to be paid how much. One of them, or all.
import { Anchor, Paper, Stack, Table, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { RunList } from '../../../../../src/manage/ledger/payment-run-schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { PaymentRun } from './run.tsx'

export const runHref = (runId: number) => `/network/ledger?view=runs&run=${runId}`

export function RunsTab() {
  const [{ run }] = useFilters()
  return run === undefined ? <Runs /> : <PaymentRun runId={run} />
}

function Runs() {
  const pages = usePages()
  const found = useGet<Reply<typeof RunList>>(`/ledger/payment-runs${query({ cursor: pages.cursor })}`)
  return (
    <Loaded query={found}>
      {({ runs, next_cursor }) =>
        runs.length === 0 ? (
          <Empty title="No payment runs yet">
            Create one under <Link href="/network/ledger">Pay publishers</Link>: it stores who is to be paid how much.
          </Empty>
        ) : (
          <Stack>
            <RunTable runs={runs} />
            <Pager pages={pages} nextCursor={next_cursor} />
          </Stack>
        )
      }
    </Loaded>
  )
}

function RunTable({ runs }: Pick<Reply<typeof RunList>, 'runs'>) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={720}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Run</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Created</Table.Th>
              <Table.Th ta="right">Publishers</Table.Th>
              <Table.Th ta="right">Total</Table.Th>
              <Table.Th ta="right">Paid</Table.Th>
              <Table.Th ta="right">Due</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {runs.map((run) => (
              <Table.Tr key={run.run_id}>
                <Table.Td>
                  <Anchor component={Link} href={runHref(run.run_id)} size="sm">
                    Run {run.run_id}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Status value={run.status} />
                </Table.Td>
                <Table.Td>
                  <Time at={run.created_at} ago />
                  <Text size="xs" c="dimmed">
                    {run.created_by}
                  </Text>
                </Table.Td>
                <Table.Td ta="right">{formatCount(run.lines)}</Table.Td>
                <Table.Td ta="right">{formatUsd(run.total)}</Table.Td>
                <Table.Td ta="right">{formatUsd(run.paid_total)}</Table.Td>
                <Table.Td ta="right">{formatUsd(run.due_total)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
