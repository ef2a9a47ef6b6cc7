// Migrations while others use the database: no query waits long for them, and an interrupted one continues.
import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { until } from '../../test/installation.ts'
import { adminQuery, createDatabase } from '../../test/databases.ts'
import { World } from '../../test/world.ts'
import { listMigrations, migrate } from './migrate.ts'
import { openPool } from './open.ts'

const world = new World('migrate')
const opened: { close(): Promise<void> }[] = []
after(async () => void (await Promise.all(opened.map((one) => one.close()))))

const fileOf = (name: string, sql: string) => ({ name, sql, checksum: hash('sha256', sql) })
const FIRST = fileOf(
  '0001_things.sql',
  "CREATE TABLE things (id integer, place text); INSERT INTO things VALUES (1, 'x')",
)
const COLUMN = fileOf('0002_column.sql', 'ALTER TABLE things ADD colour text')
const INDEXES = fileOf(
  '0003_indexes.sql',
  `-- concurrently
-- Why these are needed.
CREATE INDEX CONCURRENTLY IF NOT EXISTS things_id ON things (id);
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS things_place
  ON things (place) WHERE place <> ';';
`,
)

async function newDatabase(): Promise<string> {
  const name = `migrate_${randomBytes(4).toString('hex')}`
  await createDatabase(name)
  return name
}

function connectTo(name: string) {
  const database = openPool(world.connection(name), 3)
  opened.push(database)
  return database
}

const isValid = async ({ pool }: ReturnType<typeof connectTo>, index: string) =>
  (await pool.query('SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid', [index])).rowCount === 1

test('a table in use delays a migration, and no query waits behind the migration for long', async () => {
  const database = connectTo(await newDatabase())
  await migrate(database, [FIRST])
  const holder = await database.pool.connect()
  await holder.query('BEGIN; SELECT * FROM things')
  const migrating = migrate(connectTo(String(database.pool.options.database)), [FIRST, COLUMN])
  const isWaiting = async () =>
    (await database.pool.query("SELECT FROM pg_locks WHERE relation = 'things'::regclass AND NOT granted")).rowCount ===
    1
  await until(isWaiting)
  // Asks behind the migration, which gives up its place in the queue after two seconds.
  const { rows } = await database.pool.query('SELECT id FROM things')
  assert.deepEqual(rows, [{ id: 1 }])
  await holder.query('COMMIT')
  holder.release()
  assert.deepEqual(await migrating, ['0002_column.sql'])
  assert.deepEqual((await database.pool.query('SELECT colour FROM things')).rows, [{ colour: null }])
})

test('indexes are built beside a writer that does not end, and after a crash in the middle from where it was', async () => {
  const name = await newDatabase()
  const database = connectTo(name)
  await migrate(database, [FIRST])
  const writer = await database.pool.connect()
  await writer.query("BEGIN; INSERT INTO things VALUES (2, 'y')")
  const breaking = connectTo(name)
  const broken = assert.rejects(migrate(breaking, [FIRST, INDEXES]))
  const findBuilder = async () => {
    const { rows } = await database.pool.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE datname = $1 AND query LIKE '%INDEX CONCURRENTLY%' AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'",
      [name],
    )
    return rows[0]?.pid
  }
  await until(async () => (await findBuilder()) !== undefined)
  await adminQuery(`SELECT pg_terminate_backend(${await findBuilder()})`)
  await broken
  assert.equal(await isValid(database, 'things_id'), false)
  const applied = await database.pool.query('SELECT name FROM schema_migrations')
  assert.deepEqual(applied.rows, [{ name: '0001_things.sql' }])

  const again = migrate(connectTo(name), [FIRST, INDEXES])
  await until(async () => (await findBuilder()) !== undefined)
  await database.pool.query("INSERT INTO things VALUES (3, 'z')") // others write meanwhile
  await writer.query('COMMIT')
  writer.release()
  assert.deepEqual(await again, ['0003_indexes.sql'])
  assert.deepEqual([await isValid(database, 'things_id'), await isValid(database, 'things_place')], [true, true])
})

test('an older version works with what it does not know, unless that says otherwise', async () => {
  const database = connectTo(await newDatabase())
  await migrate(database, [FIRST, COLUMN])
  assert.deepEqual(await migrate(database, [FIRST]), [])
  const breaking = fileOf('0003_drop.sql', '-- Why.\n-- breaks older nodes\nALTER TABLE things DROP colour')
  await migrate(database, [FIRST, COLUMN, breaking])
  await assert.rejects(migrate(database, [FIRST, COLUMN]), /has migration 0003_drop\.sql of a newer version.* Update/)
})

test('of two that migrate at once, one applies each file and the other finds nothing to do', async () => {
  const name = await newDatabase()
  const applied = await Promise.all([1, 2].map(() => migrate(connectTo(name), [FIRST, COLUMN, INDEXES])))
  assert.deepEqual(applied.flat().toSorted(), [FIRST.name, COLUMN.name, INDEXES.name])
  assert.ok(applied.some((names) => names.length === 0))
})

test('the server itself ends what takes too long, and leaves limits that an operator chose', async () => {
  const name = await newDatabase()
  const limitsOf = async () => {
    const { rows } = await connectTo(name).pool.query<{ statement: string; idle: string; jit: string }>(
      `SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('jit') AS jit`,
    )
    return rows[0]
  }
  await migrate(connectTo(name), [FIRST])
  assert.deepEqual(await limitsOf(), { statement: '20s', idle: '15s', jit: 'off' })
  await connectTo(name).pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET statement_timeout = 0`)
  await connectTo(name).pool.query(
    `ALTER ROLE CURRENT_USER IN DATABASE ${name} SET idle_in_transaction_session_timeout = 300`,
  )
  await connectTo(name).pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET jit = on`)
  await migrate(connectTo(name), [FIRST])
  assert.deepEqual(await limitsOf(), { statement: '0', idle: '300ms', jit: 'on' })

  const { pool } = connectTo(name)
  const idle = await pool.connect()
  await idle.query('BEGIN; LOCK TABLE things')
  // Waits for the lock until the server ends the idle transaction that holds it.
  assert.equal((await connectTo(name).pool.query('SELECT FROM things')).rowCount, 1)
  idle.release(true)

  // A migration may take longer: here, than a limit that every other statement would exceed.
  await connectTo(name).pool.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET statement_timeout = 300`)
  const slow = fileOf('0002_slow.sql', 'SELECT pg_sleep(0.6)')
  assert.deepEqual(await migrate(connectTo(name), [FIRST, slow, INDEXES]), [slow.name, INDEXES.name])
})

/** What grows with traffic, or with the catalogue. An index on it is built concurrently. */
const LARGE = ['audit_log', 'conversion_events', 'conversions', 'event_feed', 'goals', 'ledger_entries', 'offers', 'postbacks', 'terms', 'user_contexts'] // prettier-ignore

test('no migration builds an index on a large table while others wait for it', () => {
  const files = listMigrations().filter(({ name }) => name > '0004_dashboard.sql') // before, there were no networks
  assert.ok(files.length > 20)
  for (const { name, sql } of files) {
    const indexes = [...sql.matchAll(/CREATE (?:UNIQUE )?INDEX(?! CONCURRENTLY)[^;]*? ON (?:ONLY )?(\w+)/g)]
    assert.deepEqual(indexes.filter(([, table]) => LARGE.includes(table ?? '')).map(([statement]) => statement), [], name) // prettier-ignore
    assert.equal(/CREATE (UNIQUE )?INDEX CONCURRENTLY/.test(sql) && !sql.startsWith('-- concurrently\n'), false, name)
  }
})
