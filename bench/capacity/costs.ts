// What a step of the load costs: CPU time of each part, rows, bytes of tables and indexes, of the write-ahead log, and sent.
import type pg from 'pg'
import { runLong } from '../postgres.ts'
import type { Setting } from './setting.ts'

export type TableSize = { table: string; rows: number; tableBytes: number; indexBytes: number }

/** Of one request, or of a million, as the place says. */
export type Costs = {
  apiSeconds: number
  workerSeconds: number
  postgresSeconds: number
  rows: number
  tableBytes: number
  indexBytes: number
  walBytes: number
}

type State = Omit<Costs, 'rows' | 'tableBytes' | 'indexBytes'> & { tables: TableSize[] }

/** `grown` are the tables that have more rows or bytes afterwards, the largest first. */
export async function measureCosts<T>(
  setting: Setting,
  work: () => Promise<T>,
): Promise<{ result: T; costs: Costs; grown: TableSize[] }> {
  const before = await readBefore(setting)
  const result = await work()
  const after = await readAfter(setting)
  const grown = subtractTables(after.tables, before.tables)
  const sum = (name: 'rows' | 'tableBytes' | 'indexBytes') => grown.reduce((total, table) => total + table[name], 0)
  const costs = {
    apiSeconds: after.apiSeconds - before.apiSeconds,
    workerSeconds: after.workerSeconds - before.workerSeconds,
    postgresSeconds: after.postgresSeconds - before.postgresSeconds,
    rows: sum('rows'),
    tableBytes: sum('tableBytes'),
    indexBytes: sum('indexBytes'),
    walBytes: after.walBytes - before.walBytes,
  }
  return { result, costs, grown }
}

/** Reading the sizes is not to be counted: before the work the CPU time is read last, after it first. */
async function readBefore(setting: Setting): Promise<State> {
  const tables = await readTableSizes(setting.pool)
  return { tables, walBytes: await readWalPosition(setting.pool), ...readCpu(setting) }
}

async function readAfter(setting: Setting): Promise<State> {
  const cpu = readCpu(setting)
  return { ...cpu, walBytes: await readWalPosition(setting.pool), tables: await readTableSizes(setting.pool) }
}

const readCpu = ({ api, worker, postgres }: Setting) => ({
  apiSeconds: api.cpuSeconds(),
  workerSeconds: worker.cpuSeconds(),
  postgresSeconds: postgres.cpuSeconds(),
})

export async function readWalPosition(pool: pg.Pool): Promise<number> {
  const [row] = await runLong<{ bytes: string }>(
    pool,
    `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS bytes`,
  )
  return Number(row?.bytes)
}

/** Partitions count for their table. */
export async function readTableSizes(pool: pg.Pool): Promise<TableSize[]> {
  const sizes = await runLong<Omit<TableSize, 'rows'>>(
    pool,
    `SELECT coalesce(pg_partition_root(oid), oid)::regclass::text AS table, sum(pg_table_size(oid))::bigint AS "tableBytes",
       sum(pg_indexes_size(oid))::bigint AS "indexBytes"
     FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace GROUP BY 1`,
  )
  const counts = await runLong<{ name: string; count: number }>(
    pool,
    sizes.map(({ table }) => `SELECT '${table}' AS name, count(*) FROM ${table}`).join(' UNION ALL '),
  )
  const rowsOf = new Map(counts.map(({ name, count }) => [name, count]))
  return sizes.map((size) => ({ ...size, rows: rowsOf.get(size.table) ?? 0 }))
}

function subtractTables(after: TableSize[], before: TableSize[]): TableSize[] {
  const known = new Map(before.map((size) => [size.table, size]))
  return after
    .map(({ table, rows, tableBytes, indexBytes }) => ({
      table,
      rows: rows - (known.get(table)?.rows ?? 0),
      tableBytes: tableBytes - (known.get(table)?.tableBytes ?? 0),
      indexBytes: indexBytes - (known.get(table)?.indexBytes ?? 0),
    }))
    .filter(({ rows, tableBytes, indexBytes }) => rows > 0 || tableBytes + indexBytes > 0)
    .toSorted((a, b) => b.tableBytes + b.indexBytes - (a.tableBytes + a.indexBytes))
}
