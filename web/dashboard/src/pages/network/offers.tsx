import { Anchor, Box, Button, Group, Select, Text } from '@mantine/core'
import { IconFileImport, IconPlus, IconSearch } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { query } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { AdvertiserSelect } from '../../parts/advertisers/advertiser-select.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { CATEGORY_CHOICES } from '../../parts/network-offers/fields.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type Listed = Schemas['NetworkOfferList']
const NAMES = ['search', 'status', 'advertiser_id', 'category'] as const

export default function Offers() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const pages = usePages()
  const given = Object.fromEntries(NAMES.map((name) => [name, filters[name]]))
  const offers = useGet(`/offers${query({ ...given, cursor: pages.cursor })}`)
  const isFiltered = NAMES.some((name) => filters[name] !== undefined)
  const narrow = (changed: Record<string, string | null>) => {
    pages.reset()
    change(changed)
  }
  return (
    <Page
      title="Offers"
      about="All offers on this network."
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
        {({ offers: listed, next_cursor }) => (
          <DataTable
            rows={listed}
            columns={COLUMNS}
            rowKey={({ offer_id }) => offer_id}
            minWidth={940}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
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
                <Empty title="No offers yet">
                  Create an advertiser first, then create its offers here or import them from a file.
                </Empty>
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

type NarrowProps = { filters: Filters; narrow: (changed: Record<string, string | null>) => void }

function Narrow({ filters, narrow }: NarrowProps) {
  return (
    <Group align="flex-end" gap="sm">
      <FilterText
        label="Search"
        placeholder="Name, ID or external ID"
        leftSection={<IconSearch size={16} />}
        w={{ base: '100%', xs: 260 }}
        maxLength={200}
        value={filters['search']}
        onChange={(search) => narrow({ search })}
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

const COLUMNS: Column<Listed['offers'][number]>[] = [
  {
    name: 'Offer',
    isText: true,
    cell: (offer) => (
      <Group gap="sm" wrap="nowrap">
        {offer.image_url?.startsWith('/') ? (
          <Box component="img" src={offer.image_url} alt="" w={36} h={36} bdrs="sm" flex="none" />
        ) : null}
        <div>
          <Anchor component={Link} href={`/network/offers/${offer.offer_id}`} fw={500} size="sm">
            {offer.name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {offer.offer_id} · {offer.external_id} · {offer.category}
          </Text>
        </div>
      </Group>
    ),
  },
  {
    name: 'Advertiser',
    isText: true,
    cell: ({ advertiser_id, advertiser }) => (
      <Anchor component={Link} href={`/network/advertisers/${advertiser_id}`} size="sm">
        {advertiser}
      </Anchor>
    ),
  },
  { name: 'Status', cell: ({ state }) => <Status value={state} /> },
  { name: 'Payout', isNumber: true, cell: ({ payout }) => formatUsd(payout) },
  { name: 'Revenue', isNumber: true, cell: ({ revenue }) => formatUsd(revenue) },
  { name: 'Countries', cell: ({ countries }) => whereOf(countries) },
  { name: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} ago /> },
]
