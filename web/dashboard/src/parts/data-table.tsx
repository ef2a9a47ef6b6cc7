// The rows of a list, as a table. On a phone each row becomes a card, with the name of its column beside each value.
import { Paper, Stack, Table } from '@mantine/core'
import type { Key, MouseEvent, ReactNode } from 'react'

export type Column<Row> = {
  name: string
  cell: (row: Row) => ReactNode
  /** In place of its name at the top, such as a checkbox. */
  header?: ReactNode
  /** Its name at the top with more to it, such as what it means. A phone has the name alone. */
  heading?: ReactNode
  /** The rows are in its order. */
  sorted?: 'ascending' | 'descending' | undefined
  isNumber?: boolean
  /** Free text of any length: breaks anywhere, and takes the room that the others leave. */
  isText?: boolean
  /** A few words: on one line. */
  isShort?: boolean
  isStrong?: boolean
  /** Of all rows, in a last line below them. */
  total?: ReactNode
}

type DataTableProps<Row> = {
  rows: readonly Row[]
  /** What is false is left out: for columns that not everybody sees. */
  columns: readonly (Column<Row> | false)[]
  rowKey: (row: Row) => Key
  /** Below this width in pixels it scrolls, on screens wider than a phone. */
  minWidth?: number
  /** In pixels: a long list scrolls inside of it. */
  maxHeight?: number
  /** A click anywhere on a row opens it. Without a mouse, a link or button in one of its cells does. */
  onOpen?: (row: Row) => void
  /** Inside of something that has a frame. */
  isPlain?: boolean
  /** What it lists, for those who do not see where it stands. */
  label?: string
  /** Instead of a table without rows. */
  empty?: ReactNode
  /** Below the rows, such as the way to the next ones. */
  pager?: ReactNode
}

export function DataTable<Row>({ rows, columns, rowKey, minWidth = 640, ...rest }: DataTableProps<Row>) {
  const { isPlain = false, maxHeight, label, onOpen, empty, pager } = rest
  if (rows.length === 0 && empty !== undefined) return empty
  const shown = columns.filter((column) => column !== false)
  const table = (
    <div className="rows-frame" tabIndex={0} style={{ maxHeight }}>
      <Table
        className="rows"
        role="table"
        aria-label={label}
        stickyHeader={maxHeight !== undefined}
        style={{ '--rows-width': `${minWidth}px` }}
      >
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {shown.map(({ name, heading = name, header = heading, isNumber, sorted }) => (
              <Table.Th
                key={name}
                role="columnheader"
                ta={isNumber === true ? 'right' : 'left'}
                {...(sorted === undefined ? {} : { 'aria-sort': sorted })}
              >
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr key={rowKey(row)} role="row" {...opening(row, onOpen)}>
              {shown.map((column) => (
                <Cell key={column.name} column={column} row={row} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Totals columns={shown} />
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

function opening<Row>(row: Row, onOpen: ((row: Row) => void) | undefined) {
  if (onOpen === undefined) return {}
  const onClick = ({ target }: MouseEvent<HTMLTableRowElement>) => {
    const isControl = (target as Element).closest('a, button, input, label') !== null
    if (!isControl && window.getSelection()?.isCollapsed !== false) onOpen(row)
  }
  return { onClick, style: { cursor: 'pointer' } }
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }) {
  const { name, header, cell, isNumber, isText, isShort, isStrong } = column
  return (
    <Table.Td
      role="cell"
      className={isText === true ? 'rows-text' : isNumber === true || isShort === true ? 'rows-short' : ''}
      data-name={header === undefined ? name : ''}
      {...(isNumber === true ? { ta: 'right' } : {})}
      {...(isStrong === true ? { fw: 600 } : {})}
    >
      <div>{cell(row)}</div>
    </Table.Td>
  )
}

function Totals<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  if (columns.every(({ total }) => total === undefined)) return null
  return (
    <Table.Tfoot role="rowgroup">
      <Table.Tr role="row">
        {columns.map(({ total, ...column }) => (
          <Cell key={column.name} column={{ ...column, isStrong: true, cell: () => total }} row={undefined} />
        ))}
      </Table.Tr>
    </Table.Tfoot>
  )
}
