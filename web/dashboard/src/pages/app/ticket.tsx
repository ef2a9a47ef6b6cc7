import { Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link, useParams } from 'wouter'
import { patch } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { countryName } from '../../lib/countries.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { userPath } from '../../lib/user-path.ts'
import { TICKET_KINDS } from '../../lib/words.ts'
import { Copyable } from '../../parts/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Status, Tag } from '../../parts/status.tsx'
import { AnswerForm } from '../../parts/tickets/answer-form.tsx'
import { Thread } from '../../parts/tickets/thread.tsx'
import { Time } from '../../parts/time.tsx'

type Shown = Schemas['Ticket']
const LOOK_AGAIN_MS = 5_000 // the user may write meanwhile

export default function Ticket() {
  const { app_id, ticket_id } = useParams<{ app_id: string; ticket_id: string }>()
  const ticket = useGet(`/apps/${app_id}/tickets/${ticket_id}`, { everyMs: LOOK_AGAIN_MS })
  const isWriter = mayWrite(useMe())
  return (
    <Page
      title="Ticket"
      actions={ticket.data !== undefined && isWriter && <Turn appId={app_id} ticket={ticket.data} />}
    >
      <Loaded query={ticket}>
        {(data) => (
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <Section
              title={[TICKET_KINDS[data.kind], data.offer_name].filter((word) => word !== null).join(': ')}
              about={
                <Group gap="xs">
                  <Status value={data.status} />
                  {data.is_test && <Tag>Test</Tag>}
                </Group>
              }
            >
              <Thread appId={app_id} ticket={data} />
              {isWriter && <AnswerForm key={ticket_id} appId={app_id} ticket={data} />}
            </Section>
            <div>
              <About appId={app_id} ticket={data} />
            </div>
          </SimpleGrid>
        )}
      </Loaded>
    </Page>
  )
}

function Turn({ appId, ticket: { ticket_id, status } }: { appId: string; ticket: Shown }) {
  const isClosed = status === 'closed'
  const change = useChange(
    (wanted: 'open' | 'closed') => patch(`/apps/${appId}/tickets/${ticket_id}`, { status: wanted }),
    { refresh: [`/apps/${appId}/tickets`] },
  )
  return (
    <Button variant="default" loading={change.isPending} onClick={() => change.mutate(isClosed ? 'open' : 'closed')}>
      {isClosed ? 'Reopen ticket' : 'Close ticket'}
    </Button>
  )
}

/** What the server knows about it; the user said no more than the offer. */
function About({ appId, ticket: one }: { appId: string; ticket: Shown }) {
  const mode = one.is_test ? 'test' : 'live'
  const rows: [string, ReactNode][] = [
    [
      'User',
      <Anchor key="user" size="sm" component={Link} href={`${userPath(appId, one.user_id)}&mode=${mode}`}>
        {one.user_id}
      </Anchor>,
    ],
    ['Email', one.email ?? '–'],
    [
      'Offer',
      one.offer_id === null ? (
        '–'
      ) : (
        <Anchor key="offer" size="sm" component={Link} href={`/apps/${appId}/offers/${one.offer_id}`}>
          {one.offer_name}
        </Anchor>
      ),
    ],
    ['Click', one.click_id === null ? '–' : <Copyable key="click" value={one.click_id} label="Copy the click ID" />],
    ['Clicked', <Time key="clicked" at={one.clicked_at} />],
    ['Country', one.country === null ? '–' : countryName(one.country)],
    ['Device', [one.device, one.os].filter((word) => word !== null).join(', ') || '–'],
    ['Opened', <Time key="opened" at={one.created_at} />],
    ['Last change', <Time key="changed" at={one.updated_at} />],
  ]
  return (
    <Section title="Details">
      <Facts label="About this ticket" facts={rows} />
      {one.offer_id !== null && <Conversions appId={appId} ticket={one} />}
    </Section>
  )
}

function Conversions({ appId, ticket: { conversions, is_test } }: { appId: string; ticket: Shown }) {
  if (conversions.length === 0)
    return (
      <Text size="sm" c="dimmed">
        This user has no conversions for the offer.
      </Text>
    )
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        The user’s conversions for the offer
      </Text>
      {conversions.map(({ conversion_id, goal_name, status, created_at }) => (
        <Group key={conversion_id} gap="xs">
          <Anchor
            component={Link}
            size="sm"
            href={`/apps/${appId}/conversions/${conversion_id}?mode=${is_test ? 'test' : 'live'}`}
          >
            {goal_name}
          </Anchor>
          <Status value={status} />
          <Text size="sm" c="dimmed" component="span">
            <Time at={created_at} />
          </Text>
        </Group>
      ))}
    </Stack>
  )
}
