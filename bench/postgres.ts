// The embedded PostgreSQL of a data folder, held open for measuring: beside a running Offerdeck it is the same server.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { holdEmbeddedPostgres } from '../src/db/embedded.ts'
import { type Database, openPool } from '../src/db/open.ts'
import { livePostmaster } from '../src/db/postmaster.ts'
import { plainEnv } from './data.ts'
import { familyCpuSeconds } from './programs.ts'

const LONGEST_MS = 3_600_000

export type Opened = Pick<Database, 'db' | 'pool' | 'close'>

export type Postgres = {
  /** A database of this server, on one connection. */
  open(name?: string): Opened
  /** Runs what only a superuser may. */
  administer(...statements: string[]): Promise<void>
  /** For programs that bring their own client. */
  env: NodeJS.ProcessEnv
  /** Of all its processes, so far. */
  cpuSeconds: () => number
  /** What its write-ahead log takes on disk. */
  walBytes: () => number
  release(): Promise<void>
}

export async function holdPostgres(dataDir: string): Promise<Postgres> {
  const embedded = await holdEmbeddedPostgres(dataDir)
  const { connection, superuserConnection, cluster } = embedded
  const { host, user, password, database } = connection
  const postmaster = livePostmaster(cluster) ?? 0
  return {
    open(name = database) {
      return openPool({ ...connection, database: name }, 2)
    },
    async administer(...statements) {
      const { pool, close } = openPool(superuserConnection, 1)
      for (const statement of statements) await runLong(pool, statement)
      await close()
    },
    env: plainEnv({ PGHOST: host, PGUSER: user, PGPASSWORD: password, PGDATABASE: database }),
    cpuSeconds: () => familyCpuSeconds(postmaster),
    walBytes: () => folderBytes(join(cluster.dataDir, 'pg_wal')),
    release: () => embedded.release(),
  }
}

/** Files may go while they are counted. */
const folderBytes = (folder: string) =>
  readdirSync(folder).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

/** A query that may take its time. */
export async function runLong<Row extends pg.QueryResultRow>(pool: pg.Pool, text: string, values: unknown[] = []) {
  const client = await pool.connect()
  try {
    await client.query('SET statement_timeout = 0')
    const { rows } = await client.query<Row>({ text, values, query_timeout: LONGEST_MS } as pg.QueryConfig)
    await client.query('RESET statement_timeout')
    return rows
  } finally {
    client.release()
  }
}
