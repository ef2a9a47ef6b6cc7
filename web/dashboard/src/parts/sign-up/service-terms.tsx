import { Anchor, Paper, ScrollArea, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'

/** The terms themselves, or the way to them. */
export function ServiceTerms({ terms: { url, text } }: { terms: Schemas['ServiceTerms'] }) {
  if (url !== null)
    return (
      <Anchor href={url} target="_blank" rel="noopener noreferrer" size="sm">
        Read the terms of service
      </Anchor>
    )
  return (
    <Paper p="sm" withBorder>
      <ScrollArea.Autosize mah={220} viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Terms of service' }}>
        <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      </ScrollArea.Autosize>
    </Paper>
  )
}
