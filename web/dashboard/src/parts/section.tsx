import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** One subject of a page. */
export function Section({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  return (
    <Paper component="section" p="lg">
      <Stack gap="md">
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
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
