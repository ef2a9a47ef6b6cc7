import { Badge, Group, Text } from '@mantine/core'
import { labelOf, SIGNALS } from '../../lib/words.ts'

/** What looked like fraud about a conversion. */
export function Signals({ signals }: { signals: string[] }) {
  if (signals.length === 0) return <Text size="sm">–</Text>
  return (
    <Group gap={4}>
      {signals.map((signal) => (
        <Badge key={signal} variant="default" tt="none" style={{ flexShrink: 0 }}>
          {labelOf(SIGNALS, signal)}
        </Badge>
      ))}
    </Group>
  )
}
