// The longer lists of the system page.
import { Code, Table, Text } from '@mantine/core'
import type { Schemas } from '../../lib/api-types.ts'
import { formatCount } from '../../lib/format.ts'
import { Status } from '../status.tsx'
import { Time } from '../time.tsx'
import { formatBytes } from './bytes.ts'

type Shown = Schemas['System']
const FOCUSABLE = { viewportProps: { tabIndex: 0 } } // a keyboard can move what is wider than the screen

export function Partitions({ partitions }: Pick<Shown, 'partitions'>) {
  return (
    <Table.ScrollContainer minWidth={480} scrollAreaProps={FOCUSABLE}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Table</Table.Th>
            <Table.Th ta="right">Days</Table.Th>
            <Table.Th>From</Table.Th>
            <Table.Th>To</Table.Th>
            <Table.Th ta="right">Size</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {partitions.map(({ table, count, oldest_day, newest_day, bytes }) => (
            <Table.Tr key={table}>
              <Table.Td>{table.replaceAll('_', ' ')}</Table.Td>
              <Table.Td ta="right">{formatCount(count)}</Table.Td>
              <Table.Td>{oldest_day ?? '–'}</Table.Td>
              <Table.Td>{newest_day ?? '–'}</Table.Td>
              <Table.Td ta="right">{formatBytes(bytes)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

export function Nodes({ nodes }: Pick<Shown, 'nodes'>) {
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={FOCUSABLE}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Host</Table.Th>
            <Table.Th>Process</Table.Th>
            <Table.Th>Part</Table.Th>
            <Table.Th>Version</Table.Th>
            <Table.Th>Started</Table.Th>
            <Table.Th>Last seen</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {nodes.map(({ host, pid, part, version, started_at, seen_at, is_here }) => (
            <Table.Tr key={`${host} ${pid} ${part} ${started_at}`}>
              <Table.Td>{host}</Table.Td>
              <Table.Td>{pid}</Table.Td>
              <Table.Td>{part}</Table.Td>
              <Table.Td>{version}</Table.Td>
              <Table.Td>
                <Time at={started_at} ago />
              </Table.Td>
              <Table.Td>{is_here ? <Status value="running" /> : <Time at={seen_at} ago />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

export function Settings({ settings }: Pick<Shown, 'settings'>) {
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={FOCUSABLE}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Setting</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>Description</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {settings.map(({ name, value, about }) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Code>{name}</Code>
              </Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }} miw={120} maw={260}>
                {value}
              </Table.Td>
              <Table.Td>
                <Text size="sm" c="dimmed">
                  {about.replaceAll('`', '')}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

export function FailedMails({ mails }: { mails: Shown['failed_mails'] }) {
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={FOCUSABLE}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Recipient</Table.Th>
            <Table.Th>Mail</Table.Th>
            <Table.Th>Last failure</Table.Th>
            <Table.Th ta="right">Attempts</Table.Th>
            <Table.Th>Failed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {mails.map(({ kind, recipient, failure, attempts, created_at, settled_at }) => (
            <Table.Tr key={`${kind} ${recipient} ${created_at}`}>
              <Table.Td>{recipient ?? '–'}</Table.Td>
              <Table.Td>{kind.replaceAll('_', ' ')}</Table.Td>
              <Table.Td>{failure}</Table.Td>
              <Table.Td ta="right">{formatCount(attempts)}</Table.Td>
              <Table.Td>
                <Time at={settled_at} ago />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
