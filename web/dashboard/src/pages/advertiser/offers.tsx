import { Anchor, Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { mayWriteAdvertiser, useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Status } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'
import { Price } from '../../parts/money.tsx'
import { Countries } from '../../parts/offers/words.tsx'

type Offer = Schemas['AdvertiserOfferList']['offers'][number]

export default function Offers() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const base = `/advertisers/${advertiser_id}/offers` as const
  const [filters, change] = useFilters()
  const pages = usePages()
  const { search } = filters
  const list = useGet(base, { query: { search, cursor: pages.cursor } })
  return (
    <Page
      title="Offers"
      about="Your offers on this network, and what you pay for each completion."
      actions={
        mayWriteAdvertiser(useMe()) && (
          <Button component={Link} href={`${base}/new`} leftSection={<IconPlus size={16} />}>
            Propose offer
          </Button>
        )
      }
    >
      <FilterBar
        label="Offers"
        filters={filters}
        names={[]}
        searchName="search"
        change={(changed) => {
          pages.reset()
          change(changed)
        }}
        search={
          <SearchInput
            label="Search"
            placeholder="Name, ID or external ID"
            maxLength={200}
            value={search}
            onChange={(text) => {
              pages.reset()
              change({ search: text })
            }}
          />
        }
      />
      <Loaded query={list}>
        {({ offers, next_cursor }) => (
          <DataTable
            rows={offers}
            columns={columnsOf(base)}
            rowKey={({ offer_id }) => offer_id}
            minWidth={720}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              search === undefined ? (
                <Empty title="No offers yet">Propose one, or ask the operator to add it.</Empty>
              ) : (
                <Empty title="No offer matches">Clear the search to see all.</Empty>
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

const columnsOf = (base: string): Column<Offer>[] => [
  {
    name: 'Offer',
    isText: true,
    cell: ({ offer_id, name }) => (
      <Anchor component={Link} href={`${base}/${offer_id}`} size="sm">
        {name}
      </Anchor>
    ),
  },
  { name: 'ID', cell: ({ offer_id }) => offer_id },
  { name: 'External ID', isText: true, cell: ({ external_id }) => external_id },
  { name: 'Status', cell: ({ state }) => <Status value={state} /> },
  { name: 'You pay', isNumber: true, cell: ({ revenue }) => <Price amount={revenue} /> },
  { name: 'Countries', isText: true, cell: ({ countries }) => <Countries codes={countries} /> },
  { name: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} ago /> },
]
