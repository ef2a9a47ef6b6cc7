// A mapping beside a live answer: what the network says, and what would become of its first offers.
import { Alert, Button, Code, Grid, Group, List, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../../lib/api-types.ts'
import { type ApiError, post } from '../../lib/api.ts'
import { formatUsd } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { describeProblems } from '../../lib/problems.ts'
import { DataTable } from '../data-table.tsx'
import { Section } from '../section.tsx'
import { sentence } from './run.tsx'
import { bodyOf, type SettingsValues } from './settings.tsx'

export type Own = { request: string; mapping: string }

const PAUSE_MS = 400

/** The object that a text is; null where it is none. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

export const NOT_JSON = 'This is not a JSON object. Look for a missing quote, comma or bracket.'

type EditorProps = {
  own: Own
  onChange: (own: Own) => void
  settings: SettingsValues
  credentials: Record<string, string>
  /** Whose stored credentials are used. */
  feedId?: number
  errors?: { request?: unknown; mapping?: unknown }
  disabled?: boolean
}

export function MappingEditor({
  own,
  onChange,
  settings,
  credentials,
  feedId,
  errors = {},
  disabled = false,
}: EditorProps) {
  const [answer, setAnswer] = useState<unknown>(null)
  const request = parseObject(own.request)
  const fetchOne = useChange(
    (given: Record<string, unknown>) => post('/feeds/sample', { request: given, credentials, ...(feedId === undefined ? {} : { feed_id: feedId }) }), // prettier-ignore
    { onDone: (sample) => setAnswer(sample.answer), onError: () => {} },
  )
  return (
    <Stack>
      <Grid>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <JsonInput
            label="Request"
            name="request"
            value={own.request}
            disabled={disabled}
            error={errors.request}
            onChange={(text) => onChange({ ...own, request: text })}
          />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <JsonInput
            label="Mapping"
            name="mapping"
            value={own.mapping}
            disabled={disabled}
            error={errors.mapping}
            onChange={(text) => onChange({ ...own, mapping: text })}
          />
        </Grid.Col>
      </Grid>
      <Group>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          disabled={request === null || disabled}
          loading={fetchOne.isPending}
          onClick={() => request !== null && fetchOne.mutate(request)}
        >
          Fetch the first page
        </Button>
        <Text size="sm" c="dimmed">
          Shows what the network answers. Nothing is stored.
        </Text>
      </Group>
      {fetchOne.error !== null && (
        <Alert color="red" role="alert">
          {describeProblems(fetchOne.error)}
        </Alert>
      )}
      {answer !== null && <Tried answer={answer} mapping={own.mapping} settings={settings} />}
    </Stack>
  )
}

type JsonInputProps = { label: string; name: string; value: string; disabled: boolean; error: unknown; onChange: (text: string) => void } // prettier-ignore

function JsonInput({ label, name, value, disabled, error, onChange }: JsonInputProps) {
  const wrong = parseObject(value) === null ? NOT_JSON : null
  return (
    <Textarea
      label={label}
      data-path={name}
      autosize
      minRows={12}
      maxRows={30}
      spellCheck={false}
      disabled={disabled}
      styles={{ input: { fontFamily: 'monospace', fontSize: 13 } }}
      value={value}
      error={(error as string | undefined) ?? wrong}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** Tried again whenever the mapping changes. */
function Tried({ answer, mapping, settings }: { answer: unknown; mapping: string; settings: SettingsValues }) {
  const [text] = useDebouncedValue(mapping, PAUSE_MS)
  const parsed = parseObject(text)
  const share = Number(settings.share_percent) > 0 ? settings : { ...settings, share_percent: 100 }
  const tried = useQuery<Schemas['TriedMapping'], ApiError>({
    queryKey: ['tried', text, answer, share],
    queryFn: () => post('/feeds/try-mapping', { mapping: parsed!, answer, settings: bodyOf(share) }),
    enabled: parsed !== null,
    placeholderData: (before) => before,
  })
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Section title="The answer" about="Its first offers, shortened.">
          <Code block mah={420} tabIndex={0} style={{ overflow: 'auto' }} aria-label="The answer">
            {JSON.stringify(answer, null, 2)}
          </Code>
        </Section>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Section title="What becomes of it" about="Payouts as publishers are paid.">
          {tried.error !== null && <Alert color="red">{describeProblems(tried.error)}</Alert>}
          {tried.data !== undefined && tried.data.problems.length > 0 && (
            <Alert color="yellow" title="The mapping cannot be used yet" role="status">
              <List size="sm">
                {tried.data.problems.map(({ place, message }) => (
                  <List.Item key={place + message}>{message}</List.Item>
                ))}
              </List>
            </Alert>
          )}
          {tried.data !== undefined && tried.data.problems.length === 0 && (
            <DataTable
              label="What becomes of it"
              isPlain
              minWidth={420}
              rows={tried.data.offers}
              rowKey={({ external_id }) => external_id}
              empty={<Text size="sm">No offers at “offers” of the mapping.</Text>}
              columns={[
                { name: 'External ID', isText: true, cell: ({ external_id }) => external_id || 'none' },
                { name: 'Offer', isText: true, cell: ({ name }) => name || 'none' },
                {
                  name: 'Payout',
                  isText: true,
                  cell: ({ offer, problem }) =>
                    offer === null ? sentence(problem ?? '') : formatUsd(Number(offer['payout'])),
                },
                {
                  name: 'Countries',
                  isText: true,
                  cell: ({ offer }) =>
                    offer === null ? '' : (offer['countries'] as string[]).slice(0, 6).join(', ') || 'all',
                },
              ]}
            />
          )}
        </Section>
      </Grid.Col>
    </Grid>
  )
}
