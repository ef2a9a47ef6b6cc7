// How far each kind of row is exported to a target.
//
//   through < planned: files of the rows between are being written, or were when a process died; the same are written again
//   planned null:      everything up to `through` is in files
//   listed < files:    the last files are not in a manifest yet
//
// A range is planned before its first file is written, and done in one transaction with the list of its files. So a crash
// leads to the same files once more, and no row is listed twice, whichever processes write at the same time. The paths of
// the files are noted before, so that those that a second attempt does not write are known.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/open.ts'
import { findLastSettled } from '../../db/settled-ids.ts'
import { KINDS, type Kind, type Range } from './read-rows.ts'

/** Of a file, and of what is in memory at once. */
export const MOST_ROWS = 25_000
const PATIENCE_MS = 5_000

export type Position = {
  kind: Kind
  through: number
  planned: number | null
  old_through: string
  old_planned: string | null
  files: number
  listed: number
}

/** `isOld`: clicks without a number. `reachedAt`: with it, everything of before that time is exported. */
export type Plan = Range & { kind: Kind; isOld: boolean; reachedAt: Date | null }

export type WrittenFile = {
  path: string
  day: string
  rows: number
  bytes: number
  sha256: string
  first_position: number | null
  last_position: number | null
  schema_version: number
}

/** Those that are due now; all, where `isAsked`. A clock that was set back makes none wait for longer than an interval. */
export async function findDue(db: Db, target: string, intervalSeconds: number, isAsked: boolean): Promise<Kind[]> {
  const longest = sql`now() + make_interval(secs => ${Math.max(intervalSeconds, MAX_BACKOFF_SECONDS)})`
  const find = async () =>
    (await sql<{ kind: Kind; is_due: boolean }>`
      SELECT kind, ${isAsked} OR due_at <= now() OR due_at > ${longest} AS is_due FROM export_positions
      WHERE target = ${target} AND kind = ANY (${[...KINDS]}) ORDER BY kind`.execute(db)).rows // prettier-ignore
  let found = await find()
  if (found.length < KINDS.length) {
    await sql`INSERT INTO export_positions (target, kind) SELECT ${target}, unnest(${[...KINDS]}::text[]) ON CONFLICT DO NOTHING`.execute(db) // prettier-ignore
    found = await find()
  }
  return found.filter(({ is_due }) => is_due).map(({ kind }) => kind)
}

async function readPosition(db: Db, target: string, kind: Kind): Promise<Position> {
  const columns = ['kind', 'through', 'planned', 'old_through', 'old_planned', 'files', 'listed'] as const
  const query = db.selectFrom('export_positions').select(columns)
  return (await query.where('target', '=', target).where('kind', '=', kind).executeTakeFirstOrThrow()) as Position
}

/** There is nothing to write now; `reachedAt` is null where that does not mean that everything is exported. */
type Nothing = { reachedAt: Date | null }

/** What is to be written next. */
export async function planNext(db: Db, target: string, kind: Kind, patienceMs = PATIENCE_MS): Promise<Plan | Nothing> {
  const position = await readPosition(db, target, kind)
  const { through, planned, old_through, old_planned } = position
  if (old_planned !== null) return { kind, isOld: true, after: old_through, upTo: old_planned, reachedAt: null }
  if (planned !== null) return { kind, isOld: false, after: through, upTo: planned, reachedAt: null }
  const oldEnd = kind === 'clicks' ? await findOldEnd(db, old_through) : null
  if (oldEnd !== null) return plan(db, target, { kind, isOld: true, after: old_through, upTo: oldEnd, reachedAt: null })
  const { end, readAt } = await findEnd(db, kind, patienceMs)
  if (end <= through) return { reachedAt: end < through ? null : readAt } // nothing is settled while a transaction stays open
  const upTo = Math.min(end, through + MOST_ROWS)
  return plan(db, target, { kind, isOld: false, after: through, upTo, reachedAt: upTo === end ? readAt : null })
}

async function plan(db: Db, target: string, next: Plan): Promise<Plan | Nothing> {
  const { kind, isOld, after, upTo } = next
  const { numAffectedRows } = await sql`UPDATE export_positions SET ${planned(isOld)} = ${upTo}
    WHERE target = ${target} AND kind = ${kind} AND ${through(isOld)} = ${after} AND planned IS NULL AND old_planned IS NULL`.execute(
    db,
  )
  return numAffectedRows === 0n ? { reachedAt: null } : next // another process was faster
}

const planned = (isOld: boolean) => sql.ref(isOld ? 'old_planned' : 'planned')
const through = (isOld: boolean) => sql.ref(isOld ? 'old_through' : 'through')

/** The position that no lower one can still follow, and a time of before it was looked for. */
async function findEnd(db: Db, kind: Kind, patienceMs: number): Promise<{ end: number; readAt: Date }> {
  const { rows } = await sql<{ at: Date; end: number }>`
    SELECT clock_timestamp() AS at, coalesce((SELECT max(seq) FROM event_feed), 0) AS end`.execute(db)
  const [{ at: readAt, end } = { at: new Date(0), end: 0 }] = rows
  return { end: kind === 'clicks' ? await findLastSettled(db, 'click_numbers', patienceMs) : end, readAt }
}

/** The last ID of the next clicks without a number; null: there are none left. */
async function findOldEnd(db: Db, after: string): Promise<string | null> {
  const { rows } = await sql<{ id: string | null }>`
    SELECT click_id AS id FROM (SELECT c.click_id FROM clicks c
      WHERE c.click_id > ${after}::uuid AND c.click_id <= (SELECT last_id FROM unnumbered_clicks) AND c.click_no IS NULL
      ORDER BY c.click_id LIMIT ${MOST_ROWS}) AS next ORDER BY click_id DESC LIMIT 1`.execute(db)
  return rows[0]?.id ?? null
}

/** Before their first byte is written. False: another process was faster. */
export async function noteBegun(db: Db, target: string, of: Plan, files: readonly WrittenFile[]): Promise<boolean> {
  const { kind, isOld, after, upTo } = of
  const { numAffectedRows = 0n } = await sql`
    UPDATE export_positions SET begun = ARRAY(SELECT unnest(begun) UNION SELECT unnest(${pathsOf(files)}::text[]))
    WHERE target = ${target} AND kind = ${kind} AND ${through(isOld)} = ${after} AND ${planned(isOld)} = ${upTo}`.execute(
    db,
  )
  return numAffectedRows > 0n
}

const pathsOf = (files: readonly WrittenFile[]) => files.map(({ path }) => path)

/** Those that were begun and never listed. None while a range is being written: any of them may still be. */
export async function readUnlisted(db: Db, target: string, kind: Kind): Promise<string[]> {
  const { rows } = await sql<{ begun: string[] }>`SELECT begun FROM export_positions
    WHERE target = ${target} AND kind = ${kind} AND planned IS NULL AND old_planned IS NULL`.execute(db)
  return rows[0]?.begun ?? []
}

export async function forgetUnlisted(db: Db, target: string, kind: Kind, paths: readonly string[]): Promise<void> {
  await sql`UPDATE export_positions SET begun = ${without([...paths])} WHERE target = ${target} AND kind = ${kind}`.execute(db) // prettier-ignore
}

const without = (paths: string[]) => sql`ARRAY(SELECT unnest(begun) EXCEPT SELECT unnest(${paths}::text[]))`

/** False: another process was faster, and has listed the same. */
export function finishPlan(db: Db, target: string, done: Plan, files: readonly WrittenFile[]): Promise<boolean> {
  const { kind, isOld, after, upTo } = done
  return db.transaction().execute(async (trx) => {
    const rowsWritten = files.reduce((sum, file) => sum + file.rows, 0)
    const { rows } = await sql<{ files: number }>`
      UPDATE export_positions SET ${through(isOld)} = ${upTo}, ${planned(isOld)} = NULL, files = files + ${files.length},
        rows = rows + ${rowsWritten}, begun = ${without(pathsOf(files))}
      WHERE target = ${target} AND kind = ${kind} AND ${through(isOld)} = ${after} AND ${planned(isOld)} = ${upTo}
      RETURNING files`.execute(trx)
    const [position] = rows
    if (position === undefined) return false
    await listFiles(trx, target, kind, position.files - files.length, files)
    return true
  })
}

async function listFiles(
  trx: Trx,
  target: string,
  kind: Kind,
  before: number,
  files: readonly WrittenFile[],
): Promise<void> {
  if (files.length === 0) return
  const rows = files.map((file, i) => ({ target, kind, file_no: before + i + 1, ...file }))
  await trx.insertInto('export_files').values(rows).execute()
}

/** Seconds until the next attempt after this many failures in a row. */
export const MAX_BACKOFF_SECONDS = 600
const backoffSeconds = (failures: number) => Math.min(5 * 2 ** Math.min(failures - 1, 10), MAX_BACKOFF_SECONDS)

export async function noteSuccess(
  db: Db,
  target: string,
  kind: Kind,
  { dueInSeconds, reachedAt }: { dueInSeconds: number; reachedAt: Date | null },
): Promise<void> {
  await sql`UPDATE export_positions SET failures = 0, failing_since = NULL, failure = NULL,
      due_at = now() + make_interval(secs => ${dueInSeconds}), caught_up_at = coalesce(${reachedAt}, caught_up_at)
    WHERE target = ${target} AND kind = ${kind}`.execute(db)
}

/** Returns how often in a row it failed. */
export async function noteFailure(trx: Trx, target: string, kind: Kind, failure: string): Promise<number> {
  const { rows } = await sql<{ failures: number }>`
    UPDATE export_positions SET failures = failures + 1, failing_since = coalesce(failing_since, now()), failure = ${failure}
    WHERE target = ${target} AND kind = ${kind} RETURNING failures`.execute(trx)
  const failures = rows[0]?.failures ?? 1
  await sql`UPDATE export_positions SET due_at = now() + make_interval(secs => ${backoffSeconds(failures)})
    WHERE target = ${target} AND kind = ${kind}`.execute(trx)
  return failures
}
