// A change that needs a reason: it is asked for, sent along, and stays in the audit log.
import { Modal, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import { useSubmit } from '../../lib/use-submit.ts'
import { SubmitForm } from '../submit-form.tsx'

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
    <Modal opened={opened} onClose={onClose} title={title}>
      <ReasonForm onDone={onClose} {...form} />
    </Modal>
  )
}

type ReasonFormProps = Pick<ReasonModalProps, 'about' | 'action' | 'send'> & { onDone: () => void }

function ReasonForm({ about, action, send, onDone }: ReasonFormProps) {
  const form = useForm({ initialValues: { reason: '' } })
  const submit = useSubmit(form, async ({ reason }) => {
    await send(reason)
    onDone()
  })
  return (
    <SubmitForm submit={submit} action={action}>
      <Text size="sm">{about}</Text>
      <TextInput label="Reason" required data-autofocus {...form.getInputProps('reason')} />
    </SubmitForm>
  )
}
