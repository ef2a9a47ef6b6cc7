// docs/capacity.md and its tables: what was measured, what is assumed, and what follows from both.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Capacity, capacityTable, markdownTable } from './capacity.ts'
import type { Afterwards, ClickDay } from './click-day.ts'
import {
  ASSUMPTIONS,
  type Assumptions,
  LATER_COSTS,
  type LaterCosts,
  type Measured,
  type MeasuredKind,
  planNetwork,
} from './plan.ts'
import { KINDS } from './requests.ts'

const FILE = join(import.meta.dirname, '../../docs/capacity.md')
const MEASURED = 'Measured'
const LATER = 'Measured on a day of clicks'
const ASSUMED = 'Assumed'
const PLANNED = 'Planned'

export const readPage = () => readFileSync(FILE, 'utf8')

/** The first table below this heading: from where to where, and its cells. */
function findTable(page: string, heading: string): { from: number; to: number; rows: string[][] } {
  const headingAt = page.indexOf(`\n## ${heading}\n`)
  const from = page.indexOf('\n|', headingAt) + 1
  if (headingAt === -1 || from === 0) throw new Error(`docs/capacity.md has no table below "${heading}".`)
  const length = page.slice(from).search(/\n(?!\|)/)
  const to = length === -1 ? page.length : from + length
  const [head = [], , ...rows] = page
    .slice(from, to)
    .split('\n')
    .map((line) => line.slice(1, -1).split('|').map((cell) => cell.trim())) // prettier-ignore
  return { from, to, rows: [head, ...rows] }
}

const toNumber = (cell: string | undefined, what: string) => {
  const value = Number(cell?.replaceAll(',', ''))
  if (cell === undefined || cell === '' || Number.isNaN(value)) throw new Error(`docs/capacity.md has no ${what}.`)
  return value
}

export function readMeasured(page: string): Measured {
  const [head = [], ...rows] = findTable(page, MEASURED).rows
  const columns: (keyof MeasuredKind)[] = ['API s', 'worker s', 'PostgreSQL s', 'tables MB', 'indexes MB', 'WAL MB', 'sent MB'] // prettier-ignore
  const ofKind = (kind: string) => {
    const row = rows.find(([name]) => name === kind)
    return Object.fromEntries(columns.map((column) => [column, toNumber(row?.[head.indexOf(column)], `"${column}" of ${kind}`)])) // prettier-ignore
  }
  return Object.fromEntries(KINDS.map((kind) => [kind, ofKind(kind)])) as Measured
}

/** Tables of a name and a value. */
function readValues<Name extends string>(page: string, heading: string, names: readonly Name[]): Record<Name, number> {
  const values = new Map(findTable(page, heading).rows.map(([name = '', value]) => [name, value]))
  return Object.fromEntries(names.map((name) => [name, toNumber(values.get(name), `"${name}"`)])) as Record<
    Name,
    number
  >
}

export const readAssumed = (page: string): Assumptions => readValues(page, ASSUMED, ASSUMPTIONS)
const readLater = (page: string): LaterCosts => readValues(page, LATER, LATER_COSTS)

/** The page with the plan that follows from its own figures. */
export function replan(page: string): string {
  const lines = planNetwork(readMeasured(page), readLater(page), readAssumed(page))
  return replaceTable(page, PLANNED, markdownTable([['what', 'arithmetic', 'result'], ...lines], 2))
}

/** Keeps what was measured, and what follows from it. */
export function acceptCapacity(capacity: Capacity): void {
  writeFileSync(FILE, replan(replaceTable(readPage(), MEASURED, capacityTable(capacity))))
}

export function acceptClickDay({ clicks, rollUpSeconds, dropSeconds, countBytes }: ClickDay & Afterwards): void {
  const million = (amount: number) => ((amount * 1e6) / clicks).toFixed(1)
  const values = [million(rollUpSeconds), million(dropSeconds), million(countBytes / 1e6)]
  const rows = LATER_COSTS.map((name, i) => [name, values[i] ?? ''])
  const table = markdownTable([['of a million clicks', 'measured'], ...rows])
  writeFileSync(FILE, replan(replaceTable(readPage(), LATER, table)))
}

export function acceptPlan(): void {
  writeFileSync(FILE, replan(readPage()))
}

function replaceTable(page: string, heading: string, table: string): string {
  const { from, to } = findTable(page, heading)
  return page.slice(0, from) + table + page.slice(to)
}
