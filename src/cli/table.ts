// Tables that fit the screen: long cells are cut with an ellipsis, and the last columns are left out where even that is
// not enough. Times, IDs and keys are never cut: the next command needs them whole. With --wide everything is printed.
import { styleText } from 'node:util'
import { terminal } from './terminal.ts'

const WIDTH = 100
const GAP = '  '
const MIN_CELL = 12

type Row = Record<string, unknown>
type Column = { name: string; cells: string[]; width: number }

export function drawTable(rows: Row[]): string {
  const all = Object.keys(rows[0] ?? {}).map((name) => columnOf(name, rows))
  const { isWide, out } = terminal()
  const room = out.isTTY && out.columns ? Math.max(out.columns, 60) : WIDTH
  const columns = isWide ? all : fit(all, room)
  const lines = [
    style(
      'bold',
      lineOf(columns, (column) => column.name),
    ),
    ...rows.map((_, i) => lineOf(columns, (column) => column.cells[i] ?? '', paint)),
  ]
  const left = all.slice(columns.length).map(({ name }) => name)
  return [...lines, ...(left.length === 0 ? [] : ['', `Add --wide for ${left.join(', ')}.`])].join('\n')
}

function columnOf(name: string, rows: Row[]): Column {
  const cells = rows.map((row) => oneLine(textOf(row[name])))
  return { name, cells, width: Math.max(name.length, ...cells.map((cell) => cell.length)) }
}

const isKept = ({ name }: Column) => /(^|_)(id|at)$|api_key$/.test(name)
const widthOf = (columns: Column[]) =>
  columns.reduce((sum, { width }) => sum + width, 0) + GAP.length * (columns.length - 1)

/** Narrows the widest columns in turn, down to a cell that still says something; then leaves out columns. */
function fit(all: Column[], room: number): Column[] {
  let columns = all
  while (columns.length > 1 && widthOf(columns.map(narrowest)) > room) columns = columns.slice(0, -1)
  const fitted = columns.map((column) => ({ ...column }))
  while (widthOf(fitted) > room) {
    const [widest] = fitted.filter((one) => one.width > narrowest(one).width).toSorted((a, b) => b.width - a.width)
    if (widest === undefined) break
    widest.width--
  }
  return fitted
}

const narrowest = (column: Column): Column =>
  isKept(column) ? column : { ...column, width: Math.min(column.width, Math.max(MIN_CELL, column.name.length)) }

type Painter = (column: Column, text: string) => string

function lineOf(columns: Column[], cellOf: (column: Column) => string, painter: Painter = (_, text) => text): string {
  const last = columns.length - 1
  return columns
    .map((column, i) => {
      const text = cut(cellOf(column), column.width)
      return painter(column, i === last ? text : text.padEnd(column.width))
    })
    .join(GAP)
    .trimEnd()
}

const cut = (text: string, width: number) => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)
const oneLine = (text: string) => text.replaceAll(/\s*\n\s*/g, ' ')

const EMPTY = '-'

/** A value on one line; whatever holds nothing looks the same. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return EMPTY
  if (typeof value === 'object' && Object.keys(value).length === 0) return EMPTY
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const COLOURS: Record<string, 'green' | 'yellow' | 'red'> = {
  ...Object.fromEntries(['approved', 'active', 'delivered', 'paid', 'pass', 'ok', 'valid'].map((word) => [word, 'green'])),
  ...Object.fromEntries(['pending', 'queued', 'sending', 'paused', 'due', 'unmatched', 'failing', 'waiting'].map((word) => [word, 'yellow'])),
  ...Object.fromEntries(['rejected', 'reversed', 'dead', 'failed', 'fail', 'revoked', 'expired', 'suspended', 'invalid', 'refused', 'cancelled'].map((word) => [word, 'red'])),
} // prettier-ignore

const COLOURED = ['status', 'state', 'outcome', 'result', 'postbacks', 'live', 'test']

const paint: Painter = ({ name }, text) => {
  const colour = COLOURED.includes(name) ? COLOURS[/^[a-z]+/.exec(text)?.[0] ?? ''] : undefined
  return colour === undefined ? text : style(colour, text)
}

/** Colours only where a person looks at them. */
function style(format: 'bold' | 'green' | 'yellow' | 'red', text: string): string {
  const { out, env } = terminal()
  return out.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
    ? styleText(format, text, { validateStream: false })
    : text
}
