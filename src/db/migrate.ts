// Brings the schema up to date from migrations/*.sql: plain SQL, in the order of their names, each once, forward only.
//
// A file runs in one transaction, and never waits long for a table in use: a lock that is not granted within two
// seconds ends the attempt, lets all other queries through, and is requested again. A file that begins with `--
// concurrently` runs one statement after the other outside a transaction: for indexes on tables that may be large. Each
// statement there must be safe to repeat (IF NOT EXISTS), because a crash in the middle restarts the file.
//
// Nodes of an older version go on with what they do not know, and start again with it: an upgrade can be gradual, and be
// taken back. A file that they cannot live with says so in a line of its own, `-- breaks older nodes`.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorError } from '../errors.ts'
import { projectPath } from '../lib/project.ts'
import { LOCKS } from './locks.ts'
import type { Database } from './open.ts'
import { NO_TIME_LIMIT, setRoleDefaults } from './role-defaults.ts'
import { skipNumbers } from './skip-numbers.ts'

const FOLDER = projectPath('migrations')
const MAX_MS = 3_600_000 // a large table may take its time
const LOCK_TIMEOUT_MS = 2_000
const MAX_ATTEMPTS = 150
const CONCURRENTLY = '-- concurrently'
const BREAKS_OLDER = /^-- breaks older nodes$/m

type Migration = { name: string; sql: string; checksum: string }

export function listMigrations(folder = FOLDER): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
  return names.map((name) => {
    const sql = readFileSync(join(folder, name), 'utf8')
    return { name, sql, checksum: hash('sha256', sql) }
  })
}

/**
 * Applies what is missing, file by file, and returns the names of what it applied. Also ends what a restore began. Needs
 * two connections of the pool.
 */
export async function migrate(
  { pool, embeddedIn = null }: Pick<Database, 'pool'> & Partial<Database>,
  migrations: Migration[] = listMigrations(),
): Promise<string[]> {
  const holder = await pool.connect()
  try {
    await takeTurn(holder)
    const client = await pool.connect()
    try {
      await client.query(`CREATE TABLE IF NOT EXISTS schema_migrations (
        name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
      await client.query('ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS breaks_older boolean NOT NULL DEFAULT false') // prettier-ignore
      const { rows } = await client.query<Applied>('SELECT * FROM schema_migrations')
      const missing = missingMigrations(rows, migrations)
      for (const migration of missing)
        await (migration.sql.startsWith(CONCURRENTLY) ? applyConcurrently : applyWhole)(client, migration)
      if (embeddedIn !== null) await skipNumbers(client, embeddedIn)
      await setRoleDefaults(client)
      return missing.map(({ name }) => name)
    } finally {
      client.release(true) // it is older than the defaults
    }
  } finally {
    await holder.query('ROLLBACK').catch(() => {}) // the connection may be what failed
    holder.release(true)
  }
}

/**
 * Waits without a transaction open: an index that is built concurrently waits for every older snapshot. Nor may the turn
 * itself hold one: a statement with parameters would keep its own for as long as the transaction lasts.
 */
async function takeTurn(holder: pg.PoolClient): Promise<void> {
  for (;;) {
    await holder.query(`BEGIN; ${NO_TIME_LIMIT}`)
    const { rows } = await holder.query<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${LOCKS.migrations}) AS mine`,
    )
    if (rows[0]?.mine) return
    await holder.query('ROLLBACK')
    await sleep(100)
  }
}

const patiently = (client: pg.PoolClient, text: string) =>
  client.query({ text, query_timeout: MAX_MS } as pg.QueryConfig)

async function applyWhole(client: pg.PoolClient, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(`BEGIN; ${NO_TIME_LIMIT}`)
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await patiently(client, migration.sql)
      await noteApplied(client, migration)
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}) // the connection may be what failed
      const isBlocked = (error as { code?: string }).code === '55P03'
      if (!isBlocked || attempt === MAX_ATTEMPTS) throw error
      await sleep(Math.min(100 * attempt, LOCK_TIMEOUT_MS))
    }
  }
}

async function applyConcurrently(client: pg.PoolClient, migration: Migration): Promise<void> {
  await client.query('SET statement_timeout = 0') // of the session: there is no transaction
  for (const statement of migration.sql.split(/;\s*(?:\n|$)/).filter((text) => /^[^-\s]/m.test(text))) {
    const index = /CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)/.exec(statement)?.[1]
    if (index !== undefined) await dropInvalid(client, index)
    await patiently(client, statement)
  }
  await client.query('RESET statement_timeout')
  await noteApplied(client, migration)
}

/** What is left of an index that was not finished: it has the name, and is of no use. */
async function dropInvalid(client: pg.PoolClient, index: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT indisvalid',
    [index],
  )
  if (rowCount !== 0) await patiently(client, `DROP INDEX CONCURRENTLY ${index}`)
}

const noteApplied = (client: pg.PoolClient, { name, sql, checksum }: Migration) =>
  client.query('INSERT INTO schema_migrations (name, checksum, breaks_older) VALUES ($1, $2, $3)', [
    name,
    checksum,
    BREAKS_OLDER.test(sql),
  ])

type Applied = { name: string; checksum: string; breaks_older: boolean }

function missingMigrations(applied: Applied[], known = listMigrations()): Migration[] {
  const problem = schemaProblem(applied, known)
  if (problem !== null) throw new OperatorError(problem)
  return known.filter(({ name }) => !applied.some((one) => one.name === name))
}

/** Why this program must not work on a schema with these migrations, or null. Missing ones are no reason. */
function schemaProblem(applied: Applied[], known: Migration[]): string | null {
  for (const { name, checksum, breaks_older } of applied) {
    const migration = known.find((one) => one.name === name)
    if (!migration && !breaks_older) continue // of a newer version
    if (!migration)
      return `The database has migration ${name} of a newer version of Offerdeck, which this one cannot work with. Update Offerdeck.`
    if (migration.checksum !== checksum)
      return `Migration ${name} was changed after it was applied to this database. Restore the file; changes go into a new migration.`
  }
  return null
}

/** What is still to be applied, without applying it. */
export async function pendingMigrations({ pool }: Pick<Database, 'pool'>): Promise<string[]> {
  const found = await pool.query<{ exists: boolean }>("SELECT to_regclass('schema_migrations') IS NOT NULL AS exists")
  const applied = found.rows[0]?.exists ? (await pool.query<Applied>('SELECT * FROM schema_migrations')).rows : []
  return missingMigrations(applied).map(({ name }) => name)
}
