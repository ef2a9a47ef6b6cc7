// What a soak looks at again and again: memory, connections, open files, tables, and the write-ahead log.
import { readdirSync } from 'node:fs'
import type pg from 'pg'
import { fetchFrom } from '../servers.ts'
import type { StepReport } from './load.ts'
import type { Setting, Watched } from './setting.ts'

export type TableState = { live: number; dead: number; bytes: number }

export type Sample = {
  atSeconds: number
  /** By the names that the report shows. */
  figures: Record<string, number>
  tables: Record<string, TableState>
  report: StepReport
}

/** What holds rows only until they are done with: it stays as large as its busiest moment, however much goes through. */
export const QUEUES = ['postback_queue', 'waiting_events', 'postback_lanes'] as const

export async function takeSample(setting: Setting, atSeconds: number, report: StepReport): Promise<Sample> {
  const { api, worker, postgres, pool } = setting
  const tables = await readTables(pool)
  const figures: Record<string, number> = {
    ...(await readProcess('API', api, report.connections)),
    ...(await readProcess('worker', worker, 0)),
    'PostgreSQL: connections': await countConnections(pool),
    'PostgreSQL: pg_wal MB': postgres.walBytes() / 1e6,
    'load: p50 ms': report.p50Ms,
    'load: p99 ms': report.p99Ms,
  }
  for (const queue of QUEUES) {
    figures[`${queue}: MB`] = (tables[queue]?.bytes ?? 0) / 1e6
    figures[`${queue}: dead rows`] = tables[queue]?.dead ?? 0
  }
  return { atSeconds, figures, tables, report }
}

/** Connections of the load are as many as it needs, and no leak. */
async function readProcess(name: string, { metricsPort, ...running }: Watched, ofLoad: number) {
  const { body } = await fetchFrom({ ...running, port: metricsPort }, '/metrics')
  const [, heap] = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(body) ?? []
  return {
    [`${name}: resident MB`]: running.residentMb(),
    [`${name}: heap MB`]: Number(heap) / 1e6,
    [`${name}: open files`]: readdirSync(`/proc/${running.pid}/fd`).length - ofLoad,
  }
}

async function countConnections(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'`,
  )
  return rows[0]?.count ?? 0
}

/** Rows as PostgreSQL's statistics have them: counting a million every minute would be load of its own. */
async function readTables(pool: pg.Pool): Promise<Record<string, TableState>> {
  const { rows } = await pool.query<TableState & { table: string }>(
    `SELECT coalesce(pg_partition_root(relid), relid)::regclass::text AS table, sum(n_live_tup)::bigint AS live,
       sum(n_dead_tup)::bigint AS dead, sum(pg_total_relation_size(relid))::bigint AS bytes
     FROM pg_stat_user_tables WHERE schemaname = current_schema() GROUP BY 1`,
  )
  return Object.fromEntries(rows.map(({ table, ...state }) => [table, state]))
}
