import { Group, Text } from '@mantine/core'
import { labelOf, SIGNALS } from '../../lib/words.ts'
import { Tag } from '../status.tsx'

/** What looked like fraud about a conversion. */
export function Signals({ signals }: { signals: string[] }) {
  if (signals.length === 0) return <Text size="sm">–</Text>
  return (
    <Group gap={4}>
      {signals.map((signal) => (
        <Tag key={signal}>{labelOf(SIGNALS, signal)}</Tag>
      ))}
    </Group>
  )
}
