import { Anchor, Button, Modal, Stack, Tabs, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDisclosure } from '@mantine/hooks'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatUpTo } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Calls } from '../../parts/advertisers/calls.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { SecretShown } from '../../parts/secret.tsx'
import { SubmitForm } from '../../parts/submit-form.tsx'
import { Time } from '../../parts/time.tsx'

type Listed = Schemas['AdvertiserList']

export default function Advertisers() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const [isOpen, { open, close }] = useDisclosure()
  const onTab = (tab: string | null) =>
    change({ tab: tab === 'calls' ? tab : null, search: null, outcome: null, click_id: null })
  return (
    <Page
      title="Advertisers"
      about="Companies that own offers, and confirm that users completed them."
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={open}>
            New advertiser
          </Button>
        )
      }
    >
      <Modal opened={isOpen} onClose={close} title="New advertiser">
        <NewAdvertiser close={close} />
      </Modal>
      <Tabs value={filters['tab'] ?? 'list'} onChange={onTab} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="list">Advertisers</Tabs.Tab>
          <Tabs.Tab value="calls">All callbacks</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="list">
          <AdvertiserList search={filters['search'] ?? ''} onSearch={(search) => change({ search })} />
        </Tabs.Panel>
        <Tabs.Panel value="calls">
          <Calls />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function AdvertiserList({ search, onSearch }: { search: string; onSearch: (search: string) => void }) {
  const pages = usePages()
  const advertisers = useGet('/advertisers', { query: { search, cursor: pages.cursor } })
  return (
    <Stack>
      <SearchInput
        placeholder="Name"
        maw={300}
        value={search}
        onChange={(text) => {
          pages.reset()
          onSearch(text)
        }}
      />
      <Loaded query={advertisers}>
        {(data) => (
          <DataTable
            rows={data.advertisers}
            columns={COLUMNS}
            rowKey={({ advertiser_id }) => advertiser_id}
            minWidth={520}
            pager={<Pager pages={pages} nextCursor={data.next_cursor} />}
            empty={
              search === '' ? (
                <Empty title="No advertisers yet">
                  Create one, give its token to the company, then create or import its offers.
                </Empty>
              ) : (
                <Empty title={`No advertiser matches “${search}”`}>Search for part of a name.</Empty>
              )
            }
          />
        )}
      </Loaded>
    </Stack>
  )
}

const COLUMNS: Column<Listed['advertisers'][number]>[] = [
  {
    name: 'Name',
    isText: true,
    cell: ({ advertiser_id, name }) => (
      <Anchor component={Link} href={`/network/advertisers/${advertiser_id}`} fw={500} size="sm">
        {name}
      </Anchor>
    ),
  },
  {
    name: 'Offers',
    cell: ({ advertiser_id, name, offers }) => (
      <Anchor
        component={Link}
        href={`/network/offers?advertiser_id=${advertiser_id}`}
        size="sm"
        aria-label={`${offers} offers of ${name}`}
      >
        {formatUpTo(offers)}
      </Anchor>
    ),
  },
  { name: 'Token', cell: ({ has_token }) => (has_token ? 'works' : 'none') },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} ago /> },
]

function NewAdvertiser({ close }: { close: () => void }) {
  const [made, setMade] = useState<Schemas['IssuedAdvertiser'] | null>(null)
  const form = useForm({ initialValues: { name: '' } })
  const create = useChange((values: { name: string }) => post('/advertisers', values), {
    refresh: ['/advertisers'],
    onError: () => {},
  })
  const submit = useSubmit(form, async (values) => setMade(await create.mutateAsync(values)))
  if (made !== null)
    return (
      <Stack>
        <SecretShown name="token" value={made.token} />
        <Button component={Link} href={`/network/advertisers/${made.advertiser_id}`} onClick={close}>
          Go to {made.name}
        </Button>
      </Stack>
    )
  return (
    <SubmitForm submit={submit} action="Create advertiser">
      <TextInput
        label="Name"
        description="Import files refer to the advertiser by this name."
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
    </SubmitForm>
  )
}
