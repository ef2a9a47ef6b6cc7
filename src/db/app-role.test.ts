// The role of the embedded PostgreSQL that the program connects as: what it may not do, and how data of earlier versions,
// which connected as the superuser, comes to be its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { createFolder } from '../../test/folders.ts'
import { until } from '../../test/installation.ts'
import { locateCluster } from './cluster.ts'
import { type EmbeddedPostgres, holdEmbeddedPostgres, createDataDir } from './embedded.ts'
import { listMigrations, migrate, pendingMigrations } from './migrate.ts'
import { openPool } from './open.ts'
import { ensurePartitions, listPartitions } from './partitions.ts'
import { livePostmaster, startPostmaster } from './postmaster.ts'
import { keepSecretFile } from './secret-file.ts'

const folder = createFolder('app-role')
after(() => rmSync(folder, { recursive: true, force: true }))

type Row = Record<string, unknown>

async function query(connection: pg.ClientConfig, sql: string): Promise<Row[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

/** What the superuser owns of ours. */
const LEFT_BEHIND = `
  SELECT relname::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relowner = 'offerdeck'::regrole
  UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proowner = 'offerdeck'::regrole
  UNION ALL SELECT typname::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typowner = 'offerdeck'::regrole
  UNION ALL SELECT datname::text FROM pg_database WHERE datname = 'offerdeck' AND datdba = 'offerdeck'::regrole`

const OLD_DAY = Date.UTC(2026, 0, 31)

/**
 * A running server with a full schema and a publisher, as versions before the role created it: all owned by the
 * superuser.
 */
async function startOldServer(dataDir: string) {
  createDataDir(dataDir)
  const cluster = await locateCluster(realpathSync(dataDir))
  const password = keepSecretFile(join(dataDir, 'postgres-password'))
  const alive = openSync(cluster.aliveFile, constants.O_RDWR | constants.O_NONBLOCK)
  await startPostmaster(cluster, password, 'offerdeck')
  const connection = { host: cluster.socketDir, user: 'offerdeck', password, database: 'offerdeck' }
  const create = () => query({ ...connection, database: 'postgres' }, 'CREATE DATABASE offerdeck')
  await until(() => create().then(() => true, () => false)) // prettier-ignore
  const database = openPool(connection, 2)
  await migrate(database)
  await ensurePartitions(database.db, 'clicks', [OLD_DAY])
  await database.pool.query(`INSERT INTO publishers (name) VALUES ('From before');
    CREATE SCHEMA notes CREATE TABLE mine (n serial);
    CREATE TYPE mood AS ENUM ('good'); CREATE VIEW names AS SELECT name FROM publishers;
    ALTER ROLE CURRENT_USER IN DATABASE offerdeck SET statement_timeout = '7s'`)
  await database.close()
  return {
    connection,
    async stop() {
      closeSync(alive)
      await until(() => livePostmaster(cluster) === null)
    },
  }
}

async function assertHandedOver(postgres: EmbeddedPostgres): Promise<void> {
  assert.deepEqual(await query(postgres.connection, LEFT_BEHIND), [])
  assert.deepEqual(await query(postgres.connection, 'SELECT name FROM names'), [{ name: 'From before' }])
  assert.deepEqual(await query(postgres.connection, 'SHOW statement_timeout'), [{ statement_timeout: '7s' }])
}

test('the role has no right on the server itself, and the program can do all it does', async () => {
  const postgres = await holdEmbeddedPostgres(join(folder, 'new'))
  const ask = (sql: string) => query(postgres.connection, sql)
  assert.deepEqual(
    await ask(`SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
      (SELECT count(*)::integer FROM pg_auth_members WHERE member = pg_roles.oid) AS memberships
      FROM pg_roles WHERE rolname = current_user`),
    [{ rolsuper: false, rolcreaterole: false, rolcreatedb: false, rolreplication: false, rolbypassrls: false, memberships: 0 }], // prettier-ignore
  )
  const database = openPool(postgres.connection, 2)
  await migrate(database)
  await ensurePartitions(database.db, 'clicks', [OLD_DAY])
  assert.deepEqual(await pendingMigrations(database), [])
  await database.close()
  for (const refused of [
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "COPY schema_migrations FROM '/etc/passwd'",
    "SELECT pg_read_file('postgresql.conf')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_import('/etc/passwd')",
    'SELECT rolpassword FROM pg_authid',
    'SELECT * FROM pg_shadow',
    'ALTER SYSTEM SET fsync = off',
    'CREATE ROLE another SUPERUSER',
    'ALTER ROLE CURRENT_USER SUPERUSER',
    'SET ROLE offerdeck',
    'CREATE DATABASE another',
    "CREATE FUNCTION leave() RETURNS integer LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'exit'",
  ])
    await assert.rejects(ask(refused), /permission denied|must be|Only roles/, refused)
  await postgres.release()
})

test('a folder of an earlier version keeps its data, and all of it becomes the role’s', async () => {
  const dataDir = join(folder, 'old')
  const old = await startOldServer(dataDir)
  assert.ok((await query(old.connection, LEFT_BEHIND)).length > 50)
  await old.stop()
  const first = await holdEmbeddedPostgres(dataDir)
  await assertHandedOver(first)
  const database = openPool(first.connection, 2)
  await migrate(database, [...listMigrations(), migrationOf('ALTER TABLE publishers ADD COLUMN tried integer')])
  assert.ok((await listPartitions(database.db, 'clicks')).includes('clicks_20260131'))
  await database.pool.query('DROP TABLE clicks_20260131; INSERT INTO notes.mine DEFAULT VALUES')
  await database.close()
  await first.release()
  const second = await holdEmbeddedPostgres(dataDir)
  assert.deepEqual(await query(second.connection, 'SELECT n FROM notes.mine'), [{ n: 1 }])
  await second.release()
})

const migrationOf = (sql: string) => ({ name: '9999_later.sql', sql, checksum: 'x' })

test('what is restored as the superuser belongs to the role after the next start', async () => {
  const dataDir = join(folder, 'new')
  const before = await holdEmbeddedPostgres(dataDir)
  await query(before.superuserConnection, 'CREATE TABLE restored (n integer); INSERT INTO restored VALUES (1)')
  await assert.rejects(query(before.connection, 'SELECT n FROM restored'), /permission denied/)
  await before.release()
  const next = await holdEmbeddedPostgres(dataDir)
  assert.deepEqual(await query(next.connection, 'SELECT n FROM restored'), [{ n: 1 }])
  await next.release()
})

test('beside a process of the earlier version: a crash half way changes nothing, and two at once get it done', async () => {
  const dataDir = join(folder, 'beside')
  const old = await startOldServer(dataDir)
  const holder = new pg.Client(old.connection)
  await holder.connect()
  await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; SELECT FROM publishers')
  const script = `import { holdEmbeddedPostgres } from '${new URL('./embedded.ts', import.meta.url).href}'
    await holdEmbeddedPostgres(${JSON.stringify(dataDir)})`
  const killed = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  // Other transactions see nothing of one that waits for the table; the locks it already holds show that it is half
  // way.
  const isHalfWay = async () =>
    (await holder.query("SELECT FROM pg_locks WHERE relation = 'publishers'::regclass AND NOT granted")).rowCount === 1
  await until(isHalfWay)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  await until(async () => !(await isHalfWay()))
  assert.deepEqual(await query(old.connection, "SELECT FROM pg_roles WHERE rolname = 'offerdeck_app'"), [])
  assert.ok((await query(old.connection, LEFT_BEHIND)).length > 50)
  const both = [holdEmbeddedPostgres(dataDir), holdEmbeddedPostgres(dataDir)]
  await until(isHalfWay)
  await holder.query('COMMIT')
  await holder.end()
  for (const postgres of await Promise.all(both)) {
    await assertHandedOver(postgres)
    await postgres.release()
  }
  assert.deepEqual(await query(old.connection, 'SELECT name FROM names'), [{ name: 'From before' }])
  await old.stop()
})

test('a password file that is not this database’s is refused with what to do', async () => {
  const dataDir = join(folder, 'new')
  writeFileSync(join(dataDir, 'postgres-password'), `${'x'.repeat(43)}\n`)
  await assert.rejects(holdEmbeddedPostgres(dataDir), /postgres-password is not that of the database.*Restore/)
})
