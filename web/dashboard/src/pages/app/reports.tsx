import { Button, Group, Pill, SegmentedControl, SimpleGrid, Stack, Tabs } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { Link, useParams } from 'wouter'
import { query } from '../../lib/api.ts'
import { useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { FigureButton } from '../../parts/reports/figure.tsx'
import { LazyDayChart } from '../../parts/reports/lazy-day-chart.tsx'
import { METRICS, showFigure, type Stats } from '../../parts/reports/metrics.ts'
import { RangePicker } from '../../parts/reports/range-picker.tsx'
import { StatsTable } from '../../parts/reports/stats-table.tsx'
import { useRange } from '../../parts/reports/use-range.ts'

const TABS = [
  { value: 'day', label: 'Days' },
  { value: 'offer', label: 'Offers' },
  { value: 'country', label: 'Countries' },
  { value: 'platform', label: 'Platforms' },
  { value: 'sub', label: 'Sub-IDs' },
]
const SUB_IDS = ['aff_sub', 'aff_sub2', 'aff_sub3', 'aff_sub4']
const MAX_DAYS = 1000 // more than any range has

export default function Reports() {
  const { app_id } = useParams<{ app_id: string }>()
  const range = useRange()
  const [filters, change] = useFilters()
  const asked = { ...range.period, offer_id: filters['offer'], country: filters['country'] }
  const base = `/apps/${app_id}/stats` as const
  const isWrong = range.error !== null
  const days = useGet(isWrong ? null : `${base}${query({ ...asked, group_by: 'day', limit: MAX_DAYS })}`)
  const tab = TABS.find(({ value }) => value === filters['by'])?.value ?? 'day'
  const groupBy = tab === 'sub' ? (SUB_IDS.find((name) => name === filters['sub']) ?? 'aff_sub') : tab
  const file = `/manage/v1${base}.csv${query({ ...asked, group_by: groupBy })}`
  return (
    <Page
      title="Reports"
      about="Clicks, conversions and payouts. Test traffic is excluded."
      actions={
        !isWrong && (
          <Button component="a" href={file} download variant="default" leftSection={<IconDownload size={16} />}>
            Download CSV
          </Button>
        )
      }
    >
      <RangePicker range={range} />
      <Narrowed offer={filters['offer']} country={filters['country']} onClear={change} />
      {!isWrong && (
        <Loaded query={days}>
          {(stats) =>
            hasNothing(stats) ? (
              <NothingYet appId={app_id} />
            ) : (
              <Stack gap="lg">
                <OverTime stats={stats} />
                <Tabs value={tab} keepMounted={false} onChange={(by) => change({ by: by === 'day' ? null : by })}>
                  <Tabs.List mb="md">
                    {TABS.map(({ value, label }) => (
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
                        data={SUB_IDS}
                        value={groupBy}
                        onChange={(sub) => change({ sub })}
                      />
                    )}
                    {tab === 'day' ? (
                      <StatsTable stats={stats} onNarrow={change} />
                    ) : (
                      <Groups path={`${base}${query({ ...asked, group_by: groupBy })}`} />
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

function Groups({ path }: { path: `/apps/${string}/stats` | `/apps/${string}/stats?${string}` }) {
  const stats = useGet(path)
  const [, change] = useFilters()
  return <Loaded query={stats}>{(data) => <StatsTable stats={data} onNarrow={change} />}</Loaded>
}

function OverTime({ stats }: { stats: Stats }) {
  const [filters, change] = useFilters()
  const metric = METRICS.find(({ name }) => name === filters['show']) ?? METRICS[0]!
  const { approved, pending } = stats.totals
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
        {METRICS.map((one) => (
          <FigureButton
            key={one.name}
            label={one.label}
            value={showFigure(one, stats.totals)}
            about={one.name === 'conversions' ? `${approved} approved, ${pending} pending` : one.about}
            isChosen={one.name === metric.name}
            onChoose={() => change({ show: one.name === 'clicks' ? null : one.name })}
          />
        ))}
      </SimpleGrid>
      <LazyDayChart
        data={stats.rows.map((row) => ({ ...row, day: row.day ?? '' }))}
        series={[{ name: metric.name, label: metric.label, color: 'blue.6' }]}
        format={metric.format}
        label={`Chart: ${metric.label} by day. The Days tab shows the same figures as a table.`}
      />
    </>
  )
}

type NarrowedProps = {
  offer: string | undefined
  country: string | undefined
  onClear: (change: Record<string, null>) => void
}

function Narrowed({ offer, country, onClear }: NarrowedProps) {
  if (offer === undefined && country === undefined) return null
  return (
    <Group gap="xs">
      {offer !== undefined && <Only text={`Only offer ${offer}`} onRemove={() => onClear({ offer: null })} />}
      {country !== undefined && <Only text={`Only ${country}`} onRemove={() => onClear({ country: null })} />}
    </Group>
  )
}

function Only({ text, onRemove }: { text: string; onRemove: () => void }) {
  return (
    <Pill
      size="lg"
      withRemoveButton
      onRemove={onRemove}
      removeButtonProps={{ 'aria-label': `Remove: ${text}`, 'aria-hidden': false, tabIndex: 0 }}
    >
      {text}
    </Pill>
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
