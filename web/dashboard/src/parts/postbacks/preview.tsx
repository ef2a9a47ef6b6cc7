// A postback as it would be sent, and what is wrong with it.
import { Alert, Code, Group, List, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react'
import type { Schemas } from '../../lib/api-types.ts'
import { CopyBlock } from '../copy.tsx'

export type PreviewData = Schemas['PostbackPreview']

/** Errors forbid saving, warnings do not: they are kept apart. */
export function Lint({ preview }: { preview: PreviewData }) {
  return (
    <div aria-live="polite">
      <Stack gap="xs">
        {preview.errors.length > 0 && (
          <Alert color="red" icon={<IconCircleX />} title="This cannot be saved">
            <Sentences of={preview.errors} />
          </Alert>
        )}
        {preview.warnings.length > 0 && (
          <Alert color="yellow" icon={<IconAlertTriangle />} title="Warnings">
            <Sentences of={preview.warnings} />
          </Alert>
        )}
      </Stack>
    </div>
  )
}

const Sentences = ({ of }: { of: string[] }) => (
  <List size="sm" spacing={4}>
    {of.map((sentence) => (
      <List.Item key={sentence}>{sentence}</List.Item>
    ))}
  </List>
)

type PreviewProps = {
  preview: PreviewData
  /** Which event is shown; without a way to change it, an approval. */
  event?: { value: string; onChange: (value: string) => void }
}

export function Preview({ preview: { request }, event }: PreviewProps) {
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Text fw={600} size="sm">
          Request preview
        </Text>
        {event !== undefined && (
          <SegmentedControl
            size="xs"
            aria-label="Event in the preview"
            data={['approved', 'reversed']}
            value={event.value}
            onChange={event.onChange}
          />
        )}
      </Group>
      {request === null ? (
        <Text size="sm" c="dimmed">
          Preview appears once the URL is valid.
        </Text>
      ) : (
        <>
          <CopyBlock value={`${request.method} ${request.url}`} label="Copy the example" />
          {request.body !== null && <CopyBlock value={request.body} label="Copy the body" />}
          <Headers headers={request.headers} />
        </>
      )}
    </Stack>
  )
}

function Headers({ headers }: { headers: NonNullable<PreviewData['request']>['headers'] }) {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table layout="fixed" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="11rem">Header</Table.Th>
            <Table.Th>Example</Table.Th>
            <Table.Th>Description</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {headers.map(({ name, value, about }) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Code>{name}</Code>
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Text size="xs" ff="monospace">
                  {value}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="xs">{about ?? '–'}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
