import { Alert, Button, Center, Loader, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Schemas } from '../lib/api-types.ts'
import { type ApiError, post } from '../lib/api.ts'
import { queryClient } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { BrokenLink, Door, LinkFault } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'

type Invitation = Schemas['OpenInvitation']

export default function Join() {
  const [token] = useState(() => window.location.hash.slice(1)) // behind the #, so that it is in no server's log
  if (token === '')
    return (
      <BrokenLink title="This invitation does not work">
        This link is incomplete. Copy it again from the invitation, or ask for a new one.
      </BrokenLink>
    )
  return <Invited token={token} />
}

function Invited({ token }: { token: string }) {
  const invitation = useQuery<Invitation, ApiError>({
    queryKey: ['invitation', token],
    queryFn: () => post('/invitation', { token }),
    retry: false,
  })
  if (invitation.error !== null) return <LinkFault title="This invitation does not work" query={invitation} />
  if (invitation.data === undefined)
    return (
      <Center mih="100vh" role="status" aria-label="Loading">
        <Loader />
      </Center>
    )
  if (invitation.data.holder === 'taken')
    return (
      <BrokenLink title="This address already has an account">
        Each email address can have one account only. Sign in, or ask for an invitation to another address.
      </BrokenLink>
    )
  return <JoinForm token={token} invitation={invitation.data} />
}

const PUBLISHER_ROLES = {
  publisher_owner: 'As an owner you can do everything.',
  publisher_developer: 'As a developer you set up apps and postbacks.',
  publisher_finance: 'With the finance role, you see the balance and set the apps’ exchange rates.',
  publisher_viewer: 'As a viewer you see apps and reports but can’t change anything.',
}

const aboutRole = ({ role, publisher, advertiser }: Invitation) => {
  if (role === 'operator') return 'You will run this network: offers, advertisers, publishers and their money.'
  if (role === 'operator_reader') return 'You will see everything on this network but can’t change anything.'
  if (role === 'advertiser') return `You’re joining ${advertiser}: its offers, figures, conversions and callbacks.`
  return `You’re joining ${publisher}. ${PUBLISHER_ROLES[role]}`
}

function JoinForm({ token, invitation }: { token: string; invitation: Invitation }) {
  const [, navigate] = useLocation()
  const form = useForm({ initialValues: { name: '', email: invitation.email ?? '', password: '' } })
  const { formProps, isSending, error } = useSubmit(form, async ({ name, email, password }) => {
    await post('/invitation/accept', {
      token,
      name,
      password,
      ...(invitation.email === null ? { email } : {}),
    })
    queryClient.clear()
    navigate('/', { replace: true })
  })
  return (
    <Door title="Create your account" about={aboutRole(invitation)}>
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          {invitation.holder === 'gives way' && (
            <Alert color="yellow">
              An account with this address exists, but its address was never verified. Accepting closes that account. If
              it is yours, sign in and verify your address on your account page instead.
            </Alert>
          )}
          <TextInput label="Your name" autoComplete="name" required autoFocus {...form.getInputProps('name')} />
          <TextInput
            label="Email address"
            type="email"
            autoComplete="username"
            required
            readOnly={invitation.email !== null}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            description="12 characters or more. A short phrase works well."
            autoComplete="new-password"
            minLength={12}
            required
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isSending}>
            Create account
          </Button>
        </Stack>
      </form>
    </Door>
  )
}
