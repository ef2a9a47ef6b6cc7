import { Code, Text } from '@mantine/core'

/** The request that caused something, as in the log and in the X-Request-Id of its response. */
export function RequestId({ id }: { id: string }) {
  return (
    <Text size="sm">
      Request ID <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
    </Text>
  )
}
