// The longer lists of the system page.
import { Code, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { formatBytes, formatCount, formatFullPeriod } from '../../lib/format.ts'
import { DataTable } from '../data-table.tsx'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'

type Shown = Schemas['System']

export const Partitions = ({ partitions }: Pick<Shown, 'partitions'>) => (
  <DataTable
    label="Partitions"
    isPlain
    minWidth={480}
    rows={partitions}
    rowKey={({ table }) => table}
    columns={[
      { name: 'Table', cell: ({ table }) => table.replaceAll('_', ' ') },
      { name: 'Days', isNumber: true, cell: ({ count }) => formatCount(count) },
      { name: 'From', cell: ({ oldest_day }) => (oldest_day === null ? '–' : formatFullPeriod(oldest_day)) },
      { name: 'To', cell: ({ newest_day }) => (newest_day === null ? '–' : formatFullPeriod(newest_day)) },
      { name: 'Size', isNumber: true, cell: ({ bytes }) => formatBytes(bytes) },
    ]}
  />
)

export const Nodes = ({ nodes }: Pick<Shown, 'nodes'>) => (
  <DataTable
    label="Nodes"
    isPlain
    minWidth={560}
    rows={nodes}
    rowKey={({ host, pid, part, started_at }) => `${host} ${pid} ${part} ${started_at}`}
    columns={[
      { name: 'Host', isText: true, cell: ({ host }) => host },
      { name: 'Process', cell: ({ pid }) => pid },
      { name: 'Part', cell: ({ part }) => part },
      { name: 'Version', cell: ({ version }) => version },
      { name: 'Started', cell: ({ started_at }) => <Time at={started_at} ago /> },
      {
        name: 'Last seen',
        cell: ({ is_here, seen_at }) => (is_here ? <Status value="running" /> : <Time at={seen_at} ago />),
      },
    ]}
  />
)

export const Settings = ({ settings }: Pick<Shown, 'settings'>) => (
  <DataTable
    label="Settings"
    isPlain
    minWidth={560}
    rows={settings}
    rowKey={({ name }) => name}
    columns={[
      { name: 'Setting', cell: ({ name }) => <Code>{name}</Code> },
      { name: 'Value', isText: true, cell: ({ value }) => value },
      {
        name: 'Description',
        isText: true,
        cell: ({ about }) => (
          <Text size="sm" c="dimmed">
            {about.replaceAll('`', '')}
          </Text>
        ),
      },
    ]}
  />
)

export const FailedMails = ({ mails }: { mails: Shown['failed_mails'] }) => (
  <DataTable
    label="Failed emails"
    isPlain
    minWidth={560}
    rows={mails}
    rowKey={({ kind, recipient, created_at }) => `${kind} ${recipient} ${created_at}`}
    columns={[
      { name: 'Recipient', isText: true, cell: ({ recipient }) => recipient ?? '–' },
      { name: 'Email', cell: ({ kind }) => kind.replaceAll('_', ' ') },
      { name: 'Last failure', isText: true, cell: ({ failure }) => failure },
      { name: 'Attempts', isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
      { name: 'Failed', cell: ({ settled_at }) => <Time at={settled_at} ago /> },
    ]}
  />
)
