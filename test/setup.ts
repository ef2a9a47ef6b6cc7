// Before all tests: one PostgreSQL (the embedded one) with a migrated template, and one Redis. After them: gone.
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type EmbeddedPostgres, holdEmbeddedPostgres } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { openPool } from '../src/db/open.ts'
import { ensurePartitionsAhead } from '../src/db/partitions.ts'
import { freePort, isListening } from './ports.ts'
import { createFolder } from './folders.ts'

let postgres: EmbeddedPostgres
let redis: ChildProcess
let folder: string

export async function globalSetup(): Promise<void> {
  folder = createFolder('test')
  postgres = await holdEmbeddedPostgres(join(folder, 'postgres'))
  const admin = new pg.Client(postgres.superuserConnection)
  await admin.connect()
  // What is lost in a crash is of no interest here: tests of crashes start servers of their own.
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    await admin.query(`ALTER SYSTEM SET ${setting} = off`)
  await admin.query('SELECT pg_reload_conf()')
  await admin.query(`CREATE DATABASE template_for_tests OWNER ${postgres.connection.user}`)
  const template = openPool({ ...postgres.connection, database: 'template_for_tests' }, 2)
  await migrate(template)
  await ensurePartitionsAhead(template.db, Date.now())
  await template.close()
  // The first connection after changes of the schema writes down what the next ones, of copies too, read at their start.
  const first = new pg.Client({ ...postgres.connection, database: 'template_for_tests' })
  await first.connect()
  await first.end()
  // A database can be copied once its last connection is gone, which its server notices a moment after its client.
  await admin.query(`ALTER DATABASE template_for_tests ALLOW_CONNECTIONS false`)
  while ((await admin.query("SELECT FROM pg_stat_activity WHERE datname = 'template_for_tests'")).rowCount !== 0)
    await sleep(10)
  await admin.end()

  const port = await freePort()
  redis = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    { stdio: 'ignore' },
  )
  while (!(await isListening(port))) await sleep(10)
  process.env['TEST_POSTGRES'] = JSON.stringify(postgres.connection)
  process.env['TEST_POSTGRES_SUPERUSER'] = JSON.stringify(postgres.superuserConnection)
  process.env['TEST_REDIS_URL'] = `redis://127.0.0.1:${port}`
}

export async function globalTeardown(): Promise<void> {
  redis.kill('SIGKILL')
  await postgres.release()
  rmSync(folder, { recursive: true, force: true })
}
