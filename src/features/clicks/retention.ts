// Deletes what is too old, a partition at a time: clicks leave their number for statistics, inbound calls and postback
// attempts leave nothing. Empty partitions of past days are dropped at once.
//
// A partition is counted and dropped in one transaction, so a kill in between changes nothing. Dropping locks the whole
// table for a moment; while another transaction still reads it, new clicks would queue up behind us. So we wait for a
// moment only, and the caller retries later.
import { sql } from 'kysely'
import { LOCKS } from '../../db/locks.ts'
import { tryLock } from '../../db/try-lock.ts'
import {
  dropPartition,
  findEmpty,
  listPartitionsBefore,
  PARTITIONED_TABLES,
  type PartitionedTable,
} from '../../db/partitions.ts'
import type { Db, Trx } from '../../db/open.ts'
import { uuid7Floor } from '../../lib/uuid7.ts'
import { IS_COUNTED } from './clicks.ts'

const DAY_MS = 86_400_000
const EMPTY_KEPT_MS = 2 * DAY_MS // yesterday's is there for clocks that differ
const MIN_CALL_DAYS = 7
const SPARE_DAYS = 7
const MOST_COUNTED = 100_000 // in one statement
// Long enough for PostgreSQL to end a vacuum that is in our way, which it does after its deadlock_timeout of 1 s.
const PARTITION_WAIT = '10s'
// Below the deadlock_timeout: where a click that comes late and we wait for each other, it is us who give way.
const DROP_WAIT = '500ms'

const IDS = {
  clicks: 'click_id',
  inbound_calls: 'inbound_id',
  postback_attempts: 'attempt_id',
  api_requests: 'logged_id',
} as const

export type Partition = { name: string; endsMs: number }

/**
 * Drops the clicks of days that ended more than `keepDays` ago, and never one that may still be confirmed or is on hold.
 * `mayDrop` is asked last, when no click can come in any more; `beforeMs` is when the youngest day ended that could go.
 * Returns the names of the partitions that are gone.
 */
export async function dropOldClicks(
  db: Db,
  now: Date,
  keepDays: number,
  mayDrop: (trx: Trx, day: Partition, beforeMs: number) => Promise<boolean> = async () => true,
  mostCounted = MOST_COUNTED,
): Promise<string[]> {
  const beforeMs = now.getTime() - (await keptClickDays(db, keepDays)) * DAY_MS
  return dropEach(db, async (trx) => {
    if (!(await hasYounger(trx, 'clicks', beforeMs))) return null
    const [oldest] = await listPartitionsBefore(trx, 'clicks', beforeMs)
    if (oldest === undefined || (await isHalfRolledUp(trx, oldest))) return null
    await keepOut(trx, oldest)
    if (!(await mayDrop(trx, oldest, beforeMs))) return null
    await countClicks(trx, oldest, mostCounted)
    return oldest
  })
}

/** Drops the inbound calls of days that ended more than `keepDays` ago, but for days with a call that is still retried. */
export async function dropOldInboundCalls(db: Db, now: Date, keepDays: number): Promise<string[]> {
  const beforeMs = now.getTime() - Math.max(keepDays, MIN_CALL_DAYS) * DAY_MS
  return dropEach(db, async (trx) => {
    if (!(await hasYounger(trx, 'inbound_calls', beforeMs))) return null
    for (const partition of await listPartitionsBefore(trx, 'inbound_calls', beforeMs)) {
      if (await isWaiting(trx, partition)) continue
      await keepOut(trx, partition)
      // Checked again, now that no other transaction can add one.
      if (await isWaiting(trx, partition)) continue
      await forgetOpenCalls(trx, partition)
      return partition
    }
    return null
  })
}

/** Of calls that were not processed in all that time, although the overview listed them. */
async function forgetOpenCalls(trx: Trx, { endsMs }: Partition): Promise<void> {
  await sql`DELETE FROM open_calls WHERE inbound_id >= ${uuid7Floor(endsMs - DAY_MS)}::uuid
    AND inbound_id < ${uuid7Floor(endsMs)}::uuid`.execute(trx)
}

/** Drops the log of postbacks of days that ended more than `keepDays` ago. */
export const dropOldAttempts = (db: Db, now: Date, keepDays: number) =>
  dropDays(db, 'postback_attempts', now.getTime() - keepDays * DAY_MS)

/** Drops the log of API requests of days that ended more than `keepDays` ago. */
export const dropOldRequests = (db: Db, now: Date, keepDays: number) =>
  dropDays(db, 'api_requests', now.getTime() - keepDays * DAY_MS)

const dropDays = (db: Db, table: PartitionedTable, beforeMs: number) =>
  dropEach(db, async (trx) => {
    if (!(await hasYounger(trx, table, beforeMs))) return null
    const [oldest] = await listPartitionsBefore(trx, table, beforeMs)
    return oldest ?? null
  })

/** Drops the partitions of past days on which nothing came, whatever is kept otherwise. What comes late creates its own. */
export async function dropEmptyDays(db: Db, now: Date): Promise<string[]> {
  const dropped: string[] = []
  for (const table of PARTITIONED_TABLES)
    dropped.push(...(await dropEach(db, (trx) => chooseEmpty(trx, table, now.getTime() - EMPTY_KEPT_MS))))
  return dropped
}

async function chooseEmpty(trx: Trx, table: PartitionedTable, beforeMs: number): Promise<Partition | null> {
  const past = await listPartitionsBefore(trx, table, beforeMs)
  const [name] = await findEmpty(trx, past.map((partition) => partition.name)) // prettier-ignore
  const chosen = past.find((partition) => partition.name === name)
  if (chosen === undefined) return null
  await keepOut(trx, chosen)
  // Asked again, now that nothing can come in any more.
  return (await findEmpty(trx, [chosen.name])).length === 0 ? null : chosen
}

/** Drops what `choose` finds, one in each transaction, until it finds nothing or another process is at it. */
async function dropEach(db: Db, choose: (trx: Trx) => Promise<Partition | null>): Promise<string[]> {
  const dropped: string[] = []
  for (;;) {
    const name = await db.transaction().execute(async (trx) => {
      if (!(await tryLock(trx, LOCKS.clickRetention))) return null
      const partition = await choose(trx)
      if (partition === null) return null
      await waitAtMost(trx, DROP_WAIT)
      await dropPartition(trx, partition.name)
      return partition.name
    })
    if (name === null) return dropped
    dropped.push(name)
  }
}

/** Where nothing is younger than what would go, the clock has jumped ahead, or nothing happens: no reason to drop anything. */
async function hasYounger(trx: Trx, table: PartitionedTable, timeMs: number): Promise<boolean> {
  const id = sql.ref(IDS[table])
  const { rows } = await sql<{ found: boolean }>`
    SELECT EXISTS (SELECT FROM ${sql.table(table)} WHERE ${id} >= ${uuid7Floor(timeMs)}::uuid) AS found`.execute(trx)
  return rows[0]?.found ?? false
}

/** No row comes in or changes any more, so that none is lost between what is looked at and the drop. */
async function keepOut(trx: Trx, { name }: Partition): Promise<void> {
  await waitAtMost(trx, PARTITION_WAIT)
  await sql`LOCK TABLE ${sql.table(name)} IN SHARE MODE`.execute(trx)
}

async function waitAtMost(trx: Trx, time: string): Promise<void> {
  await sql`SET LOCAL lock_timeout = ${sql.lit(time)}`.execute(trx)
}

/** Statistics (reports/rollup.ts) have some of its clicks: of its counts, by quarters of an hour, they could not take the rest. */
async function isHalfRolledUp(trx: Trx, { endsMs }: Partition): Promise<boolean> {
  const { through } = await trx.selectFrom('stats_rollup').select('through').executeTakeFirstOrThrow()
  return through.getTime() > endsMs - DAY_MS && through.getTime() < endsMs
}

/** Some at a time, because a query may take 15 s and a day may have many clicks. What is cut in two has two counts. */
async function countClicks(trx: Trx, { name, endsMs }: Partition, most: number): Promise<void> {
  const day = sql.table(name)
  for (let from = uuid7Floor(endsMs - DAY_MS), isMore = true; isMore;) {
    const { rows } = await sql<{ click_id: string }>`
      SELECT click_id FROM ${day} WHERE click_id >= ${from}::uuid ORDER BY click_id OFFSET ${most}::integer LIMIT 1`.execute(
      trx,
    )
    const to = rows[0]?.click_id ?? uuid7Floor(endsMs)
    await sql`
      INSERT INTO click_counts (app_id, quarter, offer_id, country, device, aff_sub, aff_sub2, aff_sub3, aff_sub4, locker_id, clicks)
      SELECT app_id, date_bin('15 minutes', clicked_at, '2000-01-01T00:00:00Z'), offer_id, country, device,
        aff_sub, aff_sub2, aff_sub3, aff_sub4, locker_id, count(*)
      FROM ${day} WHERE click_id >= ${from}::uuid AND click_id < ${to}::uuid AND ${IS_COUNTED}
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`.execute(trx)
    isMore = rows.length > 0
    from = to
  }
}

async function isWaiting(trx: Trx, { endsMs }: Partition): Promise<boolean> {
  const { rows } = await sql<{ waiting: boolean }>`
    SELECT EXISTS (SELECT FROM open_calls WHERE inbound_id >= ${uuid7Floor(endsMs - DAY_MS)}::uuid
      AND inbound_id < ${uuid7Floor(endsMs)}::uuid AND next_attempt_at IS NOT NULL) AS waiting`.execute(trx)
  return rows[0]?.waiting ?? true
}

/** Where an offer promises longer than clicks are to be kept, that counts. */
export async function keptClickDays(db: Db, keepDays: number): Promise<number> {
  return Math.max(keepDays, (await longestPromiseDays(db)) + SPARE_DAYS)
}

/** The longest time from a click to its confirmation plus the longest hold, over all that offers ever promised. */
async function longestPromiseDays(db: Db): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    SELECT coalesce(greatest((SELECT max(attribution_s) FROM terms), (SELECT max(attribution_s) FROM offers)), 0)::bigint
      + coalesce((SELECT max(hold_s) FROM offers), 0) AS seconds`.execute(db)
  return (rows[0]?.seconds ?? 0) / 86_400
}
