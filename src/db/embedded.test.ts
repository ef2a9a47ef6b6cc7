import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import pg from 'pg'
import { createFolder } from '../../test/folders.ts'
import { until } from '../../test/installation.ts'
import { type EmbeddedPostgres, holdEmbeddedPostgres } from './embedded.ts'
import { livePostmaster } from './postmaster.ts'

const folder = createFolder('embedded')
const dataDir = join(folder, 'data')
after(() => rmSync(folder, { recursive: true, force: true }))

async function query(postgres: EmbeddedPostgres, sql: string): Promise<unknown[]> {
  const client = new pg.Client(postgres.connection)
  await client.connect()
  const { rows } = await client.query(sql)
  await client.end()
  return rows
}

/** Another process that holds the database of this folder until it is killed. */
async function otherHolder(): Promise<ChildProcess> {
  const script = `import { holdEmbeddedPostgres } from '${new URL('./embedded.ts', import.meta.url).href}'
    await holdEmbeddedPostgres(${JSON.stringify(dataDir)}); process.stdout.write('held'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return child
}

test('it starts at the first call, on a socket that others cannot reach, and stops when its last user lets go', async () => {
  const first = await holdEmbeddedPostgres(dataDir)
  assert.deepEqual(await query(first, 'SELECT current_database() AS name'), [{ name: 'offerdeck' }])
  assert.deepEqual(
    await query(first, "SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS sync"),
    [{ fsync: 'on', sync: 'on' }],
  )
  assert.equal(statSync(first.cluster.socketDir).mode & 0o077, 0)
  const second = await holdEmbeddedPostgres(dataDir)
  await first.release()
  assert.deepEqual(await query(second, 'SELECT 1 AS one'), [{ one: 1 }])
  await second.release()
  assert.equal(livePostmaster(second.cluster), null)
})

test('a wrong password does not get in', async () => {
  const postgres = await holdEmbeddedPostgres(dataDir)
  await assert.rejects(
    query({ ...postgres, connection: { ...postgres.connection, password: 'wrong' } }, 'SELECT 1'),
    /password/,
  )
  await postgres.release()
})

test('it goes with its last user when that one is killed, and the next start finds what was committed', async () => {
  const other = await otherHolder()
  const mine = await holdEmbeddedPostgres(dataDir)
  await query(mine, 'CREATE TABLE IF NOT EXISTS kept (n integer)')
  await query(mine, 'INSERT INTO kept VALUES (1)')
  await mine.release()
  assert.notEqual(livePostmaster(mine.cluster), null, 'the other one still uses it')
  other.kill('SIGKILL')
  await until(() => livePostmaster(mine.cluster) === null)
  const again = await holdEmbeddedPostgres(dataDir)
  assert.deepEqual(await query(again, 'SELECT n FROM kept'), [{ n: 1 }])
  await again.release()
})

test('the last user waits until it has stopped, also after one that was killed without letting go', async () => {
  const mine = await holdEmbeddedPostgres(dataDir)
  const other = await otherHolder()
  const { joinedDir } = mine.cluster
  assert.equal(readdirSync(joinedDir).length, 2)
  other.kill('SIGKILL')
  await once(other, 'exit')
  await mine.release()
  assert.equal(livePostmaster(mine.cluster), null)
  assert.deepEqual(readdirSync(joinedDir), [])
})

test('many who come and go at once all find it running', async () => {
  await Promise.all(
    Array.from({ length: 8 }, async (_, i) => {
      for (let round = 0; round < 3; round++) {
        const postgres = await holdEmbeddedPostgres(dataDir)
        assert.deepEqual(await query(postgres, `SELECT ${i} AS i`), [{ i }])
        await postgres.release()
      }
    }),
  )
})

test('a server that was killed is restarted by a process that uses it', async () => {
  const postgres = await holdEmbeddedPostgres(dataDir)
  process.kill(livePostmaster(postgres.cluster) ?? 0, 'SIGKILL')
  await until(async () => {
    await postgres.revive()
    return query(postgres, 'SELECT 1').then(
      () => true,
      () => false,
    )
  })
  await postgres.release()
})

test('what a dead server left does not block the next, even when its process ID belongs to another program now', async () => {
  const before = await holdEmbeddedPostgres(dataDir)
  await before.release()
  const { cluster } = before
  writeFileSync(
    join(cluster.dataDir, 'postmaster.pid'),
    `${process.pid}\n${cluster.dataDir}\n1700000000\n5432\n${cluster.socketDir}\n\n\nready\n`,
  )
  const postgres = await holdEmbeddedPostgres(dataDir)
  assert.deepEqual(await query(postgres, 'SELECT 1 AS one'), [{ one: 1 }])
  await postgres.release()
})

test('a first start that was killed half way is begun again', async () => {
  const half = join(folder, 'half')
  mkdirSync(join(half, 'postgres', 'data.new', 'base'), { recursive: true })
  chmodSync(half, 0o755)
  writeFileSync(join(half, 'postgres', 'data.new', 'PG_VERSION'), '18\n')
  const postgres = await holdEmbeddedPostgres(half)
  assert.ok(!existsSync(join(half, 'postgres', 'data.new')))
  await postgres.release()
})

test('data of another major version is refused with what to do, and left as it is', async () => {
  const before = await holdEmbeddedPostgres(dataDir)
  await before.release()
  const { cluster } = before
  const version = join(cluster.dataDir, 'PG_VERSION')
  writeFileSync(version, '17\n')
  await assert.rejects(holdEmbeddedPostgres(dataDir), /written by PostgreSQL 17.*brings PostgreSQL 18.*\n.*[Dd]ump/s)
  assert.equal(readFileSync(version, 'utf8'), '17\n')
  writeFileSync(version, '18\n')
})
