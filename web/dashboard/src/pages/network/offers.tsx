import { Anchor, Box, Button, Group, Stack, Text } from '@mantine/core'
import { IconFileImport, IconPlus } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { OFFER_STATUSES } from '../../lib/statuses.ts'
import { CATEGORIES, choicesOf, labelOf } from '../../lib/words.ts'
import { AdvertiserSelect } from '../../parts/advertisers/advertiser-select.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterSelect } from '../../parts/filter-select.tsx'
import { BulkStatus, selectColumn, useSelection } from '../../parts/network-offers/bulk-status.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { MetricValue } from '../../parts/reports/figure.tsx'
import { METRICS, type MetricName, NETWORK_METRICS } from '../../parts/reports/metrics.ts'
import { type Sort, sortable, useSort } from '../../parts/reports/sort-heading.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Status } from '../../parts/status.tsx'
import { Price } from '../../parts/money.tsx'
import { Countries } from '../../parts/offers/words.tsx'

type Listed = Schemas['NetworkOfferList']
type Row = Listed['offers'][number]
const NAMES = ['search', 'status', 'advertiser_id', 'category'] as const
const SHOWN_METRICS = ['clicks', 'conversion_rate', 'epc', 'margin'] as const

export default function Offers() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const pages = usePages()
  const given = Object.fromEntries(NAMES.map((name) => [name, filters[name]]))
  const [sort, choose] = useSort('newest')
  const order = {
    sort: NETWORK_METRICS.find((name) => name === sort.by),
    order: sort.isAscending ? ('asc' as const) : undefined,
  }
  const asked = { ...given, ...order, with: 'figures' as const, cursor: pages.cursor }
  const offers = useGet('/offers', { query: asked })
  const selection = useSelection(JSON.stringify(asked))
  const isFiltered = NAMES.some((name) => filters[name] !== undefined)
  const narrow = (changed: Record<string, string | null>) => {
    pages.reset()
    change(changed)
  }
  const sortBy = (of: MetricName) => {
    pages.reset()
    choose(of)
  }
  return (
    <Page
      title="Offers"
      about="All offers on this network, with figures for the last 30 days."
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
      {order.sort !== undefined && <Sorted by={order.sort} onClear={() => narrow({ sort: null, order: null })} />}
      <Loaded query={offers}>
        {({ offers: listed, next_cursor }) => (
          <Stack pb={selection.chosen.size === 0 ? 0 : 96}>
            <DataTable
              rows={listed}
              columns={[
                mayChange && selectColumn(listed, selection),
                ...COLUMNS,
                ...SHOWN_METRICS.map((of) => figureColumn(of, sort, sortBy)),
              ]}
              rowKey={({ offer_id }) => offer_id}
              minWidth={940}
              pager={<Pager pages={pages} nextCursor={next_cursor} />}
              empty={
                isFiltered || order.sort !== undefined ? (
                  <Empty title="No offer matches">
                    <Anchor
                      component="button"
                      size="sm"
                      onClick={() => narrow(Object.fromEntries([...NAMES, 'sort', 'order'].map((n) => [n, null])))}
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
            <BulkStatus
              offers={listed.filter(({ offer_id }) => selection.chosen.has(offer_id))}
              onDone={selection.clear}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

/** Whose figures there are to sort by. */
const Sorted = ({ by, onClear }: { by: MetricName; onClear: () => void }) => (
  <Text size="sm" c="dimmed">
    Offers with clicks or conversions in the last 30 days, by {METRICS[by].label}.{' '}
    <Anchor component="button" size="sm" underline="always" onClick={onClear}>
      Show all, newest first
    </Anchor>
  </Text>
)

type NarrowProps = { filters: Filters; narrow: (changed: Record<string, string | null>) => void }

function Narrow({ filters, narrow }: NarrowProps) {
  return (
    <FilterBar
      label="Offers"
      filters={filters}
      change={narrow}
      searchName="search"
      names={['advertiser_id', 'status', 'category']}
      search={
        <SearchInput
          placeholder="Name, ID or external ID"
          value={filters['search']}
          onChange={(search) => narrow({ search })}
        />
      }
    >
      <AdvertiserSelect
        label="Advertiser"
        placeholder="Any"
        clearable
        value={filters['advertiser_id'] ?? null}
        onChange={(value) => narrow({ advertiser_id: value })}
      />
      <FilterSelect
        label="Status"
        data={choicesOf(OFFER_STATUSES)}
        value={filters['status']}
        onChange={(value) => narrow({ status: value })}
      />
      <FilterSelect
        label="Category"
        data={choicesOf(CATEGORIES)}
        value={filters['category']}
        onChange={(value) => narrow({ category: value })}
      />
    </FilterBar>
  )
}

const figureColumn = (
  of: (typeof NETWORK_METRICS)[number],
  sort: Sort,
  onSort: (of: MetricName) => void,
): Column<Row> => ({
  ...sortable<Row>(of, sort, onSort),
  cell: ({ figures }) => <MetricValue of={of} value={figures?.[of] ?? null} />,
})

const PRICES: Column<Row> = {
  name: 'Payout / revenue',
  isNumber: true,
  cell: ({ payout, revenue }) => (
    <>
      <Price amount={payout} />
      <Text size="xs" c="dimmed">
        <Price amount={revenue} />
      </Text>
    </>
  ),
}

const COLUMNS: Column<Row>[] = [
  {
    name: 'Offer',
    isText: true,
    cell: (offer) => (
      <Group gap="sm" wrap="nowrap">
        {offer.image_url?.startsWith('/') ? (
          <Box component="img" src={offer.image_url} alt="" w={36} h={36} bdrs="sm" flex="none" />
        ) : null}
        <Box miw={140}>
          <Anchor component={Link} href={`/network/offers/${offer.offer_id}`} fw={500} size="sm">
            {offer.name}
          </Anchor>
          <Text size="xs" c="dimmed">
            {labelOf(CATEGORIES, offer.category)} · {offer.offer_id} ·{' '}
            <Anchor component={Link} href={`/network/offers/${offer.offer_id}/report`} inherit underline="always">
              Report
            </Anchor>
          </Text>
        </Box>
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
  PRICES,
  { name: 'Countries', cell: ({ countries }) => <Countries codes={countries} /> },
]
