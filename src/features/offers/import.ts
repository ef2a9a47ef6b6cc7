// Imports offers from a file, JSON or CSV, as a stream. Every row stands for itself: a bad one is reported with its
// line and reason, and the others are taken. Importing the same file again changes nothing.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Db } from '../../db/open.ts'
import { messageOf, OperatorError } from '../../errors.ts'
import { readCsvRows } from '../../lib/csv-rows.ts'
import { readJsonRows } from '../../lib/json-rows.ts'
import { IMPORT_FIELDS, type NewOffer, readImportRecord } from './import-record.ts'
import { type PlannedChange, type Planned, planOffers } from './import-plan.ts'
import type { OnOfferChanges } from './offer-changes.ts'
import { type UpsertOutcome, upsertOffers } from './upsert.ts'

const BATCH = 500

export type RowProblem = { line: number; problem: string }
export type ImportResult = { rows: number; created: number; updated: number; unchanged: number; rejected: number }

export type ImportWatcher = {
  onProblem(problem: RowProblem): void
  onProgress(readBytes: number, totalBytes: number, result: ImportResult): void
}

type Row = { line: number; offer: NewOffer }

export const importOffers = (
  db: Db,
  file: string,
  watcher: ImportWatcher,
  onChanges?: OnOfferChanges,
): Promise<ImportResult> => readFile(file, watcher, (rows) => upsertOffers(db, rows, new Date(), onChanges))

/** What importing the file would do, now. Nothing is written, and nobody waits for it. */
export function tryImport(
  db: Db,
  file: string,
  watcher: ImportWatcher & { onChange(change: PlannedChange): void },
): Promise<ImportResult> {
  const planned: Planned = new Map()
  return readFile(file, watcher, (rows) => planOffers(db, rows, planned, (change) => watcher.onChange(change)))
}

async function readFile(
  file: string,
  watcher: ImportWatcher,
  take: (rows: Row[]) => Promise<UpsertOutcome>,
): Promise<ImportResult> {
  const size = await sizeOf(file)
  const result: ImportResult = { rows: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 }
  const reject = (problem: RowProblem) => {
    result.rejected++
    watcher.onProblem(problem)
  }
  const stream = createReadStream(file)
  let batch: Row[] = []
  const flush = async () => {
    const outcome = await take(batch)
    result.created += outcome.created
    result.updated += outcome.updated
    result.unchanged += outcome.unchanged
    outcome.problems.forEach(reject)
    batch = []
    watcher.onProgress(stream.bytesRead, size, result)
  }
  for await (const row of readRows(stream, file)) {
    result.rows++
    if ('problem' in row) {
      reject(row)
      continue
    }
    const read = readImportRecord(row.value)
    if ('problems' in read) reject({ line: row.line, problem: `${read.problems.join('; ')}.` })
    else batch.push({ line: row.line, offer: read.offer })
    if (batch.length === BATCH) await flush()
  }
  await flush()
  return result
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (found.isFile()) return found.size
  } catch (error) {
    throw new OperatorError(`Cannot read ${file}: ${messageOf(error)}`)
  }
  throw new OperatorError(`${file} is not a file.`)
}

type RawRow = { line: number; value: unknown } | RowProblem

function readRows(stream: ReturnType<typeof createReadStream>, file: string): AsyncIterable<RawRow> {
  if (/\.csv$/i.test(file)) return readCsvRecords(stream.setEncoding('utf8') as AsyncIterable<string>)
  if (/\.json$/i.test(file)) return readJsonRows(stream.setEncoding('utf8') as AsyncIterable<string>)
  throw new OperatorError(`${file} must end in .json or .csv, so that it is clear how to read it.`)
}

async function* readCsvRecords(text: AsyncIterable<string>): AsyncGenerator<RawRow> {
  let header: string[] | null = null
  for await (const row of readCsvRows(text)) {
    if ('problem' in row) yield row
    else if (header === null) header = checkHeader(row.cells)
    else if (row.cells.length !== header.length)
      yield {
        line: row.line,
        problem: `has ${row.cells.length} cells, but the first line names ${header.length} columns`,
      }
    else {
      const { cells } = row
      yield { line: row.line, value: Object.fromEntries(header.map((name, i) => [name, cells[i]])) }
    }
  }
  if (header === null) yield { line: 1, problem: 'the file is empty' }
}

function checkHeader(names: string[]): string[] {
  const header = names.map((name) => name.trim())
  const known: readonly string[] = IMPORT_FIELDS
  const unknown = header.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new OperatorError(
      `The first line names columns that are not known: ${unknown.join(', ')}.\nKnown are: ${known.join(', ')}.`,
    )
  if (new Set(header).size < header.length) throw new OperatorError('The first line names a column twice.')
  return header
}
