// Partitions of a day each, for tables whose time-ordered id is their partition key. They are created two days ahead, and on
// demand for what comes late out of a spool; retention drops them whole, and those of days on which nothing came. Every
// partition costs something in plans for the whole table, also an empty one.
import { sql } from 'kysely'
import { uuid7Floor } from '../lib/uuid7.ts'
import { LOCKS } from './locks.ts'
import type { Db } from './open.ts'

export const PARTITIONED_TABLES = ['clicks', 'inbound_calls', 'postback_attempts', 'api_requests'] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

const DAY_MS = 86_400_000
const DAYS_AHEAD = 2

/** The day (UTC) that begins this partition's name: clicks_20260131. */
const nameOf = (table: PartitionedTable, dayMs: number) =>
  `${table}_${new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`

const dayOf = (timeMs: number) => Math.floor(timeMs / DAY_MS) * DAY_MS

/** Creates the missing partitions for the days of these times. */
export async function ensurePartitions(db: Db, table: PartitionedTable, timesMs: Iterable<number>): Promise<void> {
  const days = new Set([...timesMs].map(dayOf))
  const existing = new Set(await listPartitions(db, table))
  const missing = [...days].filter((day) => !existing.has(nameOf(table, day))).toSorted((a, b) => a - b)
  if (missing.length === 0) return
  await db.transaction().execute(async (trx) => {
    // One process at a time: two that create the same table would both fail on it.
    await sql`SELECT pg_advisory_xact_lock(${LOCKS.partitions})`.execute(trx)
    for (const day of missing) {
      await sql`CREATE TABLE IF NOT EXISTS ${sql.table(nameOf(table, day))} PARTITION OF ${sql.table(table)}
        FOR VALUES FROM (${sql.lit(uuid7Floor(day))}) TO (${sql.lit(uuid7Floor(day + DAY_MS))})`.execute(trx)
    }
  })
}

/** Yesterday's, for clocks that differ, to the day after tomorrow's. */
export async function ensurePartitionsAhead(db: Db, nowMs: number): Promise<void> {
  const times = Array.from({ length: DAYS_AHEAD + 2 }, (_, i) => nowMs + (i - 1) * DAY_MS)
  for (const table of PARTITIONED_TABLES) await ensurePartitions(db, table, times)
}

/** Names, oldest first. */
export async function listPartitions(db: Db, table: PartitionedTable): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name FROM pg_inherits
    JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent = ${table}::regclass ORDER BY child.relname`.execute(db)
  return rows.map((row) => row.name)
}

/** Partitions that hold nothing as young as this, oldest first, each with the time it ends. */
export async function listPartitionsBefore(
  db: Db,
  table: PartitionedTable,
  beforeMs: number,
): Promise<{ name: string; endsMs: number }[]> {
  const names = await listPartitions(db, table)
  return names
    .map((name) => {
      const day = name.slice(table.length + 1)
      return { name, endsMs: Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T00:00:00Z`) + DAY_MS }
    })
    .filter(({ endsMs }) => endsMs <= beforeMs)
}

/** Which of these partitions hold no row, in their order. */
export async function findEmpty(db: Db, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const looks = names.map((name) => sql`SELECT ${name} AS name WHERE NOT EXISTS (SELECT FROM ${sql.table(name)})`)
  const { rows } = await sql<{ name: string }>`${sql.join(looks, sql` UNION ALL `)}`.execute(db)
  return rows.map((row) => row.name)
}

export async function dropPartition(db: Db, name: string): Promise<void> {
  await sql`DROP TABLE IF EXISTS ${sql.table(name)}`.execute(db)
}

/** PostgreSQL found no partition for a row. */
export function isMissingPartition(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string }
  return code === '23514' && message.startsWith('no partition of relation')
}

/**
 * The statistics of each partitioned table as a whole, which autovacuum never collects: without them the planner takes the
 * table for empty.
 */
export async function analyzePartitioned(db: Db): Promise<void> {
  for (const table of PARTITIONED_TABLES) await sql`ANALYZE ${sql.table(table)}`.execute(db)
}
