import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { modals } from '@mantine/modals'
import { useState } from 'react'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { Section } from '../section.tsx'
import type { AppData, Mode } from './data.ts'

const CLOSE = { 'aria-label': 'Close' }

/** Ends one key. The other one goes on. */
export function RevokeKeyButton({ appId, mode }: { appId: number; mode: Mode }) {
  const revoke = useChange(() => post(`/apps/${appId}/credentials/${mode}/revoke`), {
    refresh: [`/apps/${appId}`],
    done: `${mode === 'live' ? 'Live' : 'Test'} key revoked.`,
  })
  const ask = () =>
    modals.openConfirmModal({
      title: `Permanently revoke the ${mode} key?`,
      closeButtonProps: CLOSE,
      children: (
        <Text size="sm">
          Requests with this key will be refused immediately, and it can never be used again. For another {mode} key you
          would need a new app. The {mode === 'live' ? 'test' : 'live'} key keeps working. If only the secret leaked,
          create a new secret instead.
        </Text>
      ),
      labels: { confirm: `Revoke ${mode} key`, cancel: 'Cancel' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke.mutate(undefined),
    })
  return (
    <Button variant="default" size="xs" loading={revoke.isPending} onClick={ask}>
      Revoke key
    </Button>
  )
}

/** There is no way back, so the name must be typed. */
export function RevokeSection({ app }: { app: AppData }) {
  const [isOpen, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const revoke = useChange(() => post(`/apps/${app.app_id}/revoke`), {
    refresh: [`/apps/${app.app_id}`, `/publishers/${app.publisher_id}/apps`],
    done: 'Both keys revoked.',
    onDone: close,
  })
  return (
    <Section
      title="Revoke app"
      about="Permanently revokes both keys: all requests will be refused. Conversions, postbacks and your balance are kept. If only a secret leaked, create a new secret instead."
    >
      <Group>
        <Button color="red" variant="outline" onClick={open}>
          Revoke both keys
        </Button>
      </Group>
      <Modal opened={isOpen} onClose={close} title="Permanently revoke both keys?" closeButtonProps={CLOSE}>
        <Stack>
          <Text size="sm">
            “{app.name}” will stop working immediately, and its keys can never be used again. You would need a new app.
          </Text>
          <TextInput
            label="Type the app name to confirm"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            data-autofocus
          />
          <Button
            color="red"
            disabled={typed.trim() !== app.name.trim()}
            loading={revoke.isPending}
            onClick={() => revoke.mutate(undefined)}
          >
            Permanently revoke
          </Button>
        </Stack>
      </Modal>
    </Section>
  )
}
