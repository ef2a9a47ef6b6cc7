import { Alert, Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { post } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { Door } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'

export default function ForgotPassword() {
  const [isMailed, setMailed] = useState<boolean | null>(null)
  const form = useForm({ initialValues: { email: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      setMailed((await post('/password/forgot', values)).mailed)
    },
    { isQuestion: true },
  )
  return (
    <Door title="Reset your password">
      {isMailed === null ? (
        <form {...formProps}>
          <Stack>
            <FormError error={error} />
            <TextInput
              label="Email address"
              type="email"
              autoComplete="username"
              required
              autoFocus
              {...form.getInputProps('email')}
            />
            <Button type="submit" loading={isSending}>
              Send reset link
            </Button>
          </Stack>
        </form>
      ) : isMailed ? (
        <Alert color="blue" role="status">
          If an account with this address exists, we have sent a reset link to it. The link is valid for one hour.
        </Alert>
      ) : (
        <Alert color="yellow" role="status">
          This network does not send email. Ask the operator for a reset link.
        </Alert>
      )}
      <Anchor component={Link} href="/sign-in" size="sm">
        Back to sign in
      </Anchor>
    </Door>
  )
}
