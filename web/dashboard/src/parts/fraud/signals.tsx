import { Badge, Group, Text } from '@mantine/core'

export const SIGNAL_NAMES: Record<string, string> = {
  too_fast: 'Too fast',
  ip_users: 'Many users from one IP',
  user_velocity: 'User velocity',
  geo_mismatch: 'Country mismatch',
  listed_ip: 'Listed IP',
  bot: 'Bot',
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
