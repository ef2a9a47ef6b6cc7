import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState } from 'react'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { Section } from '../section.tsx'
import type { AppData } from './data.ts'

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
      <Modal
        opened={isOpen}
        onClose={close}
        title="Revoke both keys, for good?"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
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
