// An app in a few numbers: today and the last seven days, and whether its postbacks arrive.
import { Alert, Anchor, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from 'wouter'
import { query } from '../../lib/api.ts'
import { formatCents, formatCount, formatShare, formatUsd, timeZone } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import type { OverviewData } from './data.ts'

const EVERY_MS = 15_000
const PLAIN_TITLE = { title: { color: 'var(--mantine-color-text)' } } // yellow on yellow is hard to read

export function Today({ appId }: { appId: number }) {
  const overview = useGet(`/apps/${appId}/overview${query({ timezone: timeZone() })}`, {
    everyMs: EVERY_MS,
  })
  return (
    <Loaded query={overview}>
      {({ today, week, postbacks }) => (
        <Stack gap="lg">
          <Figures appId={appId} today={today} week={week} />
          <Postbacks appId={appId} postbacks={postbacks} />
        </Stack>
      )}
    </Loaded>
  )
}

type Totals = OverviewData['today']
const orDash = <T,>(value: T | null, format: (value: T) => string) => (value === null ? '–' : format(value))

const FIGURES: [name: string, show: (totals: Totals) => string][] = [
  ['Clicks', ({ clicks }) => formatCount(clicks)],
  ['Conversions', ({ conversions }) => formatCount(conversions)],
  ['Payout', ({ payout }) => formatCents(payout)],
  ['Conversion rate', ({ conversion_rate }) => orDash(conversion_rate, formatShare)],
  ['Payout per click', ({ epc }) => orDash(epc, formatUsd)],
]

function Figures({ appId, today, week }: { appId: number; today: Totals; week: Totals }) {
  return (
    <Stack gap="xs" component="section">
      <Group justify="space-between">
        <Title order={2} size="h4">
          Today
        </Title>
        <Anchor component={Link} href={`/apps/${appId}/reports`} size="sm">
          All reports
        </Anchor>
      </Group>
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }}>
        {FIGURES.map(([name, show]) => (
          <Paper key={name} p="sm">
            <Text size="sm" c="dimmed">
              {name}
            </Text>
            <Text size="xl" fw={700}>
              {show(today)}
            </Text>
            <Text size="xs" c="dimmed">
              Last 7 days: {show(week)}
            </Text>
          </Paper>
        ))}
      </SimpleGrid>
    </Stack>
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
            , the oldest was due <Time at={oldest_due_at} ago />
          </>
        )}{' '}
        · {formatCount(dead)} failed
      </Text>
    </Section>
  )
}
