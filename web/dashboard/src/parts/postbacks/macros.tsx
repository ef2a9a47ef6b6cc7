import { Accordion, Code } from '@mantine/core'
import { DataTable } from '../data-table.tsx'
import type { Macro } from './template-input.tsx'
import { Words } from './words.tsx'

/** Everything that can stand in an address. */
export function MacroTable({ macros }: { macros: Macro[] }) {
  return (
    <Accordion variant="contained" order={2}>
      <Accordion.Item value="macros">
        <Accordion.Control>All macros</Accordion.Control>
        <Accordion.Panel>
          <DataTable
            label="Macros"
            isPlain
            minWidth={560}
            rows={macros}
            rowKey={({ name }) => name}
            columns={[
              { name: 'Macro', cell: ({ name }) => <Code>{`{${name}}`}</Code> },
              { name: 'Stands for', cell: ({ description }) => <Words text={description} /> },
              { name: 'Example', isText: true, cell: ({ example }) => example },
            ]}
          />
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}
