// The log of postbacks: newest first, live while its first page is open.
import {
  Anchor,
  Button,
  Group,
  Paper,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import type { Log as LogSchema } from '../../../../../src/manage/postbacks/schema.ts'
import { query, type Reply } from '../../lib/api.ts'
import { useGet } from '../../lib/queries.ts'
import { type Filters, useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

type LogData = Reply<typeof LogSchema>

const LIVE_MS = 2_000
const TYPING_MS = 400
const NAMES = ['mode', 'state', 'status', 'conversion_id', 'from', 'to']

/** `actions` get the filters: they concern what is listed. */
export function Log({ base, actions }: { base: string; actions: (filters: Filters) => ReactNode }) {
  const [all, setFilters] = useFilters()
  const filters = Object.fromEntries(NAMES.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])))
  const pages = usePages()
  const [isLive, setLive] = useState(true)
  const isFirst = pages.cursor === null
  const log = useGet<LogData>(
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
            label={isFirst ? 'Live: new ones appear by themselves' : 'Live on the first page'}
            checked={isLive && isFirst}
            disabled={!isFirst}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
        </Group>
        <Group gap="xs">{actions(filters)}</Group>
      </Group>
      <Loaded query={log}>
        {({ postbacks, next_cursor }) => (
          <Stack gap="sm">
            {postbacks.length === 0 ? (
              <Nothing isFiltered={isFiltered} isTest={filters['mode'] === 'test'} clear={() => change(NOTHING)} />
            ) : (
              <Rows base={base} postbacks={postbacks} />
            )}
            <Pager pages={pages} nextCursor={next_cursor} />
          </Stack>
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
          Clear the filters
        </Button>
      </Empty>
    )
  return (
    <Empty title="No postbacks yet">
      {isTest
        ? 'They appear here when a conversion is made with the test key.'
        : 'They appear here when a user completes an offer. To see some now, run the tests in the settings.'}
    </Empty>
  )
}

type FilterBarProps = { filters: Filters; change: (changed: Record<string, string | null>) => void }

function FilterBar({ filters, change }: FilterBarProps) {
  const { conversion_id } = filters
  const [conversion, setConversion] = useState(conversion_id ?? '')
  const typed = useDebouncedCallback((text: string) => change({ conversion_id: text }), TYPING_MS)
  useEffect(() => {
    if (conversion_id === undefined) setConversion('') // the filters were cleared
  }, [conversion_id])
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Delivery"
        placeholder="any"
        clearable
        w={140}
        data={['queued', 'sending', 'delivered', 'dead']}
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
      <TextInput
        label="Conversion"
        placeholder="conversion_id"
        w={200}
        value={conversion}
        onChange={(event) => {
          setConversion(event.currentTarget.value)
          typed(event.currentTarget.value.trim())
        }}
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

function Rows({ base, postbacks }: { base: string; postbacks: LogData['postbacks'] }) {
  return (
    <Paper p={0}>
      <Table.ScrollContainer minWidth={760}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Made</Table.Th>
              <Table.Th>Event</Table.Th>
              <Table.Th>Delivery</Table.Th>
              <Table.Th>Tries</Table.Th>
              <Table.Th>Last answer</Table.Th>
              <Table.Th>Details</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {postbacks.map((one) => (
              <Table.Tr key={one.postback_id}>
                <Table.Td>
                  <Time at={one.created_at} ago />
                </Table.Td>
                <Table.Td>
                  {one.status}
                  {one.scenario !== null && (
                    <Text size="xs" c="dimmed">
                      test: {one.scenario.replaceAll('_', ' ')}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <Status value={one.state} />
                </Table.Td>
                <Table.Td>{one.attempts}</Table.Td>
                <Table.Td maw={280}>
                  <Text size="sm" lineClamp={2}>
                    {one.last_error ?? one.last_status ?? '–'}
                  </Text>
                </Table.Td>
                <Table.Td>
                  <Anchor
                    component={Link}
                    size="sm"
                    href={`${base}/postbacks/${one.postback_id}`}
                    aria-label={`Open postback ${one.postback_id}`}
                  >
                    Open
                  </Anchor>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  )
}
