import { Option } from 'commander'
import { microsToUsd } from '../lib/money.ts'
import { parseTime, rfc3339 } from '../lib/time.ts'
import { isUuid } from '../lib/uuid7.ts'
import { drawTable, textOf } from './table.ts'
import { terminal } from './terminal.ts'
import { UsageError } from './usage.ts'

export type OutputOptions = { json?: boolean; wide?: boolean }

export function say(text: string): void {
  terminal().out.write(`${text}\n`)
}

/** Prints a result: as JSON where asked, else as `text` puts it. */
export function show<T>({ json }: OutputOptions, result: T, text: (result: T) => string): void {
  say(json ? JSON.stringify(present(result, isoTime), null, 2) : text(result))
}

type TimeFormat = (time: Date) => string
/** As the management API writes times. */
const isoTime: TimeFormat = (time) => time.toISOString()

/** Money as dollars, as the API shows it. Times to the second: people read them. */
export function present(value: unknown, timeOf: TimeFormat = rfc3339): unknown {
  if (value instanceof Date) return timeOf(value)
  if (Array.isArray(value)) return value.map((one) => present(one, timeOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) =>
      name.endsWith('_micros')
        ? [name.slice(0, -'_micros'.length), typeof inner === 'number' ? microsToUsd(inner) : inner]
        : [name, present(inner, timeOf)],
    ),
  )
}

/** Rows under the names of their fields, or a sentence when there are none. */
export function table(rows: Record<string, unknown>[], empty: string): string {
  if (rows.length === 0) return empty
  return drawTable(rows.map((row) => present(row) as Record<string, unknown>))
}

/** What stands under a list that is as long as was asked for: `how` to see what comes after the last one. */
export function readOn<T>(listed: readonly T[], limit: number, how: (last: T) => string): string {
  const last = listed.length === limit ? listed.at(-1) : undefined
  return last === undefined ? '' : `\n\nThere may be more: ${how(last)}`
}

/** Where a search goes on, which ends after a while where little fits. */
export const goOn = (next: string | null) => (next === null ? '' : `\n\nThere may be more: add --before ${next}`)

/** Every list leaves out what test credentials did, unless it is asked for that. */
export const testOption = () => new Option('--test', 'show test traffic, which is excluded by default')

export const noneListed = (what: string, { test }: { test?: boolean }) =>
  test ? `No test ${what} found.` : `No ${what} found. Add --test for test traffic.`

/** One record, a field a line. */
export function fields(record: Record<string, unknown>): string {
  const entries = Object.entries(present(record) as Record<string, unknown>)
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${textOf(value)}`).join('\n')
}

/** For an option that can be repeated. */
export const collect = (value: string, before: string[]) => [...before, value]

const MAX_LISTED = 1_000

export function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LISTED) throw new UsageError(`--limit must be a whole number from 1 to ${MAX_LISTED}.`)
  return limit
}

export function readId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`"${text}" is not a valid ID: IDs are whole numbers.`)
  return Number(text)
}

/** The id of something that is not numbered, called `what`. */
export function readUuid(text: string, option: string, what: string): string {
  if (!isUuid(text)) throw new UsageError(`${option} must be ${what}.`)
  return text
}

export function readTime(text: string, option: string): Date {
  const time = parseTime(text)
  if (time === null) throw new UsageError(`${option} must be a time such as 2026-01-31T12:00:00Z.`)
  return time
}
