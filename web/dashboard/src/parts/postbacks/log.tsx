// The log of postbacks: newest first, live while its first page is open.
import { Anchor, Button, Group, SegmentedControl, Select, Switch, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { query } from '../../lib/api.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { type Column, DataTable } from '../data-table.tsx'
import { FilterText } from '../filter-text.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { Status, statusLabel } from '../status.tsx'
import { Time } from '../time.tsx'

type LogData = Schemas['PostbackLog']

const LIVE_MS = 2_000
const NAMES = ['mode', 'state', 'status', 'conversion_id', 'from', 'to']

/** `actions` get the filters: they concern what is listed. */
export function Log({ base, actions }: { base: `/apps/${string}`; actions: (filters: Filters) => ReactNode }) {
  const [all, setFilters] = useFilters()
  const filters = Object.fromEntries(NAMES.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])))
  const pages = usePages()
  const [isLive, setLive] = useState(true)
  const isFirst = pages.cursor === null
  const log = useGet(
    `${base}/postbacks${query({ ...filters, cursor: pages.cursor })}`,
    isLive && isFirst ? { everyMs: LIVE_MS } : {},
  )
  const change = (changed: Record<string, string | null>) => {
    pages.reset()
    setFilters(changed)
  }
  const isFiltered = NAMES.some((name) => name !== 'mode' && filters[name] !== undefined)
  return (
    <Section title="Delivery log">
      <FilterBar filters={filters} change={change} />
      <Group justify="space-between">
        <Group gap="md">
          <SegmentedControl
            aria-label="Key"
            data={[
              { value: 'live', label: 'Live key' },
              { value: 'test', label: 'Test key' },
            ]}
            value={filters['mode'] ?? 'live'}
            onChange={(mode) => change({ mode: mode === 'live' ? null : mode })}
          />
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
            columns={columnsOf(base)}
            rowKey={({ postback_id }) => postback_id}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              <Nothing isFiltered={isFiltered} isTest={filters['mode'] === 'test'} clear={() => change(NOTHING)} />
            }
          />
        )}
      </Loaded>
    </Section>
  )
}

const NOTHING = Object.fromEntries(NAMES.filter((name) => name !== 'mode').map((name) => [name, null]))

function Nothing({ isFiltered, isTest, clear }: { isFiltered: boolean; isTest: boolean; clear: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No postback matches">
        <Button variant="default" size="xs" onClick={clear}>
          Clear filters
        </Button>
      </Empty>
    )
  return (
    <Empty title="No postbacks yet">
      {isTest
        ? 'Postbacks appear here when a conversion is created with the test key.'
        : 'Postbacks appear here when a user completes an offer. To see some now, run the tests in the settings.'}
    </Empty>
  )
}

type FilterBarProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

function FilterBar({ filters, change }: FilterBarProps) {
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Delivery"
        placeholder="any"
        clearable
        w={140}
        data={['queued', 'sending', 'delivered', 'dead'].map((value) => ({ value, label: statusLabel(value) }))}
        value={filters['state'] ?? null}
        onChange={(state) => change({ state })}
      />
      <Select
        label="Event"
        placeholder="any"
        clearable
        w={140}
        data={['pending', 'approved', 'rejected', 'reversed']}
        value={filters['status'] ?? null}
        onChange={(status) => change({ status })}
      />
      <FilterText
        label="Conversion"
        placeholder="conversion_id"
        w={200}
        value={filters['conversion_id']}
        onChange={(conversion_id) => change({ conversion_id })}
      />
      <TimeInput label="From" value={filters['from']} onChange={(from) => change({ from })} />
      <TimeInput label="Before" value={filters['to']} onChange={(to) => change({ to })} />
    </Group>
  )
}

type TimeInputProps = { label: string; value: string | undefined; onChange: (time: string | null) => void }

/** In the viewer's zone; the address of the page has it in UTC. */
function TimeInput({ label, value, onChange }: TimeInputProps) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      w={200}
      value={value === undefined ? '' : localText(value)}
      onChange={(event) => {
        const at = new Date(event.currentTarget.value)
        onChange(Number.isNaN(at.getTime()) ? null : at.toISOString())
      }}
    />
  )
}

function localText(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

const columnsOf = (base: `/apps/${string}`): Column<LogData['postbacks'][number]>[] => [
  {
    name: 'Event',
    cell: ({ postback_id, status, scenario }) => (
      <>
        <Anchor
          component={Link}
          size="sm"
          href={`${base}/postbacks/${postback_id}`}
          aria-label={`Open postback ${postback_id}: ${status}`}
        >
          {status}
        </Anchor>
        {scenario !== null && (
          <Text size="xs" c="dimmed">
            test: {scenario.replaceAll('_', ' ')}
          </Text>
        )}
      </>
    ),
  },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} ago /> },
  { name: 'Delivery', cell: ({ state }) => <Status value={state} /> },
  { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  {
    name: 'Last response',
    isText: true,
    cell: ({ last_error, last_status }) => (
      <Text size="sm" lineClamp={2}>
        {last_error ?? last_status ?? '–'}
      </Text>
    ),
  },
]
