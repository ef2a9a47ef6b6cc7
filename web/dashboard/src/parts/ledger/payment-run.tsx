// Who is owed how much, who of them is paid now, and the note that they were.
import { Alert, Anchor, Button, Checkbox, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { OwedList } from '../../../../../src/manage/ledger/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { FilterText } from '../system/filter-text.tsx'
import { OffsetPager } from '../system/offset-pager.tsx'
import { Time } from '../time.tsx'
import { MarkAsPaid } from './mark-as-paid.tsx'

const LIMIT = 50

export type Owed = Reply<typeof OwedList>['publishers'][number]

export function PaymentRunTab() {
  const mayPay = mayWrite(useMe())
  const [filters, change] = useFilters()
  const { minimum = '', search = '' } = filters
  const offset = Number(filters['offset'] ?? 0) || 0
  const path = `/ledger/publishers${query({ minimum, search, limit: LIMIT, offset })}`
  const owed = useGet<Reply<typeof OwedList>>(path)
  const [chosen, setChosen] = useState<ReadonlyMap<number, Owed>>(new Map())
  const [isPaying, setPaying] = useState(false)
  useEffect(() => setChosen(new Map()), [minimum, search])
  const narrow = (name: string) => (value: string) => change({ [name]: value, offset: null })
  return (
    <Stack>
      <Group align="flex-end">
        <FilterText label="Publisher" placeholder="Part of the name" value={search} onChange={narrow('search')} />
        <FilterText
          label="Owed at least"
          placeholder="0"
          leftSection="$"
          inputMode="decimal"
          w={140}
          value={minimum}
          onChange={narrow('minimum')}
        />
        <Button
          component="a"
          href={`/manage/v1/ledger/payment-run.csv${query({ minimum, search })}`}
          download
          variant="default"
          leftSection={<IconDownload size={16} />}
        >
          Export CSV
        </Button>
      </Group>
      <Loaded query={owed}>
        {({ publishers, total, total_due }) =>
          publishers.length === 0 ? (
            <Empty title={minimum === '' && search === '' ? 'There are no publishers yet' : 'Nobody matches'}>
              {minimum === '' && search === '' ? (
                <>
                  Publishers are made on <Link href="/network/publishers">their page</Link>. They earn with approved
                  conversions.
                </>
              ) : (
                'Lower the amount, or search for part of a name.'
              )}
            </Empty>
          ) : (
            <>
              <Text size="sm" role="status">
                {formatCount(total)} {total === 1 ? 'publisher' : 'publishers'}, {formatUsd(total_due)} to pay, in whole
                cents.
              </Text>
              <OwedTable publishers={publishers} chosen={chosen} setChosen={mayPay ? setChosen : null} />
              <OffsetPager
                {...{ offset, total }}
                limit={LIMIT}
                onChange={(next) => change({ offset: next === 0 ? null : String(next) })}
              />
            </>
          )
        }
      </Loaded>
      {chosen.size > 0 && (
        <Alert color="blue" role="status" title={`${formatCount(chosen.size)} chosen, ${formatUsd(sumOf(chosen))}`}>
          <Stack gap="xs" align="flex-start">
            <Text size="sm">Pay them with your bank or provider first. Then note it here.</Text>
            <Button onClick={() => setPaying(true)}>Mark as paid</Button>
          </Stack>
        </Alert>
      )}
      <MarkAsPaid
        opened={isPaying}
        payments={[...chosen.values()]}
        onClose={(isDone) => {
          setPaying(false)
          if (isDone) setChosen(new Map())
        }}
      />
    </Stack>
  )
}

export const sumOf = (chosen: ReadonlyMap<number, Owed>) =>
  [...chosen.values()].reduce((sum, { due }) => sum + Math.round(due * 100), 0) / 100

type OwedTableProps = {
  publishers: Owed[]
  chosen: ReadonlyMap<number, Owed>
  setChosen: ((chosen: ReadonlyMap<number, Owed>) => void) | null
}

function OwedTable({ publishers, chosen, setChosen }: OwedTableProps) {
  const due = publishers.filter((one) => one.due > 0)
  const choose = (some: Owed[], isChosen: boolean) => {
    const next = new Map(chosen)
    for (const one of some) {
      if (isChosen) next.set(one.publisher_id, one)
      else next.delete(one.publisher_id)
    }
    setChosen?.(next)
  }
  const count = due.filter((one) => chosen.has(one.publisher_id)).length
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              {setChosen !== null && (
                <Table.Th w={48}>
                  <Checkbox
                    aria-label="Choose everybody on this page"
                    disabled={due.length === 0}
                    checked={count > 0 && count === due.length}
                    indeterminate={count > 0 && count < due.length}
                    onChange={(event) => choose(due, event.currentTarget.checked)}
                  />
                </Table.Th>
              )}
              <Table.Th>Publisher</Table.Th>
              <Table.Th ta="right">Pending</Table.Th>
              <Table.Th ta="right">Payable</Table.Th>
              <Table.Th ta="right">Paid so far</Table.Th>
              <Table.Th>Last paid</Table.Th>
              <Table.Th ta="right">To pay</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {publishers.map((one) => (
              <Table.Tr key={one.publisher_id}>
                {setChosen !== null && (
                  <Table.Td>
                    <Checkbox
                      aria-label={`Choose ${one.name}`}
                      disabled={one.due <= 0}
                      checked={chosen.has(one.publisher_id)}
                      onChange={(event) => choose([one], event.currentTarget.checked)}
                    />
                  </Table.Td>
                )}
                <Table.Td>
                  <Anchor component={Link} href={`/network/publishers/${one.publisher_id}`} size="sm">
                    {one.name}
                  </Anchor>
                </Table.Td>
                <Table.Td ta="right">{formatUsd(one.pending)}</Table.Td>
                <Table.Td ta="right">{formatUsd(one.payable)}</Table.Td>
                <Table.Td ta="right">{formatUsd(one.paid)}</Table.Td>
                <Table.Td>
                  <Time at={one.last_paid_at} ago none="never" />
                </Table.Td>
                <Table.Td ta="right" fw={600}>
                  {formatUsd(one.due)}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
