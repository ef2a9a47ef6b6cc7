import { Modal, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useLocation } from 'wouter'
import { post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import type { BodyOf } from '../../lib/operations.ts'
import { SubmitForm } from '../submit-form.tsx'

export function NewPublisher({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  return (
    <Modal opened={opened} onClose={onClose} title="New publisher">
      <Fields />
    </Modal>
  )
}

function Fields() {
  const [, navigate] = useLocation()
  const form = useForm({ initialValues: { name: '', email: '' } })
  const make = useChange((body: BodyOf<'POST /publishers'>) => post('/publishers', body), {
    refresh: ['/publishers'],
    done: 'Publisher created. Invite its people next.',
    onError: () => {},
    onDone: ({ publisher_id }) => navigate(`/network/publishers/${publisher_id}`),
  })
  const submit = useSubmit(form, async ({ name, email }) => {
    await make.mutateAsync({ name, email: email.trim() === '' ? null : email.trim() })
  })
  return (
    <SubmitForm submit={submit} action="Create publisher">
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="Email address for notices"
        description="For problems such as paused postbacks. Optional."
        type="email"
        {...form.getInputProps('email')}
      />
    </SubmitForm>
  )
}
