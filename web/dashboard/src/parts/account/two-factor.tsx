import { Button, Code, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { QRCodeSVG } from 'qrcode.react'
import { useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { post } from '../../lib/api.ts'
import { useMe } from '../../lib/me.ts'
import { queryClient } from '../../lib/queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { Copyable, CopyIcon } from '../copy.tsx'
import { FormError } from '../form-error.tsx'
import { Section } from '../section.tsx'
import { Tag } from '../status.tsx'

type Setup = Schemas['TwoFactorSetup']

export function TwoFactorSection() {
  const me = useMe()
  const [setup, setSetup] = useState<Setup | null>(null)
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['/me'] })
  return (
    <Section
      title="Two-factor sign-in"
      about="Requires a code from an authenticator app in addition to your password, so a stolen password is not enough to sign in."
    >
      <Group>
        <Tag color={me.two_factor ? 'green' : 'gray'}>{me.two_factor ? 'On' : 'Off'}</Tag>
      </Group>
      {setup !== null && !me.two_factor ? (
        <Confirm setup={setup} onDone={refresh} />
      ) : me.two_factor ? (
        <PasswordStep
          action="Disable"
          send={async (password) => {
            await post('/me/two-factor/disable', { password })
            setSetup(null)
            notifications.show({ message: 'Two-factor sign-in is off.', color: 'green' })
            await refresh()
          }}
        />
      ) : (
        <PasswordStep action="Enable" send={async (password) => setSetup(await post('/me/two-factor', { password }))} />
      )}
    </Section>
  )
}

function PasswordStep({ action, send }: { action: string; send: (password: string) => Promise<void> }) {
  const form = useForm({ initialValues: { password: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async ({ password }) => {
      await send(password)
      return form.getInitialValues()
    },
    { isQuestion: true },
  )
  return (
    <form {...formProps}>
      <Stack maw={360}>
        <FormError error={error} />
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          {...form.getInputProps('password')}
        />
        <Group>
          <Button type="submit" variant="default" loading={isSending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Confirm({ setup, onDone }: { setup: Setup; onDone: () => Promise<void> }) {
  const form = useForm({ initialValues: { code: '' } })
  const { formProps, isSending, error } = useSubmit(
    form,
    async (values) => {
      await post('/me/two-factor/confirm', values)
      notifications.show({ message: 'Two-factor sign-in is on.', color: 'green' })
      await onDone()
    },
    { isQuestion: true },
  )
  const secret = new URL(setup.uri).searchParams.get('secret') ?? ''
  return (
    <Stack>
      <Text size="sm">1. Scan this with your authenticator app, or enter the secret.</Text>
      <QRCodeSVG value={setup.uri} size={180} marginSize={2} title="QR code for the authenticator" />
      <Copyable value={secret} label="Copy the secret" />
      <Group gap={4}>
        <Text size="sm">2. Store these backup codes. Each works once if you lose your phone.</Text>
        <CopyIcon value={setup.backup_codes.join('\n')} label="Copy the backup codes" />
      </Group>
      <Code block>{setup.backup_codes.join('\n')}</Code>
      <form {...formProps}>
        <Stack maw={360}>
          <FormError error={error} />
          <TextInput
            label="3. Enter the code from your authenticator app"
            autoComplete="one-time-code"
            inputMode="numeric"
            required
            {...form.getInputProps('code')}
          />
          <Group>
            <Button type="submit" loading={isSending}>
              Enable
            </Button>
          </Group>
        </Stack>
      </form>
    </Stack>
  )
}
