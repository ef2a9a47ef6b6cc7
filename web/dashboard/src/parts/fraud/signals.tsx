import { Badge, Group, Text } from '@mantine/core'

export const SIGNAL_NAMES: Record<string, string> = {
  too_fast: 'too fast',
  ip_users: 'many users of one address',
  user_velocity: 'one user very often',
  geo_mismatch: 'other country',
  listed_ip: 'listed address',
  bot: 'bot',
}

/** What looked like fraud about a conversion. */
export function Signals({ signals }: { signals: string[] }) {
  if (signals.length === 0) return <Text size="sm">–</Text>
  return (
    <Group gap={4}>
      {signals.map((signal) => (
        <Badge key={signal} variant="default" tt="none" style={{ flexShrink: 0 }}>
          {SIGNAL_NAMES[signal] ?? signal}
        </Badge>
      ))}
    </Group>
  )
}
