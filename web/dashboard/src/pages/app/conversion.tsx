import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatReward, formatUsd } from '../../lib/format.ts'
import { useGet } from '../../lib/queries.ts'
import { userPath } from '../../lib/user-path.ts'
import { ConversionTimeline } from '../../parts/conversions/timeline.tsx'
import { explainReason, subIdsOf } from '../../parts/conversions/words.ts'
import { Copyable } from '../../parts/copy.tsx'
import { countryName } from '../../lib/countries.ts'
import { Facts } from '../../parts/facts.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Status, Tag } from '../../parts/status.tsx'
import { Time } from '../../parts/time.tsx'

type History = Schemas['ConversionHistory']
const LOOK_AGAIN_MS = 5_000 // postbacks are on their way

export default function Conversion() {
  const { app_id, conversion_id } = useParams<{ app_id: string; conversion_id: string }>()
  const history = useGet(`/apps/${app_id}/conversions/${encodeURIComponent(conversion_id)}`, {
    everyMs: LOOK_AGAIN_MS,
  })
  return (
    <Page title="Conversion">
      <Loaded query={history}>
        {(data) => (
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <Stack gap="lg">
              <About appId={app_id} history={data} />
              {data.operator !== null && <ForOperators {...data.operator} />}
            </Stack>
            <Section title="Timeline" about="From the offers request to the last postback.">
              <ConversionTimeline appId={app_id} history={data} />
            </Section>
          </SimpleGrid>
        )}
      </Loaded>
    </Page>
  )
}

function About({ appId, history: { conversion: one, postbacks } }: { appId: string; history: History }) {
  const rows: [string, ReactNode][] = [
    ['ID', <Copyable key="id" value={one.conversion_id} label="Copy the conversion ID" />],
    [
      'Offer',
      <Anchor key="offer" size="sm" component={Link} href={`/apps/${appId}/offers?offer=${one.offer_id}`}>
        {one.offer_name}
      </Anchor>,
    ],
    ['Goal', one.goal_name],
    [
      'User',
      <Anchor
        key="user"
        size="sm"
        component={Link}
        href={userPath(appId, one.user_id)}
        style={{ overflowWrap: 'anywhere' }}
      >
        {one.user_id}
      </Anchor>,
    ],
    ['Payout', formatUsd(one.payout)],
    [
      'Reward',
      `${formatReward(one.payout_local, one.currency)}${one.multiplier === 1 ? '' : ` (currency sale ×${one.multiplier})`}`,
    ],
    ['Transaction ID', one.publisher_transaction_id ?? '–'],
    ['Source', one.source === 'publisher' ? 'Publisher report' : 'Advertiser'],
    [
      'Location',
      [one.country === null ? null : countryName(one.country), one.device].filter((word) => word !== null).join(', ') ||
        '–',
    ],
    ...subIdsOf(one),
    ['Created', <Time key="made" at={one.created_at} />],
  ]
  if (one.hold_until !== null && one.status === 'pending')
    rows.push(['Auto-approves', <Time key="hold" at={one.hold_until} />])
  return (
    <Section
      title={one.offer_name}
      about={
        <Group gap="xs">
          <Status value={one.status} />
          {one.is_test && <Tag>Test: no money involved</Tag>}
          {explainReason(one.status_reason)}
        </Group>
      }
    >
      <Facts label="About this conversion" facts={rows} />
      {postbacks.length === 0 && (
        <Text size="sm" c="dimmed">
          No postback: none was set up for this event at the time.{' '}
          <Anchor component={Link} href={`/apps/${appId}/postbacks`} size="sm" underline="always">
            Postbacks
          </Anchor>
        </Text>
      )}
    </Section>
  )
}

function ForOperators({
  signals,
  click_signals,
  ip,
  revenue,
  advertiser_transaction_id,
}: NonNullable<History['operator']>) {
  const rows = [
    ['Signals', signals.join(', ') || 'none'],
    ['Click signals', click_signals.join(', ') || 'none'],
    ['IP address', ip ?? '–'],
    ['Revenue', formatUsd(revenue)],
    ['Advertiser transaction ID', advertiser_transaction_id ?? '–'],
  ] as const
  return (
    <Section title="For operators" about="Not visible to the publisher.">
      <Facts label="For operators" facts={rows} />
    </Section>
  )
}
