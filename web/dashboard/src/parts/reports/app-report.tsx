// An app's report: totals, a chart and rows, of all its offers or of one.
import { Group, Pill, SegmentedControl, Stack, Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { fileUrl } from '../../lib/api.ts'
import type { QueryOf } from '../../lib/operations.ts'
import { useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded, Page } from '../page.tsx'
import type { Stats } from './metrics.ts'
import { RangePicker } from './range-picker.tsx'
import { StatsOverTime } from './stats-over-time.tsx'
import { StatsTable } from './stats-table.tsx'
import { useRange } from './use-range.ts'
import { DownloadCsv } from '../download-csv.tsx'

const TABS = [
  { value: 'day', label: 'Days' },
  { value: 'offer', label: 'Offers' },
  { value: 'country', label: 'Countries' },
  { value: 'platform', label: 'Platforms' },
  { value: 'sub', label: 'Sub-IDs' },
  { value: 'locker_id', label: 'Lockers' },
] as const
const SUB_IDS = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4'] as const
const MAX_DAYS = 1000 // more than any range has

type AppReportProps = {
  appId: string
  title: string
  about: ReactNode
  actions?: ReactNode
  /** The report is about this offer. */
  offerId?: string
}

export function AppReport({ appId, title, about, actions, offerId }: AppReportProps) {
  const range = useRange()
  const [filters, change] = useFilters()
  const { country } = filters
  const asked = { ...range.period, offer_id: offerId, country }
  const base = `/apps/${appId}/stats` as const
  const isWrong = range.error !== null
  const days = useGet(isWrong ? null : base, { query: { ...asked, group_by: 'day', limit: MAX_DAYS } })
  const tab = TABS.find(({ value }) => value === filters['by'])?.value ?? 'day'
  const groupBy = tab === 'sub' ? (SUB_IDS.find((name) => name === filters['sub']) ?? 'aff_sub') : tab
  const file = fileUrl(`${base}.csv`, { ...asked, group_by: groupBy })
  return (
    <Page
      title={title}
      about={about}
      actions={
        <>
          {actions}
          {!isWrong && <DownloadCsv href={file} />}
        </>
      }
    >
      <RangePicker range={range} />
      {country !== undefined && <Only text={`Only ${country}`} onRemove={() => change({ country: null })} />}
      {!isWrong && (
        <Loaded query={days}>
          {(stats) =>
            hasNothing(stats) ? (
              <NothingYet appId={appId} />
            ) : (
              <Stack gap="lg">
                <StatsOverTime stats={stats} table="The Days tab shows the same figures as a table." />
                <Tabs value={tab} keepMounted={false} onChange={(by) => change({ by: by === 'day' ? null : by })}>
                  <Tabs.List mb="md">
                    {TABS.filter(({ value }) => value !== 'offer' || offerId === undefined).map(({ value, label }) => (
                      <Tabs.Tab key={value} value={value}>
                        {label}
                      </Tabs.Tab>
                    ))}
                  </Tabs.List>
                  <Tabs.Panel value={tab}>
                    {tab === 'sub' && (
                      <SegmentedControl
                        aria-label="Sub-ID"
                        size="xs"
                        mb="md"
                        data={[...SUB_IDS]}
                        value={groupBy}
                        onChange={(sub) => change({ sub })}
                      />
                    )}
                    {tab === 'day' ? (
                      <StatsTable appId={appId} stats={stats} onNarrow={change} />
                    ) : (
                      <Groups appId={appId} query={{ ...asked, group_by: groupBy }} />
                    )}
                  </Tabs.Panel>
                </Tabs>
              </Stack>
            )
          }
        </Loaded>
      )}
    </Page>
  )
}

const hasNothing = ({ totals }: Stats) => totals.clicks + totals.conversions + totals.rejected === 0

type GroupsProps = { appId: string; query: QueryOf<'GET /apps/{app_id}/stats'> }

function Groups({ appId, query }: GroupsProps) {
  const stats = useGet(`/apps/${appId}/stats`, { query })
  const [, change] = useFilters()
  return <Loaded query={stats}>{(data) => <StatsTable appId={appId} stats={data} onNarrow={change} />}</Loaded>
}

function Only({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <Group>
      <Pill
        size="lg"
        withRemoveButton
        onRemove={onRemove}
        removeButtonProps={{ 'aria-label': `Remove: ${text}`, 'aria-hidden': false, tabIndex: 0 }}
      >
        {text}
      </Pill>
    </Group>
  )
}

function NothingYet({ appId }: { appId: string }) {
  const { network } = useMe()
  return (
    <Empty title="No clicks in this period">
      {network.is_demo
        ? 'This is a demo: request offers with this app’s live key and follow a link. The click appears here within a second. '
        : 'Clicks are counted when users follow offer links requested with the live key. Choose a longer period, or check that your app requests offers. '}
      <Link href={`/apps/${appId}`}>How to request offers</Link>
    </Empty>
  )
}
