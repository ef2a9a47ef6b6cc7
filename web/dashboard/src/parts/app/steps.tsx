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
        Every request carries an API key, which is no secret, and an API secret, which only your servers may know. There
        is a pair for your users (live) and one for trying out (test).
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
        Secrets are shown once, when they are made. Did you get yours from whoever made this app? Then go on with the
        next step. {owns ? 'Otherwise make new ones:' : 'Otherwise ask an owner of this publisher to make new ones.'}
      </Text>
      {owns && (
        <Group gap="xs">
          <RotateButton appId={app.app_id} mode="test" kind="api" label="Make a test secret" grace="0" />
          <RotateButton appId={app.app_id} mode="live" kind="api" label="Make a live secret" grace="24" />
        </Group>
      )}
    </Stack>
  )
}

function FirstRequest({ app, isDone }: StepProps) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Ask which offers one of your users can complete. Paste this where your server would run, not into a web page:
      </Text>
      <RequestExample app={app} path="/offers?userId=user-1&limit=3" />
      {isDone ? (
        <Done>Your request arrived. The whole API is described at the reference below.</Done>
      ) : (
        <Waiting>Waiting for your first request …</Waiting>
      )}
      <Text size="sm">
        Each offer in the answer has a <Code>link</Code>: send the user there. More in the{' '}
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
        A postback is how you learn that a user completed an offer: we call an address of yours, so that your server can
        credit the user. Say which address, and what it is told.
      </Text>
      <Button component={Link} href={`/apps/${app.app_id}/postbacks/settings`} variant={isDone ? 'default' : 'filled'}>
        {isDone || !canChange ? 'Look at the postback' : 'Set the postback'}
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
        We send made-up postbacks to your address and show what your server answered: one that is approved, the same one
        again, one that is taken back.
      </Text>
      {!isDone && last_test?.state === 'dead' && (
        <Alert color="red" title="The last test did not arrive" w="100%">
          {last_test.error ?? 'Your server did not take it.'} Mend that, then send another.
        </Alert>
      )}
      {!isDone && (last_test?.state === 'queued' || last_test?.state === 'sending') && (
        <Waiting>A test is on its way …</Waiting>
      )}
      {hasAddress ? (
        <Button
          component={Link}
          href={`/apps/${app.app_id}/postbacks/settings`}
          variant={isDone ? 'default' : 'filled'}
        >
          {isDone ? 'Look at the tests' : 'Send a test'}
        </Button>
      ) : (
        <Text size="sm" c="dimmed">
          Set the postback first.
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
        <Done>The first conversion is here.</Done>
        <Button component={Link} href={`/apps/${app.app_id}/conversions`} variant="default">
          Look at it
        </Button>
      </Stack>
    )
  return (
    <Stack gap="sm">
      <Text size="sm">
        A conversion is made when a user follows a link and completes the offer. You need not wait for one: report one
        with the test key. Nothing is paid for it, and your postback address is told like of any other.
      </Text>
      {example_offer_id === null ? (
        <Text size="sm" c="dimmed">
          There is no offer yet that could be completed. Ask the operator of this network.
        </Text>
      ) : (
        <RequestExample app={app} path="/conversions" body={{ userId: 'user-1', offerId: example_offer_id }} testOnly />
      )}
      <Waiting>Waiting for the first conversion …</Waiting>
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
