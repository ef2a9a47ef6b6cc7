import { Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useState } from 'react'
import { post } from '../lib/api.ts'
import { useMe } from '../lib/me.ts'
import { registerProofDialog } from '../lib/proof.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { FormFault } from './form-fault.tsx'

type Settle = (isProved: boolean) => void

/** Opens when the server asks for proof, above whatever else is open. */
export function ProofDialog() {
  const [settle, setSettle] = useState<{ with: Settle } | null>(null)
  useEffect(() => registerProofDialog(() => new Promise((resolve) => setSettle({ with: resolve }))), [])
  const close = (isProved: boolean) => {
    settle?.with(isProved)
    setSettle(null)
  }
  return (
    <Modal opened={settle !== null} onClose={() => close(false)} title="Confirm that it's you" zIndex={400}>
      <ProofForm close={close} />
    </Modal>
  )
}

function ProofForm({ close }: { close: Settle }) {
  const { two_factor } = useMe()
  const form = useForm({ initialValues: { password: '', code: '' } })
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ password, code }) => {
    await post('/session/proof', two_factor ? { code } : { password })
    close(true)
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <Text size="sm">This changes who gets in, so we ask again. It holds for 15 minutes.</Text>
        <FormFault fault={fault} />
        {two_factor ? (
          <TextInput
            label="Code"
            description="From your authenticator, or a backup code."
            autoComplete="one-time-code"
            required
            data-autofocus
            {...form.getInputProps('code')}
          />
        ) : (
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            required
            data-autofocus
            {...form.getInputProps('password')}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => close(false)}>
            Cancel
          </Button>
          <Button type="submit" loading={isSending}>
            Confirm
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
