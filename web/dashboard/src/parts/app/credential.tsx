// One key of an app: what it is, how it is used, and its secrets.
import { Button, Group, Modal, Progress, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { type ReactNode, useState } from 'react'
import { post, put } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { isOwner, useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { Copyable } from '../copy.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import type { CredentialData } from './data.ts'
import { RevokeKeyButton } from './revoke.tsx'
import { RotateButton } from './rotate.tsx'

const CLOSE = { 'aria-label': 'Close' }
const ABOUT = {
  live: 'For your users. What is done with it is counted, and paid.',
  test: 'For testing. Everything looks the same, but is never counted or paid.',
}

type CredentialProps = { appId: number; credential: CredentialData }

export function CredentialSection({ appId, credential }: CredentialProps) {
  const { mode, api_key, revoked_at, expires_at } = credential
  const mayChange = isOwner(useMe()) && revoked_at === null
  return (
    <Section title={mode === 'live' ? 'Live key' : 'Test key'} about={ABOUT[mode]}>
      <Table variant="vertical" layout="auto" withRowBorders highlightOnHover={false}>
        <Table.Tbody>
          <Row name="API key" action={mayChange && <RevokeKeyButton appId={appId} mode={mode} />}>
            <Copyable value={api_key} label={`Copy the ${mode} API key`} />
            {revoked_at !== null && (
              <Text size="sm" c="red" fw={600}>
                Revoked <Time at={revoked_at} ago />, for good.
              </Text>
            )}
          </Row>
          <Row name="Used">
            <Uses credential={credential} />
          </Row>
          <Row name="This minute">
            <AllowanceUse credential={credential} />
          </Row>
          <Row name="API secret" action={mayChange && <RotateButton appId={appId} mode={mode} kind="api" />}>
            <SecretAges {...{ appId, credential, mayChange }} />
          </Row>
          <Row name="Signing secret" action={mayChange && <RotateButton appId={appId} mode={mode} kind="signing" />}>
            Postbacks are signed with it.
            {credential.old_signing_secret_expires_at !== null && (
              <>
                {' '}
                The one before signs beside it until <Time at={credential.old_signing_secret_expires_at} />.
              </>
            )}
          </Row>
          <Row name="Ends" action={mayChange && <ExpiryButton {...{ appId, credential }} />}>
            {expires_at === null ? (
              'never'
            ) : new Date(expires_at) <= new Date() ? (
              <Text size="sm" c="red" fw={600}>
                Ended <Time at={expires_at} ago />: requests are refused.
              </Text>
            ) : (
              <Time at={expires_at} />
            )}
          </Row>
        </Table.Tbody>
      </Table>
    </Section>
  )
}

function Row({ name, action, children }: { name: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w={{ base: 96, sm: 140 }} scope="row">
        {name}
      </Table.Th>
      <Table.Td>
        <Group justify="space-between" gap="xs">
          <Text size="sm" component="div" miw={0}>
            {children}
          </Text>
          {action}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}

function Uses({ credential: { first_used_at, last_used_at } }: { credential: CredentialData }) {
  if (first_used_at === null) return <>never yet</>
  return (
    <>
      first <Time at={first_used_at} ago />, last <Time at={last_used_at} ago />
    </>
  )
}

function AllowanceUse({ credential }: { credential: CredentialData }) {
  const { limit, used, resets_at } = credential.allowance
  const share = Math.min(100, (used / limit) * 100)
  return (
    <Stack gap={6} miw={{ base: 0, sm: 280 }}>
      <span>
        {formatCount(used)} of {formatCount(limit)} requests
        {resets_at !== null && (
          <>
            , from zero again <Time at={resets_at} ago />
          </>
        )}
      </span>
      <Progress
        value={share}
        color={share >= 100 ? 'red' : share >= 80 ? 'yellow' : 'blue'}
        aria-label={`Requests of this minute, ${credential.mode} key`}
      />
    </Stack>
  )
}

type SecretAgesProps = CredentialProps & { mayChange: boolean }

function SecretAges({ appId, credential: { mode, secrets }, mayChange }: SecretAgesProps) {
  const end = useChange(() => post(`/apps/${appId}/credentials/${mode}/end-old-secret`), {
    refresh: [`/apps/${appId}`],
    done: 'The old secret no longer works.',
  })
  const ask = () =>
    modals.openConfirmModal({
      title: `End the old ${mode} secret now?`,
      closeButtonProps: CLOSE,
      children: <Text size="sm">Requests that still use it will be refused at once.</Text>,
      labels: { confirm: 'End it now', cancel: 'Leave it' },
      confirmProps: { color: 'red' },
      onConfirm: () => end.mutate(undefined),
    })
  const [newest, ...older] = secrets
  if (newest === undefined) return <>There is none.</>
  return (
    <Stack gap={4}>
      <span>
        made <Time at={newest.created_at} ago />; only its hash is kept, so it cannot be shown again
      </span>
      {older.map((secret) => (
        <Group key={secret.created_at} gap="xs">
          <span>
            the one before is good until <Time at={secret.expires_at} />
          </span>
          {mayChange && (
            <Button size="compact-xs" variant="default" onClick={ask}>
              End it now
            </Button>
          )}
        </Group>
      ))}
    </Stack>
  )
}

/** As the input has it: local, to the minute. */
function toLocalInput(time: string | null): string {
  if (time === null) return ''
  const date = new Date(time)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

function ExpiryButton({ appId, credential: { mode, expires_at } }: CredentialProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const [value, setValue] = useState('')
  const [fault, setFault] = useState<string | null>(null)
  const save = useChange((body: { expires_at?: string }) => put(`/apps/${appId}/credentials/${mode}/expiry`, body), {
    refresh: [`/apps/${appId}`],
    done: 'Saved.',
    onDone: close,
    onFault: (error) => setFault(error.details['expires_at'] ?? error.message),
  })
  const start = () => {
    setValue(toLocalInput(expires_at))
    setFault(null)
    open()
  }
  return (
    <>
      <Button variant="default" size="xs" onClick={start}>
        Set expiry
      </Button>
      <Modal opened={isOpen} onClose={close} title={`When does the ${mode} key end?`} closeButtonProps={CLOSE}>
        <Stack>
          <TextInput
            type="datetime-local"
            label="It ends"
            description="From then on its requests are refused. In your own time zone."
            value={value}
            error={fault}
            onChange={(event) => setValue(event.currentTarget.value)}
            data-autofocus
          />
          <Group>
            <Button
              disabled={value === ''}
              loading={save.isPending}
              onClick={() => save.mutate({ expires_at: new Date(value).toISOString() })}
            >
              Save
            </Button>
            <Button variant="default" loading={save.isPending} onClick={() => save.mutate({})}>
              It does not end
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
