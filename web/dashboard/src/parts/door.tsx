// The frame of the pages in front of the door: signing in, joining, a forgotten password.
import { Alert, Center, Paper, Stack, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import type { ApiError } from '../lib/api.ts'
import { Brand } from './brand.tsx'
import { ErrorMessage } from './page.tsx'

export function Door({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Offerdeck`
  }, [title])
  return (
    <Center component="main" mih="100vh" p="md">
      <Stack w="100%" maw={420} gap="md">
        <Center>
          <Brand height={36} alt="" size="xl" />
        </Center>
        <Paper p="xl" shadow="sm">
          <Stack gap="md">
            <div>
              <Title order={1} size="h3">
                {title}
              </Title>
              {about !== undefined && (
                <Text c="dimmed" size="sm">
                  {about}
                </Text>
              )}
            </div>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  )
}

/** Why the link could not be looked up: it does not work, or the server cannot be reached right now. */
export function LinkFault({ title, query }: { title: string; query: UseQueryResult<unknown, ApiError> }) {
  if (query.error?.code !== 'OFFLINE') return <BrokenLink title={title}>{query.error?.message}</BrokenLink>
  return (
    <Door title="No connection">
      <ErrorMessage error={query.error} retry={() => void query.refetch()} />
    </Door>
  )
}

/** What a link that cannot be used any more, or never could, leads to. */
export function BrokenLink({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Door title={title}>
      <Alert color="red" role="alert">
        {children}
      </Alert>
    </Door>
  )
}
