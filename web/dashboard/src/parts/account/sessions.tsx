import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import type { SessionList } from '../../../../../src/manage/account/schema.ts'
import { type Reply, remove } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'

export function SessionsSection() {
  const sessions = useGet<Reply<typeof SessionList>>('/me/sessions')
  const end = useChange((id: string) => remove(`/me/sessions/${id}`), {
    refresh: ['/me/sessions'],
    done: 'Signed out there.',
  })
  return (
    <Section
      title="Where you are signed in"
      about="Sign out wherever you do not recognise it, then change your password."
    >
      <Loaded query={sessions}>
        {(list) => (
          <Stack gap="xs">
            {list.sessions.map((session) => (
              <Group key={session.id} justify="space-between" wrap="nowrap">
                <div>
                  <Text size="sm">{browserOf(session.user_agent)}</Text>
                  <Text size="xs" c="dimmed">
                    {session.ip_address ?? 'unknown address'} · since <Time at={session.created_at} ago />
                  </Text>
                </div>
                {session.is_current ? (
                  <Badge variant="light" tt="none">
                    this one
                  </Badge>
                ) : (
                  <Button size="xs" variant="default" onClick={() => end.mutate(session.id)}>
                    Sign out
                  </Button>
                )}
              </Group>
            ))}
          </Stack>
        )}
      </Loaded>
    </Section>
  )
}

/** Roughly: enough to recognise one's own. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)/.exec(userAgent)?.[1] ?? 'Some program'
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1] ?? ''
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS X': 'macOS' }
  return [names[browser] ?? browser, names[system] ?? system].filter((name) => name !== '').join(' on ')
}
