// What "offerdeck doctor" looks at in the database: whether it answers, whose schema and secret key it has, its clock, how
// many connections there are, and whether a pooler in between keeps prepared statements.
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../config.ts'
import { type ConnectionBudget, planProcesses, readConnectionBudget, readConnectionLimits } from '../db/connection-budget.ts' // prettier-ignore
import { listMigrations, pendingMigrations } from '../db/migrate.ts'
import { type Database, openDatabase } from '../db/open.ts'
import { readReplicaLimits, Replica } from '../db/replica.ts'
import { messageOf, OLD_KEY_MISSING } from '../errors.ts'
import { findKeyProblem } from '../features/accounts/secret-keys.ts'
import { hasSecretKey, readSecretKey } from './context.ts'
import { RESEAL } from './hints.ts'
import { countApis } from './serving/count-apis.ts'

export type Finding = { check: string; ok: boolean; result: string; advice?: string }

const MAX_CLOCK_DIFFERENCE_MS = 2_000
const FEW_LOCKS = 256

export async function checkDatabase(config: Config): Promise<Finding[]> {
  let database: Database | null = null
  try {
    database = await openDatabase({ ...config, connections: 2 })
    const startedMs = Date.now()
    const { rows } = await database.pool.query<{ version: string; now: Date }>(
      "SELECT current_setting('server_version') AS version, clock_timestamp() AS now",
    )
    const tookMs = Date.now() - startedMs
    const where = database.embeddedIn === null ? 'DATABASE_URL' : `embedded, in ${database.embeddedIn}`
    const budget = await readBudget(config, database)
    return [
      { check: 'database', ok: true, result: `PostgreSQL ${rows[0]?.version} answers (${where})` },
      await checkSchema(database),
      await checkSecretKey(database, config),
      checkClock(rows[0]?.now ?? new Date(), startedMs + tookMs / 2),
      await checkConnections(database, budget),
      await checkPooler(database, config.preparedStatements),
      ...(config.databaseReplicaUrl === null ? [] : [await checkReplica(config.databaseReplicaUrl, database, budget)]),
    ]
  } catch (error) {
    const advice =
      config.databaseUrl === null
        ? 'See the log named above; "npm ci" installs the PostgreSQL binaries.'
        : 'Check that the server is running, that DATABASE_URL is correct, and that its user is allowed to connect.'
    return [{ check: 'database', ok: false, result: messageOf(error) || 'does not answer', advice }]
  } finally {
    await database?.close()
  }
}

/** On this machine those that run, or that this environment would start, whichever are more. */
async function readBudget(config: Config, database: Database): Promise<ConnectionBudget> {
  const { apis } = await countApis(config.processes, database).catch(() => ({ apis: 1 })) // before the first migration
  return readConnectionBudget(database.db, planProcesses(['api', 'worker'], apis), (host) => host === hostname())
}

async function checkReplica(url: string, { pool }: Database, { needed }: ConnectionBudget): Promise<Finding> {
  const check = 'replica'
  const replica = new Replica(url, pool, false)
  try {
    for (let looks = 0; looks < 20 && !replica.isUsed; looks++) {
      await replica.look()
      await sleep(100)
    }
    const advice = 'Check that it streams from the server of DATABASE_URL. Until then, the dashboard reads from there.'
    if (!replica.isUsed) return { check, ok: false, result: 'has not applied what the primary has written', advice }
    const { most } = await readReplicaLimits(url)
    const result = `keeps up; ${most} connections, the API processes use up to ${needed.replica}`
    return { check, ok: most >= needed.replica, result, advice: `Raise max_connections of the replica above ${needed.replica}.` } // prettier-ignore
  } catch (error) {
    const advice =
      'Check that it is running, and DATABASE_REPLICA_URL. Until then, the dashboard reads from DATABASE_URL.'
    return { check, ok: false, result: messageOf(error) || 'does not answer', advice }
  } finally {
    await replica.close()
  }
}

async function checkSchema(database: Database): Promise<Finding> {
  const check = 'schema'
  try {
    const pending = await pendingMigrations(database)
    const version = listMigrations().at(-1)?.name.replace('.sql', '')
    if (pending.length === 0) return { check, ok: true, result: `up to date (${version})` }
    return {
      check,
      ok: false,
      result: `${pending.length} migrations pending`,
      advice: 'Run: npx offerdeck migrate (or start the server, which migrates automatically).',
    }
  } catch (error) {
    const advice = 'Install the version of Offerdeck that this database was used with, or a later one.'
    return { check, ok: false, result: messageOf(error), advice }
  }
}

async function checkSecretKey({ db, pool }: Database, config: Config): Promise<Finding> {
  const check = 'key'
  const { rows } = await pool.query<{ exists: boolean }>("SELECT to_regclass('secret_keys') IS NOT NULL AS exists")
  if (!rows[0]?.exists || !hasSecretKey(config))
    return { check, ok: true, result: 'not checked: the database or the secret key is not set up yet' }
  const problem = await findKeyProblem(db, readSecretKey(config))
  if (problem === null) return { check, ok: true, result: 'the secret key matches this database' }
  const [result = '', ...advice] = problem.split(/(?<=\.) (?=[A-Z])/)
  if (problem === OLD_KEY_MISSING) advice.push(RESEAL)
  return { check, ok: false, result, advice: advice.join(' ') }
}

function checkClock(databaseTime: Date, localMs: number): Finding {
  const differenceMs = Math.abs(databaseTime.getTime() - localMs)
  if (differenceMs <= MAX_CLOCK_DIFFERENCE_MS) return { check: 'clock', ok: true, result: 'in sync with the database' }
  return {
    check: 'clock',
    ok: false,
    result: `off from the database clock by ${Math.round(differenceMs / 1000)} s`,
    advice: 'Run an NTP service such as chrony on both machines.',
  }
}

async function checkConnections({ pool }: Database, { all, needed }: ConnectionBudget): Promise<Finding> {
  const { most, used, locks } = await readConnectionLimits(pool)
  const who = all === 1 ? 'the process on this database uses' : `the ${all} processes on this database use`
  const few = locks < FEW_LOCKS ? `; max_locks_per_transaction is ${locks}, and reports are faster with 512` : ''
  return {
    check: 'limits',
    ok: most >= needed.primary && most - used > 0,
    result: `${most} connections, ${used} in use; ${who} up to ${needed.primary}${few}`,
    advice: `Raise max_connections (or the connection limit of the database or its user) above ${needed.primary}, or put PgBouncer in between.`,
  }
}

/**
 * Two clients prepare the same statement and use it in several transactions. A pooler that gives each transaction a connection
 * of the server, and does not follow prepared statements, gives the second client the connection of the first, where the
 * statement is there already, or gives a client one where it is not.
 */
async function checkPooler({ pool }: Database, areUsed: boolean): Promise<Finding> {
  const check = 'pooler'
  const clients: pg.PoolClient[] = [await pool.connect(), await pool.connect()]
  const [one, two] = clients as [pg.PoolClient, pg.PoolClient]
  const statement = { name: 'offerdeck-doctor', text: 'SELECT $1::integer AS n', values: [1] }
  try {
    await one.query(statement)
    await two.query(statement)
    await one.query('BEGIN') // holds a connection of the server, so that the other client gets another
    for (let i = 0; i < 4; i++) await two.query(statement)
    await one.query('COMMIT')
    for (let i = 0; i < 4; i++) await Promise.all([one.query(statement), two.query(statement)])
    return { check, ok: true, result: `prepared statements work${areUsed ? '' : ', but PREPARED_STATEMENTS is off'}` }
  } catch (error) {
    return {
      check,
      ok: !areUsed,
      result: areUsed
        ? `prepared statements do not work (${messageOf(error)})`
        : 'prepared statements do not work, and are not used',
      advice: 'Set PREPARED_STATEMENTS=off; or, with PgBouncer 1.21 or later, set its max_prepared_statements above 0.',
    }
  } finally {
    for (const client of clients) client.release(true)
  }
}
