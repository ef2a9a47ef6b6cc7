// Approving and reversing many conversions by a CSV file of transaction IDs: a preview first, then the button.
import { Alert, Button, FileInput, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFileUpload } from '@tabler/icons-react'
import { useState } from 'react'
import { post } from '../../lib/api.ts'
import type { Schemas } from '../../lib/api-types.ts'
import { formatNoun } from '../../lib/format.ts'
import { useChange } from '../../lib/queries.ts'
import { CopyBlock } from '../copy.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { Status } from '../status.tsx'

type Row = Schemas['DecisionList']['rows'][number]

const EXAMPLE = 'transaction_id,status\nT-1001,approved\nT-1002,reversed'
const SHOWN = 200

export function DecideByFile({ advertiserId }: { advertiserId: string }) {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" leftSection={<IconFileUpload size={16} />} onClick={open}>
        Approve or reverse by CSV
      </Button>
      <Modal opened={isOpen} onClose={close} title="Approve or reverse by CSV" size="xl">
        <Decide path={`/advertisers/${advertiserId}/decisions`} />
      </Modal>
    </>
  )
}

function Decide({ path }: { path: `/advertisers/${string}/decisions` }) {
  const [csv, setCsv] = useState('')
  const preview = useChange((text: string) => post(`${path}/preview`, { csv: text }))
  const apply = useChange((text: string) => post(path, { csv: text }), { refresh: [path.replace('/decisions', '')] })
  const choose = async (file: File | null) => {
    const text = file === null ? '' : await file.text()
    setCsv(text)
    apply.reset()
    if (text === '') preview.reset()
    else preview.mutate(text)
  }
  const shown = apply.data ?? preview.data
  return (
    <Stack>
      <Text size="sm">
        Upload your transaction IDs with approved, rejected or reversed for each, up to 5,000 rows. Each row counts as a
        callback: hold periods apply, and uploading a file twice changes nothing.
      </Text>
      <CopyBlock label="Example" value={EXAMPLE} />
      <FileInput
        label="CSV file"
        placeholder="Choose a file"
        styles={{ placeholder: { color: 'var(--mantine-color-dimmed)' } }}
        accept=".csv,text/csv"
        clearable
        clearButtonProps={{ 'aria-label': 'Choose another file' }}
        onChange={(file) => void choose(file)}
      />
      {shown !== undefined && (
        <>
          <Alert color={apply.data === undefined ? 'blue' : 'green'} role="status">
            {apply.data === undefined
              ? `${formatNoun(shown.changes, 'conversion')} will change; ${formatNoun(shown.rows.length - shown.changes, 'row')} will change nothing.`
              : `${formatNoun(shown.changes, 'conversion')} changed.`}
          </Alert>
          <DataTable
            label="Rows"
            rows={shown.rows.slice(0, SHOWN)}
            columns={COLUMNS}
            rowKey={({ line }) => line}
            minWidth={560}
          />
          {shown.rows.length > SHOWN && (
            <Text size="sm" c="dimmed">
              The first {SHOWN} of {shown.rows.length} rows.
            </Text>
          )}
          {apply.data === undefined && (
            <Group>
              <Button disabled={shown.changes === 0} loading={apply.isPending} onClick={() => apply.mutate(csv)}>
                Apply
              </Button>
            </Group>
          )}
        </>
      )}
    </Stack>
  )
}

const COLUMNS: Column<Row>[] = [
  { name: 'Line', isNumber: true, cell: ({ line }) => line },
  { name: 'Transaction', isText: true, cell: ({ transaction_id }) => transaction_id },
  { name: 'Status', cell: ({ status }) => (status === null ? '–' : <Status value={status} />) },
  { name: 'What happens', isText: true, cell: ({ message }) => message },
]
