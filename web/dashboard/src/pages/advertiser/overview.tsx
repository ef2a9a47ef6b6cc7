// An advertiser's figures: what it spent, by day and by what it was spent on.
import { Anchor, Stack, Tabs, Text } from '@mantine/core'
import { Link, useParams } from 'wouter'
import { fileUrl } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { nameWithCode } from '../../lib/countries.ts'
import { formatFullPeriod } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { OwnBudget } from '../../parts/advertisers/budget.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DEVICES } from '../../parts/network-report/table.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { MetricValue } from '../../parts/reports/figure.tsx'
import { ADVERTISER_METRICS, METRICS } from '../../parts/reports/metrics.ts'
import { OverTime } from '../../parts/reports/over-time.tsx'
import { RangePicker } from '../../parts/reports/range-picker.tsx'
import { useRange } from '../../parts/reports/use-range.ts'
import { DownloadCsv } from '../../parts/download-csv.tsx'

type Report = Schemas['AdvertiserReport']
type Row = Report['rows'][number]

const TABS = [
  { value: 'day', label: 'Days' },
  { value: 'offer', label: 'Offers' },
  { value: 'country', label: 'Countries' },
  { value: 'device', label: 'Devices' },
  { value: 'publisher', label: 'Publishers' },
] as const

export default function Overview() {
  const { advertiser_id } = useParams<{ advertiser_id: string }>()
  const base = `/advertisers/${advertiser_id}` as const
  const range = useRange({ onlyZone: 'UTC' })
  const [filters, change] = useFilters()
  const { timezone: _zone, ...period } = range.period
  const isWrong = range.error !== null
  const sees = useGet(base).data?.sees_publishers ?? 'nothing'
  const tabs = TABS.filter(({ value }) => value !== 'publisher' || sees !== 'nothing')
  const tab = tabs.find(({ value }) => value === filters['by'])?.value ?? 'day'
  const days = useGet(isWrong ? null : `${base}/report`, { query: { ...period, group_by: 'day' } })
  const shown = useGet(isWrong || tab === 'day' ? null : `${base}/report`, { query: { ...period, group_by: tab } })
  return (
    <Page
      title="Overview"
      about="Days in UTC, amounts in USD. Conversions count for the day they were created, with their current status."
      actions={!isWrong && <DownloadCsv href={fileUrl(`${base}/report.csv`, { ...period, group_by: tab })} />}
    >
      <OwnBudget advertiserId={advertiser_id} />
      <RangePicker range={range} isUtc />
      {!isWrong && (
        <Loaded query={days}>
          {(report) =>
            report.totals.clicks + report.totals.conversions + report.totals.rejected === 0 ? (
              <Empty title="No clicks in this period">
                Clicks appear here when users follow the links of your offers. Choose a longer period.
              </Empty>
            ) : (
              <Stack gap="lg">
                <OverTime
                  metrics={ADVERTISER_METRICS}
                  totals={report.totals}
                  points={report.rows.map((row) => ({ ...row, day: row.key ?? '' }))}
                  table="The Days tab shows the same figures as a table."
                />
                <Tabs value={tab} keepMounted={false} onChange={(by) => change({ by: by === 'day' ? null : by })}>
                  <Tabs.List mb="md">
                    {tabs.map(({ value, label }) => (
                      <Tabs.Tab key={value} value={value}>
                        {label}
                      </Tabs.Tab>
                    ))}
                  </Tabs.List>
                  <Tabs.Panel value={tab}>
                    {tab === 'day' ? (
                      <Figures base={base} report={report} />
                    ) : (
                      <Loaded query={shown}>{(data) => <Figures base={base} report={data} />}</Loaded>
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

const HEADS: Record<Report['group_by'], string> = {
  day: 'Day (UTC)',
  week: 'Week of (UTC)',
  month: 'Month (UTC)',
  offer: 'Offer',
  country: 'Country',
  device: 'Device',
  publisher: 'Publisher',
}

function Figures({ base, report }: { base: string; report: Report }) {
  const { group_by: by, rows, has_more } = report
  const columns: Column<Row>[] = [
    {
      name: HEADS[by],
      isText: true,
      cell: (row) =>
        by === 'offer' ? (
          <Anchor component={Link} href={`${base}/offers/${row.key}`} size="sm">
            {row.name}
          </Anchor>
        ) : (
          nameOf(by, row)
        ),
    },
    ...ADVERTISER_METRICS.map((of) => ({
      name: METRICS[of].label,
      isNumber: true,
      cell: (row: Row) => <MetricValue of={of} value={row[of]} />,
    })),
  ]
  return (
    <>
      <DataTable
        rows={by === 'day' ? rows.toReversed() : rows}
        columns={columns}
        rowKey={({ key }) => key ?? ''}
        minWidth={720}
      />
      {has_more && (
        <Text size="sm" c="dimmed">
          Top {rows.length} by spend. The CSV file has up to 50,000.
        </Text>
      )}
    </>
  )
}

function nameOf(by: Report['group_by'], { key, name }: Row): string {
  if (key === null) return 'Unknown'
  if (by === 'country') return nameWithCode(key)
  if (by === 'device') return DEVICES[key] ?? key
  return by === 'publisher' ? (name ?? `Publisher ${key}`) : formatFullPeriod(key)
}
