import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatUpTo } from '../../lib/format.ts'
import { useMe } from '../../lib/me.ts'
import { useGet } from '../../lib/queries.ts'
import { BalanceFigures } from '../../parts/ledger/balances.tsx'
import { ConversionTable } from '../../parts/network-conversions/table.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { MetricFigure } from '../../parts/reports/figure.tsx'
import { NETWORK_METRICS, showFigure } from '../../parts/reports/metrics.ts'
import { OverTime } from '../../parts/reports/over-time.tsx'
import { Section } from '../../parts/section.tsx'

type Overview = Schemas['NetworkOverview']

const EVERY_MS = 30_000
const LATEST = 8

export default function NetworkOverviewPage() {
  const overview = useGet('/network/overview', { everyMs: EVERY_MS })
  return (
    <Page title="Overview" about="All publishers and advertisers together. Days in UTC, amounts in USD.">
      <Loaded query={overview}>
        {({ attention, today, yesterday, last_30_days, days, balances }) => (
          <Stack gap="lg">
            <Attention attention={attention} />
            <Section title="Today" about="Since midnight UTC.">
              <SimpleGrid cols={{ base: 2, sm: 4 }}>
                {NETWORK_METRICS.map((of) => (
                  <MetricFigure
                    key={of}
                    of={of}
                    value={today[of]}
                    about={`All of yesterday: ${showFigure(of, yesterday[of])}`}
                  />
                ))}
              </SimpleGrid>
            </Section>
            <Section
              title="Last 30 days"
              action={
                <Anchor component={Link} href="/network/reports" size="sm">
                  All reports
                </Anchor>
              }
            >
              <OverTime
                metrics={NETWORK_METRICS}
                totals={last_30_days}
                points={days}
                table="The reports page shows the same figures as a table."
              />
            </Section>
            <LatestConversions />
            <Section title="Balances" about="Current balances from the ledger.">
              <BalanceFigures balances={balances} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function Attention({ attention }: { attention: Overview['attention'] }) {
  const { waiting_applications, waiting_proposals } = useMe()
  const all = [
    {
      count: attention.pending_conversions,
      one: 'conversion is pending',
      many: 'conversions are pending',
      to: '/network/conversions',
      does: 'Approve or reject',
    },
    {
      count: waiting_applications,
      one: 'publisher is waiting for review',
      many: 'publishers are waiting for review',
      to: '/network/applications',
      does: 'Review applications',
    },
    {
      count: waiting_proposals,
      one: 'advertiser proposal is waiting for review',
      many: 'advertiser proposals are waiting for review',
      to: '/network/proposals',
      does: 'Review proposals',
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
    {
      count: attention.troubled_feeds,
      one: 'feed could not be applied: its offers stay as they were',
      many: 'feeds could not be applied: their offers stay as they were',
      to: '/network/feeds',
      does: 'View feeds',
    },
    {
      count: attention.held_offers,
      one: 'payout change in a feed is waiting for approval',
      many: 'payout changes in feeds are waiting for approval',
      to: '/network/feeds',
      does: 'Approve',
    },
  ].filter(({ count }) => count > 0)
  return (
    <Section title="Needs attention">
      {all.length === 0 ? (
        <Text size="sm">
          All clear: no pending conversions, no unmatched callbacks, no paused postbacks, no failing feeds.
        </Text>
      ) : (
        <Stack gap="xs">
          {all.map(({ count, one, many, to, does }) => (
            <Group key={one} justify="space-between" gap="xs">
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

/** The newest ones, whatever their status. */
function LatestConversions() {
  const found = useGet('/conversions', { query: { limit: LATEST }, everyMs: EVERY_MS })
  return (
    <Section
      title="Latest conversions"
      action={
        <Anchor component={Link} href="/network/conversions?view=all" size="sm">
          All conversions
        </Anchor>
      }
    >
      <Loaded query={found}>
        {({ conversions }) =>
          conversions.length === 0 ? (
            <Text size="sm">No conversions yet. They appear here when users complete offers.</Text>
          ) : (
            <ConversionTable rows={conversions} isPlain />
          )
        }
      </Loaded>
    </Section>
  )
}
