// Databases of the tests' server: copies of one that is migrated, and whatever its superuser may do with them.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { APP_ROLE } from '../src/db/app-role.ts'
import { type Database, openPool } from '../src/db/open.ts'

const TEMPLATE = 'template_for_tests'

/** A busy machine may take its time. */
export const PATIENCE_S = 30

export const connectionTo = (database: string): pg.PoolConfig => ({
  connectionTimeoutMillis: PATIENCE_S * 1_000,
  ...(JSON.parse(process.env['TEST_POSTGRES'] ?? '{}') as pg.PoolConfig),
  database,
})

/** For what only the tests do: the program's own role could not. */
export const superuserConnection = (database = 'postgres'): pg.ClientConfig => ({
  ...(JSON.parse(process.env['TEST_POSTGRES_SUPERUSER'] ?? '{}') as pg.ClientConfig),
  database,
})

/** A fresh database without an app on it. It is deleted when it is closed. */
export async function openNewDatabase(prefix: string, connections: number): Promise<Database> {
  const name = `${prefix}_${randomBytes(4).toString('hex')}`
  await createDatabase(name, TEMPLATE)
  const opened = openPool(connectionTo(name), connections)
  return {
    ...opened,
    embeddedIn: null,
    revive: async () => {},
    async close() {
      await opened.close()
      await adminQuery(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** Of the role that the program connects as, like the one it creates for itself. Copying files takes a third of the time. */
export async function createDatabase(name: string, template = 'template1'): Promise<void> {
  await adminQuery(`CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${APP_ROLE} STRATEGY file_copy`)
  if (template !== TEMPLATE) return
  const defaults = await (roleDefaults ??= readRoleDefaults())
  await adminQuery(defaults.map((set) => `ALTER ROLE ${APP_ROLE} IN DATABASE ${name} SET ${set}`).join(';'))
}

export const adminQuery = async (sql: string): Promise<pg.QueryResult> => (await connectAdmin()).query(sql)

let admin: Promise<pg.Client> | undefined
let roleDefaults: Promise<string[]> | undefined

/** One connection for each process, which ends with it. */
const connectAdmin = (): Promise<pg.Client> =>
  (admin ??= (async () => {
    const client = new pg.Client(superuserConnection())
    client.on('error', () => {}) // the server may stop before this process does
    await client.connect()
    return client
  })())

/** The defaults that migrating sets: they belong to a database's name, and a copy of a database has none. */
async function readRoleDefaults(): Promise<string[]> {
  const { rows } = await adminQuery(
    `SELECT unnest(setconfig) AS set FROM pg_db_role_setting
     WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = '${TEMPLATE}')`,
  )
  return (rows as { set: string }[]).map(({ set }) => set.replace('=', " = '") + "'")
}
