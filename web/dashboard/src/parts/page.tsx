// The frame of a page: its name, what it is for, what can be done; and what stands there while its content is not.
import { Alert, Button, Center, Group, List, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import type { ApiError } from '../lib/api.ts'

type PageProps = { title: string; about?: ReactNode; actions?: ReactNode; children: ReactNode }

export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Offerdeck`
  }, [title])
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} size="h2">
            {title}
          </Title>
          {about !== undefined && (
            <Text c="dimmed" maw="42rem">
              {about}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

type LoadedProps<T> = { query: UseQueryResult<T, ApiError>; children: (data: T) => ReactNode }

/** What was asked for, once it is there; until then that it is coming, or why it is not, and what to do. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  if (query.data !== undefined)
    return (
      <>
        {query.error !== null && <ErrorMessage error={query.error} retry={() => void query.refetch()} />}
        {children(query.data)}
      </>
    )
  if (query.error !== null) return <ErrorMessage error={query.error} retry={() => void query.refetch()} />
  return (
    <Center py="xl" role="status" aria-label="Loading">
      <Loader />
    </Center>
  )
}

export function ErrorMessage({ error, retry }: { error: ApiError; retry?: () => void }) {
  const details = Object.values(error.details).filter((detail) => detail !== error.message)
  const isGone = error.code === 'RESOURCE_NOT_FOUND'
  return (
    <Alert color={isGone ? 'gray' : 'red'} title={isGone ? 'Not found' : 'This could not be loaded'} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {details.length > 0 && (
          <List size="sm">
            {details.map((detail) => (
              <List.Item key={detail}>{detail}</List.Item>
            ))}
          </List>
        )}
        {retry !== undefined && !isGone && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

/** For a list with nothing in it: why, and what would put something there. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper py="xl">
      <Stack align="center" gap="xs">
        <Text fw={600}>{title}</Text>
        {children !== undefined && (
          <Text c="dimmed" size="sm" ta="center" maw="32rem" component="div">
            {children}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
