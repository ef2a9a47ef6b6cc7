import { Anchor, Button, Modal, Paper, Stack, Table, Tabs, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks'
import { IconPlus, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { AdvertiserPage, IssuedAdvertiser } from '../../../../../src/manage/advertisers/schema.ts'
import { post, query, type Reply } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Calls } from '../../parts/advertisers/calls.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SecretShown } from '../../parts/secret.tsx'
import { Time } from '../../parts/time.tsx'

type Listed = Reply<typeof AdvertiserPage>

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
          <Tabs.Tab value="calls">Calls of all</Tabs.Tab>
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
  const [typed, setTyped] = useState(search)
  const pages = usePages()
  const advertisers = useGet<Listed>(`/advertisers${query({ search, cursor: pages.cursor })}`)
  const find = useDebouncedCallback((text: string) => {
    pages.reset()
    onSearch(text.trim())
  }, 300)
  return (
    <Stack>
      <TextInput
        label="Search"
        placeholder="Name"
        leftSection={<IconSearch size={16} />}
        maw={300}
        maxLength={200}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value)
          find(value)
        }}
      />
      <Loaded query={advertisers}>
        {(data) =>
          data.advertisers.length === 0 ? (
            search === '' ? (
              <Empty title="There are no advertisers yet">
                Make one, give its token to the company, then make or import its offers.
              </Empty>
            ) : (
              <Empty title="No advertiser has such a name" />
            )
          ) : (
            <Stack>
              <AdvertiserTable advertisers={data.advertisers} />
              <Pager pages={pages} nextCursor={data.next_cursor} />
            </Stack>
          )
        }
      </Loaded>
    </Stack>
  )
}

function AdvertiserTable({ advertisers }: Pick<Listed, 'advertisers'>) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={520}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Name</Table.Th>
              <Table.Th>Offers</Table.Th>
              <Table.Th>Token</Table.Th>
              <Table.Th>Since</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {advertisers.map((one) => (
              <Table.Tr key={one.advertiser_id}>
                <Table.Td>
                  <Anchor component={Link} href={`/network/advertisers/${one.advertiser_id}`} fw={500} size="sm">
                    {one.name}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Anchor
                    component={Link}
                    href={`/network/offers?advertiser_id=${one.advertiser_id}`}
                    size="sm"
                    aria-label={`${one.offers} offers of ${one.name}`}
                  >
                    {formatCount(one.offers)}
                  </Anchor>
                </Table.Td>
                <Table.Td>{one.has_token ? 'works' : 'none'}</Table.Td>
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

function NewAdvertiser({ close }: { close: () => void }) {
  const [made, setMade] = useState<Reply<typeof IssuedAdvertiser> | null>(null)
  const form = useForm({ initialValues: { name: '' } })
  const create = useChange((values: { name: string }) => post<Reply<typeof IssuedAdvertiser>>('/advertisers', values), {
    refresh: ['/advertisers'],
    onFault: () => {},
  })
  const { onSubmit, isSending, fault } = useSubmit(form, async (values) => setMade(await create.mutateAsync(values)))
  if (made !== null)
    return (
      <Stack>
        <SecretShown name="token" value={made.token} />
        <Button component={Link} href={`/network/advertisers/${made.advertiser_id}`} onClick={close}>
          To {made.name}
        </Button>
      </Stack>
    )
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <TextInput
          label="Name"
          description="Files of offers name it by this."
          required
          maxLength={200}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Button type="submit" loading={isSending}>
          Make it and show its token
        </Button>
      </Stack>
    </form>
  )
}
