// An operator's report: totals, a chart and rows that lead further. Of the whole network, or of one offer.
import { Alert, List, SegmentedControl, Stack, Switch, Tabs, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatFullPeriod } from '../../lib/format.ts'
import { type ApiError, fileUrl } from '../../lib/api.ts'
import { useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { Empty, Loaded, Page } from '../page.tsx'
import { NETWORK_METRICS } from '../reports/metrics.ts'
import { OverTime } from '../reports/over-time.tsx'
import { RangePicker } from '../reports/range-picker.tsx'
import { type Sort, useSort } from '../reports/sort-heading.tsx'
import { addDays } from '../reports/days.ts'
import { ReportFilters } from './filters.tsx'
import { ReportTable } from './table.tsx'
import { type FilterName, FILTERS, isSubId, isTime, type Report, SUB_IDS, TIME_UNITS, useReport } from './use-report.ts'
import { DownloadCsv } from '../download-csv.tsx'

const TABS = [
  { value: 'time', label: 'Time' },
  { value: 'publisher', label: 'Publishers' },
  { value: 'app', label: 'Apps' },
  { value: 'offer', label: 'Offers' },
  { value: 'advertiser', label: 'Advertisers' },
  { value: 'country', label: 'Countries' },
  { value: 'device', label: 'Devices' },
  { value: 'sub', label: 'Sub-IDs' },
]
const UNITS = { hour: 'Hours', day: 'Days', week: 'Weeks', month: 'Months' }

type ReportPageProps = {
  title: string
  about: ReactNode
  actions?: ReactNode
  fixed?: Partial<Record<FilterName, string>>
}

export function ReportPage({ title, about, actions, fixed = {} }: ReportPageProps) {
  const { range, by, unit, asked, filters } = useReport(fixed)
  const [, change] = useFilters()
  /** An offer has one advertiser. */
  const known = [...(Object.keys(fixed) as FilterName[]), ...('offer_id' in fixed ? ['advertiser_id' as const] : [])]
  const [sort, choose] = useSort(isTime(by) ? 'time' : 'payout')
  const isWrong = range.error !== null
  const needsApp = isSubId(by) && asked['app_id'] === undefined
  const order = isTime(by) ? {} : { sort: metricOf(sort), order: sort.isAscending ? ('asc' as const) : undefined }
  const times = useGet(isWrong ? null : '/network/reports', { query: { ...asked, group_by: unit } })
  const rows = useGet(isWrong || needsApp || isTime(by) ? null : '/network/reports', {
    query: { ...asked, ...order, group_by: by },
  })
  const shown = isTime(by) ? times : rows
  const isEmpty = times.error === null && times.data !== undefined && hasNothing(times.data)
  const isFiltered = FILTERS.some((name) => filters[name] !== undefined)
  return (
    <Page
      title={title}
      about={about}
      actions={
        <>
          {actions}
          {!isWrong && !needsApp && (
            <DownloadCsv href={fileUrl('/network/reports.csv', { ...asked, ...order, group_by: by })} />
          )}
        </>
      }
    >
      <RangePicker range={range} isUtc>
        <Switch
          label="Compare with previous period"
          pb={6}
          checked={filters['compare'] === 'yes'}
          onChange={({ currentTarget }) => change({ compare: currentTarget.checked ? 'yes' : null })}
        />
      </RangePicker>
      <ReportFilters without={known} />
      {!isWrong && !isEmpty && (
        <Answer query={times}>
          {(report) => (
            <>
              <Compared report={report} />
              <OverTime
                metrics={NETWORK_METRICS}
                totals={report.totals}
                before={report.previous?.totals ?? null}
                points={report.rows.map((row) => ({ ...row, day: row.key ?? '' }))}
                by={unit}
                table="The Time tab shows the same figures as a table."
              />
            </>
          )}
        </Answer>
      )}
      {isEmpty ? (
        <Empty title="No clicks or conversions in this period">
          Choose a longer period{isFiltered && ', or clear a filter'}. Test traffic is not counted.
        </Empty>
      ) : (
        <Tabs
          value={isTime(by) ? 'time' : isSubId(by) ? 'sub' : by}
          keepMounted={false}
          onChange={(tab) => change({ by: firstOf(tab), sort: null, order: null })}
        >
          <Tabs.List mb="md">
            {TABS.filter(({ value }) => !known.some((name) => name === `${value}_id`)).map(({ value, label }) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value={isTime(by) ? 'time' : isSubId(by) ? 'sub' : by}>
            <Stack>
              {isTime(by) && (
                <SegmentedControl
                  aria-label="Unit"
                  size="xs"
                  data={TIME_UNITS.map((value) => ({ value, label: UNITS[value] }))}
                  value={by}
                  onChange={(one) => change({ by: one === 'day' ? null : one })}
                  style={{ alignSelf: 'flex-start' }}
                />
              )}
              {isSubId(by) && (
                <SegmentedControl
                  aria-label="Sub-ID"
                  size="xs"
                  data={[...SUB_IDS]}
                  value={by}
                  onChange={(one) => change({ by: one })}
                  style={{ alignSelf: 'flex-start' }}
                />
              )}
              {needsApp && (
                <Empty title="Choose an app">Sub-IDs belong to one app. Choose its publisher and the app above.</Empty>
              )}
              {!isWrong && !needsApp && (
                <Answer query={shown}>
                  {(report) => (
                    <ReportTable
                      {...{ report, filters, sort }}
                      isChosen={(name) => name in fixed || filters[name] !== undefined}
                      onSort={choose}
                    />
                  )}
                </Answer>
              )}
            </Stack>
          </Tabs.Panel>
        </Tabs>
      )}
    </Page>
  )
}

const metricOf = ({ by }: Sort) => NETWORK_METRICS.find((name) => name === by)

const firstOf = (tab: string | null) => (tab === 'time' ? null : tab === 'sub' ? 'aff_sub' : tab)

const hasNothing = ({ totals }: Report) => totals.clicks + totals.conversions + totals.rejected === 0

type AnswerProps = { query: UseQueryResult<Report, ApiError>; children: (report: Report) => ReactNode }

/** What cannot be answered for such a period is said in words that tell what to choose instead. */
function Answer({ query, children }: AnswerProps) {
  const { error } = query
  if (error?.code !== 'INVALID_REQUEST') return <Loaded query={query}>{children}</Loaded>
  return (
    <Alert color="gray" title="Not available for this period" role="alert">
      <List size="sm">
        {Object.values(error.details).map((detail) => (
          <List.Item key={detail}>{detail}</List.Item>
        ))}
      </List>
    </Alert>
  )
}

function Compared({ report: { previous } }: { report: Report }) {
  if (previous === null) return null
  const [first, last] = [previous.from, addDays(previous.to, -1)]
  return (
    <Text size="sm" c="dimmed">
      Compared with {formatFullPeriod(first)}
      {first !== last && ` to ${formatFullPeriod(last)}`}.
    </Text>
  )
}
