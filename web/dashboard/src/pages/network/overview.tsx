import { Anchor, Group, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatUpTo, formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Money } from '../../parts/money.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Figure } from '../../parts/reports/figure.tsx'
import { LazyDayChart } from '../../parts/reports/lazy-day-chart.tsx'
import { formatFullDay } from '../../parts/reports/metrics.ts'
import { Section } from '../../parts/section.tsx'

type Overview = Schemas['NetworkOverview']

const EVERY_MS = 30_000
const SERIES = [
  { name: 'revenue', label: 'Revenue', color: 'blue.6' },
  { name: 'payout', label: 'Payout', color: 'orange.6' },
  { name: 'margin', label: 'Margin', color: 'teal.6' },
]

export default function NetworkOverviewPage() {
  const overview = useGet('/network/overview', { everyMs: EVERY_MS })
  return (
    <Page title="Overview" about="All publishers and advertisers together. Days in UTC, amounts in USD.">
      <Loaded query={overview}>
        {({ attention, today, last_30_days, days, balances }) => (
          <Stack gap="lg">
            <Attention attention={attention} />
            <Section title="Today">
              <Sums sums={today} />
            </Section>
            <Section title="Last 30 days" about="Revenue and payout of conversions, pending ones included.">
              <Sums sums={last_30_days} />
              <Days days={days} />
            </Section>
            <Section title="Balances" about="Current balances from the ledger.">
              <SimpleGrid cols={{ base: 1, xs: 2, md: 3, xl: 6 }}>
                <Figure label="Receivable" value={<Money amount={balances.receivable} />} about="Owed by advertisers" />
                <Figure
                  label="Unconfirmed"
                  value={<Money amount={balances.unconfirmed} />}
                  about="Not confirmed by the advertiser"
                />
                <Figure label="Cash" value={<Money amount={balances.cash} />} about="Received minus paid" />
                <Figure
                  label="Pending"
                  value={<Money amount={balances.pending} />}
                  about="For publishers, once approved"
                />
                <Figure label="Payable" value={<Money amount={balances.payable} />} about="Owed to publishers" />
                <Figure label="Margin" value={<Money amount={balances.margin} />} about="Network, all time" />
              </SimpleGrid>
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function Attention({ attention }: { attention: Overview['attention'] }) {
  const all = [
    {
      count: attention.pending_conversions,
      one: 'conversion is pending',
      many: 'conversions are pending',
      to: '/network/conversions',
      does: 'Approve or reject',
    },
    {
      count: attention.unmatched_calls,
      one: 'unmatched advertiser callback',
      many: 'unmatched advertiser callbacks',
      to: '/network/advertisers?tab=calls&outcome=unmatched',
      does: 'View callbacks',
    },
    {
      count: attention.unprocessed_calls,
      one: 'advertiser callback could not be processed',
      many: 'advertiser callbacks could not be processed',
      to: '/network/advertisers?tab=calls&outcome=needs%20attention',
      does: 'View errors',
    },
    {
      count: attention.crowded_advertisers,
      one: 'advertiser has over 8,000 open callbacks: at 10,000 the oldest are dropped',
      many: 'advertisers have over 8,000 open callbacks: at 10,000 the oldest are dropped',
      to: '/network/advertisers?tab=calls',
      does: 'Process or dismiss',
    },
    {
      count: attention.paused_lanes,
      one: 'app has paused postbacks: its server failed for too long',
      many: 'apps have paused postbacks: their servers failed for too long',
      to: '/network/postbacks',
      does: 'View postback health',
    },
  ].filter(({ count }) => count > 0)
  return (
    <Section title="Needs attention">
      {all.length === 0 ? (
        <Text size="sm">All clear: no pending conversions, no unmatched callbacks, no paused postbacks.</Text>
      ) : (
        <Stack gap="xs">
          {all.map(({ count, one, many, to, does }) => (
            <Group key={to} justify="space-between" gap="xs">
              <Text size="sm">
                <b>{formatUpTo(count, 1_000)}</b> {count === 1 ? one : many}
              </Text>
              <Anchor component={Link} href={to} size="sm">
                {does}
              </Anchor>
            </Group>
          ))}
        </Stack>
      )}
    </Section>
  )
}

function Sums({ sums: { revenue, payout, margin } }: { sums: Overview['today'] }) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <Figure label="Revenue" value={<Money amount={revenue} />} about="From advertisers" />
      <Figure label="Payout" value={<Money amount={payout} />} about="To publishers" />
      <Figure label="Margin" value={<Money amount={margin} />} about="Network" />
    </SimpleGrid>
  )
}

function Days({ days }: { days: Overview['days'] }) {
  const [view, setView] = useState('chart')
  return (
    <>
      <SegmentedControl
        aria-label="View"
        data={[
          { value: 'chart', label: 'Chart' },
          { value: 'table', label: 'Table' },
        ]}
        value={view}
        onChange={setView}
        style={{ alignSelf: 'flex-start' }}
      />
      {view === 'chart' ? (
        <LazyDayChart
          data={days}
          series={SERIES}
          format={formatUsd}
          label="Chart: revenue, payout and margin by day. Choose Table to see the same figures as a table."
        />
      ) : (
        <DayTable days={days} />
      )}
    </>
  )
}

function DayTable({ days }: { days: Overview['days'] }) {
  return (
    <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            {SERIES.map(({ name, label }) => (
              <Table.Th key={name} ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.toReversed().map(({ day, revenue, payout, margin }) => (
            <Table.Tr key={day}>
              <Table.Th scope="row" fw={400}>
                {formatFullDay(day)}
              </Table.Th>
              <Table.Td ta="right">
                <Money amount={revenue} />
              </Table.Td>
              <Table.Td ta="right">
                <Money amount={payout} />
              </Table.Td>
              <Table.Td ta="right">
                <Money amount={margin} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
