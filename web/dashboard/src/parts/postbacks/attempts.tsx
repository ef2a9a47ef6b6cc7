// Every try of a postback, in full.
import { Accordion, Code, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { CopyBlock } from '../copy.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

export type PostbackData = Schemas['PostbackOfApp']['postback']
export type AttemptData = PostbackData['tries'][number]

const PHASES: Record<string, string> = {
  dns: 'during the DNS lookup',
  connect: 'while connecting',
  tls: 'during the TLS handshake',
  send: 'while sending',
  headers: 'while waiting for the response',
  body: 'while reading the response',
}

/** The latest is open. */
export function Attempts({ tries, isOpen = true }: { tries: AttemptData[]; isOpen?: boolean }) {
  const shown = tries.toReversed()
  const keyOf = ({ attempt }: AttemptData) => `try-${attempt}`
  const [latest] = shown
  return (
    <Accordion
      multiple
      variant="separated"
      order={3}
      defaultValue={isOpen && latest !== undefined ? [keyOf(latest)] : []}
    >
      {shown.map((one) => (
        <Accordion.Item key={keyOf(one)} value={keyOf(one)}>
          <Accordion.Control>
            <Group gap="xs">
              <Text size="sm" fw={600}>
                Attempt {one.attempt}
              </Text>
              <Status value={one.ok ? 'delivered' : 'fail'} />
              <Text size="sm">{one.error ?? `HTTP ${one.status}`}</Text>
              <Text size="sm">{one.duration_ms} ms</Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <Attempt attempt={one} />
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  )
}

function Attempt({ attempt }: { attempt: AttemptData }) {
  const { started_at, remote_address, phase, error, request, response } = attempt
  return (
    <Stack gap="xs">
      <Text size="sm" component="div">
        Sent <Time at={started_at} />
        {remote_address !== null && (
          <>
            {' '}
            to <Code>{remote_address}</Code>
          </>
        )}
      </Text>
      {error !== null && (
        <Text size="sm">
          <b>Error{phase === null ? '' : ` ${PHASES[phase] ?? phase}`}:</b> {error}
        </Text>
      )}
      <Text size="sm" fw={600}>
        Request
      </Text>
      {request === '' ? <Nothing>Nothing was sent.</Nothing> : <CopyBlock value={request} label="Copy the request" />}
      <Text size="sm" fw={600}>
        Response
      </Text>
      {response === '' ? <Nothing>No response.</Nothing> : <CopyBlock value={response} label="Copy the response" />}
    </Stack>
  )
}

const Nothing = ({ children }: { children: string }) => (
  <Text size="sm" c="dimmed">
    {children}
  </Text>
)
