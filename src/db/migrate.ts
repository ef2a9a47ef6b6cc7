// Brings the schema up to date from migrations/*.sql: plain SQL, in the order of their names, each once, forward only.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { PoolClient } from 'pg'
import { OperatorError } from '../errors.ts'
import type { Database } from './open.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)
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

/** Applies what is missing and returns the names of what it applied. */
export async function migrate(database: Pick<Database, 'pool'>): Promise<string[]> {
  const client = await database.pool.connect()
  try {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK])
    try {
      return await applyMissing(client)
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [LOCK])
    }
  } finally {
    client.release()
  }
}

async function applyMissing(client: PoolClient): Promise<string[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations',
  )
  const migrations = listMigrations()
  const problem = schemaProblem(rows, migrations)
  if (problem !== null) throw new OperatorError(problem)
  const missing = migrations.filter(({ name }) => !rows.some((row) => row.name === name))
  for (const { name, sql, checksum } of missing) {
    await client.query('BEGIN')
    try {
      await client.query(sql)
      await client.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum])
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    }
  }
  return missing.map(({ name }) => name)
}

/** Why this program must not work on a schema with these migrations, or null. Missing ones are no reason. */
function schemaProblem(applied: { name: string; checksum: string }[], known: Migration[]): string | null {
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
export async function pendingMigrations(database: Pick<Database, 'pool'>): Promise<string[]> {
  const { rows: found } = await database.pool.query<{ exists: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS exists",
  )
  if (!found[0]?.exists) return listMigrations().map(({ name }) => name)
  const { rows } = await database.pool.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations',
  )
  const problem = schemaProblem(rows, listMigrations())
  if (problem !== null) throw new OperatorError(problem)
  return listMigrations()
    .map(({ name }) => name)
    .filter((name) => !rows.some((row) => row.name === name))
}
