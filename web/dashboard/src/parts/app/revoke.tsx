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
    done: `The ${mode} key is revoked.`,
  })
  const ask = () =>
    modals.openConfirmModal({
      title: `Revoke the ${mode} key, for good?`,
      closeButtonProps: CLOSE,
      children: (
        <Text size="sm">
          Requests with it are refused at once, and it can never be used again: for another {mode} key you would need a
          new app. The {mode === 'live' ? 'test' : 'live'} key goes on as it is. If only its secret leaked, make a new
          one instead.
        </Text>
      ),
      labels: { confirm: `Revoke the ${mode} key`, cancel: 'Leave it' },
      confirmProps: { color: 'red' },
      onConfirm: () => revoke.mutate(undefined),
    })
  return (
    <Button variant="default" size="xs" loading={revoke.isPending} onClick={ask}>
      Revoke this key
    </Button>
  )
}

/** There is no way back, so the name must be typed. */
export function RevokeSection({ app }: { app: AppData }) {
  const [isOpen, { open, close }] = useDisclosure()
  const [typed, setTyped] = useState('')
  const revoke = useChange(() => post(`/apps/${app.app_id}/revoke`), {
    refresh: [`/apps/${app.app_id}`, `/publishers/${app.publisher_id}/apps`],
    done: 'Both keys are revoked.',
    onDone: close,
  })
  return (
    <Section
      title="Revoke this app"
      about="Ends both keys for good: every request is refused from then on. Conversions, postbacks and your balance stay. If only a secret leaked, make a new one instead."
    >
      <Group>
        <Button color="red" variant="outline" onClick={open}>
          Revoke both keys
        </Button>
      </Group>
      <Modal opened={isOpen} onClose={close} title="Revoke both keys, for good?" closeButtonProps={CLOSE}>
        <Stack>
          <Text size="sm">
            “{app.name}” will stop working at once, and its keys can never be used again. You would need a new app.
          </Text>
          <TextInput
            label="Type the name of the app"
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
            Revoke for good
          </Button>
        </Stack>
      </Modal>
    </Section>
  )
}
