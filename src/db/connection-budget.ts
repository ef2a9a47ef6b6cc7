// How many connections PostgreSQL allows, and how many the processes on it may come to use.
import { hostname } from 'node:os'
import type pg from 'pg'
import { type Part, readNodes } from './nodes.ts'
import type { Db } from './open.ts'
import { isAlive } from '../lib/is-alive.ts'

/** Of one process: its pool, and what commands beside it use. A supervisor keeps none open. */
const CONNECTIONS_A_PROCESS = 12
/** The pool of an API process. */
export const REPLICA_CONNECTIONS = 5

export type Processes = { all: number; apis: number }
/** `needed`: connections that they may come to use. */
export type ConnectionBudget = Processes & { needed: { primary: number; replica: number } }

export type ConnectionLimits = {
  /** What this server, database and role may have. */
  most: number
  used: number
  /** Of a transaction: reports look into many partitions. */
  locks: number
}

/** Of a node: where there are several APIs, the worker is a process, too. */
export const planProcesses = (parts: readonly Part[], apis: number): Processes =>
  parts.includes('api') ? { all: apis > 1 && parts.includes('worker') ? apis + 1 : apis, apis } : { all: 1, apis: 0 }

/** Of all nodes, on whichever machine. Of `own`, some may run already: `isOwn` knows on which host. */
export async function readConnectionBudget(
  db: Db,
  own: Processes,
  isOwn: (host: string) => boolean = () => false,
): Promise<ConnectionBudget> {
  const nodes = await readNodes(db, new Date()).catch(() => []) // before the first migration
  const running = nodes.filter((node) => node.is_here && (node.host !== hostname() || isAlive(node.pid)))
  const [ours, others] = [running.filter(({ host }) => isOwn(host)), running.filter(({ host }) => !isOwn(host))]
  const count = (some: typeof nodes) => new Set(some.map(({ host, pid }) => `${host} ${pid}`)).size
  const countApis = (some: typeof nodes) => count(some.filter(({ part }) => part === 'api'))
  const all = count(others) + Math.max(count(ours), own.all)
  const apis = countApis(others) + Math.max(countApis(ours), own.apis)
  return { all, apis, needed: { primary: all * CONNECTIONS_A_PROCESS, replica: apis * REPLICA_CONNECTIONS } }
}

type Limits = { total: number; locks: number; reserved: number; used: number; of_database: number; of_role: number }

/** Of the primary, or of the replica. */
export async function readConnectionLimits(pool: pg.Pool): Promise<ConnectionLimits> {
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
  return { most, used, locks }
}
