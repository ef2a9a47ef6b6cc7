// All that happened about a conversion, in the order of time.
import { Anchor, Code, Group, Text, Timeline } from '@mantine/core'
import { IconCoin, IconFlag, IconListDetails, IconPointer, IconSend } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatUsd } from '../../lib/format.ts'
import { countryName } from '../../lib/countries.ts'
import { RequestId } from '../request-id.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { explainReason, nameActor, subIdsOf } from './words.ts'

type History = Schemas['ConversionHistory']
type Step = {
  key: string
  at: string | null
  icon: typeof IconCoin
  color: string
  title: ReactNode
  children?: ReactNode
}

export function ConversionTimeline({ appId, history }: { appId: string; history: History }) {
  const { click, events, postbacks, ledger, conversion } = history
  const steps = [
    ...(click === null ? [] : clickSteps(click, conversion.multiplier)),
    ...inOrder([
      ...events.map(eventStep),
      ...ledger.map(ledgerStep),
      ...postbacks.flatMap((one) => postbackSteps(appId, one)),
    ]),
  ]
  return (
    <Timeline bulletSize={28} lineWidth={2} active={steps.length}>
      {steps.map(({ key, at, icon: Icon, color, title, children }) => (
        <Timeline.Item key={key} bullet={<Icon size={16} />} color={color} title={title}>
          {children !== undefined && (
            <Text size="sm" component="div">
              {children}
            </Text>
          )}
          {at !== null && (
            <Text size="sm" c="dimmed" component="div">
              <Time at={at} />
            </Text>
          )}
        </Timeline.Item>
      ))}
    </Timeline>
  )
}

/** What happened at the same time stays as it is: an event, then its money, then its postback. */
const inOrder = (steps: Step[]) => steps.toSorted((a, b) => timeOf(a) - timeOf(b))
// Whole seconds: some times have no more than that.
const timeOf = ({ at }: Step) => Math.floor(Date.parse(at ?? '') / 1000)

function clickSteps(click: NonNullable<History['click']>, multiplier: number): Step[] {
  const subIds = subIdsOf(click)
  const request: Step = {
    key: 'request',
    at: null,
    icon: IconListDetails,
    color: 'gray',
    title: 'Your server requested offers',
    children: <RequestId id={click.request_id ?? ''} />,
  }
  const where = [click.country === null ? null : countryName(click.country), click.device, click.os]
  const place = where.filter((word) => word !== null).join(', ')
  const followed: Step = {
    key: 'click',
    at: click.clicked_at,
    icon: IconPointer,
    color: 'blue',
    title: 'The user followed the link',
    children: (
      <>
        {place !== '' && <Text size="sm">{place}</Text>}
        {multiplier !== 1 && <Text size="sm">In a currency sale: rewards ×{multiplier}</Text>}
        {subIds.length > 0 && (
          <Group gap={6}>
            {subIds.map(([name, value]) => (
              <Code key={name} style={{ overflowWrap: 'anywhere' }}>
                {name}={value}
              </Code>
            ))}
          </Group>
        )}
      </>
    ),
  }
  return click.request_id === null ? [followed] : [request, followed]
}

const EVENT_COLORS = { pending: 'yellow', approved: 'green', rejected: 'red', reversed: 'red' }

function eventStep(event: History['events'][number]): Step {
  const reason = explainReason(event.status_reason)
  return {
    key: event.event_id,
    at: event.created_at,
    icon: IconFlag,
    color: EVENT_COLORS[event.status],
    title: (
      <Group gap="xs">
        <Status value={event.status} />
        <span>{nameActor(event.actor)}</span>
      </Group>
    ),
    children: (
      <>
        {reason ?? `Payout ${formatUsd(event.payout)}`}
        {event.request_id !== null && <RequestId id={event.request_id} />}
      </>
    ),
  }
}

function ledgerStep({ created_at, balance, amount }: History['ledger'][number], place: number): Step {
  return {
    key: `ledger ${place}`,
    at: created_at,
    icon: IconCoin,
    color: amount > 0 ? 'green' : 'red',
    title: `${amount > 0 ? '+' : '−'}${formatUsd(Math.abs(amount))} ${balance}`,
    children: `${amount > 0 ? 'Added to' : 'Deducted from'} the ${balance} balance`,
  }
}

function postbackSteps(appId: string, postback: History['postbacks'][number]): Step[] {
  const link = (
    <Anchor component={Link} href={`/apps/${appId}/postbacks/${postback.postback_id}`} size="sm" underline="always">
      Postback
    </Anchor>
  )
  const tried = postback.tries.map<Step>(({ attempt, started_at, duration_ms, ok, status, error }) => ({
    key: `${postback.postback_id} ${attempt}`,
    at: started_at,
    icon: IconSend,
    color: ok ? 'green' : 'red',
    title: ok ? `Postback delivered, attempt ${attempt}` : `Postback failed, attempt ${attempt}`,
    children: (
      <>
        {link} of “{postback.status}”: {status === null ? 'no response' : `HTTP ${status}`} after {duration_ms} ms.{' '}
        {!ok && error}
      </>
    ),
  }))
  if (postback.state === 'delivered' || postback.state === 'dead') return tried
  const next: Step = {
    key: postback.postback_id,
    at: postback.next_attempt_at ?? postback.created_at,
    icon: IconSend,
    color: 'yellow',
    title: postback.state === 'sending' ? 'Sending postback' : 'Postback queued',
    children: (
      <>
        {link} of “{postback.status}”.
      </>
    ),
  }
  return [...tried, next]
}
