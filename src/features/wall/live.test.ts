import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { test } from 'node:test'
import { Proxy } from '../../../test/proxies.ts'
import { until } from '../../../test/installation.ts'
import { signed } from '../../../test/wall/wall-url.ts'
import { useWorld } from '../../../test/world.ts'
import { LiveWalls } from './live.ts'

const world = useWorld('live_walls')
const ANN = { appId: 1, isTest: false, userId: 'ann' }

test('one network cannot use up the streams of all others by being ever new visitors', () => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  let visitors = 0
  const responses: ServerResponse[] = []
  const open = (network: string | null) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    responses.push(response)
    return walls.open({ appId: 1, isTest: false, userId: `visitor-${visitors++}` }, response, Infinity, network)
  }
  const opened = Array.from({ length: 101 }, () => open('a'))
  assert.deepEqual([opened.filter(Boolean).length, opened.at(-1)], [100, false])
  assert.deepEqual([open('b'), open(null), walls.count], [true, true, 102])
  responses[0]?.emit('close')
  assert.deepEqual([open('a'), open('a')], [true, false])
  walls.close()
})

test('a page that left before its stream was opened does not count', () => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.destroy()
  assert.deepEqual([walls.open(ANN, response, Infinity), walls.count], [true, 0])
  walls.close()
})

test('a stream that a node opens while it stops ends at once, and the page tries again', async (t) => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  const node = createServer((_request, response) => assert.ok(walls.open(ANN, response, Infinity)))
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  t.after(() => node.closeAllConnections())
  walls.close()
  const { port } = node.address() as AddressInfo
  const reply = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(5_000) })
  assert.equal(await reply.text(), 'retry: 3000\n\n')
  node.close()
  await once(node, 'close')
})

test('HEAD is answered at once: it has no stream', async (t) => {
  const { live } = await world.createApp()
  const other = await world.start({ requireHttps: false })
  t.after(() => other.close())
  const base = await other.server.listen({ host: '127.0.0.1', port: 0 })
  const query = new URLSearchParams({ apiKey: live.api_key, ...signed(live) })
  const { status, headers } = await fetch(`${base}/wall/v1/live?${query.toString()}`, { method: 'HEAD' })
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream'])
})

for (const way of ['directly', 'through HAProxy'])
  test(`a stream hears on its node ${way} of what another node was told, and no proxy keeps it back`, async (t) => {
    const { live } = await world.createApp()
    const [offerId = 0] = await world.createOffers({})
    const { clickId } = await world.click(offerId, live, 'userId=ann')
    const other = await world.start({ requireHttps: false })
    const node = await other.server.listen({ host: '127.0.0.1', port: 0 })
    const proxy = way === 'directly' ? null : await Proxy.open('HAProxy', [Number(new URL(node).port)])
    const base = proxy?.url ?? node
    const controller = new AbortController()
    t.after(async () => {
      controller.abort()
      await proxy?.close()
      await other.close()
    })
    await until(async () => (await fetch(`${base}/healthz`).catch(() => null))?.status === 200)
    const query = new URLSearchParams({ apiKey: live.api_key, ...signed(live) })
    const { status, headers, body } = await fetch(`${base}/wall/v1/live?${query.toString()}`, { signal: controller.signal }) // prettier-ignore
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/event-stream'])
    assert.match(headers.get('cache-control') ?? '', /no-transform/) // which no proxy may compress, and so collect
    assert.equal(headers.get('x-accel-buffering'), 'no')
    let heard = ''
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    const hear = async (wanted: string) => {
      while (!heard.includes(wanted)) heard += (await reader?.read())?.value ?? ''
    }
    await hear('retry: ')
    assert.doesNotMatch(heard, /event/)
    await world.confirm(offerId, clickId)
    await hear('event: activity\n')
  })
