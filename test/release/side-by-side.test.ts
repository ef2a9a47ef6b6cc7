// An upgrade without a stop: nodes of the version before go on with the schema of this one, beside nodes of this one.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openPool } from '../../src/db/open.ts'
import { comparePostbacks } from '../faults/compare-postbacks.ts'
import { settle } from '../faults/hurry-postbacks.ts'
import { MoodyReceiver } from '../faults/moody-receiver.ts'
import { Traffic } from '../faults/traffic.ts'
import { createFolder } from '../folders.ts'
import { Installation, until } from '../installation.ts'
import { PostgresServer } from '../postgres-server.ts'
import { testLong } from '../tier.ts'
import { SECRET_KEY } from '../world.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The commit of the version before. Replace it with each release. */
const BEFORE = '25c1317'
/** Sources alone have only this version: two nodes of it are still two nodes. */
const HAS_HISTORY = existsSync(join(ROOT, '.git'))
const NODES = HAS_HISTORY
  ? 'nodes of the version before and of this one'
  : 'without a history, two nodes of this version'
const TIMEOUT_S = 1

const ended = new AsyncDisposableStack()
after(() => ended.disposeAsync())

/** The program as it was. Fails in a shallow clone, which `git fetch --unshallow` completes. */
function checkOutBefore(): string {
  if (!HAS_HISTORY) return ROOT
  const folder = createFolder('version-before')
  const archive = execFileSync('git', ['archive', BEFORE], { cwd: ROOT, maxBuffer: 1e9 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  for (const name of ['node_modules', 'web/dist'])
    if (existsSync(join(ROOT, name))) symlinkSync(join(ROOT, name), join(folder, name))
  return folder
}

testLong(`${NODES} share a database, and neither requests nor postbacks are lost or doubled`, async () => {
  const server = ended.adopt(await PostgresServer.create(), (one) => one.remove())
  const [before, now] = [new Installation(), new Installation()]
  for (const node of [before, now]) {
    ended.adopt(node, (one) => one.remove())
    node.env = { DATABASE_URL: server.url, SECRET_KEY, LOG_LEVEL: 'error', POSTBACK_ALLOW: '127.0.0.1/32' }
  }
  before.program = [process.execPath, join(checkOutBefore(), 'bin/offerdeck.js')]
  assert.equal((await before.start(['migrate']).finished).status, 0)
  const old = await before.serve()
  await now.json('migrate')
  const traffic = await Traffic.prepare(now)
  const receiver = new MoodyReceiver(TIMEOUT_S * 1_000, () => traffic.apps[0]?.live.signing_secret ?? '')
  await receiver.open()
  ended.defer(() => receiver.close())
  await traffic.notify(now, [receiver], TIMEOUT_S)
  const someArrive = async () => {
    const { size } = receiver.notified
    await until(() => receiver.notified.size > size + 3)
  }

  await traffic.isKnownTo(old.url)
  const first = traffic.start(old.url)
  await someArrive() // the old worker has the new schema to itself
  const current = await now.serve()
  await traffic.fillClicks(old.url, current.url)
  const both = traffic.start(old.url, current.url)
  await traffic.someAnswers()
  await traffic.someAnswers()
  await first.stop()
  await both.stop()
  const last = await old.kill('SIGTERM')
  const alone = traffic.start(current.url)
  await traffic.someAnswers()
  await someArrive()
  await alone.stop()
  for (const node of [before, now]) await until(() => node.spoolIsEmpty())
  const database = { ...openPool({ connectionString: server.url }, 2), embeddedIn: null, revive: async () => {} }
  ended.defer(() => database.close())
  await settle(database.db)
  const { status, err } = await current.kill('SIGTERM')
  assert.deepEqual([last.status, last.err, status, err], [0, '', 0, ''])
  assert.deepEqual(traffic.failures, [])
  await traffic.compare(database)
  await comparePostbacks(database.db, receiver.arrivals, traffic)
  assert.deepEqual(receiver.strange, [])
})
