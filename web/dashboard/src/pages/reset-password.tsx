import { Alert, Anchor, Button, PasswordInput, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link } from 'wouter'
import { post } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { BrokenLink, Door } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'

export default function ResetPassword() {
  const [token] = useState(() => window.location.hash.slice(1)) // behind the #, so that it is in no server's log
  const [tokensEnded, setDone] = useState<number | null>(null)
  const form = useForm({ initialValues: { password: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ password }) => {
      const { tokens_ended } = await post('/password/reset', { token, password })
      window.history.replaceState(null, '', '/reset-password')
      setDone(tokens_ended)
    },
    { isQuestion: true },
  )
  if (tokensEnded !== null)
    return (
      <Door title="Password changed">
        <Alert color="green" role="status">
          You were signed out everywhere. {aboutTokens(tokensEnded)}
        </Alert>
        <Anchor component={Link} href="/sign-in">
          Sign in
        </Anchor>
      </Door>
    )
  if (token === '')
    return (
      <BrokenLink title="This link does not work">
        This link is incomplete. Copy it again from the message, or{' '}
        <Anchor component={Link} href="/forgot-password" inherit c="inherit" underline="always">
          ask for a new one
        </Anchor>
        .
      </BrokenLink>
    )
  return (
    <Door title="Set a new password" about="This signs you out everywhere and revokes your API tokens.">
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          <PasswordInput
            label="New password"
            description="12 characters or more. A short phrase works well."
            autoComplete="new-password"
            minLength={12}
            required
            autoFocus
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isSending}>
            Set password
          </Button>
        </Stack>
      </form>
    </Door>
  )
}

function aboutTokens(ended: number): string {
  if (ended === 0) return ''
  return ended === 1
    ? 'Your API token was revoked: create a new one for the program that used it.'
    : `Your ${ended} API tokens were revoked: create new ones for the programs that used them.`
}
