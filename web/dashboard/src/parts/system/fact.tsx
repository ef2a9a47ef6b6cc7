import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

type FactProps = { name: string; about?: ReactNode; children: ReactNode }

/** One number or word, with its name above it. */
export function Fact({ name, about, children }: FactProps) {
  return (
    <Paper>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fw={600} size="lg" component="div" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      {about !== undefined && (
        <Text size="xs" c="dimmed" component="div">
          {about}
        </Text>
      )}
    </Paper>
  )
}
