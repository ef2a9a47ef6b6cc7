import { Group, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

type SectionProps = {
  title: string
  about?: ReactNode
  /** Beside its title, such as the way to all of it. */ action?: ReactNode
  children: ReactNode
}

/** One subject of a page. */
export function Section({ title, about, action, children }: SectionProps) {
  return (
    <Paper component="section" p="lg">
      <Stack gap="md">
        <div>
          <Group justify="space-between">
            <Title order={2} size="h4">
              {title}
            </Title>
            {action}
          </Group>
          {about !== undefined && (
            <Text c="dimmed" size="sm" component="div" maw="42rem">
              {about}
            </Text>
          )}
        </div>
        {children}
      </Stack>
    </Paper>
  )
}
