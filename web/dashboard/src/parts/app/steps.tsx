// What each of the first steps asks for, and how it is done.
import { Alert, Anchor, Button, Code, Group, Loader, Stack, Text } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { ComponentType } from 'react'
import { Link } from 'wouter'
import { isOwner, mayWrite, useMe } from '../../lib/me.ts'
import { Copyable } from '../copy.tsx'
import { type AppData, type ChecklistData, keyOf, type Step } from './data.ts'
import { RequestExample } from './example.tsx'
import { RotateButton } from './rotate.tsx'

type StepProps = { app: AppData; checklist: ChecklistData; isDone: boolean }

function Keys({ app }: StepProps) {
  const owns = isOwner(useMe())
  return (
    <Stack gap="sm">
      <Text size="sm">
        Every request carries a public API key and an API secret, which must stay on your servers. There is one pair for
        production (live) and one for testing (test).
      </Text>
      {(['test', 'live'] as const).map((mode) => (
        <div key={mode}>
          <Text size="sm" fw={600}>
            {mode === 'test' ? 'Test API key' : 'Live API key'}
          </Text>
          <Copyable value={keyOf(app, mode).api_key} label={`Copy the ${mode} API key`} />
        </div>
      ))}
      <Text size="sm">
        Secrets are shown once, when they are created. If you already have them, continue with the next step.{' '}
        {owns ? 'Otherwise create new ones:' : 'Otherwise ask an owner of your account to create new ones.'}
      </Text>
      {owns && (
        <Group gap="xs">
          <RotateButton appId={app.app_id} mode="test" kind="api" label="Create test secret" grace="0" />
          <RotateButton appId={app.app_id} mode="live" kind="api" label="Create live secret" grace="24" />
        </Group>
      )}
    </Stack>
  )
}

function FirstRequest({ app, isDone }: StepProps) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Get the offers that one of your users can complete. Run this on your server, never in a browser:
      </Text>
      <RequestExample app={app} path="/offers?userId=user-1&limit=3" />
      {isDone ? (
        <Done>Request received. See the API reference below for everything else.</Done>
      ) : (
        <Waiting>Waiting for your first request …</Waiting>
      )}
      <Text size="sm">
        Each offer in the response has a <Code>link</Code>: send the user there. For more, see the{' '}
        <Anchor href="/docs" inherit>
          API reference
        </Anchor>
        .
      </Text>
    </Stack>
  )
}

function SetPostback({ app, isDone }: StepProps) {
  const canChange = mayWrite(useMe())
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">
        A postback notifies your server when a user completes an offer, so you can credit the user. Enter your postback
        URL and choose which events to send.
      </Text>
      <Button component={Link} href={`/apps/${app.app_id}/postbacks/settings`} variant={isDone ? 'default' : 'filled'}>
        {isDone || !canChange ? 'View postback settings' : 'Set postback URL'}
      </Button>
    </Stack>
  )
}

function SendTest({ app, checklist, isDone }: StepProps) {
  const { last_test, steps } = checklist
  const hasAddress = steps.some(({ step, done_at }) => step === 'postback' && done_at !== null)
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">
        We send test postbacks to your URL and show how your server responds: an approved one, the same one again, and a
        reversed one.
      </Text>
      {!isDone && last_test?.state === 'dead' && (
        <Alert color="red" title="The last test failed" w="100%">
          {last_test.error ?? 'Your server did not accept the postback.'} Fix this, then send another test.
        </Alert>
      )}
      {!isDone && (last_test?.state === 'queued' || last_test?.state === 'sending') && (
        <Waiting>Sending test …</Waiting>
      )}
      {hasAddress ? (
        <Button
          component={Link}
          href={`/apps/${app.app_id}/postbacks/settings`}
          variant={isDone ? 'default' : 'filled'}
        >
          {isDone ? 'View tests' : 'Send test'}
        </Button>
      ) : (
        <Text size="sm" c="dimmed">
          Set your postback URL first.
        </Text>
      )}
    </Stack>
  )
}

function FirstConversion({ app, checklist, isDone }: StepProps) {
  const { example_offer_id } = checklist
  if (isDone)
    return (
      <Stack gap="sm" align="flex-start">
        <Done>You have your first conversion.</Done>
        <Button component={Link} href={`/apps/${app.app_id}/conversions`} variant="default">
          View conversions
        </Button>
      </Stack>
    )
  return (
    <Stack gap="sm">
      <Text size="sm">
        A conversion is created when a user follows a link and completes the offer. No need to wait: report one with the
        test key. Nothing is paid for it, and a postback is sent as usual.
      </Text>
      {example_offer_id === null ? (
        <Text size="sm" c="dimmed">
          No offers are available yet. Contact the operator.
        </Text>
      ) : (
        <RequestExample app={app} path="/conversions" body={{ userId: 'user-1', offerId: example_offer_id }} testOnly />
      )}
      <Waiting>Waiting for your first conversion …</Waiting>
    </Stack>
  )
}

function Waiting({ children }: { children: string }) {
  return (
    <Group gap="xs">
      <Loader size="xs" type="dots" aria-hidden />
      <Text size="sm" fw={600}>
        {children}
      </Text>
    </Group>
  )
}

function Done({ children }: { children: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <IconCheck size={18} color="var(--mantine-color-green-8)" aria-hidden />
      <Text size="sm" fw={600}>
        {children}
      </Text>
    </Group>
  )
}

export const STEP_CONTENTS: Record<Step, ComponentType<StepProps>> = {
  keys: Keys,
  request: FirstRequest,
  postback: SetPostback,
  test: SendTest,
  conversion: FirstConversion,
}
