// What an import would do, or did, and the lines that it refuses.
import { Alert, Button, Group, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { Link } from 'wouter'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount } from '../../lib/format.ts'
import { DataTable } from '../data-table.tsx'
import { Section } from '../section.tsx'

const MAX_WARNINGS = 20

export type ImportData = Schemas['OfferImport']

const COUNTS = {
  before: {
    created: 'to create',
    updated: 'to update',
    unchanged: 'unchanged',
    rejected: 'with errors',
  },
  after: { created: 'created', updated: 'updated', unchanged: 'unchanged', rejected: 'with errors' },
} as const

export function Counts({ job }: { job: ImportData }) {
  const words = COUNTS[job.state === 'checking' || job.state === 'checked' ? 'before' : 'after']
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }}>
      {(['created', 'updated', 'unchanged', 'rejected'] as const).map((name) => (
        <Paper key={name} p="sm">
          <Text size="xl" fw={700}>
            {formatCount(job.result[name])}
          </Text>
          <Text size="sm" c="dimmed">
            {words[name]}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  )
}

export function Problems({ job }: { job: ImportData }) {
  if (job.problems.length === 0) return null
  const more = job.result.rejected - job.problems.length
  return (
    <Section
      title="Lines with errors"
      about="These lines are skipped; all others are imported. Correct them and import the file again: lines already imported stay unchanged."
    >
      <DataTable
        label="Lines with errors"
        isPlain
        minWidth={270}
        maxHeight={360}
        rows={job.problems}
        rowKey={({ line, problem }) => `${line} ${problem}`}
        columns={[
          { name: 'Line', cell: ({ line }) => line },
          { name: 'Error', isText: true, cell: ({ problem }) => problem },
        ]}
      />
      <Group justify="space-between">
        <Text size="sm">{more > 0 ? `… and ${formatCount(more)} more.` : ''}</Text>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} />}
          onClick={() => download(`refused-${job.file_name}.csv`, problemsAsCsv(job))}
        >
          Download errors
        </Button>
      </Group>
    </Section>
  )
}

export function Warnings({ job }: { job: ImportData }) {
  if (job.warnings.length === 0) return null
  return (
    <Alert color="yellow" title="Warnings" role="status">
      {job.warnings.slice(0, MAX_WARNINGS).map(({ line, warning }) => (
        <Text key={`${line} ${warning}`} size="sm">
          Line {line}: {warning}
        </Text>
      ))}
      {job.warnings.length > MAX_WARNINGS && (
        <Text size="sm">… and {formatCount(job.warnings.length - MAX_WARNINGS)} more.</Text>
      )}
    </Alert>
  )
}

const problemsAsCsv = (job: ImportData) =>
  ['line,problem', ...job.problems.map(({ line, problem }) => `${line},"${problem.replaceAll('"', '""')}"`), ''].join(
    '\n',
  )

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1_000)
}

export function Changes({ job }: { job: ImportData }) {
  if (job.changes.length === 0) return null
  const more = job.result.created + job.result.updated - job.changes.length
  return (
    <Section title="Changes">
      <DataTable
        label="Changes"
        isPlain
        minWidth={420}
        maxHeight={420}
        rows={job.changes}
        rowKey={({ line }) => line}
        columns={[
          { name: 'Line', cell: ({ line }) => line },
          {
            name: 'Offer',
            isText: true,
            cell: ({ name, external_id }) => (
              <>
                {name}{' '}
                <Text span size="xs" c="dimmed">
                  {external_id}
                </Text>
              </>
            ),
          },
          {
            name: 'Change',
            cell: ({ kind, fields }) => (kind === 'created' ? 'new' : `changes ${fields.join(', ') || 'again'}`),
          },
        ]}
      />
      {more > 0 && <Text size="sm">… and {formatCount(more)} more.</Text>}
    </Section>
  )
}

export function Finished({ job, again }: { job: ImportData; again: () => void }) {
  return (
    <Alert color="green" title={`${job.file_name} imported`} role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">Users can see the new offers now.</Text>
        <Group>
          <Button size="xs" component={Link} href="/network/offers">
            View offers
          </Button>
          <Button size="xs" variant="default" onClick={again}>
            Import another file
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
