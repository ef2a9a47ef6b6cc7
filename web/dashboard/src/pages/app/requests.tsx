// The API request log of an app: what its server asked lately, and what it was answered.
import { Anchor, Code, Stack, Text } from '@mantine/core'
import { useParams } from 'wouter'
import { formatCount, formatDuration } from '../../lib/format.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { choicesOf, type Mode, oneOf, REQUEST_RESULTS } from '../../lib/words.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterSelect } from '../../parts/filter-select.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { problemsOf, RequestDrawer, StatusCode } from '../../parts/requests/request-drawer.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Time } from '../../parts/time.tsx'
import { Tag } from '../../parts/status.tsx'

type ApiRequest = Schemas['ApiRequest']

export default function Requests() {
  const { app_id } = useParams<{ app_id: string }>()
  const [{ open, ...filters }, change] = useFilters()
  const mode = useMode()
  const set = (name: string) => (value: string | null) => change({ [name]: value })
  return (
    <Page
      title="API log"
      about="Requests from your server in the last three days. Busy apps see a sample; secrets are never stored."
    >
      <FilterBar
        label="API requests"
        filters={filters}
        change={change}
        searchName="request_id"
        names={['outcome']}
        search={
          <SearchInput
            label="Request ID"
            value={filters['request_id']}
            onChange={set('request_id')}
            maxLength={60}
            placeholder="req_…"
          />
        }
      >
        <FilterSelect
          label="Result"
          data={choicesOf(REQUEST_RESULTS)}
          value={filters['outcome']}
          onChange={set('outcome')}
        />
      </FilterBar>
      <List
        key={JSON.stringify([app_id, filters, mode])}
        appId={app_id}
        filters={filters}
        mode={mode}
        open={(id) => change({ open: id }, { isStep: true })}
      />
      <RequestDrawer appId={app_id} mode={mode} requestId={open ?? null} onClose={() => change({ open: null })} />
    </Page>
  )
}

type ListProps = { appId: string; filters: Filters; mode: Mode; open: (requestId: string) => void }

function List({ appId, filters, mode, open }: ListProps) {
  const pages = usePages()
  const { outcome, request_id } = filters
  const list = useGet(`/apps/${appId}/requests`, {
    query: { mode, outcome: oneOf(REQUEST_RESULTS, outcome), request_id, cursor: pages.cursor },
  })
  return (
    <Loaded query={list}>
      {({ requests, next_cursor }) => (
        <DataTable
          rows={requests}
          rowKey={(row) => row.request_id}
          minWidth={760}
          onOpen={({ request_id: id }) => open(id)}
          empty={<Nothing isFiltered={outcome !== undefined || request_id !== undefined} isTest={mode === 'test'} />}
          pager={<Pager pages={pages} nextCursor={next_cursor} />}
          columns={[
            { name: 'Time', cell: ({ received_at }) => <Time at={received_at} /> },
            { name: 'Request', isText: true, cell: (row) => <RequestLine row={row} open={open} /> },
            { name: 'Status', cell: ({ status }) => <StatusCode status={status} /> },
            { name: 'Error', isText: true, cell: ({ error }) => problemOf(error) },
            { name: 'Duration', isNumber: true, cell: ({ duration_ms }) => formatDuration(duration_ms) },
          ]}
        />
      )}
    </Loaded>
  )
}

function RequestLine({ row, open }: { row: ApiRequest; open: (requestId: string) => void }) {
  const names = Object.keys(row.parameters).filter((name) => name !== 'apiKey' && name !== 'apiSecret')
  return (
    <Stack gap={2}>
      <Anchor component="button" ta="left" onClick={() => open(row.request_id)}>
        <Code>
          {row.method} {row.path}
        </Code>
      </Anchor>
      {names.length > 0 && (
        <Text size="xs" c="dimmed">
          {names.map((name) => `${name}=${String(row.parameters[name])}`).join(' · ')}
        </Text>
      )}
      {row.skipped > 0 && <Tag>{formatCount(row.skipped)} earlier requests not shown</Tag>}
    </Stack>
  )
}

/** Which parameters are wrong and why, rather than that some are. */
function problemOf(error: ApiRequest['error']): string {
  if (error === null) return '–'
  const problems = problemsOf(error.details ?? {})
  return problems.length === 0 ? error.message : problems.join(' ')
}

function Nothing({ isFiltered, isTest }: { isFiltered: boolean; isTest: boolean }) {
  if (isFiltered) return <Empty title="No requests match">Clear a filter. The log covers the last three days.</Empty>
  return (
    <Empty title={isTest ? 'No test requests yet' : 'No requests yet'}>
      Requests appear here a second after your server sends them with this app’s API key.
    </Empty>
  )
}
