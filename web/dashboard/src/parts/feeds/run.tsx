// A run of a feed: how it went, and what it did with each offer.
import { Alert, Anchor, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatBytes, formatCount, formatNoun } from '../../lib/format.ts'
import { post } from '../../lib/api.ts'
import { useChange, useGet, useRefresh } from '../../lib/queries.ts'
import { FEED_CHANGES as KINDS } from '../../lib/statuses.ts'
import { confirm } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { Empty, Loaded } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

export type FeedRun = Schemas['FeedRun']
type Change = Schemas['FeedChangeList']['changes'][number]
type Kind = Change['kind']

const WATCH_MS = 1_000

export const statusOf = ({ is_waiting, outcome }: FeedRun) => (is_waiting ? ('waiting' as const) : outcome)

export const secondsOf = ({ started_at, ended_at }: FeedRun) =>
  ended_at === null ? null : Math.round((Date.parse(ended_at) - Date.parse(started_at)) / 1_000)

type RunSectionProps = { feedId: number; runId: string; mayChange: boolean; onAsked: (runId: number) => void }

export function RunSection({ feedId, runId, mayChange, onAsked }: RunSectionProps) {
  const path = `/feeds/${feedId}/runs/${runId}` as const
  const known = useGet(path)
  const isOver = known.data !== undefined && known.data.ended_at !== null
  const watched = useGet(path, isOver ? {} : { everyMs: WATCH_MS })
  const refresh = useRefresh()
  const isWatched = known.data !== undefined && !isOver
  const wasWatched = useRef(false)
  useEffect(() => {
    // What the page says of the feed itself was true before the run.
    if (isOver && wasWatched.current) void refresh(['/feeds'])
    wasWatched.current = isWatched
  }, [isOver, isWatched])
  return (
    <Loaded query={watched}>
      {(run) => (
        <Shown feedId={feedId} run={run}>
          {mayChange && <ApplyAnyway feedId={feedId} run={run} onAsked={onAsked} />}
        </Shown>
      )}
    </Loaded>
  )
}

function Shown({ feedId, run, children }: { feedId: number; run: FeedRun; children: ReactNode }) {
  const counts = Object.keys(KINDS).filter((kind) => run[kind as Kind] > 0) as Kind[]
  const about = (
    <Group gap="xs" component="span">
      <Status value={statusOf(run)} />
      <span>
        <Time at={run.started_at} ago /> · {run.asked_by ?? 'by schedule'}
      </span>
    </Group>
  )
  return (
    <Section title={run.is_preview ? `Preview ${run.feed_run_id}` : `Run ${run.feed_run_id}`} about={about}>
      {run.is_waiting && <Text size="sm">A worker will start this run within a few seconds.</Text>}
      {run.message !== '' && (
        <Alert color={run.outcome === 'failed' ? 'red' : 'yellow'} role="status">
          {run.message}
        </Alert>
      )}
      {children}
      {run.ended_at !== null && (
        <Text size="sm">
          {formatNoun(run.fetched, 'offer')} on {formatNoun(run.pages, 'page')}, {formatBytes(run.bytes)};{' '}
          {formatCount(run.unchanged)} unchanged.
          {run.is_preview && ' Nothing was changed.'}
        </Text>
      )}
      {run.ended_at !== null && counts.length > 0 && (
        <Changes key={run.feed_run_id} feedId={feedId} run={run} kinds={counts} />
      )}
    </Section>
  )
}

/** For a run that was refused because too many offers are gone. */
function ApplyAnyway({ feedId, run, onAsked }: { feedId: number; run: FeedRun; onAsked: (runId: number) => void }) {
  const apply = useChange(() => post(`/feeds/${feedId}/runs/${run.feed_run_id}/apply`), {
    refresh: ['/feeds'],
    onDone: ({ feed_run_id }) => onAsked(feed_run_id),
  })
  const gone = run.gone ?? 0
  if (run.outcome !== 'refused' || gone === 0) return null
  const offers = formatNoun(gone, 'offer')
  const ask = async () => {
    const text = `The feed is fetched and applied again. Up to ${offers} that ${gone === 1 ? 'is' : 'are'} gone will be paused, and users no longer see ${gone === 1 ? 'it' : 'them'}. Earlier clicks still count. If more offers are gone by then, the run is refused again.` // prettier-ignore
    if (await confirm({ title: `Pause ${offers}?`, text, action: 'Apply anyway' })) apply.mutate(undefined)
  }
  return (
    <Button variant="default" style={{ alignSelf: 'flex-start' }} loading={apply.isPending} onClick={() => void ask()}>
      Apply anyway
    </Button>
  )
}

function Changes({ feedId, run, kinds }: { feedId: number; run: FeedRun; kinds: Kind[] }) {
  const [kind, setKind] = useState<Kind>(kinds[0]!)
  const pages = usePages()
  const found = useGet(`/feeds/${feedId}/runs/${run.feed_run_id}/changes`, {
    query: { kind, cursor: pages.cursor, limit: 20 },
  })
  return (
    <Stack>
      <SegmentedControl
        aria-label="Result"
        value={kind}
        onChange={(value) => {
          pages.reset()
          setKind(value)
        }}
        data={kinds.map((value) => ({ value, label: `${KINDS[value]} (${formatCount(run[value])})` }))}
        style={{ alignSelf: 'flex-start', flexWrap: 'wrap' }}
      />
      <Loaded query={found}>
        {({ changes, next_cursor }) => (
          <DataTable
            label={KINDS[kind]}
            isPlain
            rows={changes}
            columns={COLUMNS}
            rowKey={({ external_id }) => external_id}
            pager={<Pager pages={pages} nextCursor={next_cursor} />}
            empty={
              <Empty title="No longer available">Reasons for skipped offers are kept for the last three runs.</Empty>
            }
          />
        )}
      </Loaded>
    </Stack>
  )
}

const COLUMNS: Column<Change>[] = [
  {
    name: 'Offer',
    isText: true,
    cell: ({ offer_id, name, external_id }) =>
      offer_id === null ? (
        name || external_id
      ) : (
        <Anchor component={Link} href={`/network/offers/${offer_id}`} size="sm">
          {name}
        </Anchor>
      ),
  },
  { name: 'External ID', isText: true, cell: ({ external_id }) => external_id },
  {
    name: 'Details',
    isText: true,
    cell: ({ reason, fields }) =>
      reason !== null ? sentence(reason) : fields.map((one) => <FieldChange key={one.field} {...one} />),
  },
]

export const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

function FieldChange({ field, before, after }: Change['fields'][number]) {
  return (
    <Text size="sm">
      {field.replaceAll('_', ' ')}: {before === null ? '' : `${shortValue(before)} → `}
      {shortValue(after)}
    </Text>
  )
}

export function shortValue(value: unknown): string {
  if (value === null || value === '') return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 120 ? `${text.slice(0, 120)}…` : text
}
