// Nodes are restarted one after the other, under load and behind a proxy that sends nothing to a node that stops: no
// request fails, no postback is lost, and open walls go on at another node.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Installation, type Running, until } from '../installation.ts'
import { freePort } from '../ports.ts'
import { Proxy } from '../proxies.ts'
import { IS_LONG, testLong } from '../tier.ts'
import { databaseUrl, SECRET_KEY, useWorld } from '../world.ts'
import { signed } from '../wall/wall-url.ts'
import { Streams } from './centre/streams.ts'
import { comparePostbacks } from './compare-postbacks.ts'
import { settle } from './hurry-postbacks.ts'
import { MoodyReceiver } from './moody-receiver.ts'
import { none } from './none.ts'
import { type MadeApp, Traffic } from './traffic.ts'

const TIMEOUT_S = 1
const STREAMS = 6

type Node = { home: Installation; port: number; running: Running }

const world = useWorld('rolling')
const nodes: Node[] = []
let proxyPort: number
let traffic: Traffic
const receiver = new MoodyReceiver(TIMEOUT_S * 1_000, () => traffic.apps[0]?.live.signing_secret ?? '')

before(async () => {
  if (!IS_LONG) return
  await receiver.open()
  proxyPort = await freePort()
  for (const port of [await freePort(), await freePort()]) {
    const home = new Installation()
    home.env = {
      DATABASE_URL: databaseUrl(world),
      SECRET_KEY,
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${proxyPort}`,
      TRUST_PROXY: '127.0.0.1',
      DRAIN_SECONDS: '5',
      POSTBACK_ALLOW: '127.0.0.1/32',
    }
    nodes.push({ home, port, running: await home.serve({ PORT: String(port) }) })
  }
  const [{ home }] = nodes as [Node]
  traffic = await Traffic.prepare(home)
  await traffic.notify(home, [receiver], TIMEOUT_S)
  await traffic.isKnownTo(...nodes.map(({ port }) => `http://127.0.0.1:${port}`))
})
after(async () => {
  for (const { home } of nodes) await home.remove()
  receiver.close()
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
  await sleep(1_500) // until the proxy knows
}

for (const kind of ['HAProxy', 'Caddy', 'nginx'] as const)
  testLong(
    `nodes behind ${kind} that are restarted one after the other fail no request, and lose nothing`,
    async () => {
      const proxy = await Proxy.open(kind, nodes.map(({ port }) => port), proxyPort) // prettier-ignore
      after(() => proxy.close())
      await until(() => isReady(proxyPort))
      const clients = traffic.start(proxy.url)
      await traffic.someAnswers()
      for (const node of nodes) {
        await stop(node)
        await start(node)
        await traffic.someAnswers()
      }
      await clients.stop()
      none(traffic.failures, 'requests failed')
      for (const { home } of nodes) await until(() => home.spoolIsEmpty())
      await settle(world.database.db)
      await traffic.compare(world.database)
      await comparePostbacks(world.database.db, receiver.arrivals, traffic)
    },
  )

testLong('walls that are open on a node that stops hear from another one what their users earn', async (t) => {
  const [first, second] = nodes as [Node, Node]
  const app = traffic.apps[0] as MadeApp
  await first.home.json('app', 'trust', String(app.app_id), '--all', '--yes')
  const proxy = await Proxy.open('HAProxy', nodes.map(({ port }) => port), proxyPort) // prettier-ignore
  t.after(() => proxy.close())
  await stop(second)
  await until(() => isReady(proxyPort))
  const streams = new Streams(app, [proxy.url], STREAMS)
  t.after(() => streams.close())
  await until(() => streams.opened === STREAMS)
  await start(second)
  await stop(first)
  await until(() => streams.opened === 2 * STREAMS)
  for (const userId of streams.users) await traffic.report(proxy.url, app, userId)
  await until(() => streams.heard.size === STREAMS)
  for (const userId of streams.users) {
    const query = new URLSearchParams({ apiKey: app.live.api_key, ...signed(app.live, userId) })
    const reply = await fetch(`${proxy.url}/wall/v1/activity?${query.toString()}`)
    const { data } = (await reply.json()) as { data: { items: { status: string }[] } }
    assert.deepEqual(data.items.map(({ status }) => status), ['approved']) // prettier-ignore
  }
  await start(first)
})
