// The longer lists of the system page.
import { Code, Stack, Table, Text } from '@mantine/core'
import type { System } from '../../../../../src/manage/system/schema.ts'
import type { Reply } from '../../lib/api.ts'
import { formatCount } from '../../lib/format.ts'
import { Time } from '../time.tsx'
import { formatBytes } from './bytes.ts'

type Shown = Reply<typeof System>
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

export function Processes({ processes }: Pick<Shown, 'processes'>) {
  return (
    <Stack gap={4}>
      {processes.map(({ address, connected_at }, i) => (
        <Text key={`${address ?? ''} ${connected_at ?? ''} ${i}`} size="sm" component="div">
          {address ?? 'On the machine of the database'} · connected{' '}
          <Time at={connected_at} ago none="at an unknown time" />
        </Text>
      ))}
    </Stack>
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
            <Table.Th>What it does</Table.Th>
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
