// Who changed what, and when.
import { Anchor, Button, Code, Group, Paper, Select, Stack, Table, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { AuditList } from '../../../../../src/manage/audit/schema.ts'
import type { OwedList } from '../../../../../src/manage/ledger/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Details } from '../../parts/audit/details.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { FilterText } from '../../parts/system/filter-text.tsx'
import { Time } from '../../parts/time.tsx'

const LIMIT = 50
const FILTERS = ['who', 'action', 'subject', 'publisher_id'] as const

export default function Audit() {
  const [filters, change] = useFilters()
  const pages = usePages()
  const wanted = Object.fromEntries(FILTERS.map((name) => [name, filters[name] ?? '']))
  const isFiltered = Object.values(wanted).some((value) => value !== '')
  const search = query(wanted)
  useEffect(() => pages.reset(), [search])
  const found = useGet<Reply<typeof AuditList>>(`/audit${query({ ...wanted, limit: LIMIT, cursor: pages.cursor })}`)
  const clear = () => change(Object.fromEntries(FILTERS.map((name) => [name, null])))
  return (
    <Page title="Audit log" about="Every change by every person, newest first. Nothing is ever taken out of it.">
      <AuditFilters {...{ filters, change }} />
      {isFiltered && (
        <Group>
          <Button size="xs" variant="default" onClick={clear}>
            Show everything
          </Button>
        </Group>
      )}
      <Loaded query={found}>
        {({ deeds, next_cursor }) =>
          deeds.length === 0 ? (
            <Empty title={isFiltered ? 'Nothing matches' : 'Nobody has changed anything yet'}>
              {isFiltered
                ? 'The address must be whole; of an action the beginning is enough, such as person.'
                : 'Whatever people do in the dashboard or through the management API stands here.'}
            </Empty>
          ) : (
            <Stack>
              <DeedTable deeds={deeds} change={change} />
              <Pager pages={pages} nextCursor={next_cursor} />
            </Stack>
          )
        }
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
    <Group align="flex-end">
      <FilterText label="Who" placeholder="E-mail address" maxLength={254} {...field('who')} />
      <FilterText label="Action" placeholder="person.change" {...field('action')} />
      <FilterText label="Done to" placeholder="Its id" maxLength={200} {...field('subject')} />
      <PublisherFilter value={filters['publisher_id'] ?? null} onChange={(value) => change({ publisher_id: value })} />
    </Group>
  )
}

type PublisherFilterProps = { value: string | null; onChange: (value: string | null) => void }

/** There may be many: the server looks for those whose names match. */
function PublisherFilter({ value, onChange }: PublisherFilterProps) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed, 300)
  const owed = useGet<Reply<typeof OwedList>>(`/ledger/publishers${query({ search: search.trim(), limit: 20 })}`)
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

type Deed = Reply<typeof AuditList>['deeds'][number]

function DeedTable({ deeds, change }: { deeds: Deed[]; change: Change }) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={860}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>When</Table.Th>
              <Table.Th>Who</Table.Th>
              <Table.Th>Did</Table.Th>
              <Table.Th>To</Table.Th>
              <Table.Th>Publisher</Table.Th>
              <Table.Th>Details</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deeds.map((deed) => (
              <Table.Tr key={deed.audit_id}>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  <Time at={deed.created_at} />
                </Table.Td>
                <Table.Td>
                  <Anchor component="button" size="sm" ta="left" onClick={() => change({ who: deed.who })}>
                    {deed.who}
                  </Anchor>
                  <Text size="xs" c="dimmed">
                    {[deed.ip, deed.via].filter((one) => one !== null).join(' · ')}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Code>{deed.action}</Code>
                </Table.Td>
                <Table.Td maw={180} style={{ overflowWrap: 'anywhere' }}>
                  {deed.subject}
                </Table.Td>
                <Table.Td>
                  {deed.publisher === null ? (
                    '–'
                  ) : (
                    <Anchor component={Link} href={`/network/publishers/${deed.publisher.publisher_id}`} size="sm">
                      {deed.publisher.name}
                    </Anchor>
                  )}
                </Table.Td>
                <Table.Td maw={320}>
                  <Details details={deed.details} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
