// Asks the person who they are, above whatever else is open: their session has ended, or the server asks for proof.
import { Anchor, Button, Group, Modal, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect, useRef, useState } from 'react'
import { post } from '../lib/api.ts'
import { type Challenge, registerDialog } from '../lib/challenge.ts'
import { useMe } from '../lib/me.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { FormError } from './form-error.tsx'

type Close = (isMet: boolean) => void

export function ChallengeDialog() {
  const [isAsked, setAsked] = useState<Record<Challenge, boolean>>({ proof: false, 'sign-in': false })
  const waiting = useRef(new Map<Challenge, Close>())
  useEffect(() => {
    const unregister = registerDialog(
      (challenge) =>
        new Promise((resolve) => {
          waiting.current.set(challenge, resolve)
          setAsked((before) => ({ ...before, [challenge]: true }))
        }),
    )
    return () => {
      unregister()
      for (const settle of waiting.current.values()) settle(false)
    }
  }, [])
  const close = (challenge: Challenge) => (isMet: boolean) => {
    waiting.current.get(challenge)?.(isMet)
    setAsked((before) => ({ ...before, [challenge]: false }))
  }
  return (
    <>
      <Modal opened={isAsked.proof} onClose={() => close('proof')(false)} title="Confirm that it's you" zIndex={400}>
        <ProofForm close={close('proof')} />
      </Modal>
      {/* What is behind it belongs to a session that has ended: it stays, but is not shown. */}
      <Modal
        opened={isAsked['sign-in']}
        onClose={() => {}}
        withCloseButton={false}
        title="Sign in again"
        zIndex={410}
        overlayProps={{ backgroundOpacity: 0.9, blur: 12 }}
      >
        <SignInForm close={close('sign-in')} />
      </Modal>
    </>
  )
}

function ProofForm({ close }: { close: Close }) {
  const { two_factor } = useMe()
  const form = useForm({ initialValues: { password: '', code: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ password, code }) => {
      await post('/session/proof', two_factor ? { code } : { password })
      close(true)
    },
    { isQuestion: true },
  )
  return (
    <form {...formProps}>
      <Stack>
        <Text size="sm">This is a sensitive change, so please confirm. You won’t be asked again for 15 minutes.</Text>
        <FormError error={error} />
        {two_factor ? (
          <CodeInput {...form.getInputProps('code')} />
        ) : (
          <PasswordField {...form.getInputProps('password')} />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={() => close(false)}>
            Cancel
          </Button>
          <Button type="submit" loading={isSending}>
            Confirm
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** For the same person; after signing in as another, pages load anew. */
function SignInForm({ close }: { close: Close }) {
  const { email } = useMe()
  const [needsCode, setNeedsCode] = useState(false)
  const form = useForm({ initialValues: { password: '', code: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ password, code }) => {
      if (needsCode) await post('/session/two-factor', { code })
      else if ((await post('/session', { email, password })).two_factor) return setNeedsCode(true)
      close(true)
    },
    { isQuestion: true },
  )
  return (
    <form {...formProps}>
      <Stack>
        <Text size="sm">Your session has ended. What you entered is still here.</Text>
        <FormError error={error} />
        <TextInput label="Email address" value={email} readOnly autoComplete="username" />
        {needsCode ? (
          <CodeInput {...form.getInputProps('code')} />
        ) : (
          <PasswordField {...form.getInputProps('password')} />
        )}
        <Group justify="space-between">
          <Anchor href="/sign-in" size="sm">
            Use another account
          </Anchor>
          <Button type="submit" loading={isSending}>
            Sign in
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const CodeInput = (props: object) => (
  <TextInput
    label="Code"
    description="From your authenticator app, or a backup code."
    autoComplete="one-time-code"
    required
    data-autofocus
    {...props}
  />
)

const PasswordField = (props: object) => (
  <PasswordInput label="Your password" autoComplete="current-password" required data-autofocus {...props} />
)
