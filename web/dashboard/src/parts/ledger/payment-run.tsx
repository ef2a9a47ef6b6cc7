// Who is owed how much, and the payment run that stores it.
import { Alert, Anchor, Button, Checkbox, Stack, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { checkAmount, readAmount } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCents, formatCount, formatNoun } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { FilterText } from '../filter-text.tsx'
import { balanceColumn } from './balance-column.tsx'
import { Money } from '../money.tsx'
import { Empty, Loaded } from '../page.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { SearchInput } from '../search-input.tsx'
import { Status } from '../status.tsx'
import { OffsetPager } from '../system/offset-pager.tsx'
import { Time } from '../time.tsx'
import { type AdjustedParty, AdjustModal } from './adjust.tsx'
import { runHref } from './runs.tsx'

const LIMIT = 50

type Owed = Schemas['PublisherBalanceList']['publishers'][number]
type Chosen = ReadonlyMap<number, Owed>

export function PaymentRunTab() {
  const mayPay = mayWrite(useMe())
  const [filters, change] = useFilters()
  const { minimum: typed = '', search = '' } = filters
  const minimum = typed === '' ? 0 : readAmount(typed)
  const offset = Number(filters['offset'] ?? 0) || 0
  const owed = useGet(minimum === null ? null : '/ledger/publishers', {
    query: { minimum: String(minimum ?? ''), search, limit: LIMIT, offset },
  })
  const [chosen, setChosen] = useState<Chosen>(new Map())
  const [adjusted, setAdjusted] = useState<AdjustedParty | null>(null)
  useEffect(() => setChosen(new Map()), [typed, search])
  const narrow = (name: string) => (value: string) => change({ [name]: value, offset: null })
  // Only what the list shows can be paid: not before it is there.
  const listed = owed.isPlaceholderData || minimum === null ? undefined : owed.data
  return (
    <Stack>
      <FilterBar
        label="Publishers to pay"
        filters={filters}
        change={(none) => change({ ...none, offset: null })}
        names={['minimum']}
        searchName="search"
        search={
          <SearchInput label="Publisher" placeholder="Part of the name" value={search} onChange={narrow('search')} />
        }
      >
        <FilterText
          label="Owed at least"
          placeholder="0"
          leftSection="$"
          inputMode="decimal"
          error={typed === '' ? null : checkAmount(typed)}
          value={typed}
          onChange={narrow('minimum')}
        />
      </FilterBar>
      {mayPay && <CreateRun {...{ chosen, search }} minimum={minimum ?? 0} due={listed?.total_due ?? 0} />}
      {minimum !== null && (
        <Loaded query={owed}>
          {({ publishers, total, total_due }) => (
            <>
              {total > 0 && (
                <Text size="sm" role="status">
                  {formatNoun(total, 'publisher')}, {formatCents(total_due)} to pay, in whole cents.
                </Text>
              )}
              <DataTable
                rows={publishers}
                columns={[
                  mayPay && selectColumn(publishers, chosen, setChosen),
                  ...COLUMNS,
                  mayPay && adjustColumn(setAdjusted),
                ]}
                rowKey={({ publisher_id }) => publisher_id}
                minWidth={760}
                empty={<NothingOwed isFiltered={typed !== '' || search !== ''} />}
                pager={
                  <OffsetPager
                    {...{ offset, total }}
                    limit={LIMIT}
                    onChange={(next) => change({ offset: next === 0 ? null : String(next) })}
                  />
                }
              />
            </>
          )}
        </Loaded>
      )}
      {chosen.size > 0 && (
        <Alert color="blue" role="status">
          {formatCount(chosen.size)} selected, {formatCents(sumOf(chosen))}
        </Alert>
      )}
      <AdjustModal party={adjusted} onClose={() => setAdjusted(null)} />
    </Stack>
  )
}

type CreateRunProps = { chosen: Chosen; search: string; minimum: number; due: number }

/** Of those selected; without a selection, of everybody who is owed enough and not suspended. */
function CreateRun({ chosen, search, minimum, due }: CreateRunProps) {
  const [, navigate] = useLocation()
  const create = useChange((body: BodyOf<'POST /ledger/payment-runs'>) => post('/ledger/payment-runs', body), {
    refresh: ['/ledger'],
    onDone: ({ run_id }) => navigate(runHref(run_id)),
  })
  const isAll = chosen.size === 0
  const ofSearch = isAll && search !== ''
  return (
    <div>
      <Button
        loading={create.isPending}
        disabled={ofSearch || (isAll && due <= 0)}
        onClick={() => create.mutate({ minimum, ...(isAll ? {} : { publisher_ids: [...chosen.keys()] }) })}
      >
        {isAll ? 'Create payment run' : `Create payment run for ${formatCount(chosen.size)}`}
      </Button>
      {ofSearch && (
        <Text size="sm" c="dimmed">
          Select publishers, or clear the search to pay all.
        </Text>
      )}
    </div>
  )
}

function NothingOwed({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No publisher matches">Lower the amount, or search for part of a name.</Empty>
  return (
    <Empty title="No publishers yet">
      Create publishers on <Link href="/network/publishers">their page</Link>. They earn with approved conversions.
    </Empty>
  )
}

const sumOf = (chosen: Chosen) => [...chosen.values()].reduce((sum, { due }) => sum + Math.round(due * 100), 0) / 100

function selectColumn(publishers: Owed[], chosen: Chosen, setChosen: (chosen: Chosen) => void): Column<Owed> {
  const choose = (some: Owed[], isChosen: boolean) => {
    const next = new Map(chosen)
    for (const one of some) {
      if (isChosen) next.set(one.publisher_id, one)
      else next.delete(one.publisher_id)
    }
    setChosen(next)
  }
  const due = publishers.filter((one) => one.due > 0)
  const count = due.filter((one) => chosen.has(one.publisher_id)).length
  return {
    name: 'Select',
    header: (
      <Checkbox
        aria-label="Select all on this page"
        disabled={due.length === 0}
        checked={count > 0 && count === due.length}
        indeterminate={count > 0 && count < due.length}
        onChange={(event) => choose(due, event.currentTarget.checked)}
      />
    ),
    cell: (one) => (
      <Checkbox
        aria-label={`Select ${one.name}`}
        disabled={one.due <= 0}
        checked={chosen.has(one.publisher_id)}
        onChange={(event) => choose([one], event.currentTarget.checked)}
      />
    ),
  }
}

const COLUMNS: Column<Owed>[] = [
  {
    name: 'Publisher',
    isText: true,
    cell: ({ publisher_id, name, is_suspended }) => (
      <>
        <Anchor component={Link} href={`/network/publishers/${publisher_id}`} size="sm">
          {name}
        </Anchor>{' '}
        {is_suspended && <Status value="suspended" />}
      </>
    ),
  },
  balanceColumn('pending'),
  balanceColumn('payable'),
  { name: 'Paid so far', isNumber: true, cell: ({ paid }) => <Money amount={paid} /> },
  { name: 'Last paid', cell: ({ last_paid_at }) => <Time at={last_paid_at} ago none="never" /> },
  {
    name: 'To pay',
    isNumber: true,
    isStrong: true,
    cell: ({ due, run_id }) =>
      run_id === null ? (
        <Money amount={due} />
      ) : (
        <Anchor component={Link} href={runHref(run_id)} size="sm">
          in run {run_id}
        </Anchor>
      ),
  },
]

const adjustColumn = (onAdjust: (party: AdjustedParty) => void): Column<Owed> => ({
  name: 'Actions',
  cell: ({ publisher_id, name }) => (
    <Button
      size="xs"
      variant="default"
      aria-label={`Adjust the balance of ${name}`}
      onClick={() => onAdjust({ publisher_id, name })}
    >
      Adjust
    </Button>
  ),
})
