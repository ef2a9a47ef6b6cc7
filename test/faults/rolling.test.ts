// Nodes are restarted one after the other, under load and behind a load balancer that asks /readyz: no request fails, no
// postback is lost or sent twice, and open walls go on at another node.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HAProxy } from '../haproxy.ts'
import { Installation, type Running, until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { IS_LONG, testLong } from '../tier.ts'
import { databaseUrl, SECRET_KEY, useWorld } from '../world.ts'
import { answer, type Receiver, startReceiver } from '../receiver.ts'
import { signed } from '../wall/wall-url.ts'
import { Streams } from './centre/streams.ts'
import { hurryPostbacks } from './hurry-postbacks.ts'
import { none } from './none.ts'
import { type MadeApp, Traffic } from './traffic.ts'

const ROUNDS = 2
const STREAMS = 6

type Node = { home: Installation; port: number; running: Running }

const world = useWorld('rolling')
const nodes: Node[] = []
let balancer: HAProxy
let receiver: Receiver
let traffic: Traffic
let app: MadeApp

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
      POSTBACK_ALLOW: '127.0.0.0/8',
    }
    nodes.push({ home, port, running: await home.serve({ PORT: String(port) }) })
  }
  const { home } = nodes[0] as Node
  receiver = await startReceiver(answer(200))
  traffic = await Traffic.prepare(home)
  app = traffic.apps[0] as MadeApp
  await home.json('app', 'trust', String(app.app_id), '--all', '--yes')
  await home.json(
    'app',
    'set-postback',
    String(app.app_id),
    '--method',
    'POST',
    '--url',
    `http://127.0.0.1:${receiver.port}/`,
  )
  await until(async () => (await fetch(`${balancer.url}/healthz`).catch(() => null))?.status === 200)
})
after(async () => {
  for (const { home } of nodes) await home.remove()
  await balancer?.close()
  await receiver?.close()
})

const isReady = async (port: number) =>
  (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.status === 200

async function stop(node: Node): Promise<void> {
  const { status } = await node.running.kill('SIGTERM')
  assert.equal(status, 0)
}

async function start(node: Node): Promise<void> {
  node.running = await node.home.serve({ PORT: String(node.port) })
  await until(() => isReady(node.port))
  await sleep(500) // until the load balancer knows
}

testLong('nodes that are restarted one after the other fail no request, and lose nothing', async () => {
  const clients = traffic.start(balancer.url)
  await traffic.someAnswers()
  traffic.failures.length = 0 // a node learns of a new app within a second
  for (let round = 0; round < ROUNDS; round++)
    for (const node of nodes) {
      await stop(node)
      await start(node)
      await traffic.someAnswers()
    }
  await clients.stop()
  none(traffic.failures, 'requests failed')
  for (const { home } of nodes) await until(() => home.spoolIsEmpty())
  await traffic.compare(world.database)
})

testLong('every conversion meanwhile was sent to the publisher, once', async () => {
  await until(() => hurryPostbacks(world.database.db))
  const sent = receiver.requests.map(({ body }) => JSON.parse(body) as { data: { conversion_id: string } })
  const times = Map.groupBy(sent, ({ data }) => data.conversion_id)
  const converted = new Set(traffic.converted.values())
  none([...converted].filter((id) => !times.has(id)), 'acknowledged, but never sent') // prettier-ignore
  none([...times].filter(([, all]) => all.length > 1), 'sent twice') // prettier-ignore
  const conversions = await world.database.db.selectFrom('conversions').select('conversion_id').execute()
  assert.deepEqual([...times.keys()].toSorted(), conversions.map((one) => one.conversion_id).toSorted())
})

testLong('walls that are open on a node that stops hear from another one what their users earn', async (t) => {
  const [first, second] = nodes as [Node, Node]
  await stop(second)
  const streams = new Streams(app, [balancer.url], STREAMS)
  t.after(() => streams.close())
  await until(() => streams.opened === STREAMS)
  await start(second)
  await stop(first)
  await until(() => streams.opened === 2 * STREAMS)
  for (const userId of streams.users) await traffic.report(balancer.url, app, userId)
  await until(() => streams.heard.size === STREAMS)
  for (const userId of streams.users) {
    const query = new URLSearchParams({ apiKey: app.live.api_key, ...signed(app.live, userId) })
    const reply = await fetch(`${balancer.url}/wall/v1/activity?${query.toString()}`)
    const { data } = (await reply.json()) as { data: { items: { status: string }[] } }
    assert.deepEqual(data.items.map(({ status }) => status), ['approved']) // prettier-ignore
  }
  await start(first)
})
