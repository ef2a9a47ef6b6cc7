import { Badge, Button, Stack, Tabs } from '@mantine/core'
import { IconEye, IconPlayerPause, IconPlayerPlay, IconRefresh } from '@tabler/icons-react'
import { useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Callbacks } from '../../parts/feeds/callbacks.tsx'
import { HeldPayouts } from '../../parts/feeds/held.tsx'
import { MappingSection } from '../../parts/feeds/mapping-section.tsx'
import { RemoveSection } from '../../parts/feeds/remove-section.tsx'
import { type FeedRun, RunSection, secondsOf, statusOf } from '../../parts/feeds/run.tsx'
import { SettingsSection } from '../../parts/feeds/settings-section.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Pager, usePages } from '../../parts/pager.tsx'
import { Status } from '../../parts/status.tsx'
import { NextRun } from '../../parts/feeds/next-run.tsx'
import { Time } from '../../parts/time.tsx'

type FeedData = Schemas['Feed']

export default function Feed() {
  const { feed_id } = useParams<{ feed_id: string }>()
  const feed = useGet(`/feeds/${feed_id}`)
  return <Loaded query={feed}>{(data) => <Shown key={feed_id} feed={data} />}</Loaded>
}

function Shown({ feed }: { feed: FeedData }) {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const about = (
    <>
      Feed {feed.feed_id} · {formatCount(feed.active_offers)} of {formatCount(feed.offers)} offers are active ·{' '}
      {feed.is_paused ? 'paused' : <>next run <NextRun at={feed.next_run_at} /></>}
    </>
  ) // prettier-ignore
  return (
    <Page
      title={feed.name}
      about={about}
      actions={mayChange && <Actions feed={feed} onAsked={(id) => change({ tab: null, run: String(id) })} />}
    >
      <Tabs
        value={filters['tab'] ?? 'runs'}
        onChange={(tab) => change({ tab: tab === 'runs' ? null : tab, run: null })}
        keepMounted={false}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          <Tabs.Tab
            value="held"
            rightSection={feed.held_offers > 0 && <Badge size="sm">{formatCount(feed.held_offers)}</Badge>}
          >
            Payout changes
          </Tabs.Tab>
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
          <Tabs.Tab value="mapping">Request and mapping</Tabs.Tab>
          <Tabs.Tab value="callbacks">Callbacks</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="runs">
          <Runs
            feedId={feed.feed_id}
            mayChange={mayChange}
            runId={filters['run'] ?? null}
            onOpen={(id) => change({ run: String(id) }, { isStep: true })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="held">
          <HeldPayouts feedId={feed.feed_id} mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Stack gap="lg">
            <SettingsSection feed={feed} mayChange={mayChange} />
            {mayChange && <RemoveSection feed={feed} />}
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="mapping">
          <MappingSection feed={feed} mayChange={mayChange} />
        </Tabs.Panel>
        <Tabs.Panel value="callbacks">
          <Callbacks feed={feed} mayChange={mayChange} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function Actions({ feed, onAsked }: { feed: FeedData; onAsked: (runId: number) => void }) {
  const path = `/feeds/${feed.feed_id}` as const
  const asked = { refresh: ['/feeds'], onDone: ({ feed_run_id }: FeedRun) => onAsked(feed_run_id) }
  const preview = useChange(() => post(`${path}/preview`), asked)
  const run = useChange(() => post(`${path}/run`), asked)
  const pause = useChange(() => post(`${path}/pause`), { refresh: ['/feeds'], done: 'Feed paused. Its offers stay as they are.' }) // prettier-ignore
  const resume = useChange(() => post(`${path}/resume`), { refresh: ['/feeds'], done: 'Feed started. The first run starts now; later runs follow the schedule.' }) // prettier-ignore
  const runs = useGet(`${path}/runs`, { query: { cursor: undefined } }).data?.runs
  const askAndStart = async () => {
    const isKnown = runs?.some(({ outcome }) => outcome === 'done' || outcome === 'unchanged') ?? true
    const isSure = isKnown || (await confirm({ title: 'Start without a preview?', text: 'This feed has not completed a preview or a run yet. Its offers go live as soon as they are fetched.', action: 'Start' })) // prettier-ignore
    if (isSure) resume.mutate(undefined)
  }
  const askAndPause = async () => {
    const isSure = await confirm({ title: 'Pause this feed?', text: 'The feed is no longer fetched. Its offers stay as they are, even those that end at the network.', action: 'Pause' }) // prettier-ignore
    if (isSure) pause.mutate(undefined)
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconEye size={16} />}
        loading={preview.isPending}
        onClick={() => preview.mutate(undefined)}
      >
        Preview
      </Button>
      <Button
        variant="default"
        leftSection={<IconRefresh size={16} />}
        loading={run.isPending}
        onClick={() => run.mutate(undefined)}
      >
        Run now
      </Button>
      {feed.is_paused ? (
        <Button
          leftSection={<IconPlayerPlay size={16} />}
          loading={resume.isPending}
          onClick={() => void askAndStart()}
        >
          Start
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<IconPlayerPause size={16} />}
          loading={pause.isPending}
          onClick={() => void askAndPause()}
        >
          Pause
        </Button>
      )}
    </>
  )
}

type RunsProps = { feedId: number; runId: string | null; mayChange: boolean; onOpen: (runId: number) => void }

function Runs({ feedId, runId, mayChange, onOpen }: RunsProps) {
  const pages = usePages()
  const path = `/feeds/${feedId}/runs` as const
  const query = { cursor: pages.cursor }
  const isRunning = useGet(path, { query }).data?.runs.some(({ ended_at }) => ended_at === null) ?? true
  const runs = useGet(path, { query, everyMs: isRunning ? 1_000 : 10_000 })
  return (
    <Stack gap="lg">
      {runId !== null && (
        <RunSection key={runId} feedId={feedId} runId={runId} mayChange={mayChange} onAsked={onOpen} />
      )}
      <Loaded query={runs}>
        {(data) => (
          <DataTable
            label="Runs"
            rows={data.runs}
            columns={columns(onOpen)}
            rowKey={({ feed_run_id }) => feed_run_id}
            onOpen={({ feed_run_id }) => onOpen(feed_run_id)}
            pager={<Pager pages={pages} nextCursor={data.next_cursor} />}
            empty={<Empty title="No runs yet">Run a preview, then start the feed.</Empty>}
          />
        )}
      </Loaded>
    </Stack>
  )
}

const columns = (onOpen: (runId: number) => void): Column<FeedRun>[] => [
  {
    name: 'Run',
    isShort: true,
    cell: ({ feed_run_id, is_preview }) => (
      <Button variant="subtle" size="compact-sm" onClick={() => onOpen(feed_run_id)}>
        {is_preview ? `Preview ${feed_run_id}` : `Run ${feed_run_id}`}
      </Button>
    ),
  },
  { name: 'Started', isShort: true, cell: ({ started_at }) => <Time at={started_at} ago /> },
  { name: 'Outcome', isShort: true, cell: (run) => <Status value={statusOf(run)} /> },
  { name: 'Seconds', isNumber: true, cell: (run) => secondsOf(run) ?? '' },
  { name: 'Offers', isNumber: true, cell: ({ fetched }) => formatCount(fetched) },
  { name: 'New', isNumber: true, cell: ({ created }) => formatCount(created) },
  { name: 'Changed', isNumber: true, cell: ({ changed }) => formatCount(changed) },
  { name: 'Paused', isNumber: true, cell: ({ paused }) => formatCount(paused) },
  { name: 'Held', isNumber: true, cell: ({ held }) => formatCount(held) },
  { name: 'Skipped', isNumber: true, cell: ({ skipped }) => formatCount(skipped) },
  { name: 'Problem', isText: true, cell: ({ message }) => message },
]
