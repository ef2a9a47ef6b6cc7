import { Button, Checkbox, Group, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { post } from '../../lib/api.ts'
import { queryClient } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'

export function PasswordSection() {
  const form = useForm({ initialValues: { current_password: '', new_password: '', end_tokens: false } })
  const { formProps, isSending, error } = useSubmit(form, async (values) => {
    await post('/me/password', values)
    notifications.show({ message: 'Password changed. You were signed out everywhere else.', color: 'green' })
    await queryClient.invalidateQueries()
    return form.getInitialValues()
  })
  return (
    <Section title="Password" about="Changing it signs you out everywhere else.">
      <form {...formProps}>
        <Stack maw={360}>
          <FormError error={error} />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            required
            {...form.getInputProps('current_password')}
          />
          <PasswordInput
            label="New password"
            description="12 characters or more."
            autoComplete="new-password"
            minLength={12}
            required
            {...form.getInputProps('new_password')}
          />
          <Checkbox label="Also revoke my API tokens" {...form.getInputProps('end_tokens', { type: 'checkbox' })} />
          <Group>
            <Button type="submit" loading={isSending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  )
}
