// A change that needs a reason: it is asked for, sent along, and stays in the audit log.
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormFault } from '../form-fault.tsx'

type ReasonModalProps = {
  opened: boolean
  title: string
  about: ReactNode
  /** What the button says. */
  action: string
  onClose: () => void
  send: (reason: string) => Promise<unknown>
}

export function ReasonModal({ opened, title, onClose, ...form }: ReasonModalProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <ReasonForm onDone={onClose} {...form} />
    </Modal>
  )
}

type ReasonFormProps = Pick<ReasonModalProps, 'about' | 'action' | 'send'> & { onDone: () => void }

function ReasonForm({ about, action, send, onDone }: ReasonFormProps) {
  const form = useForm({ initialValues: { reason: '' } })
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ reason }) => {
    await send(reason)
    onDone()
  })
  return (
    <form onSubmit={onSubmit}>
      <Stack>
        <FormFault fault={fault} />
        <Text size="sm">{about}</Text>
        <TextInput label="Reason" required maxLength={200} data-autofocus {...form.getInputProps('reason')} />
        <Button type="submit" loading={isSending}>
          {action}
        </Button>
      </Stack>
    </form>
  )
}
