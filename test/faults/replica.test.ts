// A streaming replica for what the dashboard reads: used while it keeps up, and done without while it does not.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { openPool } from '../../src/db/open.ts'
import { createPublisher } from '../../src/features/accounts/publishers.ts'
import { Installation, until } from '../installation.ts'
import { type Visitor, visit } from '../people.ts'
import { PostgresServer } from '../postgres-server.ts'
import { TESTER } from '../tester.ts'
import { IS_LONG, testLong } from '../tier.ts'
import { SECRET_KEY, World } from '../world.ts'

const world = new World('replica')
const home = new Installation()
let primary: PostgresServer
let standby: PostgresServer
let operator: Visitor

before(async () => {
  if (!IS_LONG) return
  primary = await PostgresServer.create()
  const pool = openPool({ connectionString: primary.url }, 10)
  world.database = { ...pool, embeddedIn: null, revive: async () => {} }
  await migrate(world.database)
  standby = await primary.createStandby()
  world.config.databaseReplicaUrl = standby.url
  await world.open()
  operator = await visit(world, 'operator')
})
after(async () => {
  if (!IS_LONG) return
  await world.close()
  await home.remove()
  await standby.remove()
  await primary.remove()
})

const create = (name: string) => createPublisher(world.database.db, TESTER, name)
const listed = async () => {
  const { data } = await operator.get<{ publishers: { name: string }[] }>('/publishers')
  return data.publishers.map(({ name }) => name)
}
const replica = async () => {
  const { data } = await operator.get<{ replica: { lag_seconds: number | null; is_used: boolean } }>('/system')
  return data.replica
}
const isUsed = async () => (await replica()).is_used

testLong('lists come from the replica; what is not found there is looked for in the primary', async () => {
  await until(isUsed)
  await standby.query('SELECT pg_wal_replay_pause()')
  const { publisher_id } = await create('Early')
  assert.deepEqual(await listed(), [], 'the replica does not have it yet')
  assert.equal((await operator.get(`/publishers/${publisher_id}`)).status, 200)
  // Behind for too long, it is not used.
  await until(async () => (await listed()).length === 1)
  assert.equal(await isUsed(), false)
  await standby.query('SELECT pg_wal_replay_resume()')
  await until(isUsed)
  assert.deepEqual(await listed(), ['Early'])
})

testLong('doctor says whether the replica keeps up, and has connections for all', async () => {
  const examine = async (url: string, processes = 1) => {
    const env = { DATABASE_URL: primary.url, DATABASE_REPLICA_URL: url, SECRET_KEY, PROCESSES: String(processes) }
    return /^.* replica .*$/m.exec((await home.run(['doctor'], env)).out)?.[0]
  }
  assert.match((await examine(standby.url)) ?? '', /^ok .*keeps up; \d+ connections, the API processes use up to 5$/)
  assert.match(
    (await examine(standby.url, 60)) ?? '',
    /^FAIL .*keeps up; \d+ connections, the API processes use up to 300$/,
  )
  await standby.query('SELECT pg_wal_replay_pause()')
  await create('Paused')
  assert.match((await examine(standby.url)) ?? '', /^FAIL .*has not applied/)
  await standby.query('SELECT pg_wal_replay_resume()')
  assert.match((await examine('postgres://offerdeck@127.0.0.1:1/offerdeck')) ?? '', /^FAIL .*ECONNREFUSED/)
})

testLong('who changes something sees it changed, however slow the replica is', async () => {
  await standby.query("ALTER SYSTEM SET recovery_min_apply_delay = '400ms'")
  await standby.query('SELECT pg_reload_conf()')
  for (let i = 0; i < 5; i++) {
    await until(isUsed)
    const name = `Seen ${i}`
    assert.equal((await operator.post('/publishers', { name })).status, 200)
    assert.ok((await listed()).includes(name))
  }
  await standby.query('ALTER SYSTEM RESET recovery_min_apply_delay')
  await standby.query('SELECT pg_reload_conf()')
})

testLong(
  'while the replica is away the dashboard reads from the primary, and then from the replica again',
  async () => {
    await until(isUsed)
    await standby.signal('SIGQUIT')
    await create('Meanwhile')
    assert.ok((await listed()).includes('Meanwhile'))
    await until(async () => (await replica()).lag_seconds === null)
    await standby.start()
    await until(isUsed)
    await standby.query('SELECT pg_wal_replay_pause()')
    await create('Late')
    assert.ok(!(await listed()).includes('Late'))
    await standby.query('SELECT pg_wal_replay_resume()')
  },
)
