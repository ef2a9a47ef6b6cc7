// What a warehouse sees of an export: the files that the manifests list, and their rows.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import type { Db } from '../src/db/open.ts'
import { exportDue, type ExportOptions } from '../src/features/exports/exporter.ts'
import type { WrittenFile } from '../src/features/exports/positions.ts'
import type { Kind } from '../src/features/exports/read-rows.ts'
import { readExports } from '../src/features/exports/status.ts'
import { until } from './installation.ts'

export type Listed = WrittenFile & { file_no: number }

/** Until everything of before is exported, or it fails. Transactions of other tests can delay it. */
export async function exportEverything(options: ExportOptions): Promise<void> {
  const { rows } = await sql<{ now: Date }>`SELECT clock_timestamp() AS now`.execute(options.db)
  const start = rows[0]?.now ?? new Date()
  await until(async () => {
    await exportDue(options, true)
    const kinds = await readExports(options.db, options.target.url)
    return kinds.every(({ caught_up_at, failures }) => (caught_up_at !== null && caught_up_at > start) || failures > 0)
  })
}

export type Exported = Record<string, string | number | boolean | null | string[]>

const parseLines = <T>(text: string): T[] => text.split('\n').slice(0, -1).map((line) => JSON.parse(line) as T) // prettier-ignore

/** The lines of all manifests of a kind, in their order. */
export const readManifests = (folder: string, kind: Kind): Listed[] =>
  globSync(join(folder, 'manifest', kind, '*.ndjson'))
    .toSorted()
    .flatMap((file) => parseLines<Listed>(readFileSync(file, 'utf8')))

/** All rows by the manifests. Fails where a file is not what its line says. */
export function readExported(folder: string, kind: Kind): Exported[] {
  const listed = readManifests(folder, kind)
  assert.deepEqual(listed.map(({ file_no }) => file_no), listed.map((_, i) => i + 1)) // prettier-ignore
  assert.equal(new Set(listed.map(({ path }) => path)).size, listed.length)
  return listed.flatMap(({ path, rows, bytes, sha256, day, first_position, last_position }) => {
    const content = readFileSync(join(folder, path))
    const found = parseLines<Exported>(gunzipSync(content).toString())
    const positions = found.map(({ position }) => position)
    assert.deepEqual(
      [content.length, hash('sha256', content), found.length, positions[0], positions.at(-1)],
      [bytes, sha256, rows, first_position, last_position],
    )
    const times = found.map((row) => String(row[kind === 'clicks' ? 'clicked_at' : 'event_at']).slice(0, 10))
    assert.deepEqual([...new Set(times)], [day])
    return found
  })
}

/** Every click and every event is in the files, exactly once. */
export async function assertComplete(db: Db, folder: string): Promise<{ clicks: number; events: number }> {
  const clicks = await db.selectFrom('clicks').select('click_id as id').execute()
  const events = await db.selectFrom('conversion_events').select('event_id as id').execute()
  assertSame(readExported(folder, 'clicks').map(({ click_id }) => click_id), clicks) // prettier-ignore
  assertSame(readExported(folder, 'conversion_events').map(({ event_id }) => event_id), events) // prettier-ignore
  return { clicks: clicks.length, events: events.length }
}

function assertSame(exported: readonly unknown[], rows: readonly { id: string }[]): void {
  const seen = new Set(exported)
  const wanted = new Set<unknown>(rows.map(({ id }) => id))
  const missing = [...wanted].filter((id) => !seen.has(id))
  const unknown = [...seen].filter((id) => !wanted.has(id))
  assert.deepEqual({ missing, unknown, twice: exported.length - seen.size }, { missing: [], unknown: [], twice: 0 })
}
