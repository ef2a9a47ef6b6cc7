import { Table } from '@mantine/core'
import type { ReactNode } from 'react'

export type Fact = readonly [name: string, value: ReactNode]

/** What is known of one thing: names on the left, values beside them. */
export function Facts({ label, facts }: { label: string; facts: readonly Fact[] }) {
  return (
    <Table variant="vertical" layout="fixed" aria-label={label} highlightOnHover={false}>
      <Table.Tbody>
        {facts.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w={{ base: 104, sm: 140 }} scope="row" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Table.Th>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
