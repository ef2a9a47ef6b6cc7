// An upgrade without a stop: nodes of the version before go on with the schema of this one, beside nodes of this one.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openPool } from '../../src/db/open.ts'
import { Traffic } from '../faults/traffic.ts'
import { createFolder } from '../folders.ts'
import { Installation, until } from '../installation.ts'
import { PostgresServer } from '../postgres-server.ts'
import { testLong } from '../tier.ts'
import { SECRET_KEY } from '../world.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The commit of the version before. Replace it with each release. */
const BEFORE = '25c1317'

const ended = new AsyncDisposableStack()
after(() => ended.disposeAsync())

/** The program as it was. A checkout without history has only the current one: two nodes of that are still two nodes. */
function checkOutBefore(): string {
  const isKnown = spawnSync('git', ['cat-file', '-e', `${BEFORE}^{commit}`], { cwd: ROOT }).status === 0
  if (!isKnown) return ROOT
  const folder = createFolder('version-before')
  const archive = execFileSync('git', ['archive', BEFORE], { cwd: ROOT, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  for (const name of ['node_modules', 'web/dist'])
    if (existsSync(join(ROOT, name))) symlinkSync(join(ROOT, name), join(folder, name))
  return folder
}

testLong('nodes of the version before and of this one share a database, and nothing is lost or doubled', async () => {
  const server = ended.adopt(await PostgresServer.create(), (one) => one.remove())
  const [before, now] = [new Installation(), new Installation()]
  for (const node of [before, now]) {
    ended.adopt(node, (one) => one.remove())
    node.env = { DATABASE_URL: server.url, SECRET_KEY, LOG_LEVEL: 'error' }
  }
  before.program = [process.execPath, join(checkOutBefore(), 'bin/offerdeck.js')]
  assert.equal((await before.start(['migrate']).finished).status, 0)
  const old = await before.serve()
  await now.json('migrate')
  const traffic = await Traffic.prepare(now)
  const current = await now.serve()
  const both = traffic.start(old.url, current.url)
  await traffic.someAnswers()
  await traffic.someAnswers()
  await both.stop()
  const last = await old.kill('SIGTERM')
  const alone = traffic.start(current.url)
  await traffic.someAnswers()
  await alone.stop()
  for (const node of [before, now]) await until(() => node.spoolIsEmpty())
  const { status, err } = await current.kill('SIGTERM')
  assert.deepEqual([last.status, last.err, status, err], [0, '', 0, ''])
  assert.deepEqual(traffic.failures, [])
  const pool = openPool({ connectionString: server.url }, 2)
  try {
    await traffic.compare({ ...pool, embeddedIn: null, revive: async () => {} })
  } finally {
    await pool.close()
  }
})
