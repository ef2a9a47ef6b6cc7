// Postback health of all apps: which are failing, and why.
import { Anchor, Button, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCount, formatUpTo } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { LANE_STATES, STATUSES } from '../../lib/statuses.ts'
import { choicesOf, oneOf } from '../../lib/words.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { FilterSelect } from '../../parts/filter-select.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { SearchInput } from '../../parts/search-input.tsx'
import { Tag } from '../../parts/status.tsx'
import { OffsetPager } from '../../parts/system/offset-pager.tsx'
import { Time } from '../../parts/time.tsx'
import { DeliveredLabel, DeliveredShare } from '../../parts/postbacks/delivered-share.tsx'

const LIMIT = 50
const EVERY_MS = 10_000

type Lanes = Schemas['PostbackLaneList']
type Lane = Lanes['lanes'][number]

export default function PostbackHealth() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const { search = '' } = filters
  const state = oneOf(LANE_STATES, filters['state'])
  const offset = Number(filters['offset'] ?? 0) || 0
  const found = useGet('/postback-lanes', { query: { state, search, limit: LIMIT, offset }, everyMs: EVERY_MS })
  return (
    <Page
      title="Postback health"
      about="Each app has its own queue, so a failing app does not delay the others. Failures are retried; after five days of nothing but failures, the app’s postbacks are paused."
    >
      <FilterBar
        label="Apps"
        filters={filters}
        change={(none) => change({ ...none, offset: null })}
        names={['state']}
        searchName="search"
        search={
          <SearchInput
            label="App or publisher"
            placeholder="Part of the name"
            value={search}
            onChange={(value) => change({ search: value, offset: null })}
          />
        }
      >
        <FilterSelect
          label="Status"
          data={statesOf(found.data?.counts)}
          value={state}
          onChange={(value) => change({ state: value, offset: null })}
        />
      </FilterBar>
      <Loaded query={found}>
        {({ lanes, total }) => (
          <DataTable
            rows={lanes}
            columns={[...COLUMNS, mayChange && LANE_COLUMN]}
            rowKey={({ app_id }) => app_id}
            minWidth={900}
            pager={
              <OffsetPager
                {...{ offset, total }}
                limit={LIMIT}
                onChange={(next) => change({ offset: next === 0 ? null : String(next) })}
              />
            }
            empty={
              state === undefined && search === '' ? (
                <Empty title="No apps with postbacks yet">
                  Apps are listed here once their publisher sets a postback URL.
                </Empty>
              ) : (
                <Empty title="No app matches">Clear the filters to see all.</Empty>
              )
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

const statesOf = (counts: Lanes['counts'] | undefined) =>
  choicesOf(LANE_STATES).map(({ value, label }) => ({
    value,
    label: counts === undefined ? label : `${label} (${formatCount(counts[value])})`,
  }))

const COLUMNS: Column<Lane>[] = [
  {
    name: 'App',
    isText: true,
    cell: ({ app_id, app, publisher }) => (
      <>
        <Anchor component={Link} href={`/apps/${app_id}/postbacks`} size="sm">
          {app}
        </Anchor>
        <Text size="xs" c="dimmed">
          {publisher}
        </Text>
      </>
    ),
  },
  { name: 'Status', cell: (lane) => <LaneState lane={lane} /> },
  {
    name: 'Delivered, 24 h',
    heading: <DeliveredLabel>Delivered, 24 h</DeliveredLabel>,
    isNumber: true,
    cell: (lane) => <Delivered lane={lane} />,
  },
  {
    name: 'Response time, p95',
    isNumber: true,
    cell: ({ p95_ms }) => (p95_ms === null ? '–' : `${formatCount(p95_ms)} ms`),
  },
  {
    name: 'Queued',
    isNumber: true,
    cell: ({ queued, oldest_due_at }) => (
      <>
        {formatCount(queued)}
        {oldest_due_at !== null && (
          <Text size="xs" c="dimmed">
            due <Time at={oldest_due_at} ago />
          </Text>
        )}
      </>
    ),
  },
  { name: 'Failed', isNumber: true, cell: ({ dead }) => formatUpTo(dead) },
  { name: 'Last error', isText: true, cell: ({ last_error }) => last_error ?? '–' },
]

const LANE_COLUMN: Column<Lane> = { name: 'Actions', cell: (lane) => <LaneSwitch lane={lane} /> }

const PAUSES: Record<string, string> = {
  gone: 'server answered 410 (Gone)',
  failing: 'only failures for five days',
  operator: 'by an operator',
  'no address': 'no postback URL',
}

function LaneState({ lane }: { lane: Lane }) {
  return (
    <Stack gap={2} align="flex-start">
      <Tag color={STATUSES[lane.state === 'waiting' ? 'failing' : lane.state].color}>{LANE_STATES[lane.state]}</Tag>
      <Text size="xs" c="dimmed" component="div">
        {lane.state === 'paused' ? (
          <>
            {lane.has_address ? (PAUSES[lane.pause_reason ?? ''] ?? '') : 'no postback URL'},{' '}
            <Time at={lane.paused_at} ago />
          </>
        ) : lane.state === 'waiting' ? (
          <>
            next attempt <Time at={lane.open_until} ago />
          </>
        ) : lane.failing_since === null ? null : (
          <>
            only failures since <Time at={lane.failing_since} ago />
          </>
        )}
      </Text>
    </Stack>
  )
}

function Delivered({ lane: { delivered_24h, failed_24h } }: { lane: Lane }) {
  const tried = delivered_24h + failed_24h
  if (tried === 0) return <>–</>
  return (
    <>
      <DeliveredShare delivered={delivered_24h} failed={failed_24h} />
      <Text size="xs" c="dimmed">
        {formatCount(delivered_24h)} of {formatCount(tried)}
      </Text>
    </>
  )
}

function LaneSwitch({ lane: { app_id, app, publisher, state, has_address } }: { lane: Lane }) {
  const isPaused = state === 'paused'
  const turn = useChange((verb: 'pause' | 'resume') => post(`/postback-lanes/${app_id}/${verb}`), {
    refresh: ['/postback-lanes'],
    done: isPaused ? 'Postbacks resumed.' : 'Postbacks paused.',
  })
  const ask = () =>
    modals.openConfirmModal({
      title: 'Pause postbacks?',
      children: (
        <Text size="sm">
          {publisher} will not be notified of conversions in {app} until you resume. Queued postbacks are kept.
        </Text>
      ),
      labels: { confirm: 'Pause postbacks', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      closeButtonProps: { 'aria-label': 'Close' },
      onConfirm: () => turn.mutate('pause'),
    })
  return (
    <Button
      size="xs"
      variant="default"
      loading={turn.isPending}
      disabled={isPaused && !has_address}
      aria-label={`${isPaused ? 'Resume' : 'Pause'} ${app} of ${publisher}`}
      onClick={() => (isPaused ? turn.mutate('resume') : ask())}
    >
      {isPaused ? 'Resume' : 'Pause'}
    </Button>
  )
}
