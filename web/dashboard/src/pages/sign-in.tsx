import { Anchor, Button, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { post } from '../lib/api.ts'
import { hasDemoSite } from '../lib/demo.ts'
import { queryClient, useGet } from '../lib/queries.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { Door } from '../parts/door.tsx'
import { FormError } from '../parts/form-error.tsx'

export default function SignIn() {
  const [needsCode, setNeedsCode] = useState(false)
  const [, navigate] = useLocation()
  const then = new URLSearchParams(useSearch()).get('then') ?? '/'
  const goOn = () => {
    queryClient.clear()
    navigate(withinSite(then), { replace: true })
  }
  return needsCode ? (
    <CodeStep goOn={goOn} />
  ) : (
    <PasswordStep goOn={(isTwoFactor) => (isTwoFactor ? setNeedsCode(true) : goOn())} />
  )
}

/** As the browser reads it, which takes \\ for / and drops tabs. */
function withinSite(path: string): string {
  const { origin } = window.location
  const url = URL.canParse(path, origin) ? new URL(path, origin) : null
  return url !== null && url.origin === origin ? url.pathname + url.search : '/'
}

function PasswordStep({ goOn }: { goOn: (isTwoFactor: boolean) => void }) {
  const form = useForm({ initialValues: { email: '', password: '' } })
  const isOpen = useGet('/sign-up').data?.is_open === true
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      const { two_factor } = await post('/session', values)
      goOn(two_factor)
    },
    { isQuestion: true },
  )
  return (
    <Door title="Sign in">
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
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isSending}>
            Sign in
          </Button>
          <Anchor component={Link} href="/forgot-password" size="sm">
            Forgot password?
          </Anchor>
          {isOpen && (
            <Anchor component={Link} href="/sign-up" size="sm">
              New publisher? Sign up
            </Anchor>
          )}
          {hasDemoSite && (
            <Anchor href="/demo" size="sm">
              Try it as a user
            </Anchor>
          )}
        </Stack>
      </form>
    </Door>
  )
}

function CodeStep({ goOn }: { goOn: () => void }) {
  const form = useForm({ initialValues: { code: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await post('/session/two-factor', values)
      goOn()
    },
    { isQuestion: true },
  )
  return (
    <Door title="Enter your code" about="Enter the six digits from your authenticator app, or a backup code.">
      <form {...formProps}>
        <Stack>
          <FormError error={error} />
          <TextInput label="Code" autoComplete="one-time-code" required autoFocus {...form.getInputProps('code')} />
          <Button type="submit" loading={isSending}>
            Continue
          </Button>
        </Stack>
      </form>
    </Door>
  )
}
