// An app in a few numbers: today and the last seven days, and whether its postbacks arrive.
import { Alert, Anchor, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from 'wouter'
import { formatCount, formatUpTo, timeZone } from '../../lib/format.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import type { Mode } from '../../lib/words.ts'
import { todayIn } from '../../lib/zoned-time.ts'
import { ConversionTable } from '../conversions/conversion-table.tsx'
import { Loaded } from '../page.tsx'
import { MetricFigure } from '../reports/figure.tsx'
import { APP_METRICS, showFigure } from '../reports/metrics.ts'
import { StatsOverTime } from '../reports/stats-over-time.tsx'
import { addDays } from '../reports/days.ts'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import type { OverviewData } from './data.ts'

const EVERY_MS = 15_000
const DAYS = 30
const LATEST = 5
const PLAIN_TITLE = { title: { color: 'var(--mantine-color-text)' } } // yellow on yellow is hard to read

export function Today({ appId }: { appId: number }) {
  const overview = useGet(`/apps/${appId}/overview`, { query: { timezone: timeZone() }, everyMs: EVERY_MS })
  const mode = useMode()
  return (
    <Stack gap="lg">
      {mode === 'test' ? (
        <Text>Figures and charts count live traffic only.</Text>
      ) : (
        <>
          <Loaded query={overview}>{({ today, week }) => <Figures today={today} week={week} />}</Loaded>
          <LastDays appId={appId} />
        </>
      )}
      <LatestConversions appId={appId} mode={mode} />
      {overview.data !== undefined && <Postbacks appId={appId} postbacks={overview.data.postbacks} />}
    </Stack>
  )
}

type Totals = OverviewData['today']

function Figures({ today, week }: { today: Totals; week: Totals }) {
  return (
    <Stack gap="xs" component="section">
      <Title order={2} size="h4">
        Today
      </Title>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
        {APP_METRICS.map((of) => (
          <MetricFigure key={of} of={of} value={today[of]} about={`Last 7 days: ${showFigure(of, week[of])}`} />
        ))}
      </SimpleGrid>
    </Stack>
  )
}

function LastDays({ appId }: { appId: number }) {
  const zone = timeZone()
  const from = addDays(todayIn(zone), 1 - DAYS)
  const stats = useGet(`/apps/${appId}/stats`, { query: { from, timezone: zone, group_by: 'day' } })
  return (
    <Section
      title={`Last ${DAYS} days`}
      action={
        <Anchor component={Link} href={`/apps/${appId}/reports`} size="sm">
          All reports
        </Anchor>
      }
    >
      <Loaded query={stats}>
        {(data) => <StatsOverTime stats={data} table="The reports page shows the same figures as a table." />}
      </Loaded>
    </Section>
  )
}

function LatestConversions({ appId, mode }: { appId: number; mode: Mode }) {
  const found = useGet(`/apps/${appId}/conversions`, { query: { limit: LATEST, mode }, everyMs: EVERY_MS })
  return (
    <Section
      title="Latest conversions"
      action={
        <Anchor component={Link} href={`/apps/${appId}/conversions`} size="sm">
          All conversions
        </Anchor>
      }
    >
      <Loaded query={found}>
        {({ conversions }) =>
          conversions.length === 0 ? (
            <Text size="sm">
              No {mode === 'test' && 'test '}conversions yet. They appear here when your users complete offers.
            </Text>
          ) : (
            <ConversionTable appId={String(appId)} conversions={conversions} isPlain />
          )
        }
      </Loaded>
    </Section>
  )
}

const REASONS: Record<string, string> = {
  gone: 'Your server answered 410 (Gone).',
  failing: 'Your server failed for too long.',
  operator: 'The postback URL was removed, or the operator paused postbacks.',
}

function Postbacks({ appId, postbacks }: { appId: number; postbacks: OverviewData['postbacks'] }) {
  const { is_set, paused_at, pause_reason, failing_since, queued, dead, oldest_due_at } = postbacks
  const page = (
    <Anchor component={Link} href={`/apps/${appId}/postbacks`} c="inherit" underline="always" inherit>
      Postbacks
    </Anchor>
  )
  if (!is_set)
    return (
      <Section title="Postbacks">
        <Text size="sm">
          No postback URL is set, so your server is not notified of conversions. Set one under {page}.
        </Text>
      </Section>
    )
  return (
    <Section title="Postbacks">
      {paused_at !== null ? (
        <Alert color="red" title="Postbacks are paused" role="alert">
          Since <Time at={paused_at} />. {REASONS[pause_reason ?? ''] ?? ''} To resume, open {page}.
        </Alert>
      ) : failing_since !== null ? (
        <Alert color="yellow" title="Postbacks are failing" role="alert" styles={PLAIN_TITLE}>
          Nothing has been delivered since <Time at={failing_since} />. Each postback is retried for three days. For
          details, see {page}.
        </Alert>
      ) : (
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <IconCheck size={18} color="var(--mantine-color-green-8)" aria-hidden style={{ flexShrink: 0 }} />
          <Text size="sm">All postbacks delivered. Details: {page}.</Text>
        </Group>
      )}
      <Text size="sm">
        {formatCount(queued)} queued
        {oldest_due_at !== null && (
          <>
            , oldest overdue by <Time at={oldest_due_at} since />
          </>
        )}{' '}
        · {formatUpTo(dead)} failed
      </Text>
    </Section>
  )
}
