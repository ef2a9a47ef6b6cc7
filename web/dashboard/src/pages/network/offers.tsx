import { Anchor, Box, Button, Group, Paper, Select, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconFileImport, IconPlus, IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { OfferPage } from '../../../../../src/manage/offers/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { AdvertiserSelect } from '../../parts/advertisers/advertiser-select.tsx'
import { CATEGORY_CHOICES } from '../../parts/network-offers/fields.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type Listed = Reply<typeof OfferPage>
const NAMES = ['search', 'status', 'advertiser_id', 'category'] as const

export default function Offers() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const pages = usePages()
  const given = Object.fromEntries(NAMES.map((name) => [name, filters[name]]))
  const offers = useGet<Listed>(`/offers${query({ ...given, cursor: pages.cursor })}`)
  const isFiltered = NAMES.some((name) => filters[name] !== undefined)
  const narrow = (changed: Record<string, string | null>) => {
    pages.reset()
    change(changed)
  }
  return (
    <Page
      title="Offers"
      about="Everything that users of publishers can complete."
      actions={
        mayChange && (
          <>
            <Button
              component={Link}
              href="/network/offers/import"
              variant="default"
              leftSection={<IconFileImport size={16} />}
            >
              Import
            </Button>
            <Button component={Link} href="/network/offers/new" leftSection={<IconPlus size={16} />}>
              New offer
            </Button>
          </>
        )
      }
    >
      <Narrow filters={filters} narrow={narrow} />
      <Loaded query={offers}>
        {({ offers: listed, next_cursor }) =>
          listed.length === 0 ? (
            isFiltered ? (
              <Empty title="No offer matches">
                <Anchor
                  component="button"
                  size="sm"
                  onClick={() => narrow(Object.fromEntries(NAMES.map((n) => [n, null])))}
                >
                  Show all offers
                </Anchor>
              </Empty>
            ) : (
              <Empty title="There are no offers yet">
                Make an advertiser first, then make its offers here or import them from a file.
              </Empty>
            )
          ) : (
            <Stack>
              <OfferTable offers={listed} />
              <Pager pages={pages} nextCursor={next_cursor} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  )
}

type NarrowProps = { filters: Filters; narrow: (changed: Record<string, string | null>) => void }

function Narrow({ filters, narrow }: NarrowProps) {
  const [typed, setTyped] = useState(filters['search'] ?? '')
  const search = useDebouncedCallback((text: string) => narrow({ search: text.trim() }), 300)
  return (
    <Group align="flex-end" gap="sm">
      <TextInput
        label="Search"
        placeholder="Name, id or external id"
        leftSection={<IconSearch size={16} />}
        w={{ base: '100%', xs: 260 }}
        maxLength={200}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value)
          search(value)
        }}
      />
      <AdvertiserSelect
        label="Advertiser"
        placeholder="all"
        clearable
        w={{ base: '100%', xs: 220 }}
        value={filters['advertiser_id'] ?? null}
        onChange={(value) => narrow({ advertiser_id: value })}
      />
      <Select
        label="Status"
        placeholder="all"
        clearable
        w={130}
        data={['active', 'paused']}
        value={filters['status'] ?? null}
        onChange={(value) => narrow({ status: value })}
      />
      <Select
        label="Category"
        placeholder="all"
        clearable
        w={130}
        data={CATEGORY_CHOICES}
        value={filters['category'] ?? null}
        onChange={(value) => narrow({ category: value })}
      />
    </Group>
  )
}

const whereOf = (countries: string[]) =>
  countries.length === 0
    ? 'everywhere'
    : countries.slice(0, 4).join(', ') + (countries.length > 4 ? ` and ${countries.length - 4} more` : '')

function OfferTable({ offers }: { offers: Listed['offers'] }) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={940}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Offer</Table.Th>
              <Table.Th>Advertiser</Table.Th>
              <Table.Th miw={110}>State</Table.Th>
              <Table.Th ta="right">Payout</Table.Th>
              <Table.Th ta="right">Revenue</Table.Th>
              <Table.Th>Countries</Table.Th>
              <Table.Th>Changed</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {offers.map((offer) => (
              <Table.Tr key={offer.offer_id}>
                <Table.Td maw={320}>
                  <Group gap="sm" wrap="nowrap">
                    {offer.image_url?.startsWith('/') ? (
                      <Box component="img" src={offer.image_url} alt="" w={36} h={36} bdrs="sm" flex="none" />
                    ) : null}
                    <Box miw={0}>
                      <Anchor component={Link} href={`/network/offers/${offer.offer_id}`} fw={500} size="sm">
                        {offer.name}
                      </Anchor>
                      <Text size="xs" c="dimmed" truncate>
                        {offer.offer_id} · {offer.external_id} · {offer.category}
                      </Text>
                    </Box>
                  </Group>
                </Table.Td>
                <Table.Td>
                  <Anchor component={Link} href={`/network/advertisers/${offer.advertiser_id}`} size="sm">
                    {offer.advertiser}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <Status value={offer.state} />
                </Table.Td>
                <Table.Td ta="right">{formatUsd(offer.payout)}</Table.Td>
                <Table.Td ta="right">{formatUsd(offer.revenue)}</Table.Td>
                <Table.Td>{whereOf(offer.countries)}</Table.Td>
                <Table.Td style={{ whiteSpace: 'nowrap' }}>
                  <Time at={offer.updated_at} ago />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
