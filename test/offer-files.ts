// Files of offers as advertisers send them, and what importing them does.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after } from 'node:test'
import type { Db } from '../src/db/open.ts'
import { FIELD_NAMES } from '../src/features/offers/fields.ts'
import {
  importOffers,
  type ImportResult,
  type ImportWatcher,
  type RowProblem,
  startImport,
} from '../src/features/offers/import.ts'
import { TESTER } from './tester.ts'

export async function importFile(db: Db, file: string, watcher: ImportWatcher): Promise<ImportResult> {
  const source = { importId: randomUUID(), file, fileName: basename(file) }
  return importOffers(db, await startImport(db, TESTER, source), watcher)
}

export type Format = 'json' | 'csv'
export const FORMATS: readonly Format[] = ['json', 'csv']

const COLUMNS: readonly string[] = FIELD_NAMES

type Cells = Record<string, unknown>

/** An array with an element a line, so that row n stands on line n + 2; a text stands there as it is. */
export function asJson(rows: (Cells | string)[]): string {
  return `[\n${rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join(',\n')}\n]\n`
}

/** A header with all columns, then a line a row, so that row n stands on line n + 2; a text stands there as it is. */
export function asCsv(rows: (Cells | string)[], { newline = '\n', columns = COLUMNS } = {}) {
  const lines = rows.map((row) => (typeof row === 'string' ? row : columns.map((name) => cell(row[name])).join(',')))
  return [columns.join(','), ...lines, ''].join(newline)
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const write = (format: Format, rows: (Cells | string)[]) => (format === 'json' ? asJson(rows) : asCsv(rows))

export type Imported = ImportResult & { problems: RowProblem[] }

/** A folder for the files of a test file, gone after it, and what imports a text through a file in it. */
export function useOfferFiles(): {
  folder: string
  importText(db: Db, name: string, content: string): Promise<Imported>
} {
  const folder = mkdtempSync(join(tmpdir(), 'offerdeck-import-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    /** DEL stands for a byte that is not UTF-8. */
    async importText(db, name, content) {
      const file = join(folder, name)
      writeFileSync(
        file,
        Buffer.from(content).map((byte) => (byte === 0x7f ? 0xff : byte)),
      )
      const problems: RowProblem[] = []
      const result = await importFile(db, file, { onProblem: (one) => problems.push(one), onProgress: () => {} })
      return { ...result, problems }
    },
  }
}

/** A value for every optional field, with all that makes reading a cell hard. */
export const FULL_CELLS = {
  name: 'Größe, "Mut" und\nein 🎲',
  description: 'Line one\nline two, "quoted"',
  category: 'game',
  payout: '3.5',
  revenue: '5',
  countries: 'US,DE',
  platforms: 'ios;android',
  image_url: '/pictures/game-1.svg',
  difficulty: 'hard',
  time_estimate: '5-10 minutes',
  language: 'DE',
  requirements: 'New users only',
  translations: { FR: { name: 'Œuvre', description: '' }, de: { requirements: 'Nur neue Nutzer' }, es: {} },
  payment_required: 'yes',
  conversion_type: 'cpe',
  goals: [
    {
      name: 'Install',
      payout: 0.5,
      revenue: 1,
      description: 'Open it',
      translations: { pl: { name: 'Zainstaluj' } },
    },
    { name: 'Level 9', payout: 3, revenue: 4, is_optional: true },
  ],
  status: 'paused',
  starts_at: '2026-01-01',
  ends_at: '2026-12-31T23:59:59+01:00',
}
