import { Alert, Button, FileInput, Group, List, Paper, Progress, Stack, Text } from '@mantine/core'
import { IconFileUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { post } from '../../lib/api.ts'
import { formatNoun } from '../../lib/format.ts'
import { mayWrite, useMe } from '../../lib/me.ts'
import { useChange, useGet } from '../../lib/queries.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import {
  Changes,
  Counts,
  Finished,
  type ImportData,
  Problems,
  Warnings,
} from '../../parts/network-offers/import-result.tsx'
import { Empty, Loaded, Page } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'

const LOOK_MS = 500
const MAX_BYTES = 20 * 1024 * 1024
const EXAMPLE = `external_id,advertiser,name,category,payout,destination_url
castle-1,Lanternfield Games,Castle of Mirrors,game,1.50,https://ads.example.com/?click={click_id}`

export default function OfferImport() {
  const mayChange = mayWrite(useMe())
  const [filters, change] = useFilters()
  const importId = filters['import']
  return (
    <Page title="Import offers" about="From a JSON or CSV file. You see a preview before anything changes.">
      {!mayChange ? (
        <Empty title="You can’t import offers">Your role is read-only. Ask an operator with write access.</Empty>
      ) : importId === undefined ? (
        <Choose onUploaded={(id) => change({ import: id })} />
      ) : (
        <Watch key={importId} importId={importId} again={() => change({ import: null })} />
      )}
    </Page>
  )
}

/** What is wrong with a file, as far as one can tell without reading it. */
function problemOf(file: File | null): string | null {
  if (file === null) return null
  if (!/\.(json|csv)$/i.test(file.name)) return 'The name of the file must end in .json or .csv.'
  return file.size > MAX_BYTES ? 'The file is larger than 20 MB. Split it into smaller files.' : null
}

function Choose({ onUploaded }: { onUploaded: (importId: string) => void }) {
  const [file, setFile] = useState<File | null>(null)
  const upload = useChange(
    async (given: File) =>
      post('/offer-imports', {
        file_name: given.name,
        format: /\.csv$/i.test(given.name) ? 'csv' : 'json',
        content: await given.text(),
      }),
    { onDone: ({ import_id }) => onUploaded(import_id) },
  )
  const error = problemOf(file)
  return (
    <Stack gap="lg">
      <Section title="Choose a file">
        <Stack maw={480}>
          <FileInput
            label="File"
            description="JSON or CSV, at most 20 MB"
            placeholder="Choose a file"
            styles={{ placeholder: { color: 'var(--mantine-color-dimmed)' } }}
            accept=".json,.csv,application/json,text/csv"
            leftSection={<IconFileUpload size={16} />}
            clearable
            clearButtonProps={{ 'aria-label': 'Choose another file' }}
            value={file}
            onChange={setFile}
            error={error}
          />
          <Group>
            <Button
              disabled={file === null || error !== null}
              loading={upload.isPending}
              onClick={() => file !== null && upload.mutate(file)}
            >
              Preview import
            </Button>
          </Group>
        </Stack>
      </Section>
      <Section title="File format">
        <List size="sm" spacing={4}>
          <List.Item>
            CSV: the first line contains the column names. JSON: an array of objects with the same names.
          </List.Item>
          <List.Item>
            Every offer needs external_id, advertiser (its name here), name, category, payout and destination_url.
          </List.Item>
          <List.Item>
            Existing offers, matched by advertiser and external_id, are updated. Fields that are left out get their
            default.
          </List.Item>
        </List>
        <CopyBlock value={EXAMPLE} label="Copy the example" />
      </Section>
    </Stack>
  )
}

const importWords = (count: number) => `Import ${formatNoun(count, 'offer')}`

const isUnderWay = (job: ImportData | undefined) => job?.state === 'checking' || job?.state === 'running'

function Watch({ importId, again }: { importId: string; again: () => void }) {
  const path = `/offer-imports/${importId}` as const
  const [isWatching, setWatching] = useState(true)
  const job = useGet(path, isWatching ? { everyMs: LOOK_MS } : {})
  if (isWatching && job.error !== null) setWatching(false)
  if (isWatching && job.data !== undefined && !isUnderWay(job.data) && !job.isPlaceholderData) setWatching(false)
  const run = useChange(() => post(`${path}/run`), {
    refresh: [path, '/offers'],
    onDone: () => setWatching(true),
  })
  if (job.error?.status === 404)
    return (
      <Empty title="This import has expired">
        The preview and results were deleted. You can safely import the file again.
        <Group justify="center" mt="sm">
          <Button size="xs" onClick={again}>
            Choose a file
          </Button>
        </Group>
      </Empty>
    )
  return (
    <Loaded query={job}>
      {(data) => (
        <Stack gap="lg">
          {isUnderWay(data) && <UnderWay job={data} />}
          {data.state === 'failed' && (
            <Alert color="red" title="The file could not be imported" role="alert">
              <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                {data.fault}
              </Text>
              <Button size="xs" variant="default" mt="xs" onClick={again}>
                Choose a file
              </Button>
            </Alert>
          )}
          {data.state === 'done' && <Finished job={data} again={again} />}
          <Counts job={data} />
          {data.state === 'checked' && (
            <Group>
              <Button
                loading={run.isPending}
                disabled={data.result.created + data.result.updated === 0}
                onClick={() => run.mutate(undefined)}
              >
                {importWords(data.result.created + data.result.updated)}
              </Button>
              <Button variant="default" onClick={again}>
                Choose another file
              </Button>
            </Group>
          )}
          <Warnings job={data} />
          <Problems job={data} />
          {(data.state === 'checked' || data.state === 'checking') && <Changes job={data} />}
        </Stack>
      )}
    </Loaded>
  )
}

function UnderWay({ job }: { job: ImportData }) {
  const share = Math.round(job.progress * 100)
  return (
    <Paper role="status">
      <Stack gap="xs">
        <Text size="sm">
          {job.state === 'checking' ? 'Reading' : 'Importing'} {job.file_name} … {share} %
        </Text>
        <Progress value={share} animated aria-label="Progress" />
      </Stack>
    </Paper>
  )
}
