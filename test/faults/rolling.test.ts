// Nodes are restarted one after the other, under load and behind a load balancer that asks /readyz: no request fails.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HAProxy } from '../haproxy.ts'
import { Installation, type Running, until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { IS_LONG, testLong } from '../tier.ts'
import { databaseUrl, SECRET_KEY, useWorld } from '../world.ts'
import { none } from './none.ts'
import { Traffic } from './traffic.ts'

const ROUNDS = 2

type Node = { home: Installation; port: number; running: Running }

const world = useWorld('rolling')
const nodes: Node[] = []
let balancer: HAProxy

before(async () => {
  if (!IS_LONG) return
  const ports = [await freePort(), await freePort()]
  balancer = await HAProxy.open(ports)
  for (const port of ports) {
    const home = new Installation()
    home.env = {
      DATABASE_URL: databaseUrl(world),
      SECRET_KEY,
      PORT: String(port),
      PUBLIC_URL: balancer.url,
      TRUST_PROXY: '127.0.0.1',
      DRAIN_SECONDS: '5',
    }
    nodes.push({ home, port, running: await home.serve({ PORT: String(port) }) })
  }
})
after(async () => {
  for (const { home } of nodes) await home.remove()
  await balancer?.close()
})

const isReady = async (port: number) =>
  (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200

testLong('nodes that are restarted one after the other fail no request, and lose nothing', async () => {
  const [first] = nodes as [Node, ...Node[]]
  const traffic = await Traffic.prepare(first.home)
  await until(async () => (await fetch(`${balancer.url}/healthz`).catch(() => null))?.status === 200)
  const clients = traffic.start(balancer.url)
  await traffic.someAnswers()
  traffic.failures.length = 0 // a node learns of a new app within a second
  for (let round = 0; round < ROUNDS; round++)
    for (const node of nodes) {
      const { status } = await node.running.kill('SIGTERM')
      assert.equal(status, 0)
      node.running = await node.home.serve({ PORT: String(node.port) })
      await until(() => isReady(node.port))
      await sleep(500) // until the load balancer knows
      await traffic.someAnswers()
    }
  await clients.stop()
  none(traffic.failures, 'requests failed')
  for (const { home } of nodes) await until(() => home.spoolIsEmpty())
  await traffic.compare(world.database)
})
