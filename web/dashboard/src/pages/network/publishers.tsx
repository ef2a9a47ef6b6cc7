// All publishers: who they are, what they are owed, whether anything happens.
import { Anchor, Button, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useEffect } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { PUBLISHER_STATUSES } from '../../lib/statuses.ts'
import { choicesOf, oneOf } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterSelect } from '../../parts/filter-select.tsx'
import { balanceColumn } from '../../parts/ledger/balance-column.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { NewPublisher } from '../../parts/publishers/new-publisher.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

export default function Publishers() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const [isOpen, { open, close }] = useDisclosure()
  const pages = usePages()
  const search = filters['search'] ?? ''
  const status = oneOf(PUBLISHER_STATUSES, filters['status'])
  useEffect(() => pages.reset(), [search, status])
  const found = useGet('/publishers', { query: { search, status, cursor: pages.cursor } })
  return (
    <Page
      title="Publishers"
      about="Companies that show offers to their users."
      actions={mayChange && <Button onClick={open}>New publisher</Button>}
    >
      <NewPublisher opened={isOpen} onClose={close} />
      <FilterBar
        label="Publishers"
        filters={filters}
        change={change}
        searchName="search"
        names={['status']}
        search={
          <SearchInput
            placeholder="Name, email address or ID"
            value={search}
            onChange={(value) => change({ search: value })}
          />
        }
      >
        <FilterSelect
          label="Status"
          data={choicesOf(PUBLISHER_STATUSES)}
          value={status}
          onChange={(value) => change({ status: value })}
        />
      </FilterBar>
      <Loaded query={found}>
        {({ publishers, next_cursor }) => (
          <DataTable
            rows={publishers}
            columns={COLUMNS}
            rowKey={({ publisher_id }) => publisher_id}
            minWidth={760}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              search === '' && status === undefined ? (
                <Empty title="No publishers yet">
                  Create the first one with the button above, then invite its people: they create their own apps.
                </Empty>
              ) : (
                <Empty title={search === '' ? `No publisher is ${status}` : `No publisher matches “${search}”`}>
                  Search for part of a name or email address, in any status.
                </Empty>
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

const COLUMNS: Column<Schemas['PublisherList']['publishers'][number]>[] = [
  {
    name: 'Publisher',
    isText: true,
    cell: ({ publisher_id, name, email }) => (
      <>
        <Anchor component={Link} href={`/network/publishers/${publisher_id}`} size="sm">
          {name}
        </Anchor>
        <Text size="xs" c="dimmed">
          {email ?? 'no address for notices'}
        </Text>
      </>
    ),
  },
  { name: 'Status', cell: ({ status }) => <Status value={status} /> },
  { name: 'Apps', isNumber: true, cell: ({ apps }) => formatCount(apps) },
  balanceColumn('pending'),
  balanceColumn('payable'),
  { name: 'Last conversion', cell: ({ last_conversion_at }) => <Time at={last_conversion_at} ago none="never" /> },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} ago /> },
]
