import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import type { Schemas } from '../lib/api-types.ts'
import { type ApiError, post } from '../lib/api.ts'
import { queryClient } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { BrokenLink, Door, LinkFault } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'
import { Waiting } from '../parts/lazy-page.tsx'

const BROKEN = 'This link does not work'

export default function VerifySignUp() {
  const [token] = useState(() => window.location.hash.slice(1)) // behind the #, so that it is in no server's log
  const opened = useQuery<Schemas['OpenSignUp'], ApiError>({
    queryKey: ['sign-up', token],
    queryFn: () => post('/sign-up/link', { token }),
    enabled: token !== '',
    retry: false,
    staleTime: Infinity, // a link works once
  })
  if (token === '')
    return (
      <BrokenLink title={BROKEN}>This link is incomplete. Copy it again from the message, or sign up again.</BrokenLink>
    )
  if (opened.error !== null) return <LinkFault title={BROKEN} query={opened} />
  return opened.data === undefined ? <Waiting /> : <FinishForm token={token} opened={opened.data} />
}

function FinishForm({ token, opened: { email, company } }: { token: string; opened: Schemas['OpenSignUp'] }) {
  const [, navigate] = useLocation()
  const form = useForm({ initialValues: { password: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ password }) => {
      await post('/sign-up/verify', { token, password })
      queryClient.clear()
      navigate('/', { replace: true })
    },
    { isQuestion: true },
  )
  return (
    <Door
      title="Finish signing up"
      about={`You’re signing up as ${company}. Enter the password that you chose in the form.`}
    >
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          <TextInput label="Email address" type="email" autoComplete="username" readOnly value={email} />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            autoFocus
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isSending}>
            Finish
          </Button>
          <Anchor component={Link} href="/sign-up" size="sm">
            Forgot it? Sign up again with the same address
          </Anchor>
        </Stack>
      </form>
    </Door>
  )
}
