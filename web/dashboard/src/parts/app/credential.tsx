// One key of an app: what it is, how it is used, and its secrets.
import { Button, Group, Modal, Progress, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { type ReactNode, useState } from 'react'
import { fromClockTime, toClockTime } from '../../lib/zoned-time.ts'
import { post, put } from '../../lib/api.ts'
import { formatCount, timeZone } from '../../lib/format.ts'
import { isOwner, useMe } from '../../lib/me.ts'
import { useChange } from '../../lib/queries.ts'
import { Copyable } from '../copy.tsx'
import { type Fact, Facts } from '../facts.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import type { CredentialData } from './data.ts'
import { RevokeKeyButton } from './revoke.tsx'
import { RotateButton } from './rotate.tsx'

const CLOSE = { 'aria-label': 'Close' }
const ABOUT = {
  live: 'For production. Traffic is counted and paid.',
  test: 'For testing. Works like the live key, but nothing is counted or paid.',
}

type CredentialProps = { appId: number; credential: CredentialData }

export function CredentialSection({ appId, credential }: CredentialProps) {
  const { mode, api_key, revoked_at, expires_at } = credential
  const mayChange = isOwner(useMe()) && revoked_at === null
  const facts: Fact[] = [
    [
      'API key',
      <Line key="key" action={mayChange && <RevokeKeyButton appId={appId} mode={mode} />}>
        <Copyable value={api_key} label={`Copy the ${mode} API key`} />
        {revoked_at !== null && (
          <Text size="sm" c="red" fw={600}>
            Permanently revoked <Time at={revoked_at} ago />.
          </Text>
        )}
      </Line>,
    ],
    ['Last used', <Uses key="used" credential={credential} />],
    ['Rate limit', <AllowanceUse key="limit" credential={credential} />],
    [
      'API secret',
      <Line key="secret" action={mayChange && <RotateButton appId={appId} mode={mode} kind="api" />}>
        <SecretAges {...{ appId, credential, mayChange }} />
      </Line>,
    ],
    [
      'Signing secret',
      <Line key="signing" action={mayChange && <RotateButton appId={appId} mode={mode} kind="signing" />}>
        Signs your postbacks.
        {credential.old_signing_secret_expires_at !== null && (
          <>
            {' '}
            Postbacks are also signed with the old secret until <Time at={credential.old_signing_secret_expires_at} />.
          </>
        )}
      </Line>,
    ],
    [
      'Expires',
      <Line key="expires" action={mayChange && <ExpiryButton {...{ appId, credential }} />}>
        <Expiry at={expires_at} />
      </Line>,
    ],
  ]
  return (
    <Section title={mode === 'live' ? 'Live key' : 'Test key'} about={ABOUT[mode]}>
      <Facts label={`About the ${mode} key`} facts={facts} />
    </Section>
  )
}

function Line({ action, children }: { action?: ReactNode; children: ReactNode }) {
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" component="div" miw={0}>
        {children}
      </Text>
      {action}
    </Group>
  )
}

function Expiry({ at }: { at: string | null }) {
  if (at === null) return <>never</>
  if (new Date(at) > new Date()) return <Time at={at} />
  return (
    <Text size="sm" c="red" fw={600}>
      Expired <Time at={at} ago />. Requests are refused.
    </Text>
  )
}

function Uses({ credential: { first_used_at, last_used_at } }: { credential: CredentialData }) {
  if (first_used_at === null) return <>never</>
  return (
    <>
      <Time at={last_used_at} ago /> (first <Time at={first_used_at} ago />)
    </>
  )
}

function AllowanceUse({ credential }: { credential: CredentialData }) {
  const { limit, used, resets_at } = credential.allowance
  const share = Math.min(100, (used / limit) * 100)
  return (
    <Stack gap={6} miw={{ base: 0, sm: 280 }}>
      <span>
        {formatCount(used)} of {formatCount(limit)} requests this minute
        {resets_at !== null && (
          <>
            , resets <Time at={resets_at} ago />
          </>
        )}
      </span>
      <Progress
        value={share}
        color={share >= 100 ? 'red' : share >= 80 ? 'yellow' : 'blue'}
        aria-label={`Requests this minute, ${credential.mode} key`}
      />
    </Stack>
  )
}

type SecretAgesProps = CredentialProps & { mayChange: boolean }

function SecretAges({ appId, credential: { mode, secrets }, mayChange }: SecretAgesProps) {
  const end = useChange(() => post(`/apps/${appId}/credentials/${mode}/end-old-secret`), {
    refresh: [`/apps/${appId}`],
    done: 'Old secret revoked.',
  })
  const ask = () =>
    modals.openConfirmModal({
      title: `Revoke the old ${mode} secret now?`,
      closeButtonProps: CLOSE,
      children: <Text size="sm">Requests that still use it will be refused immediately.</Text>,
      labels: { confirm: 'Revoke now', cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => end.mutate(undefined),
    })
  const [newest, ...older] = secrets
  if (newest === undefined) return <>None</>
  return (
    <Stack gap={4}>
      <span>
        Created <Time at={newest.created_at} ago />. Only a hash is stored, so it can’t be shown again.
      </span>
      {older.map((secret) => (
        <Group key={secret.created_at} gap="xs">
          <span>
            The old secret works until <Time at={secret.expires_at} />
          </span>
          {mayChange && (
            <Button size="compact-xs" variant="default" onClick={ask}>
              Revoke now
            </Button>
          )}
        </Group>
      ))}
    </Stack>
  )
}

function ExpiryButton({ appId, credential: { mode, expires_at } }: CredentialProps) {
  const [isOpen, { open, close }] = useDisclosure()
  const [value, setValue] = useState('')
  const [error, setError] = useState<string | null>(null)
  const save = useChange((body: { expires_at?: string }) => put(`/apps/${appId}/credentials/${mode}/expiry`, body), {
    refresh: [`/apps/${appId}`],
    done: 'Saved.',
    onDone: close,
    onError: (error) => setError(error.details['expires_at'] ?? error.message),
  })
  const start = () => {
    setValue(toClockTime(expires_at).slice(0, 16))
    setError(null)
    open()
  }
  return (
    <>
      <Button variant="default" size="xs" onClick={start}>
        Set expiry
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Set expiry of the ${mode} key`} closeButtonProps={CLOSE}>
        <Stack>
          <TextInput
            type="datetime-local"
            label="Expires"
            description={`After this, requests are refused. In your time zone, ${timeZone()}.`}
            value={value}
            error={error}
            onChange={(event) => setValue(event.currentTarget.value)}
            data-autofocus
          />
          <Group>
            <Button
              disabled={value === ''}
              loading={save.isPending}
              onClick={() => save.mutate({ expires_at: fromClockTime(value) ?? value })}
            >
              Save
            </Button>
            <Button variant="default" loading={save.isPending} onClick={() => save.mutate({})}>
              Never expires
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
