// The primary is lost under load, and a standby that has everything takes over: every node goes on by itself, and what was
// acknowledged is there, once.
import { after, before } from 'node:test'
import { openPool } from '../../src/db/open.ts'
import { Installation, type Running, until } from '../installation.ts'
import { PostgresServer } from '../postgres-server.ts'
import { TcpProxy } from '../tcp-proxy.ts'
import { IS_LONG, testLong } from '../tier.ts'
import { SECRET_KEY } from '../world.ts'
import { Traffic } from './traffic.ts'

const nodes = [new Installation(), new Installation()]
const servers: PostgresServer[] = []
let address: TcpProxy

before(async () => {
  if (!IS_LONG) return
  const primary = await PostgresServer.create()
  servers.push(primary, await primary.createStandby())
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
  await primary.query('SELECT pg_reload_conf()')
  address = await TcpProxy.open(primary.port)
  const DATABASE_URL = primary.url.replace(String(primary.port), String(address.port))
  for (const node of nodes) node.env = { DATABASE_URL, SECRET_KEY }
})
after(async () => {
  for (const node of nodes) await node.remove()
  await address?.close()
  for (const server of servers) await server.remove()
})

testLong('a failover under load: no node needs a hand, and nothing acknowledged is lost or doubled', async () => {
  const [primary, standby] = servers as [PostgresServer, PostgresServer]
  const [first] = nodes as [Installation, Installation]
  await first.json('migrate')
  const traffic = await Traffic.prepare(first)
  const running: (Running & { url: string })[] = []
  for (const node of nodes) running.push(await node.serve())
  const clients = traffic.start(...running.map(({ url }) => url))
  await traffic.someAnswers()

  await primary.signal('SIGQUIT')
  await traffic.someClicks() // links lead on meanwhile
  await standby.promote()
  address.leadTo(standby.port)
  await traffic.someAnswers()
  await clients.stop()

  for (const { url } of running)
    await until(async () => /"database":"ok"/.test(await (await fetch(`${url}/readyz`)).text()))
  for (const node of nodes) await until(() => node.spoolIsEmpty())
  for (const server of running) await server.kill('SIGINT')
  const database = { ...openPool({ connectionString: standby.url }, 2), embeddedIn: null, revive: async () => {} }
  try {
    await traffic.compare(database)
  } finally {
    await database.close()
  }
})
