import { Badge } from '@mantine/core'

const COLORS: Record<string, string> = {
  approved: 'green',
  delivered: 'green',
  active: 'green',
  ok: 'green',
  pass: 'green',
  paid: 'green',
  due: 'yellow',
  open: 'yellow',
  exported: 'blue',
  voided: 'red',
  pending: 'yellow',
  queued: 'yellow',
  waiting: 'yellow',
  sending: 'blue',
  running: 'blue',
  paused: 'gray',
  rejected: 'red',
  reversed: 'red',
  dead: 'red',
  fail: 'red',
  failing: 'red',
  suspended: 'red',
}

/** What pages call a status of the API, where the two differ. */
const LABELS: Record<string, string> = { dead: 'failed', fail: 'failed', pass: 'passed' }

export const statusLabel = (value: string) => LABELS[value] ?? value

/** One word for how something is. The word says it, the color only helps. */
export function Status({ value }: { value: string }) {
  return (
    <Badge variant="light" color={COLORS[value] ?? 'gray'} tt="none" autoContrast miw="max-content">
      {statusLabel(value)}
    </Badge>
  )
}
