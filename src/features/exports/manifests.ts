// The manifests of a kind list its files, a line each, in the order in which they were exported: a line stays as it is, new
// ones are added, and a manifest of FILES_PER_MANIFEST files is followed by another. So what is rewritten does not grow.
import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import type { Kind } from './read-rows.ts'
import type { WrittenFile } from './positions.ts'
import type { Target } from './target.ts'

export const FILES_PER_MANIFEST = 1_000

const numberOf = (fileNo: number) => Math.floor((fileNo - 1) / FILES_PER_MANIFEST) + 1
const pathOf = (kind: Kind, number: number) => `manifest/${kind}/${String(number).padStart(8, '0')}.ndjson`

/** Checks that the last manifest is there and as it was written, or writes it again. */
export async function checkManifest(db: Db, target: Target, kind: Kind): Promise<void> {
  const { listed, manifest_bytes } = await readCounts(db, target.url, kind)
  if (listed === 0) return
  const path = pathOf(kind, numberOf(listed))
  const bytes = await target.sizeOf(path)
  // A disk that is not mounted looks like an empty folder.
  if (bytes === null) throw new Error(`${path}, written before, is not there: it may be another disk, or one that is not mounted`) // prettier-ignore
  // Written last by a process that was frozen, and died before it looked again.
  if (bytes !== manifest_bytes) await writeManifest(db, target, kind, numberOf(listed))
}

/** Lists all files that have been written. */
export async function writeManifests(db: Db, target: Target, kind: Kind): Promise<void> {
  const { files, listed } = await readCounts(db, target.url, kind)
  if (listed === files) return
  const last = numberOf(files)
  for (let number = numberOf(listed + 1); number <= last; number++) await writeManifest(db, target, kind, number)
}

/**
 * What another process lists meanwhile is in it, too: a process that was frozen until now would otherwise take lines away
 * again.
 */
async function writeManifest(db: Db, target: Target, kind: Kind, number: number): Promise<void> {
  for (;;) {
    const lines = await readLines(db, target.url, kind, number)
    const last = lines.at(-1)?.file_no ?? 0
    const content = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await target.put(pathOf(kind, number), content)
    const { rows } = await sql<{ is_all: boolean }>`
      UPDATE export_positions SET listed = greatest(listed, ${last}::bigint),
        manifest_bytes = CASE WHEN ${last}::bigint >= listed THEN ${content.length}::bigint ELSE manifest_bytes END
      WHERE target = ${target.url} AND kind = ${kind}
      RETURNING least(files, ${number * FILES_PER_MANIFEST}::bigint) <= ${last}::bigint AS is_all`.execute(db)
    if (rows[0]?.is_all !== false) break
  }
  // Those of the manifest before are kept as well: it may have to be written again by a process that was frozen.
  await sql`DELETE FROM export_files WHERE target = ${target.url} AND kind = ${kind}
    AND file_no <= ${(number - 2) * FILES_PER_MANIFEST}::bigint`.execute(db)
}

type Line = WrittenFile & { file_no: number; exported_at: Date }

async function readLines(db: Db, target: string, kind: Kind, number: number): Promise<Line[]> {
  const { rows } = await sql<Line>`
    SELECT file_no, path, to_char(day, 'YYYY-MM-DD') AS day, rows, bytes, sha256, first_position, last_position, schema_version, exported_at
    FROM export_files WHERE target = ${target} AND kind = ${kind}
      AND file_no > ${(number - 1) * FILES_PER_MANIFEST} AND file_no <= ${number * FILES_PER_MANIFEST} ORDER BY file_no`.execute(
    db,
  )
  return rows
}

const readCounts = (db: Db, target: string, kind: Kind) =>
  db
    .selectFrom('export_positions')
    .select(['files', 'listed', 'manifest_bytes'])
    .where('target', '=', target)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
