// The parts that stand between the program and its database.
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { until } from '../../test/installation.ts'
import { adminQuery, createDatabase } from '../../test/databases.ts'
import { useWorld } from '../../test/world.ts'
import { BatchWriter } from './batch-writer.ts'
import { isUnavailable, isRowError } from './pg-errors.ts'
import { migrate, pendingMigrations } from './migrate.ts'
import { openDatabase, openPool } from './open.ts'
import { SingleWriter } from './single-writer.ts'

const world = useWorld('db')

const connect = () => openPool(world.connection(world.databaseName), 4)

test('rows that come together are committed together, in order, and each waits for its commit', async () => {
  const batches: number[][] = []
  const writer = new BatchWriter<number, number>(
    async (rows) => {
      batches.push(rows)
      return rows.map((row) => row * 2)
    },
    () => false,
  )
  const results = await Promise.all(Array.from({ length: 450 }, (_, i) => writer.add(i)))
  assert.ok(results.every((result, i) => result === i * 2))
  assert.deepEqual(
    batches.flat(),
    Array.from({ length: 450 }, (_, i) => i),
  )
  assert.ok(batches.length <= 4 && Math.max(...batches.map((batch) => batch.length)) <= 200)
})

test('one bad row sinks no other', async () => {
  const written: number[] = []
  const error = { code: '22021' }
  const writer = new BatchWriter<number, number>(async (rows) => {
    if (rows.includes(7)) throw error
    written.push(...rows)
    return rows
  }, isRowError)
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => writer.add(i)))
  assert.deepEqual(
    results.filter((result) => result.status === 'rejected').map((result) => result.reason as unknown),
    [error],
  )
  assert.equal(written.length, 19)
})

test('a failure that is not about a row fails the batch once, and a full queue refuses at once', async () => {
  let calls = 0
  const failing = new BatchWriter<number, void>(async () => {
    calls++
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  }, isRowError)
  const results = await Promise.allSettled([failing.add(1), failing.add(2)])
  assert.ok(results.every((result) => result.status === 'rejected' && isUnavailable(result.reason)))
  assert.equal(calls, 1)
  const stuck = new BatchWriter<number, void>(() => new Promise(() => {}), isRowError)
  for (let i = 0; i < 20_000; i++) void stuck.add(i)
  await assert.rejects(stuck.add(0), /queue is full/)
})

test('the first process stops assuming it is alone before the second one joins', async () => {
  const [a, b] = [connect(), connect()]
  // The app of this file's world is alone on the database so far: it gives way to the first of these.
  const first = new SingleWriter(a.pool, 1)
  const second = new SingleWriter(b.pool, 1)
  await first.join()
  assert.equal(first.isAlone, false)
  await second.join()
  assert.deepEqual([first.isAlone, second.isAlone], [false, false])
  await Promise.all([first.leave(), second.leave()])
  await Promise.all([a.close(), b.close()])
})

test('a process that loses its connection no longer assumes it is alone', async () => {
  await createDatabase(`alone_${world.databaseName}`, 'template_for_tests')
  const only = openPool({ ...world.connection(`alone_${world.databaseName}`), application_name: 'only' }, 4)
  const singleWriter = new SingleWriter(only.pool, 1)
  let peers = 0
  singleWriter.onPeerJoined = () => peers++
  await singleWriter.join()
  await until(() => singleWriter.isAlone)
  await adminQuery(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name IN ('only', 'offerdeck') AND datname LIKE 'alone_%'",
  )
  await until(() => peers > 0)
  await until(() => singleWriter.isAlone) // it reconnects automatically
  await singleWriter.leave()
  await only.close()
})

test('migrating again changes nothing, and two at once do not collide', async () => {
  assert.deepEqual(await pendingMigrations(world.database), [])
  await createDatabase(`empty_${world.databaseName}`)
  const [a, b] = [1, 2].map(() => openPool(world.connection(`empty_${world.databaseName}`), 2))
  assert.ok(a && b)
  assert.ok((await pendingMigrations(a)).length > 0)
  const applied = await Promise.all([migrate(a), migrate(b)])
  assert.equal(applied.flat().length, (await migrate(a)).length + applied.flat().length)
  assert.deepEqual(await pendingMigrations(a), [])
  await Promise.all([a.close(), b.close()])
})

test('a schema of a newer version, or a migration changed afterwards, is refused with what to do', async () => {
  const database = connect()
  const { rows } = await database.pool.query<{ name: string; checksum: string }>(
    'SELECT name, checksum FROM schema_migrations LIMIT 1',
  )
  await database.pool.query("UPDATE schema_migrations SET checksum = 'x' WHERE name = $1", [rows[0]?.name])
  await assert.rejects(migrate(database), /was changed after it was applied/)
  await database.pool.query('UPDATE schema_migrations SET checksum = $2 WHERE name = $1', [
    rows[0]?.name,
    rows[0]?.checksum,
  ])
  await database.pool.query(
    "INSERT INTO schema_migrations (name, checksum, breaks_older) VALUES ('9999_future.sql', 'x', true)",
  )
  await assert.rejects(migrate(database), /of a newer version.* Update Offerdeck/)
  await assert.rejects(pendingMigrations(database), /of a newer version.* Update Offerdeck/)
  await database.pool.query("DELETE FROM schema_migrations WHERE name = '9999_future.sql'")
  await database.close()
})

test('a connection on which a query timed out is not used again: its transaction would swallow what comes next', async () => {
  const one = openPool({ ...world.connection(world.databaseName), query_timeout: 3_000 }, 1)
  const { rows } = await one.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const pid = rows[0]?.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  try {
    await assert.rejects(
      one.db.transaction().execute(async () => {}),
      /Query read timeout/,
    )
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  await one.pool.query("INSERT INTO publishers (name) VALUES ('after the timeout')")
  await one.close()
  const found = await world.database.db
    .selectFrom('publishers')
    .select('name')
    .where('name', '=', 'after the timeout')
    .execute()
  assert.equal(found.length, 1)
})

test('a server that does not answer is given up after the time that its URL says', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket))
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening))
  const { port } = silent.address() as { port: number }
  const databaseUrl = `postgres://user@127.0.0.1:${port}/name?connect_timeout=0.2`
  const database = await openDatabase({ databaseUrl, dataDir: world.dataDir })
  await assert.rejects(database.pool.query('SELECT'), /connection timeout/)
  assert.equal(sockets.length, 1)
  await database.close()
  for (const socket of sockets) socket.destroy()
  silent.close()
  const plain = await openDatabase({ databaseUrl: databaseUrl.replace(/\?.*/, ''), dataDir: world.dataDir })
  assert.equal(plain.pool.options.connectionTimeoutMillis, 5_000)
  await plain.close()
})
