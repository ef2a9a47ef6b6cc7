import { Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** One of many things that are known of something, with its name above it. */
export function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
    </div>
  )
}
