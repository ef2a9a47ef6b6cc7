// Brings the schema up to date from migrations/*.sql: plain SQL, in the order of their names, each once, forward only.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { OperatorError } from '../errors.ts'
import type { Database } from './open.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)
const MAX_MS = 3_600_000 // a large table may take its time
const LOCK = 0x0ff3_0001 // any fixed number: one process migrates, the others wait and find nothing left to do

type Migration = { name: string; sql: string; checksum: string }

export function listMigrations(): Migration[] {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
  return names.map((name) => {
    const sql = readFileSync(new URL(name, FOLDER), 'utf8')
    return { name, sql, checksum: hash('sha256', sql) }
  })
}

/** Applies what is missing, all of it or nothing, and returns the names of what it applied. */
export async function migrate(database: Pick<Database, 'pool'>): Promise<string[]> {
  const client = await database.pool.connect()
  const run = (text: string, values: unknown[] = []) =>
    client.query({ text, values, query_timeout: MAX_MS } as pg.QueryConfig)
  try {
    await run('BEGIN')
    await run('SELECT pg_advisory_xact_lock($1)', [LOCK])
    await run(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
    const { rows } = await run('SELECT name, checksum FROM schema_migrations')
    const missing = missingMigrations(rows as Applied[])
    for (const { name, sql, checksum } of missing) {
      await client.query({ text: sql, query_timeout: MAX_MS } as pg.QueryConfig)
      await run('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum])
    }
    await run('COMMIT')
    return missing.map(({ name }) => name)
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {}) // the connection may be what failed
    throw error
  } finally {
    client.release()
  }
}

type Applied = { name: string; checksum: string }

function missingMigrations(applied: Applied[]): Migration[] {
  const known = listMigrations()
  const problem = schemaProblem(applied, known)
  if (problem !== null) throw new OperatorError(problem)
  return known.filter(({ name }) => !applied.some((one) => one.name === name))
}

/** Why this program must not work on a schema with these migrations, or null. Missing ones are no reason. */
function schemaProblem(applied: Applied[], known: Migration[]): string | null {
  for (const { name, checksum } of applied) {
    const migration = known.find((one) => one.name === name)
    if (!migration)
      return `The database has migration ${name}, which this version of Offerdeck does not know: it was used with a newer one. Update Offerdeck.`
    if (migration.checksum !== checksum)
      return `Migration ${name} was changed after it was applied to this database. Restore the file; changes go into a new migration.`
  }
  return null
}

/** What is still to be applied, without applying it. */
export async function pendingMigrations({ pool }: Pick<Database, 'pool'>): Promise<string[]> {
  const found = await pool.query<{ exists: boolean }>("SELECT to_regclass('schema_migrations') IS NOT NULL AS exists")
  const applied = found.rows[0]?.exists
    ? (await pool.query<Applied>('SELECT name, checksum FROM schema_migrations')).rows
    : []
  return missingMigrations(applied).map(({ name }) => name)
}
