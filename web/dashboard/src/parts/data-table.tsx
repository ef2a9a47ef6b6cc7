// The rows of a list, as a table. On a phone each row becomes a card, with the name of its column beside each value.
import { Paper, Stack, Table } from '@mantine/core'
import type { Key, ReactNode } from 'react'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  /** In place of its name at the top, such as a checkbox. */
  header?: ReactNode
  isNumber?: boolean
  /** Free text of any length: breaks anywhere, and takes the room that the others leave. */
  isText?: boolean
  isStrong?: boolean
}

type DataTableProps<Row> = {
  rows: readonly Row[]
  /** What is false is left out: for columns that not everybody sees. */
  columns: readonly (Column<Row> | false)[]
  rowKey: (row: Row) => Key
  /** Below this width in pixels it scrolls, on screens wider than a phone. */
  minWidth?: number
  /** Inside of something that has a frame. */
  isPlain?: boolean
  /** Instead of a table without rows. */
  empty?: ReactNode
  /** Below the rows, such as the way to the next ones. */
  pager?: ReactNode
}

export function DataTable<Row>({ rows, columns, rowKey, minWidth = 640, ...rest }: DataTableProps<Row>) {
  const { isPlain = false, empty, pager } = rest
  if (rows.length === 0 && empty !== undefined) return empty
  const shown = columns.filter((column) => column !== false)
  const table = (
    <div className="rows-frame" tabIndex={0}>
      <Table className="rows" role="table" style={{ '--rows-width': `${minWidth}px` }}>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {shown.map(({ name, header = name, isNumber }) => (
              <Table.Th key={name} role="columnheader" ta={isNumber === true ? 'right' : 'left'}>
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)} role="row">
              {shown.map((column) => (
                <Cell key={column.name} column={column} row={row} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
  return (
    <Stack>
      {isPlain ? table : <Paper p={0}>{table}</Paper>}
      {pager}
    </Stack>
  )
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const { name, header, cell, isNumber, isText, isStrong } = column
  return (
    <Table.Td
      role="cell"
      className={isText === true ? 'rows-text' : isNumber === true ? 'rows-number' : ''}
      data-name={header === undefined ? name : ''}
      {...(isNumber === true ? { ta: 'right' } : {})}
      {...(isStrong === true ? { fw: 600 } : {})}
    >
      <div>{cell(row)}</div>
    </Table.Td>
  )
}
