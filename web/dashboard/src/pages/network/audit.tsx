// Who changed what, and when.
import { Anchor, Code, Select, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { EntityLink } from '../../parts/audit/entity-link.tsx'
import { Details } from '../../parts/audit/details.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Time } from '../../parts/time.tsx'

const LIMIT = 50
const FILTERS = ['who', 'action', 'subject', 'publisher_id'] as const

export default function Audit() {
  const [filters, change] = useFilters()
  const pages = usePages()
  const wanted = Object.fromEntries(FILTERS.map((name) => [name, filters[name] ?? '']))
  const isFiltered = Object.values(wanted).some((value) => value !== '')
  const search = JSON.stringify(wanted)
  useEffect(() => pages.reset(), [search])
  const found = useGet('/audit', { query: { ...wanted, limit: LIMIT, cursor: pages.cursor } })
  return (
    <Page title="Audit log" about="Every change by every person, newest first. Entries are permanent.">
      <AuditFilters {...{ filters, change }} />
      <Loaded query={found}>
        {({ entries, next_cursor }) => (
          <DataTable
            rows={entries}
            columns={columnsOf(change)}
            rowKey={({ audit_id }) => audit_id}
            minWidth={860}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              <Empty title={isFiltered ? 'No entries match' : 'No changes yet'}>
                {isFiltered
                  ? 'Enter the full email address. For an action, the beginning is enough, such as person.'
                  : 'Every change in the dashboard or through the management API is listed here.'}
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

type Change = (change: Record<string, string | null>) => void

function AuditFilters({ filters, change }: { filters: Record<string, string>; change: Change }) {
  const field = (name: (typeof FILTERS)[number]) => ({
    value: filters[name] ?? '',
    onChange: (value: string) => change({ [name]: value }),
  })
  return (
    <FilterBar
      label="Audit log"
      filters={filters}
      change={change}
      searchName="who"
      names={['action', 'subject', 'publisher_id']}
      search={<SearchInput label="Actor" placeholder="Email address" maxLength={254} {...field('who')} />}
    >
      <FilterText label="Action" placeholder="person.change" {...field('action')} />
      <FilterText label="Target" placeholder="ID" maxLength={200} {...field('subject')} />
      <PublisherFilter value={filters['publisher_id'] ?? null} onChange={(value) => change({ publisher_id: value })} />
    </FilterBar>
  )
}

type PublisherFilterProps = { value: string | null; onChange: (value: string | null) => void }

/** There may be many: the server looks for those whose names match. */
function PublisherFilter({ value, onChange }: PublisherFilterProps) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, 300)
  const owed = useGet('/ledger/publishers', { query: { search: search.trim(), limit: 20 } })
  const data = (owed.data?.publishers ?? []).map((one) => ({ value: String(one.publisher_id), label: one.name }))
  const isKnown = value === null || data.some((one) => one.value === value)
  return (
    <Select
      label="Publisher"
      placeholder="All"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'All publishers' }}
      data={isKnown ? data : [{ value, label: `Publisher ${value}` }, ...data]}
      filter={({ options }) => options}
      value={value}
      onChange={onChange}
      onSearchChange={setTyped}
    />
  )
}

/** Where there is no room for all of it, the host stands on the next line. */
function Email({ address }: { address: string }) {
  const at = address.lastIndexOf('@')
  return (
    <>
      {address.slice(0, Math.max(at, 0))}
      <wbr />
      {address.slice(Math.max(at, 0))}
    </>
  )
}

type Entry = Schemas['AuditList']['entries'][number]

const columnsOf = (change: Change): Column<Entry>[] => [
  {
    name: 'Action',
    cell: ({ action, created_at }) => (
      <>
        <Code>{action}</Code>
        <Text size="xs" c="dimmed" component="div">
          <Time at={created_at} />
        </Text>
      </>
    ),
  },
  {
    name: 'Actor',
    cell: ({ who, ip, via }) => (
      <>
        <Anchor component="button" size="sm" ta="left" onClick={() => change({ who })}>
          <Email address={who} />
        </Anchor>
        <Text size="xs" c="dimmed">
          {[ip, via].filter((one) => one !== null).join(' · ')}
        </Text>
      </>
    ),
  },
  {
    name: 'Target',
    isText: true,
    cell: ({ subject, target, publisher }) => (
      <>
        {target === null ? <Text size="sm">{subject}</Text> : <EntityLink of={target} size="sm" />}
        {target !== null && (
          <Text size="xs" c="dimmed">
            {target.kind === 'person' || target.kind === 'import' ? target.kind : `${target.kind} ${target.id}`}
          </Text>
        )}
        {publisher !== null && target?.kind !== 'publisher' && (
          <Anchor component={Link} href={`/network/publishers/${publisher.publisher_id}`} size="xs">
            {publisher.name}
          </Anchor>
        )}
      </>
    ),
  },
  {
    name: 'Details',
    isText: true,
    cell: ({ details, mentions, request_id }) => (
      <Details details={request_id === null ? details : { ...details, request_id }} mentions={mentions} />
    ),
  },
]
