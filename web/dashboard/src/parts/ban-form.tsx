import { Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { readWhole, wholeOf } from '../lib/amounts.ts'
import { post } from '../lib/api.ts'
import type { BodyOf } from '../lib/operations.ts'
import { useChange } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { WholeInput } from './amount-input.tsx'
import { SubmitForm } from './submit-form.tsx'

const checkAppId = (text: string) => (readWhole(text) === null ? 'Enter the ID of an app, such as 12.' : null)

type BanFormProps = {
  /** Who it is about, where that is known. */
  user?: { user_id: string; app_id: string }
  onDone: () => void
}

export function BanForm({ user = { user_id: '', app_id: '' }, onDone }: BanFormProps) {
  const form = useForm({
    initialValues: { ...user, reason: '' },
    validate: { app_id: (text) => (text.trim() === '' ? null : checkAppId(text)) },
  })
  const ban = useChange((body: BodyOf<'POST /bans'>) => post('/bans', body), {
    refresh: ['/bans', '/apps'],
    onError: () => {},
  })
  const submit = useSubmit(form, async ({ user_id, app_id, reason }) => {
    const { is_new } = await ban.mutateAsync({
      user_id,
      reason,
      ...(app_id.trim() === '' ? {} : { app_id: wholeOf(app_id) }),
    })
    if (is_new) return onDone()
    form.setFieldError('user_id', 'This user is already banned.')
    return false
  })
  return (
    <SubmitForm submit={submit} action="Ban" button={{ color: 'red' }}>
      <TextInput label="User ID" required data-autofocus {...form.getInputProps('user_id')} />
      <WholeInput
        label="App ID"
        description="Leave empty to ban the user in every app."
        {...form.getInputProps('app_id')}
      />
      <Textarea label="Reason" required autosize minRows={2} {...form.getInputProps('reason')} />
    </SubmitForm>
  )
}
