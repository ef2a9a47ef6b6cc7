// How many connections PostgreSQL allows, and how many the processes on it may come to use.
import type { Database } from './open.ts'
import { readNodes } from './nodes.ts'

/** Of one process: its pool, and what commands beside it use. */
const CONNECTIONS_A_PROCESS = 12

export type ConnectionBudget = {
  /** What this database and this role may have. */
  most: number
  used: number
  /** On whichever machine; with those that this node will start, if that is more. */
  processes: number
  needed: number
  /** Of a transaction: reports look into many partitions. */
  locks: number
}

type Limits = { total: number; locks: number; reserved: number; used: number; of_database: number; of_role: number }

/** `apis`: as PROCESSES says; several of them have a worker and a supervisor beside them. */
export async function readConnectionBudget({ db, pool }: Database, apis: number): Promise<ConnectionBudget> {
  const { rows } = await pool.query<Limits>(`
    SELECT current_setting('max_connections')::integer AS total,
      current_setting('max_locks_per_transaction')::integer AS locks,
      current_setting('superuser_reserved_connections')::integer
        + coalesce(current_setting('reserved_connections', true), '0')::integer AS reserved,
      -- What kind of process it is, is hidden where it is another role's.
      (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL AND usesysid IS NOT NULL AND pid <> pg_backend_pid()) AS used,
      (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS of_database,
      (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS of_role`)
  const { total, locks, reserved, used, of_database, of_role } = rows[0] as Limits
  const most = Math.min(...[total - reserved, of_database, of_role].filter((limit) => limit >= 0))
  const nodes = await readNodes(db, new Date()).catch(() => []) // before the first migration
  const here = nodes.filter((node) => node.is_here)
  const running = new Set(here.map(({ host, pid }) => `${host} ${pid}`)).size
  const processes = Math.max(running, apis > 1 ? apis + 2 : 1)
  return { most, used, processes, needed: processes * CONNECTIONS_A_PROCESS, locks }
}
