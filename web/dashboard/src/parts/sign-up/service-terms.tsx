import { Anchor, Checkbox, Paper, ScrollArea, Text } from '@mantine/core'
import type { GetInputPropsReturnType } from '@mantine/form'
import type { Schemas } from '../../lib/api-types.ts'

type Terms = Schemas['ShownTerms']

/** `input` holds the hash of the terms that are accepted: the box is empty again if others are shown. */
export function AcceptServiceTerms({ terms, input }: { terms: Terms; input: GetInputPropsReturnType }) {
  const { value, onChange, ...props } = input
  return (
    <>
      <ServiceTerms terms={terms} />
      <Checkbox
        label={`I accept the terms, version ${terms.version}`}
        required
        {...props}
        checked={value === terms.hash}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? terms.hash : null)}
      />
    </>
  )
}

/** The terms themselves, or the way to them. */
function ServiceTerms({ terms: { url, text } }: { terms: Terms }) {
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
