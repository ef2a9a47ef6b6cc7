// Exports clicks and events of conversions continuously, as gzipped NDJSON, to a folder or to S3-compatible storage.
//
// One worker at a time. Each kind advances by a range of positions at a time (positions.ts): its rows are read, written as
// one file for each day, listed in the database, and then in the manifest (manifests.ts). A file is named after its
// contents, so writing it twice changes nothing, and a reader of the manifests sees every row exactly once. A second
// attempt may read other contents (a user was erased meanwhile): the files of the first are emptied then.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { tryLock } from '../../db/try-lock.ts'
import type { Db } from '../../db/open.ts'
import { messageOf } from '../../errors.ts'
import { checkManifest, writeManifests } from './manifests.ts'
import {
  findDue,
  finishPlan,
  forgetUnlisted,
  noteBegun,
  noteFailure,
  noteSuccess,
  type Plan,
  planNext,
  readUnlisted,
  type WrittenFile,
} from './positions.ts'
import { mailProblem } from './problem-mails.ts'
import {
  type ExportedRow,
  type Kind,
  type Range,
  readClicks,
  readConversionEvents,
  readOldClicks,
  SCHEMA_VERSION,
} from './read-rows.ts'
import type { Target } from './target.ts'

/** Rows of one query: what takes longer to read would reach the time limit of statements. */
const ROWS_AT_ONCE = 2_500
/** Longer than the target may take for one file. */
const LOCK_IDLE = '2min'
const compress = promisify(gzip)
/** Not deleted: a key of the storage that may only put objects is enough. */
const EMPTY = gzipSync('')

export type ExportOptions = {
  db: Db
  target: Target
  intervalSeconds: number
  warn: (message: string) => void
  /** How long to wait for transactions that began before. */
  patienceMs?: number
}

/** busy: another process is exporting. more: there are further rows. done: there are none, or it failed. */
export type ExportOutcome = 'busy' | 'more' | 'done'

/** Writes the next files of each kind that is due, or of all. */
export async function exportDue(options: ExportOptions, isAsked = false): Promise<ExportOutcome> {
  const { db, target, intervalSeconds } = options
  const due = await findDue(db, target.url, intervalSeconds, isAsked)
  if (due.length === 0) return 'done'
  // The transaction does nothing but hold the lock.
  return db.transaction().execute(async (trx) => {
    await sql`SET LOCAL idle_in_transaction_session_timeout = ${sql.lit(LOCK_IDLE)}`.execute(trx)
    if (!(await tryLock(trx, LOCKS.exports))) return 'busy'
    let outcome: ExportOutcome = 'done'
    for (const kind of due) {
      await sql`SELECT`.execute(trx) // fails where the lock was lost
      if (await exportKind(options, kind)) outcome = 'more'
    }
    return outcome
  })
}

/** Whether there are further rows. */
async function exportKind(options: ExportOptions, kind: Kind): Promise<boolean> {
  const { db, target, intervalSeconds, warn } = options
  try {
    await checkManifest(db, target, kind)
    await writeManifests(db, target, kind) // of a process that died before it came to that
    const plan = await planNext(db, target.url, kind, options.patienceMs)
    if ('upTo' in plan) {
      await carryOut(db, target, plan)
      await writeManifests(db, target, kind)
    }
    await emptyUnlisted(db, target, kind)
    const isDone = !('upTo' in plan) || plan.reachedAt !== null
    await noteSuccess(db, target.url, kind, { dueInSeconds: isDone ? intervalSeconds : 0, reachedAt: plan.reachedAt })
    return !isDone
  } catch (error) {
    const failure = describe(error)
    const failures = await db.transaction().execute(async (trx) => {
      const count = await noteFailure(trx, target.url, kind, failure)
      await mailProblem(trx, target.url, kind)
      return count
    })
    if (failures === 1) warn(`Exporting ${kind} to ${target.url} failed: ${failure}. It is tried again until it works.`)
    return false
  }
}

/** What fetch says is in the cause of its error. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${messageOf(error)}${cause}`.slice(0, 500)
}

/** Does nothing where another process was faster. */
async function carryOut(db: Db, target: Target, plan: Plan): Promise<void> {
  const files = await composeFiles(db, plan)
  const listed = files.map(({ file }) => file)
  const isBegun = await noteBegun(db, target.url, plan, listed)
  if (!isBegun) return
  for (const { file, content } of files) await target.put(file.path, content)
  await finishPlan(db, target.url, plan, listed)
}

/** Those of attempts that were cut short: what they hold may have been erased since. */
async function emptyUnlisted(db: Db, target: Target, kind: Kind): Promise<void> {
  const paths = await readUnlisted(db, target.url, kind)
  for (const path of paths) await target.put(path, EMPTY)
  if (paths.length > 0) await forgetUnlisted(db, target.url, kind, paths)
}

type Day = { lines: string[]; first: ExportedRow; last: ExportedRow }

type File = { file: WrittenFile; content: Buffer }

async function composeFiles(db: Db, plan: Plan): Promise<File[]> {
  const days = new Map<string, Day>()
  for await (const row of readAll(db, plan)) {
    const day = row.at.toISOString().slice(0, 10)
    const line = `${JSON.stringify(row.fields)}\n`
    const known = days.get(day)
    if (known === undefined) days.set(day, { lines: [line], first: row, last: row })
    else {
      known.lines.push(line)
      known.last = row
    }
  }
  const files: File[] = []
  for (const [day, ofDay] of [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    files.push(await composeFile(plan, day, ofDay))
  return files
}

async function composeFile({ kind, isOld }: Plan, day: string, { lines, first, last }: Day): Promise<File> {
  const content = await compress(lines.join(''))
  const sha256 = hash('sha256', content)
  const padded = (position: number | null) => String(position).padStart(12, '0')
  // Those without a number sort before the others, by their IDs.
  const range = isOld ? `0-${String(first.fields['click_id'])}` : `${padded(first.position)}-${padded(last.position)}`
  const file = {
    path: `${kind}/day=${day}/${kind}-${range}-${sha256.slice(0, 12)}.ndjson.gz`,
    day,
    rows: lines.length,
    bytes: content.length,
    sha256,
    first_position: first.position,
    last_position: last.position,
    schema_version: SCHEMA_VERSION,
  }
  return { file, content }
}

async function* readAll(db: Db, { kind, isOld, after, upTo }: Plan): AsyncGenerator<ExportedRow> {
  if (isOld) return yield* await readOldClicks(db, { after: String(after), upTo: String(upTo) })
  const read: (db: Db, range: Range<number>) => Promise<ExportedRow[]> = kind === 'clicks' ? readClicks : readConversionEvents // prettier-ignore
  for (let from = Number(after); from < Number(upTo); from += ROWS_AT_ONCE)
    yield* await read(db, { after: from, upTo: Math.min(from + ROWS_AT_ONCE, Number(upTo)) })
}
