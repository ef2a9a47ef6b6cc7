import { Button, Group, Stack, Text } from '@mantine/core'
import { remove } from '../../lib/api.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { Loaded } from '../page.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import { Tag } from '../status.tsx'

export function SessionsSection() {
  const sessions = useGet('/me/sessions')
  const end = useChange((id: string) => remove(`/me/sessions/${id}`), {
    refresh: ['/me/sessions'],
    done: 'Session signed out.',
  })
  return (
    <Section title="Active sessions" about="Sign out any session that you don’t recognize, then change your password.">
      <Loaded query={sessions}>
        {(list) => (
          <Stack gap="xs">
            {list.sessions.map((session) => (
              <Group key={session.id} justify="space-between" wrap="nowrap">
                <div>
                  <Text size="sm">{browserOf(session.user_agent)}</Text>
                  <Text size="xs" c="dimmed">
                    {session.ip_address ?? 'unknown IP address'} · signed in <Time at={session.created_at} ago />
                  </Text>
                </div>
                {session.is_current ? (
                  <Tag>This session</Tag>
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

/** Roughly: enough to recognize one's own. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return 'Unknown browser'
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)/.exec(userAgent)?.[1] ?? 'API client'
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1] ?? ''
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS X': 'macOS' }
  return [names[browser] ?? browser, names[system] ?? system].filter((name) => name !== '').join(' on ')
}
