// Postback health of an app, and what to do about failures.
import { Alert, Anchor, Button, Group, List, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { formatCount, formatNoun, formatUpTo } from '../../lib/format.ts'
import { isOperator, mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Explained } from '../reports/explained.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import { DeliveredLabel, DeliveredShare } from './delivered-share.tsx'

type HealthData = Schemas['PostbackHealth']
type HealthProps = { base: `/apps/${string}`; health: HealthData }

const EVERY_MS = 5_000
const P95 = '95% of attempts in the last 24 hours got a response within this time.'
const QUEUED = 'Postbacks that are waiting to be sent or retried. Failed: those whose last attempt failed.'

export function Health({ base }: { base: `/apps/${string}` }) {
  const health = useGet(`${base}/postback/health`, { everyMs: EVERY_MS })
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
  gone: 'Your server answered 410 (Gone), so nothing more is sent to this URL. Correct the URL in the settings, or resume if the URL is right.',
  failing:
    'Everything sent to this URL has failed for five days. Check the last error, fix your server or the URL, then resume.',
  operator: 'The operator paused your postbacks. Ask the operator to resume them.',
  'no address': 'No postback URL was set for a while. Resume when your server is ready.',
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
      <Alert color="blue" title="This app has no postback URL">
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            Your server is not notified of conversions{health.queued > 0 ? ', and queued postbacks are on hold' : ''}.
            Set a postback URL and test it in the settings.
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
            Since <Time at={health.paused_at} />. {PAUSES[health.pause_reason ?? 'operator']} Queued postbacks are kept.
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
      <Alert color="yellow" title="Postbacks are failing">
        <Text size="sm" component="div">
          Several in a row have failed, so we are backing off. Nothing is sent until <Time at={health.open_until} />;
          then one postback checks whether your server is back. Queued postbacks are kept, and sent automatically once
          it is.
        </Text>
      </Alert>
    )
  if (health.lane === 'failing')
    return (
      <Alert color="yellow" title="Postbacks are failing">
        <Text size="sm" component="div">
          Since <Time at={health.failing_since} />. Each postback is retried for three days. After five days of nothing
          but failures, postbacks are paused. Check the last error to see what to fix.
        </Text>
      </Alert>
    )
  return null
}

function Resume({ base }: { base: `/apps/${string}` }) {
  const me = useMe()
  const resume = useChange(() => post(`${base}/postback/resume`), {
    refresh: [`${base}/postback`],
    done: 'Postbacks resumed.',
  })
  if (!mayWrite(me)) return null
  return (
    <Button size="xs" onClick={() => resume.mutate(undefined)} loading={resume.isPending}>
      Resume
    </Button>
  )
}

function Numbers({ base, health }: HealthProps) {
  const { delivered_24h, failed_24h, attempts, p95_ms, queued, oldest_due_at, dead, last_failure } = health
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Number
        name={<DeliveredLabel>Delivered, last 24 h</DeliveredLabel>}
        value={<DeliveredShare delivered={delivered_24h} failed={failed_24h} />}
      >
        {attempts === 0
          ? 'Nothing sent'
          : `${formatCount(delivered_24h)} of ${formatNoun(delivered_24h + failed_24h, 'postback')}`}
      </Number>
      <Number
        name={<Explained meaning={P95}>Response time, p95</Explained>}
        value={p95_ms === null ? '–' : `${formatCount(p95_ms)} ms`}
      >
        {p95_ms === null ? 'Nothing sent' : '95th percentile'}
      </Number>
      <Number name={<Explained meaning={QUEUED}>Queued</Explained>} value={formatCount(queued)}>
        {oldest_due_at === null ? (
          `${formatUpTo(dead)} failed`
        ) : (
          <>
            oldest overdue by <Time at={oldest_due_at} since />; {formatUpTo(dead)} failed
          </>
        )}
      </Number>
      <Number
        name="Last error, 24 h"
        value={last_failure === null ? 'none' : String(last_failure.status ?? 'no response')}
      >
        {last_failure === null ? (
          <>{attempts === 0 ? 'Nothing sent' : 'No errors'}</>
        ) : (
          <>
            <Time at={last_failure.started_at} ago />: {last_failure.error}{' '}
            <Anchor component={Link} size="sm" href={`${base}/postbacks/${last_failure.postback_id}`}>
              View postback
            </Anchor>
          </>
        )}
      </Number>
    </SimpleGrid>
  )
}

function Number({ name, value, children }: { name: ReactNode; value: ReactNode; children: ReactNode }) {
  return (
    <Paper>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="xl" fw={700} component="div">
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
          <List.Item key={notice_id} style={{ overflowWrap: 'anywhere' }}>
            <Time at={created_at} ago />: {message}
          </List.Item>
        ))}
      </List>
    </Section>
  )
}
