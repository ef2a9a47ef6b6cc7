// All publishers: who they are, what they are owed, whether anything happens.
import { Anchor, Button, Group, Paper, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { PublisherList } from '../../../../../src/manage/publishers/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatCount, formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { NewPublisher } from '../../parts/publishers/new-publisher.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

const STATUSES = ['pending', 'active', 'suspended']

export default function Publishers() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const [isOpen, { open, close }] = useDisclosure()
  const pages = usePages()
  const search = filters['search'] ?? ''
  const status = filters['status'] ?? ''
  useEffect(() => pages.reset(), [search, status])
  const found = useGet<Reply<typeof PublisherList>>(`/publishers${query({ search, status, cursor: pages.cursor })}`)
  return (
    <Page
      title="Publishers"
      about="Companies that show offers to their users."
      actions={mayChange && <Button onClick={open}>New publisher</Button>}
    >
      <NewPublisher opened={isOpen} onClose={close} />
      <Group align="flex-end">
        <SearchBox value={search} onChange={(value) => change({ search: value })} />
        <Select
          label="Status"
          placeholder="all"
          clearable
          w={150}
          data={STATUSES}
          value={status === '' ? null : status}
          onChange={(value) => change({ status: value })}
        />
      </Group>
      <Loaded query={found}>
        {({ publishers, next_cursor }) =>
          publishers.length > 0 ? (
            <Stack>
              <PublisherTable publishers={publishers} />
              <Pager pages={pages} nextCursor={next_cursor} />
            </Stack>
          ) : search === '' && status === '' ? (
            <Empty title="No publishers yet">
              Make the first one with the button above, then invite its people: they make their apps themselves.
            </Empty>
          ) : (
            <Empty title={search === '' ? `No publisher is ${status}` : `No publisher matches “${search}”`}>
              Search for part of a name or an e-mail address, among those of any status.
            </Empty>
          )
        }
      </Loaded>
    </Page>
  )
}

function SearchBox({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value)
  const commit = useDebouncedCallback(onChange, 300)
  return (
    <TextInput
      label="Search"
      placeholder="Name, e-mail address or id"
      leftSection={<IconSearch size={16} />}
      maw={360}
      maxLength={200}
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value)
        commit(event.currentTarget.value.trim())
      }}
    />
  )
}

function PublisherTable({ publishers }: Pick<Reply<typeof PublisherList>, 'publishers'>) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={720}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Publisher</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th ta="right">Apps</Table.Th>
              <Table.Th ta="right">Pending</Table.Th>
              <Table.Th ta="right">Payable</Table.Th>
              <Table.Th>Last conversion</Table.Th>
              <Table.Th>Since</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {publishers.map((one) => (
              <Table.Tr key={one.publisher_id}>
                <Table.Td>
                  <Anchor component={Link} href={`/network/publishers/${one.publisher_id}`} size="sm">
                    {one.name}
                  </Anchor>
                  <Text size="xs" c="dimmed">
                    {one.email ?? 'no address for notices'}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Status value={one.status} />
                </Table.Td>
                <Table.Td ta="right">{formatCount(one.apps)}</Table.Td>
                <Table.Td ta="right">{formatUsd(one.pending)}</Table.Td>
                <Table.Td ta="right">{formatUsd(one.payable)}</Table.Td>
                <Table.Td>
                  <Time at={one.last_conversion_at} ago none="never" />
                </Table.Td>
                <Table.Td>
                  <Time at={one.created_at} ago />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
