import { Alert, Anchor, Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { post } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { Door } from '../parts/door.tsx'
import { FormFault } from '../parts/form-fault.tsx'

export default function ResetPassword() {
  const [isDone, setDone] = useState(false)
  const form = useForm({ initialValues: { password: '' } })
  const { onSubmit, isSending, fault } = useSubmit(form, async ({ password }) => {
    // Behind the #, so that it is in no server's log.
    await post('/password/reset', { token: window.location.hash.slice(1), password })
    window.history.replaceState(null, '', '/reset-password')
    setDone(true)
  })
  if (isDone)
    return (
      <Door title="Your password is changed">
        <Alert color="green" role="status">
          You were signed out everywhere.
        </Alert>
        <Anchor component={Link} href="/sign-in">
          Sign in with the new one
        </Anchor>
      </Door>
    )
  return (
    <Door title="Set a new password">
      <form onSubmit={onSubmit}>
        <Stack>
          <FormFault fault={fault} />
          <PasswordInput
            label="New password"
            description="12 characters or more. A few words in a row are good."
            autoComplete="new-password"
            minLength={12}
            required
            autoFocus
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isSending}>
            Set it
          </Button>
        </Stack>
      </form>
    </Door>
  )
}
