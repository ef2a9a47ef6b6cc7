// One call of an advertiser, as it came and with what came of it.
import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { IconRefresh, IconX } from '@tabler/icons-react'
import type { Schemas } from '../../lib/api-types.ts'
import { formatNoun } from '../../lib/format.ts'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

export type Call = Schemas['CallbackList']['calls'][number]

const REASONS: Record<string, string> = {
  wrong_token: 'The token was wrong or missing.',
  expired_token: 'The token has expired: the advertiser still uses the old one.',
  wrong_address: 'The IP address is not on the allowlist.',
  wrong_signature: 'The signature is missing or wrong.',
  too_long: 'The body was too long and was not read.',
  compressed: 'The body was compressed and was not read.',
}
export const reasonOf = ({ reason }: Call) => (reason === null ? '' : (REASONS[reason] ?? reason))

type CallDetailsProps = { call: Call; again: (() => void) | null; dismiss: (() => void) | null; isBusy: boolean }

export function CallDetails({ call, again, dismiss, isBusy }: CallDetailsProps) {
  const facts: [string, string | null][] = [
    ['Reason', reasonOf(call) || null],
    ['From', call.ip],
    ['Click', call.click_id],
    ['Conversion', call.conversion_id],
    ['Attempts', String(call.attempts)],
  ]
  return (
    <Stack>
      <Group>
        <Status value={call.outcome} />
        <Time at={call.received_at} />
      </Group>
      {call.repeats !== null && call.repeated_at !== null && (
        <Text size="sm">
          {formatNoun(call.repeats, 'repeated callback')} for this click changed nothing, the last one{' '}
          <Time at={call.repeated_at} ago />.
        </Text>
      )}
      {call.next_attempt_at !== null && (
        <Text size="sm">
          Next automatic attempt <Time at={call.next_attempt_at} ago />.
        </Text>
      )}
      {facts.map(([name, value]) =>
        value === null ? null : (
          <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
            <b>{name}:</b> {value}
          </Text>
        ),
      )}
      <Text size="sm" fw={600}>
        Request (token masked)
      </Text>
      {call.is_cut && (
        <Text size="sm">
          The request was too long or compressed and was not stored completely, so it cannot be processed.
        </Text>
      )}
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {`${call.method} /postback${call.query === '' ? '' : `?${call.query}`}${call.body === '' ? '' : `\n\n${call.body}`}`}
      </Code>
      {again === null ? (
        call.advertiser_id === null && (
          <Text size="sm">The advertiser is unknown, so this callback cannot be processed again.</Text>
        )
      ) : (
        <Group>
          <Button leftSection={<IconRefresh size={16} />} loading={isBusy} onClick={again}>
            Process again
          </Button>
          {dismiss !== null && (
            <Button variant="default" leftSection={<IconX size={16} />} loading={isBusy} onClick={dismiss}>
              Dismiss
            </Button>
          )}
        </Group>
      )}
    </Stack>
  )
}
