// A new secret in place of one that is in use: the old one stays good for a while, so that nothing stands still.
import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { SecretShown } from '../secret.tsx'
import type { Mode } from './data.ts'
import { keepSecret } from './secrets.ts'

const GRACES = [
  { value: '0', label: 'None: stops working now' },
  { value: '1', label: '1 hour' },
  { value: '24', label: '1 day' },
  { value: '72', label: '3 days' },
  { value: '168', label: '7 days' },
]

const KINDS = {
  api: {
    name: 'API secret',
    path: 'rotate' as const,
    about: 'The old secret keeps working for the grace period. Deploy the new one to your servers before it ends.',
  },
  signing: {
    name: 'signing secret',
    path: 'signing-secret/rotate' as const,
    about: 'For the grace period, postbacks are signed with both secrets, so your server can verify with either.',
  },
}

type RotateProps = {
  appId: number
  mode: Mode
  kind: keyof typeof KINDS
  /** What the button says. */
  label?: string
  /** In hours, to begin with. */
  grace?: string
}

/** The window belongs to the whole dashboard: it stays when the button goes, as it does when a step is done. */
export function RotateButton({ appId, mode, kind, label, grace = '24' }: RotateProps) {
  const { name } = KINDS[kind]
  const open = () => {
    const id = modals.open({
      title: `New ${mode} ${name}`,
      closeButtonProps: { 'aria-label': 'Close' },
      children: <RotateForm {...{ appId, mode, kind, grace }} close={() => modals.close(id)} />,
    })
  }
  return (
    <Button variant="default" size="xs" onClick={open}>
      {label ?? `New ${name}`}
    </Button>
  )
}

type RotateFormProps = Required<Omit<RotateProps, 'label'>> & { close: () => void }

function RotateForm({ appId, mode, kind, grace: firstGrace, close }: RotateFormProps) {
  const { name, path, about } = KINDS[kind]
  const [grace, setGrace] = useState(firstGrace)
  const [secret, setSecret] = useState<string | null>(null)
  const rotate = useChange(() => post(`/apps/${appId}/credentials/${mode}/${path}`, { grace_hours: Number(grace) }), {
    refresh: [`/apps/${appId}`],
    onDone: (rotated) => {
      const made = 'api_secret' in rotated ? rotated.api_secret : rotated.signing_secret
      keepSecret(rotated.api_key, kind, made)
      setSecret(made)
    },
  })
  if (secret === null)
    return (
      <Stack>
        <Select
          label="Grace period of the old secret"
          description={about}
          data={GRACES}
          allowDeselect={false}
          value={grace}
          onChange={(value) => value !== null && setGrace(value)}
        />
        <Button onClick={() => rotate.mutate(undefined)} loading={rotate.isPending}>
          Create new {name}
        </Button>
      </Stack>
    )
  return (
    <Stack>
      <SecretShown name={`${mode} ${name}`} value={secret} />
      <Text size="sm">{grace === '0' ? 'The old secret no longer works.' : about}</Text>
      <Group justify="flex-end">
        <Button onClick={close}>I have stored it</Button>
      </Group>
    </Stack>
  )
}
