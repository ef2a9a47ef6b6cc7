// The log of postbacks: newest first, live while its first page is open.
import { Anchor, Drawer, Group, Switch, Text, TextInput } from '@mantine/core'
import { type MouseEvent, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { fromClockTime, toClockTime } from '../../lib/zoned-time.ts'
import { formatReward } from '../../lib/format.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { CONVERSION_STATUSES, POSTBACK_STATES } from '../../lib/statuses.ts'
import { choicesOf, type Mode, oneOf } from '../../lib/words.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { FilterSelect } from '../filter-select.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { SearchInput } from '../search-input.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { PostbackDetails } from './postback-details.tsx'

type LogData = Schemas['PostbackLog']

const LIVE_MS = 2_000
const NAMES = ['state', 'status', 'conversion_id', 'from', 'to']

/** `actions` get the filters: they concern what is listed. */
export function Log({ base, actions }: { base: `/apps/${string}`; actions: (filters: Filters) => ReactNode }) {
  const [all, setFilters] = useFilters()
  const mode = useMode()
  const filters = Object.fromEntries(NAMES.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])))
  const pages = usePages()
  const [isLive, setLive] = useState(true)
  const isFirst = pages.cursor === null
  const log = useGet(`${base}/postbacks`, {
    query: { ...postbackQuery(filters, mode), cursor: pages.cursor },
    ...(isLive && isFirst ? { everyMs: LIVE_MS } : {}),
  })
  const change = (changed: Record<string, string | null>) => {
    pages.reset()
    setFilters(changed)
  }
  const open = ({ postback_id }: Logged) => setFilters({ postback: postback_id }, { isStep: true })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <Section title="Delivery log">
      <LogFilters filters={filters} change={change} />
      <Group justify="space-between">
        <Group gap="md">
          <Switch
            label={isFirst ? 'Auto-refresh' : 'Auto-refresh on the first page'}
            checked={isLive && isFirst}
            disabled={!isFirst}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
        </Group>
        <Group gap="xs">{actions(filters)}</Group>
      </Group>
      <Loaded query={log}>
        {({ postbacks, next_cursor }) => (
          <DataTable
            rows={postbacks}
            columns={columnsOf(base, open)}
            rowKey={({ postback_id }) => postback_id}
            onOpen={open}
            minWidth={760}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={<Nothing isFiltered={isFiltered} isTest={mode === 'test'} />}
          />
        )}
      </Loaded>
      <Drawer
        opened={all['postback'] !== undefined}
        onClose={() => setFilters({ postback: null })}
        position="right"
        size="xl"
        title="Postback"
        transitionProps={{ duration: 0 }}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {all['postback'] !== undefined && <PostbackDetails base={base} postbackId={all['postback']} />}
      </Drawer>
    </Section>
  )
}

function Nothing({ isFiltered, isTest }: { isFiltered: boolean; isTest: boolean }) {
  if (isFiltered) return <Empty title="No postback matches">Clear the filters to see all.</Empty>
  return (
    <Empty title="No postbacks yet">
      {isTest
        ? 'Postbacks appear here when a conversion is created with the test key.'
        : 'Postbacks appear here when a user completes an offer. To see some now, run the tests in the settings.'}
    </Empty>
  )
}

/** What the server is asked for. */
export const postbackQuery = ({ state, status, conversion_id, from, to }: Filters, mode: Mode) => ({
  mode,
  state: oneOf(POSTBACK_STATES, state),
  status: oneOf(CONVERSION_STATUSES, status),
  conversion_id,
  from,
  to,
})

type LogFiltersProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

function LogFilters({ filters, change }: LogFiltersProps) {
  return (
    <FilterBar
      label="Postbacks"
      filters={filters}
      change={change}
      searchName="conversion_id"
      names={['state', 'status', 'from', 'to']}
      search={
        <SearchInput
          label="Conversion"
          placeholder="Conversion ID"
          value={filters['conversion_id']}
          onChange={(conversion_id) => change({ conversion_id })}
        />
      }
    >
      <FilterSelect
        label="Delivery"
        data={choicesOf(POSTBACK_STATES)}
        value={filters['state']}
        onChange={(state) => change({ state })}
      />
      <FilterSelect
        label="Event"
        data={choicesOf(CONVERSION_STATUSES)}
        value={filters['status']}
        onChange={(status) => change({ status })}
      />
      <TimeInput label="From" value={filters['from']} onChange={(from) => change({ from })} />
      <TimeInput label="Before" value={filters['to']} onChange={(to) => change({ to })} />
    </FilterBar>
  )
}

type TimeInputProps = { label: string; value: string | undefined; onChange: (time: string | null) => void }

/** In the viewer's zone; the address of the page has it in UTC. */
function TimeInput({ label, value, onChange }: TimeInputProps) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={toClockTime(value ?? null)}
      onChange={(event) => onChange(fromClockTime(event.currentTarget.value))}
    />
  )
}

type Logged = LogData['postbacks'][number]

const columnsOf = (base: `/apps/${string}`, open: (postback: Logged) => void): Column<Logged>[] => [
  {
    name: 'Offer',
    isText: true,
    cell: (postback) => (
      <>
        <Anchor
          component={Link}
          size="sm"
          href={`${base}/postbacks/${postback.postback_id}`}
          aria-label={`Open postback ${postback.postback_id}: ${postback.what?.offer_name ?? ''} ${postback.status}`}
          onClick={(event: MouseEvent) => {
            event.preventDefault()
            open(postback)
          }}
        >
          {postback.what?.offer_name ?? 'Postback'}
        </Anchor>
        {postback.scenario !== null && (
          <Text size="xs" c="dimmed">
            test: {postback.scenario.replaceAll('_', ' ')}
          </Text>
        )}
      </>
    ),
  },
  { name: 'User', isText: true, cell: ({ what }) => what?.user_id ?? '–' },
  { name: 'Reward', isNumber: true, cell: ({ what }) => what && formatReward(what.reward, what.currency) },
  { name: 'Event', cell: ({ status }) => <Status value={status} /> },
  { name: 'Delivery', cell: (postback) => <Delivery postback={postback} /> },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} ago /> },
]

function Delivery({ postback: { state, attempts, last_error, last_status } }: { postback: Logged }) {
  const last = last_error ?? (last_status === null ? null : `HTTP ${last_status}`)
  return (
    <>
      <Status value={state} />
      <Text size="xs" c="dimmed" lineClamp={2} maw="16rem">
        {[last, attempts > 1 && `${attempts} attempts`].filter(Boolean).join(' · ')}
      </Text>
    </>
  )
}
