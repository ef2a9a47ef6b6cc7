// How the postbacks of an app fare, and what to do where they do not.
import { Alert, Anchor, Button, Group, List, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { PostbackHealth } from '../../../../../src/manage/postbacks/schema.ts'
import { post, type Reply } from '../../lib/api.ts'
import { formatCount, formatShare } from '../../lib/format.ts'
import { isOperator, mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

type HealthData = Reply<typeof PostbackHealth>
type HealthProps = { base: string; health: HealthData }

const EVERY_MS = 5_000

export function Health({ base }: { base: string }) {
  const health = useGet<HealthData>(`${base}/postback/health`, { everyMs: EVERY_MS })
  return (
    <Loaded query={health}>
      {(data) => (
        <Stack gap="md">
          <Lane base={base} health={data} />
          <Numbers base={base} health={data} />
          {data.notices.length > 0 && <Notices notices={data.notices} />}
        </Stack>
      )}
    </Loaded>
  )
}

const PAUSES = {
  gone: 'Your server answered 410 (gone), so nothing more is sent to this address. Mend the address in the settings and save it; or let postbacks go on if the address is right after all.',
  failing:
    'Everything sent to this address has failed for five days. Look at the last error, mend your server or the address, then let postbacks go on.',
  operator: 'The operator of this network holds them back. Ask them why.',
  'no address': 'There was no address for a while. Let them go on when your server is ready.',
}

/** Nothing where all is well. */
function Lane({ base, health }: HealthProps) {
  const me = useMe()
  const settings = (
    <Button component={Link} href={`${base}/postbacks/settings`} size="xs" variant="default">
      Postback settings
    </Button>
  )
  if (health.lane === 'none')
    return (
      <Alert color="blue" title="This app has no postback address">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            Your server is not told of conversions{health.queued > 0 ? ', and what is queued waits' : ''}. Set an
            address, and test it there.
          </Text>
          {settings}
        </Stack>
      </Alert>
    )
  if (health.lane === 'paused')
    return (
      <Alert color="red" title="Postbacks are paused">
        <Stack gap="xs" align="flex-start">
          <Text size="sm" component="div">
            Since <Time at={health.paused_at} />. {PAUSES[health.pause_reason ?? 'operator']} What is queued is kept.
          </Text>
          <Group gap="xs">
            {(health.pause_reason !== 'operator' || isOperator(me)) && <Resume base={base} />}
            {settings}
          </Group>
        </Stack>
      </Alert>
    )
  if (health.lane === 'open')
    return (
      <Alert color="yellow" title="Deliveries paused: your server is failing">
        <Text size="sm" component="div">
          Several postbacks in a row have failed. Nothing is sent until <Time at={health.open_until} />; then one, to
          see whether your server is back. What is queued is kept, and goes out by itself once it is.
        </Text>
      </Alert>
    )
  if (health.lane === 'failing')
    return (
      <Alert color="yellow" title="Postbacks are failing">
        <Text size="sm" component="div">
          Since <Time at={health.failing_since} />. Each is tried again for three days; after five days of nothing but
          failures they are paused. The last error says what to mend.
        </Text>
      </Alert>
    )
  return null
}

function Resume({ base }: { base: string }) {
  const me = useMe()
  const resume = useChange(() => post(`${base}/postback/resume`), {
    refresh: [`${base}/postback`],
    done: 'Postbacks go on.',
  })
  if (!mayWrite(me)) return null
  return (
    <Button size="xs" onClick={() => resume.mutate(undefined)} loading={resume.isPending}>
      Let them go on
    </Button>
  )
}

function Numbers({ base, health }: HealthProps) {
  const { tries, received, p95_ms, queued, oldest_due_at, dead, last_failure } = health
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Number name="Received, last 24 h" value={tries === 0 ? '–' : formatShare(received / tries)}>
        {tries === 0 ? 'Nothing was sent.' : `${formatCount(received)} of ${formatCount(tries)} tries`}
      </Number>
      <Number name="Time to answer, p95" value={p95_ms === null ? '–' : `${formatCount(p95_ms)} ms`}>
        {p95_ms === null ? 'Nothing was sent.' : '95 of 100 tries took no longer'}
      </Number>
      <Number name="Queued" value={formatCount(queued)}>
        {oldest_due_at === null ? (
          `${formatCount(dead)} given up`
        ) : (
          <>
            the oldest is due since <Time at={oldest_due_at} ago />; {formatCount(dead)} given up
          </>
        )}
      </Number>
      <Number
        name="Last error, 24 h"
        value={last_failure === null ? 'none' : String(last_failure.status ?? 'no answer')}
      >
        {last_failure === null ? (
          <>{tries === 0 ? 'Nothing was sent.' : 'All went well.'}</>
        ) : (
          <>
            <Time at={last_failure.started_at} ago />: {last_failure.error}{' '}
            <Anchor component={Link} size="sm" href={`${base}/postbacks/${last_failure.postback_id}`}>
              See it
            </Anchor>
          </>
        )}
      </Number>
    </SimpleGrid>
  )
}

function Number({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <Paper>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="xl" fw={700}>
        {value}
      </Text>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </Paper>
  )
}

function Notices({ notices }: { notices: HealthData['notices'] }) {
  return (
    <Section title="Notices">
      <List size="sm" spacing="xs">
        {notices.map(({ notice_id, message, created_at }) => (
          <List.Item key={notice_id}>
            <Time at={created_at} ago />: {message}
          </List.Item>
        ))}
      </List>
    </Section>
  )
}
