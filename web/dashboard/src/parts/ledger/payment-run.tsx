// Who is owed how much, and the payment run that stores it.
import { Alert, Anchor, Button, Checkbox, Group, Paper, Stack, Table, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Run } from '../../../../../src/manage/ledger/payment-run-schema.ts'
import type { OwedList } from '../../../../../src/manage/ledger/schema.ts'
import { post, query, type Reply } from '../../lib/api.ts'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { FilterText } from '../system/filter-text.tsx'
import { OffsetPager } from '../system/offset-pager.tsx'
import { Time } from '../time.tsx'
import { AdjustModal, type AdjustedParty } from './adjust.tsx'
import { runHref } from './runs.tsx'

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
  const [adjusted, setAdjusted] = useState<AdjustedParty | null>(null)
  const [, navigate] = useLocation()
  const create = useChange((body: object) => post<Reply<typeof Run>>('/ledger/payment-runs', body), {
    refresh: ['/ledger'],
    onDone: ({ run_id }) => navigate(runHref(run_id)),
  })
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
        {mayPay && (
          <Button
            loading={create.isPending}
            onClick={() => create.mutate({ minimum: Number(minimum) || 0, ...chosenIds(chosen) })}
          >
            {chosen.size === 0 ? 'Create payment run' : `Create payment run for ${formatCount(chosen.size)}`}
          </Button>
        )}
      </Group>
      <Loaded query={owed}>
        {({ publishers, total, total_due }) =>
          publishers.length === 0 ? (
            <Empty title={minimum === '' && search === '' ? 'There are no publishers yet' : 'Nobody matches'}>
              {minimum === '' && search === '' ? (
                <>
                  Create publishers on <Link href="/network/publishers">their page</Link>. They earn with approved
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
              <OwedTable
                publishers={publishers}
                chosen={chosen}
                setChosen={mayPay ? setChosen : null}
                onAdjust={mayPay ? setAdjusted : null}
              />
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
        <Alert color="blue" role="status">
          {formatCount(chosen.size)} selected, {formatUsd(sumOf(chosen))}
        </Alert>
      )}
      <AdjustModal party={adjusted} onClose={() => setAdjusted(null)} />
    </Stack>
  )
}

/** Without a choice, everybody who is owed enough and not suspended. */
const chosenIds = (chosen: ReadonlyMap<number, Owed>) =>
  chosen.size === 0 ? {} : { publisher_ids: [...chosen.keys()] }

const sumOf = (chosen: ReadonlyMap<number, Owed>) =>
  [...chosen.values()].reduce((sum, { due }) => sum + Math.round(due * 100), 0) / 100

type OwedTableProps = {
  publishers: Owed[]
  chosen: ReadonlyMap<number, Owed>
  setChosen: ((chosen: ReadonlyMap<number, Owed>) => void) | null
  onAdjust: ((party: AdjustedParty) => void) | null
}

function OwedTable({ publishers, chosen, setChosen, onAdjust }: OwedTableProps) {
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
                    aria-label="Select everybody on this page"
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
              {onAdjust !== null && <Table.Th>Actions</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {publishers.map((one) => (
              <Table.Tr key={one.publisher_id}>
                {setChosen !== null && (
                  <Table.Td>
                    <Checkbox
                      aria-label={`Select ${one.name}`}
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
                {onAdjust !== null && (
                  <Table.Td>
                    <Button
                      size="xs"
                      variant="default"
                      aria-label={`Adjust the balance of ${one.name}`}
                      onClick={() => onAdjust({ publisher_id: one.publisher_id, name: one.name })}
                    >
                      Adjust
                    </Button>
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
