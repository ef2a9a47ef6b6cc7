// Conversions named by a list: of an advertiser, or out of a spreadsheet.
import { Button, Group, Modal, Select, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { formatCount } from '../../lib/format.ts'
import { type Decision, VERBS } from './decide.tsx'
import type { MoveTo } from './use-moves.ts'

const MAX_IDS = 10_000

/** One a line; of a CSV, the first column. Without its heading, each once. */
export function readIds(text: string): string[] {
  const cells = text.split(/\r?\n/).map((line) => (line.split(/[,;\t]/)[0] ?? '').trim().replaceAll('"', ''))
  const ids = cells.filter((cell) => cell !== '' && cell !== 'conversion_id' && !cell.startsWith('#'))
  return [...new Set(ids.map((id) => id.toLowerCase().slice(0, 100)))]
}

type PasteProps = { opened: boolean; onClose: () => void; onDecide: (decision: Decision) => void }

export function PasteIds({ opened, onClose, onDecide }: PasteProps) {
  const [text, setText] = useState('')
  const [to, setTo] = useState<MoveTo>('approved')
  const ids = readIds(text)
  const isTooLong = ids.length > MAX_IDS
  const close = () => {
    setText('')
    onClose()
  }
  return (
    <Modal
      closeButtonProps={{ 'aria-label': 'Close' }}
      opened={opened}
      onClose={close}
      title="Bulk decide by ID"
      size="lg"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onDecide({ to, ids })
          close()
        }}
      >
        <Stack>
          <Textarea
            label="Conversion IDs"
            description="One per line. For CSV, the first column is used."
            placeholder="0198c5f0-…"
            autosize
            minRows={6}
            maxRows={14}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={isTooLong && `At most ${formatCount(MAX_IDS)} at once.`}
            data-autofocus
          />
          <Select
            label="Action"
            allowDeselect={false}
            data={Object.entries(VERBS).map(([value, label]) => ({ value, label }))}
            value={to}
            onChange={(value) => value !== null && setTo(value as MoveTo)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" disabled={ids.length === 0 || isTooLong}>
              {ids.length === 0 ? 'Continue' : `Continue with ${formatCount(ids.length)}`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
