import { Stack } from '@mantine/core'
import { useParams } from 'wouter'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { fileUrl } from '../../lib/api.ts'
import { useMode } from '../../lib/mode.ts'
import type { Mode } from '../../lib/words.ts'
import { ConversionFilters, conversionQuery } from '../../parts/conversions/conversion-filters.tsx'
import { ConversionTable } from '../../parts/conversions/conversion-table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { FoundSoFar, Pager, usePages } from '../../parts/pager.tsx'
import { DownloadCsv } from '../../parts/download-csv.tsx'

export default function Conversions() {
  const { app_id } = useParams<{ app_id: string }>()
  const [filters, change] = useFilters()
  const mode = useMode()
  const file = fileUrl(`/apps/${app_id}/conversions.csv`, conversionQuery(filters, mode))
  return (
    <Page
      title="Conversions"
      about="Offers that your users completed, newest first. The CSV file applies the filters and has up to the 10,000 newest."
      actions={<DownloadCsv href={file} />}
    >
      <ConversionFilters filters={filters} change={change} />
      <List key={JSON.stringify([app_id, filters, mode])} appId={app_id} filters={filters} mode={mode} />
    </Page>
  )
}

function List({ appId, filters, mode }: { appId: string; filters: Filters; mode: Mode }) {
  const pages = usePages()
  const wanted = { ...conversionQuery(filters, mode), cursor: pages.cursor }
  const list = useGet(`/apps/${appId}/conversions`, { query: wanted })
  return (
    <Loaded query={list}>
      {({ conversions, next_cursor }) =>
        conversions.length === 0 && next_cursor !== null ? (
          <FoundSoFar pages={pages} nextCursor={next_cursor} />
        ) : conversions.length === 0 ? (
          <Nothing isFiltered={Object.keys(filters).length > 0} isTest={mode === 'test'} />
        ) : (
          <Stack>
            <ConversionTable appId={appId} conversions={conversions} />
            <Pager pages={pages} nextCursor={next_cursor} />
          </Stack>
        )
      }
    </Loaded>
  )
}

function Nothing({ isFiltered, isTest }: { isFiltered: boolean; isTest: boolean }) {
  if (isFiltered) return <Empty title="No conversions match">Clear a filter or choose another period.</Empty>
  return (
    <Empty title={isTest ? 'No test conversions yet' : 'No conversions yet'}>
      Conversions appear here when an advertiser confirms that a user completed an offer, or when your server reports
      one with POST /api/v1/conversions.{!isTest && ' To see test conversions, turn on Test data.'}
    </Empty>
  )
}
