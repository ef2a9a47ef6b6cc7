// A postback as it would be sent, and what is wrong with it.
import { Alert, Code, Group, List, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconCircleX } from '@tabler/icons-react'
import type { Schemas } from '../../lib/api-types.ts'
import { DataTable } from '../data-table.tsx'
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
          {request.signed_text !== null && (
            <>
              <Block about="As your server reads it:" label="Copy the parameters">
                {request.parameters.map(({ name, value }) => `${name} = ${value}`).join('\n')}
              </Block>
              <Block
                about="The signature is a hash of this text, here with a sample secret:"
                label="Copy the signed text"
              >
                {request.signed_text}
              </Block>
            </>
          )}
          <Headers headers={request.headers} />
        </>
      )}
    </Stack>
  )
}

const Block = ({ about, label, children }: { about: string; label: string; children: string }) => (
  <div>
    <Text size="sm" mb={4}>
      {about}
    </Text>
    <CopyBlock value={children} label={label} />
  </div>
)

type Header = NonNullable<PreviewData['request']>['headers'][number]

const Headers = ({ headers }: { headers: Header[] }) => (
  <DataTable
    label="Headers"
    isPlain
    minWidth={560}
    rows={headers}
    rowKey={({ name }) => name}
    columns={[
      { name: 'Header', cell: ({ name }) => <Code>{name}</Code> },
      {
        name: 'Example',
        isText: true,
        cell: ({ value }) => (
          <Text size="xs" ff="monospace">
            {value}
          </Text>
        ),
      },
      { name: 'Description', cell: ({ about }) => <Text size="xs">{about ?? '–'}</Text> },
    ]}
  />
)
