// Imports offers from a file, JSON or CSV, as a stream. Every row stands for itself: a bad one is reported with its
// line and reason, and the others are taken. Importing the same file again changes nothing.
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Db } from '../../db/open.ts'
import { cannotRead, OperatorError } from '../../errors.ts'
import { readCsvRows } from '../../lib/csv-rows.ts'
import { readJsonRows } from '../../lib/json-rows.ts'
import { type Actor, type AuditEntry, onceAuthorized, recordAuditAlone, recordParts } from '../accounts/audit.ts'
import { FIELD_NAMES, type NewOffer } from './fields.ts'
import { describeProblems, readImportRecord } from './import-record.ts'
import { type PlannedChange, type Planned, planOffers } from './import-plan.ts'
import { compareRecords, type OfferChange } from './offer-changes.ts'
import { warningsOf } from './offer-warnings.ts'
import { type UpsertOutcome, upsertOffers } from './upsert.ts'

const BATCH = 500

export type RowProblem = { line: number; problem: string }
export type RowWarning = { line: number; warning: string }
export type ImportResult = { rows: number; created: number; updated: number; unchanged: number; rejected: number }

export const NOTHING: ImportResult = { rows: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 }

export type ImportWatcher = {
  onProblem(problem: RowProblem): void
  /** A line that is taken, and probably wrong. */
  onWarning?(warning: RowWarning): void
  onProgress(readBytes: number, totalBytes: number, result: ImportResult): void
}

type Row = { line: number; offer: NewOffer }

export type ImportSource = { importId: string; file: string; fileName: string }
export type StartedImport = ImportSource & { by: Actor; auditId: number }

/** In the audit log before it begins: none is missing there if it is cut short. A file that cannot be read begins nothing. */
export async function startImport(db: Db, by: Actor, source: ImportSource): Promise<StartedImport> {
  const { importId: subject, fileName: file_name } = source
  await checkFile(source.file)
  const auditId = await recordAuditAlone(db, by, { action: 'offers.import', subject, details: { file_name } })
  return { ...source, by: onceAuthorized(by), auditId }
}

/** Each offer's history has what the import did to it, and the audit log how it ended. */
export async function importOffers(db: Db, started: StartedImport, watcher: ImportWatcher): Promise<ImportResult> {
  const { importId: subject, file, fileName: file_name, by, auditId } = started
  const result: ImportResult = { ...NOTHING }
  const end = (state: 'done' | 'failed') =>
    recordAuditAlone(db, by, { action: 'offers.imported', subject, details: { file_name, state, ...result } })
  try {
    await readFile(file, result, watcher, (rows) =>
      upsertOffers(db, rows, new Date(), (trx, changes) =>
        recordParts(
          trx,
          by,
          auditId,
          changes.map((change) => partOf(change, file_name)),
        ),
      ),
    )
  } catch (error) {
    await end('failed')
    throw error
  }
  await end('done')
  return result
}

function partOf(change: OfferChange, file_name: string): AuditEntry {
  const { offerId: subject } = change
  if (change.made === null) {
    const changes = compareRecords(change.before, change.after)
    return { action: 'offer.import', subject, details: { file_name, changes } }
  }
  const { name, advertiser, external_id } = change.made
  return { action: 'offer.import_new', subject, details: { name, advertiser, external_id, file_name } }
}

/** Previews an import. Nothing is written, and nothing waits for it. */
export function tryImport(
  db: Db,
  file: string,
  watcher: ImportWatcher & { onChange(change: PlannedChange): void },
): Promise<ImportResult> {
  const planned: Planned = new Map()
  return readFile(file, { ...NOTHING }, watcher, (rows) =>
    planOffers(db, rows, planned, (change) => watcher.onChange(change)),
  )
}

async function readFile(
  file: string,
  result: ImportResult,
  watcher: ImportWatcher,
  take: (rows: Row[]) => Promise<UpsertOutcome>,
): Promise<ImportResult> {
  const size = await checkFile(file)
  const lastRows = await findLastRows(file)
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
    if ('problems' in read) reject({ line: row.line, problem: `${prefixOf(row)}${describeProblems(read.problems)}.` })
    else if (lastRows.get(keyOf(read.offer)) !== result.rows) result.unchanged++
    else {
      batch.push({ line: row.line, offer: read.offer })
      for (const warning of warningsOf(read.offer.goals))
        watcher.onWarning?.({ line: row.line, warning: `${prefixOf(row)}${warning}` })
    }
    if (batch.length === BATCH) await flush()
  }
  await flush()
  return result
}

/**
 * For each offer, which row of the file is its last good one. A file may name an offer twice: the last one counts, however
 * far apart they are, and the others change nothing, or the same file imported again would.
 */
async function findLastRows(file: string): Promise<Map<string, number>> {
  const lastRows = new Map<string, number>()
  let count = 0
  for await (const row of readRows(createReadStream(file), file)) {
    count++
    const read = 'problem' in row ? row : readImportRecord(row.value)
    if ('offer' in read) lastRows.set(keyOf(read.offer), count)
  }
  return lastRows
}

const keyOf = ({ advertiser, external_id }: NewOffer) => JSON.stringify([advertiser, external_id])

/** Returns its size. */
async function checkFile(file: string): Promise<number> {
  try {
    const found = await stat(file)
    if (!found.isFile()) throw new OperatorError(`${file} is not a file.`)
    if (!/\.(csv|json)$/i.test(file))
      throw new OperatorError(`${file} must end in .json or .csv, so that it is clear how to read it.`)
    await refuseOtherEncodings(file)
    return found.size
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw cannotRead(file, error)
  }
}

/** UTF-16 begins with a mark of its own, and every second byte of plain text in it is zero. */
async function refuseOtherEncodings(file: string): Promise<void> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1_024), 0, 1_024, 0)
  const start = buffer.subarray(0, bytesRead)
  const isMarked = bytesRead >= 2 && [0xfffe, 0xfeff].includes(start.readUInt16BE(0))
  if (isMarked || start.includes(0))
    throw new OperatorError(
      `${basename(file)} is not UTF-8 text; it looks like UTF-16. Save it as UTF-8 and try again.`,
    )
}

/** `element`: its number in the array, where it does not begin on a line of its own. */
type RawRow = { line: number; value: unknown; element?: number } | RowProblem

const prefixOf = ({ element }: { element?: number }) => (element === undefined ? '' : `element ${element}: `)

function readRows(stream: ReturnType<typeof createReadStream>, file: string): AsyncIterable<RawRow> {
  const text = stream.setEncoding('utf8') as AsyncIterable<string>
  return /\.csv$/i.test(file) ? readCsvRecords(text) : readJsonRows(text)
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
      const { line, lastLine, cells } = row
      if (lastLine > line && hasSwallowed(header, cells))
        yield {
          line,
          problem: `a quote opened here spans other rows; lines ${line} to ${lastLine} were not read`,
        }
      else yield { line, value: toRecord(header, cells) }
    }
  }
  if (header === null) yield { line: 1, problem: 'the file is empty' }
}

const toRecord = (header: string[], cells: string[]) => Object.fromEntries(header.map((name, i) => [name, cells[i]]))

/** Whether a cell of several lines holds a complete row: then its quote was not meant to open one. */
function hasSwallowed(header: string[], cells: string[]): boolean {
  return cells.some((cell, place) => {
    const lines = cell.split('\n')
    if (lines.length === 1) return false
    const rows = lines.map((line) => line.replace(/\r$/, '').split(','))
    rows[0]?.unshift(...cells.slice(0, place))
    rows.at(-1)?.push(...cells.slice(place + 1))
    return rows.some((row) => row.length === header.length && 'offer' in readImportRecord(toRecord(header, row)))
  })
}

function checkHeader(names: string[]): string[] {
  const header = names.map((name) => name.trim())
  const known: readonly string[] = FIELD_NAMES
  const unknown = header.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new OperatorError(
      `The first line names unknown columns: ${unknown.join(', ')}.\nAvailable: ${known.join(', ')}.`,
    )
  if (new Set(header).size < header.length) throw new OperatorError('The first line names a column twice.')
  return header
}
