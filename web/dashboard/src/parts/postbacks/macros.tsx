import { Accordion, Code, Table } from '@mantine/core'
import type { Macro } from './template-input.tsx'
import { Words } from './words.tsx'

/** Everything that can stand in an address. */
export function MacroTable({ macros }: { macros: Macro[] }) {
  return (
    <Accordion variant="contained" order={2}>
      <Accordion.Item value="macros">
        <Accordion.Control>All macros</Accordion.Control>
        <Accordion.Panel>
          <Table.ScrollContainer minWidth={560}>
            <Table verticalSpacing={6}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Macro</Table.Th>
                  <Table.Th>Stands for</Table.Th>
                  <Table.Th>Example</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {macros.map(({ name, description, example }) => (
                  <Table.Tr key={name}>
                    <Table.Td>
                      <Code>{`{${name}}`}</Code>
                    </Table.Td>
                    <Table.Td>
                      <Words text={description} />
                    </Table.Td>
                    <Table.Td style={{ overflowWrap: 'anywhere' }}>{example}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}
