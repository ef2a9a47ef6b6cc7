// PgBouncer in transaction mode, as old as it does not follow prepared statements: two nodes whose transactions share a few
// connections to PostgreSQL, and a restart of the pooler in the middle.
import { after, before } from 'node:test'
import { Installation, type Running, until } from '../installation.ts'
import { PgBouncer } from '../pgbouncer.ts'
import { testLong } from '../tier.ts'
import { SECRET_KEY, useWorld } from '../world.ts'
import { Traffic } from './traffic.ts'

const CONNECTIONS = 8

const world = useWorld('pooler')
const nodes = [new Installation(), new Installation()]
let pooler: PgBouncer
before(async () => {
  pooler = await PgBouncer.open(world, { mode: 'transaction', connections: CONNECTIONS })
  for (const node of nodes) node.env = { DATABASE_URL: pooler.url, SECRET_KEY, PREPARED_STATEMENTS: 'off' }
})
after(async () => {
  for (const node of nodes) await node.remove()
  await pooler.close()
})

testLong(
  'nothing is lost or doubled behind a pooler without prepared statements, also when it is restarted',
  async () => {
    const [first] = nodes as [Installation, Installation]
    const traffic = await Traffic.prepare(first)
    const servers: (Running & { url: string })[] = []
    for (const node of nodes) servers.push(await node.serve())
    await traffic.fillClicks(...servers.map(({ url }) => url))
    const clients = traffic.start(...servers.map(({ url }) => url))
    await traffic.someAnswers()
    await pooler.restart()
    await traffic.someAnswers()
    await clients.stop()
    for (const { url } of servers)
      await until(async () => /"database":"ok"/.test(await (await fetch(`${url}/readyz`)).text()))
    for (const node of nodes) await until(() => node.spoolIsEmpty())
    for (const server of servers) await server.kill('SIGINT')
    await traffic.compare(world.database)
  },
)
