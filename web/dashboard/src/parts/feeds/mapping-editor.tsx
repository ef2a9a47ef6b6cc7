// A request and a mapping beside a live answer: what the network says, and what would become of its first offers.
import { Alert, Button, Grid, Group, Paper, SegmentedControl, Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { readAmount } from '../../lib/amounts.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { type ApiError, post } from '../../lib/api.ts'
import { useChange } from '../../lib/queries.ts'
import { describeProblems } from '../../lib/problems.ts'
import { AnswerTree } from './mapping/answer-tree.tsx'
import { MappingFormProvider } from './mapping/form-context.tsx'
import { MappingFields } from './mapping/mapping-form.tsx'
import { OtherProblems, WhatBecomes } from './mapping/what-becomes.tsx'
import { bodyOf, type SettingsValues } from './settings.tsx'

export type Own = { request: string; mapping: string }
type View = 'form' | 'json'

const PAUSE_MS = 400
const VIEWS = [
  { value: 'form', label: 'Form' },
  { value: 'json', label: 'JSON' },
]

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
  errors?: Record<string, unknown>
  disabled?: boolean
}

const PREFIX = 'mapping.'

/** The places in the mapping that were refused. */
const wrongIn = (errors: Record<string, unknown>) => Object.keys(errors).filter((path) => path.startsWith(PREFIX)).map((path) => path.slice(PREFIX.length)) // prettier-ignore

export function MappingEditor({ own, onChange, settings, credentials, feedId, errors = {}, disabled = false }: EditorProps) {
  const [answer, setAnswer] = useState<unknown>(null)
  const [view, setView] = useState<View>('form')
  const request = parseObject(own.request)
  const mapping = parseObject(own.mapping)
  const tried = useTried(own.mapping, answer, settings)
  const fetchOne = useChange(
    (given: Record<string, unknown>) => post('/feeds/sample', { request: given, credentials, ...(feedId === undefined ? {} : { feed_id: feedId }) }),
    { onDone: (sample) => setAnswer(sample.answer), onError: () => {} },
  )
  const setMapping = (next: Record<string, unknown>) => onChange({ ...own, mapping: JSON.stringify(next, null, 2) })
  return (
    <Stack>
      <JsonInput label="Request" name="request" value={own.request} disabled={disabled} error={errors['request']} onChange={(text) => onChange({ ...own, request: text })} />
      <Group>
        <Button variant="default" leftSection={<IconDownload size={16} />} disabled={request === null || disabled} loading={fetchOne.isPending} onClick={() => request !== null && fetchOne.mutate(request)}>
          Fetch the first page
        </Button>
        <Text size="sm" c="dimmed">
          Shows the network’s response. Nothing is stored.
        </Text>
      </Group>
      {fetchOne.error !== null && (
        <Alert color="red" role="alert">
          {describeProblems(fetchOne.error)}
        </Alert>
      )}
      <Group justify="space-between">
        <Text fw={500}>Mapping</Text>
        <SegmentedControl aria-label="Edit the mapping as" size="xs" data={VIEWS} value={view} onChange={(next) => setView(next as View)} />
      </Group>
      {tried.error !== null && <Alert color="red">{describeProblems(tried.error)}</Alert>}
      <MappingFormProvider mapping={mapping ?? {}} onChange={setMapping} answer={answer} tried={tried.data} errors={wrongIn(errors)} disabled={disabled}>
        <Grid>
          <Grid.Col span={{ base: 12, md: 5 }} className="answer-column">
            <Paper className="answer" p="sm">
              {answer === null ? <Text size="sm" c="dimmed">Fetch the first page to see the response here. Click a value to fill a field of the mapping.</Text> : <AnswerTree />}
            </Paper>
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 7 }}>
            {view === 'form' && mapping !== null && (
              <Stack>
                <OtherProblems tried={tried.data} />
                <MappingFields />
              </Stack>
            )}
            {view === 'form' && mapping === null && <Alert color="red">{NOT_JSON} Fix the JSON first.</Alert>}
            {view === 'json' && (
              <Stack>
                <OtherProblems tried={tried.data} isAll />
                <JsonInput label="Mapping" name="mapping" value={own.mapping} disabled={disabled} error={errors['mapping']} onChange={(text) => onChange({ ...own, mapping: text })} />
              </Stack>
            )}
          </Grid.Col>
        </Grid>
      </MappingFormProvider>
      {answer !== null && tried.data !== undefined && <WhatBecomes tried={tried.data} />}
    </Stack>
  )
} // prettier-ignore

type JsonInputProps = { label: string; name: string; value: string; disabled: boolean; error: unknown; onChange: (text: string) => void } // prettier-ignore

function JsonInput({ label, name, value, disabled, error, onChange }: JsonInputProps) {
  const wrong = parseObject(value) === null ? NOT_JSON : null
  return (
    <Textarea
      label={label}
      data-path={name}
      autosize
      minRows={8}
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

/** Tried again whenever the mapping changes; without an answer only what is wrong with it. */
function useTried(mapping: string, answer: unknown, settings: SettingsValues) {
  const [text] = useDebouncedValue(mapping, PAUSE_MS)
  const parsed = parseObject(text)
  const percent = readAmount(settings.share_percent) ?? 0
  const share = percent > 0 && percent <= 100 ? settings : { ...settings, share_percent: '100' }
  return useQuery<Schemas['TriedMapping'], ApiError>({
    queryKey: ['tried', text, answer, share],
    queryFn: () => post('/feeds/try-mapping', { mapping: parsed!, answer, settings: bodyOf(share) }),
    enabled: parsed !== null,
    placeholderData: (before) => before,
  })
}
