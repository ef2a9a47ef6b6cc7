// What docs/operations.md says of backups of your own PostgreSQL: a dump that is restored elsewhere, and recovery to the
// moment before a mistake.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { openPool } from '../../src/db/open.ts'
import { withRetry } from '../../src/db/pg-errors.ts'
import { Installation, until } from '../installation.ts'
import { PostgresServer } from '../postgres-server.ts'
import { TcpProxy } from '../tcp-proxy.ts'
import { testLong } from '../tier.ts'
import { SECRET_KEY } from '../world.ts'
import { Traffic } from './traffic.ts'

const ended = new AsyncDisposableStack()
after(() => ended.disposeAsync())

async function createServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  return ended.adopt(await PostgresServer.create(settings), (server) => server.remove())
}

function createNode(DATABASE_URL: string): Installation {
  const node = ended.adopt(new Installation(), (one) => one.remove())
  node.env = { DATABASE_URL, SECRET_KEY }
  return node
}

async function compare(traffic: Traffic, { url }: PostgresServer): Promise<void> {
  const pool = openPool({ connectionString: url }, 2)
  try {
    await traffic.compare({ ...pool, embeddedIn: null, revive: async () => {} })
  } finally {
    await pool.close()
  }
}

testLong('after a mistake the database goes back to the moment before, and the nodes go on by themselves', async () => {
  const server = await createServer({ archive_mode: 'on' })
  const address = ended.adopt(await TcpProxy.open(server.port), (proxy) => proxy.close())
  const node = createNode(server.url.replace(String(server.port), String(address.port)))
  await node.json('migrate')
  const traffic = await Traffic.prepare(node)
  const running = await node.serve()
  const clients = traffic.start(running.url)
  await traffic.someAnswers()
  const copy = server.copyFiles() // under load
  await traffic.someAnswers()
  await clients.stop()
  await until(() => node.spoolIsEmpty())
  const [moment] = await server.query<{ now: string }>('SELECT clock_timestamp()::text AS now')
  await withRetry(() => server.query('DROP SCHEMA public CASCADE', 'offerdeck')) // the node is in the middle of something
  await server.query('SELECT pg_switch_wal()')
  await until(async () => {
    const [{ waiting } = { waiting: true }] = await server.query<{ waiting: boolean }>(
      'SELECT last_archived_wal < pg_walfile_name(pg_current_wal_lsn()) IS NOT TRUE AS waiting FROM pg_stat_archiver',
    )
    return !waiting
  })

  const recovered = ended.adopt(await PostgresServer.recover(server, copy, moment?.now ?? ''), (one) => one.remove())
  address.leadTo(recovered.port)
  await until(async () => /"database":"ok"/.test(await (await fetch(`${running.url}/readyz`)).text()))
  const later = traffic.start(running.url)
  await traffic.someAnswers()
  await later.stop()
  await until(() => node.spoolIsEmpty())
  assert.equal((await running.kill('SIGTERM')).status, 0)
  await compare(traffic, recovered)
})

testLong(
  'a dump is restored into an empty database of another server, and the network goes on from there',
  async () => {
    const [server, other] = [await createServer(), await createServer()]
    const node = createNode(server.url)
    await node.json('migrate')
    const traffic = await Traffic.prepare(node)
    const running = await node.serve()
    const clients = traffic.start(running.url)
    await traffic.someAnswers()
    await clients.stop()
    await running.kill('SIGTERM')
    const file = `${server.folder}/offerdeck.dump`
    server.run('pg_dump', '--format=custom', `--file=${file}`, server.url)
    other.run('pg_restore', '--exit-on-error', '--no-owner', `--dbname=${other.url}`, file)
    const restored = createNode(other.url)
    const again = await restored.serve()
    const later = traffic.start(again.url)
    await traffic.someAnswers()
    await later.stop()
    assert.equal((await again.kill('SIGTERM')).status, 0)
    await compare(traffic, other)
  },
)
