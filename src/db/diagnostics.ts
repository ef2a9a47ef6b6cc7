// Figures about the database and the spool for the system page, read a few times a minute.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from './open.ts'

type Row = {
  version: string
  now: Date
  bytes: number
  connections: number
  max_connections: number
}

export async function readDatabase(db: Db) {
  const startedMs = Date.now()
  const { rows } = await sql<Row>`
    SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
      pg_database_size(current_database()) AS bytes, current_setting('max_connections')::integer AS max_connections,
      (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections`.execute(db)
  const { now, ...database } = rows[0] as Row
  const hereMs = (startedMs + Date.now()) / 2
  return { ...database, clock_ahead_ms: Math.round(now.getTime() - hereMs) }
}

type Partitions = {
  table: string
  count: number
  oldest_day: string | null
  newest_day: string | null
  bytes: number
}

/**
 * The partitions of every partitioned table; their names end in their day. Sizes are those that vacuum recorded last:
 * asking for the files of hundreds of partitions would cost thousands of catalogue look-ups.
 */
export async function readPartitions(db: Db): Promise<Partitions[]> {
  const { rows } = await sql<Partitions>`
    SELECT parent.relname AS table, count(DISTINCT child.oid) AS count,
      to_char(to_date(right(min(child.relname), 8), 'YYYYMMDD'), 'YYYY-MM-DD') AS oldest_day,
      to_char(to_date(right(max(child.relname), 8), 'YYYYMMDD'), 'YYYY-MM-DD') AS newest_day,
      coalesce(sum(greatest(part.relpages, 0)), 0)::bigint * current_setting('block_size')::integer AS bytes
    FROM pg_class parent
    LEFT JOIN pg_inherits ON inhparent = parent.oid
    LEFT JOIN pg_class child ON child.oid = inhrelid
    LEFT JOIN (
      SELECT oid AS owner, relpages FROM pg_class WHERE relkind = 'r'
      UNION ALL
      SELECT indrelid, relpages FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
    ) AS part ON part.owner = child.oid
    WHERE parent.relkind = 'p' AND parent.relnamespace = current_schema()::regnamespace
    GROUP BY parent.relname ORDER BY parent.relname`.execute(db)
  return rows
}

/** The spool on this node's disk: rows the database could not accept yet. */
export async function readSpool(dataDir: string): Promise<{ spool_files: number; spool_bytes: number }> {
  const folder = join(dataDir, 'spool')
  const names = await readdir(folder, { recursive: true }).catch(() => []) // nothing was ever spooled
  let [spool_files, spool_bytes] = [0, 0]
  for (const name of names) {
    if (!name.endsWith('.jsonl')) continue
    const { size = 0 } = (await stat(join(folder, name)).catch(() => null)) ?? {} // replayed meanwhile
    spool_files++
    spool_bytes += size
  }
  return { spool_files, spool_bytes }
}
