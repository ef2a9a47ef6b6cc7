import { Alert, Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconBan } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatReward } from '../../lib/format.ts'
import { isOperator, mayWrite, useMe } from '../../lib/me.ts'
import { useMode } from '../../lib/mode.ts'
import { useGet } from '../../lib/queries.ts'
import { BanForm } from '../ban-form.tsx'
import { ConversionTable } from '../conversions/conversion-table.tsx'
import { Loaded, Page } from '../page.tsx'
import { Pager, usePages } from '../pager.tsx'
import { Section } from '../section.tsx'
import { TicketTable } from '../tickets/ticket-table.tsx'
import { Time } from '../time.tsx'
import { BalanceOfUser, ClicksOfUser } from './activity.tsx'
import { ErasureUnderWay, PersonalDataActions } from './personal-data.tsx'

export function User({ appId, userId }: { appId: string; userId: string }) {
  const mode = useMode()
  const pages = usePages()
  const user = useGet(`/apps/${appId}/users/${encodeURIComponent(userId)}`, { query: { mode, cursor: pages.cursor } })
  return (
    <Page
      title={userId}
      about={
        <Anchor component={Link} href={`/apps/${appId}/users`} size="sm">
          All users
        </Anchor>
      }
      actions={
        user.data !== undefined && (
          <Group>
            <PersonalDataActions appId={appId} userId={userId} isErasing={user.data.erasure !== null} />
            <BanAction appId={appId} user={user.data} />
          </Group>
        )
      }
    >
      <Loaded query={user}>
        {(data) => (
          <Stack gap="lg">
            {data.erasure !== null && <ErasureUnderWay erasure={data.erasure} />}
            {data.ban !== null && <Banned ban={data.ban} userId={userId} />}
            {(data.keeps_balance || data.entries.length > 0 || pages.back !== null) && (
              <Section title={`Balance: ${formatReward(data.balance, data.currency)}`}>
                <BalanceOfUser appId={appId} user={data} />
                <Pager pages={pages} nextCursor={data.next_cursor} />
              </Section>
            )}
            <ConversionsOfUser appId={appId} userId={userId} />
            <TicketsOfUser appId={appId} userId={userId} />
            <Section title="Latest clicks">
              <ClicksOfUser appId={appId} clicks={data.clicks} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  )
}

function Banned({ ban, userId }: { ban: NonNullable<Schemas['AppUser']['ban']>; userId: string }) {
  const isOfOperator = isOperator(useMe())
  return (
    <Alert color="red" icon={<IconBan />} title={ban.is_everywhere ? 'Banned in every app' : 'Banned in this app'}>
      Since <Time at={ban.created_at} />. Banned users see no offers, and their conversions are rejected.{' '}
      {isOfOperator && (
        <Anchor component={Link} href={`/network/bans?user=${encodeURIComponent(userId)}`} inherit underline="always">
          View ban
        </Anchor>
      )}
    </Alert>
  )
}

/** Bans are the operator's. */
function BanAction({ appId, user: { user_id, ban } }: { appId: string; user: Schemas['AppUser'] }) {
  const me = useMe()
  const [isOpen, { open, close }] = useDisclosure()
  if (!isOperator(me) || !mayWrite(me) || ban !== null) return null
  return (
    <>
      <Button variant="default" onClick={open}>
        Ban user
      </Button>
      <Modal opened={isOpen} onClose={close} title="Ban a user" closeButtonProps={{ 'aria-label': 'Close' }}>
        <BanForm user={{ user_id, app_id: appId }} onDone={close} />
      </Modal>
    </>
  )
}

function ConversionsOfUser({ appId, userId }: { appId: string; userId: string }) {
  const mode = useMode()
  const pages = usePages()
  const list = useGet(`/apps/${appId}/conversions`, { query: { user_id: userId, mode, cursor: pages.cursor } })
  return (
    <Section title="Conversions">
      <Loaded query={list}>
        {({ conversions, next_cursor }) =>
          conversions.length === 0 && pages.back === null ? (
            <Text c="dimmed">No conversions.</Text>
          ) : (
            <Stack>
              <ConversionTable appId={appId} conversions={conversions} isPlain />
              <Pager pages={pages} nextCursor={next_cursor} />
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}

function TicketsOfUser({ appId, userId }: { appId: string; userId: string }) {
  const mode = useMode()
  const pages = usePages()
  const list = useGet(`/apps/${appId}/tickets`, { query: { user_id: userId, mode, cursor: pages.cursor } })
  return (
    <Section title="Tickets">
      <Loaded query={list}>
        {({ tickets, next_cursor }) =>
          tickets.length === 0 && pages.back === null ? (
            <Text c="dimmed">No tickets.</Text>
          ) : (
            <Stack>
              <TicketTable appId={appId} tickets={tickets} isOfUser />
              <Pager pages={pages} nextCursor={next_cursor} />
            </Stack>
          )
        }
      </Loaded>
    </Section>
  )
}
