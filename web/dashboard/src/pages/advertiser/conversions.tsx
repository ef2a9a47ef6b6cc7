import { Stack, Text } from '@mantine/core'
import { useParams } from 'wouter'
import { checkId } from '../../lib/amounts.ts'
import { fileUrl } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { CONVERSION_STATUSES } from '../../lib/statuses.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { choicesOf, oneOf } from '../../lib/words.ts'
import { startOfDay } from '../../lib/zoned-time.ts'
import { DecideByFile } from '../../parts/advertisers/decide-by-file.tsx'
import { StatusWithReason } from '../../parts/conversions/status-with-reason.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterDay } from '../../parts/filter-day.tsx'
import { FilterSelect } from '../../parts/filter-select.tsx'
import { FilterText } from '../../parts/filter-text.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { FoundSoFar, Pager, usePages } from '../../parts/pager.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Time } from '../../parts/time.tsx'
import { DownloadCsv } from '../../parts/download-csv.tsx'
import { Price } from '../../parts/money.tsx'

type Conversion = Schemas['AdvertiserConversion']

export default function Conversions() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const [filters, change] = useFilters()
  const mode = useMode()
  const { transaction_id, offer_id, status, from, to } = filters
  const query = {
    transaction_id,
    offer_id,
    status: oneOf(CONVERSION_STATUSES, status),
    from: startOfDay(from),
    to: startOfDay(to, 1),
    mode,
  }
  const set = (name: string) => (value: string | null) => change({ [name]: value })
  return (
    <Page
      title="Conversions"
      about="Completions of your offers, newest first, with your transaction IDs. The CSV file applies the filters and has up to the 10,000 newest."
      actions={
        <>
          <DecideByFile advertiserId={advertiser_id} />
          <DownloadCsv href={fileUrl(`/advertisers/${advertiser_id}/conversions.csv`, query)} />
        </>
      }
    >
      <FilterBar
        label="Conversions"
        filters={filters}
        change={change}
        searchName="transaction_id"
        names={['offer_id', 'status', 'from', 'to']}
        search={
          <SearchInput label="Transaction ID" value={transaction_id} onChange={set('transaction_id')} maxLength={200} />
        }
      >
        <FilterText label="Offer ID" inputMode="numeric" value={offer_id} check={checkId} onChange={set('offer_id')} />
        <FilterSelect label="Status" data={choicesOf(CONVERSION_STATUSES)} value={status} onChange={set('status')} />
        <FilterDay label="From" value={filters['from']} onChange={set('from')} />
        <FilterDay label="Until" value={filters['to']} onChange={set('to')} />
      </FilterBar>
      <List
        key={JSON.stringify([advertiser_id, query])}
        path={`/advertisers/${advertiser_id}/conversions`}
        query={query}
        isFiltered={Object.keys(filters).length > 0}
      />
    </Page>
  )
}

type ListProps = {
  path: `/advertisers/${string}/conversions`
  query: {
    transaction_id: string | undefined
    offer_id: string | undefined
    status: Conversion['status'] | undefined
    from: string | undefined
    to: string | undefined
    mode: 'live' | 'test'
  }
  isFiltered: boolean
}

function List({ path, query, isFiltered }: ListProps) {
  const pages = usePages()
  const list = useGet(path, { query: { ...query, cursor: pages.cursor } })
  return (
    <Loaded query={list}>
      {({ conversions, next_cursor }) =>
        conversions.length === 0 && next_cursor !== null ? (
          <FoundSoFar pages={pages} nextCursor={next_cursor} />
        ) : conversions.length === 0 ? (
          <Empty title={isFiltered ? 'No conversions match' : 'No conversions yet'}>
            {isFiltered
              ? 'Clear a filter or choose another period.'
              : 'Conversions appear here when your system confirms that a user completed an offer.'}
          </Empty>
        ) : (
          <Stack>
            <DataTable
              rows={conversions}
              columns={columnsOf(conversions)}
              rowKey={({ conversion_id }) => conversion_id}
              minWidth={860}
            />
            <Pager pages={pages} nextCursor={next_cursor} />
          </Stack>
        )
      }
    </Loaded>
  )
}

function columnsOf(conversions: readonly Conversion[]): (Column<Conversion> | false)[] {
  return [
    { name: 'Transaction', isText: true, cell: ({ transaction_id }) => transaction_id ?? '–' },
    {
      name: 'Offer',
      isText: true,
      cell: ({ offer, goal }) => (
        <>
          {offer}
          <Text size="xs" c="dimmed">
            {goal}
          </Text>
        </>
      ),
    },
    { name: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
    { name: 'Status', cell: (one) => <StatusWithReason {...one} /> },
    { name: 'Spend', isNumber: true, cell: ({ spend }) => <Price amount={spend} /> },
    { name: 'Country', cell: ({ country }) => country ?? '–' },
    conversions.some(({ publisher_id }) => publisher_id !== null) && {
      name: 'Publisher',
      isText: true,
      cell: ({ publisher_id, publisher }) => publisher ?? publisher_id,
    },
    { name: 'Click', isText: true, cell: ({ click_id }) => click_id ?? '–' },
  ]
}
