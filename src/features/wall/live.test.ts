import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { publisherOfApp } from '../../../test/people.ts'
import { Proxy } from '../../../test/proxies.ts'
import { TESTER } from '../../../test/tester.ts'
import { until } from '../../../test/installation.ts'
import { signed } from '../../../test/wall/wall-url.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { banUser } from '../apps/bans.ts'
import { permit } from '../apps/permissions.ts'
import { rotateSigningSecret } from '../apps/signing-secrets.ts'
import { createLocker, takeDownLocker } from '../lockers/lockers.ts'
import { LiveWalls } from './live.ts'

const world = useWorld('live_walls')
const ANN = { appId: 1, isTest: false, userId: 'ann' }
const OPEN = { endsAtMs: Infinity, isLetIn: () => true }

test('one network cannot use up the streams of all others by being ever new visitors', () => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  let visitors = 0
  const responses: ServerResponse[] = []
  const open = (network: string | null) => {
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    responses.push(response)
    return walls.open({ appId: 1, isTest: false, userId: `visitor-${visitors++}` }, response, {
      ...OPEN,
      ...(network === null ? {} : { network }),
    })
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
  assert.deepEqual([walls.open(ANN, response, OPEN), walls.count], [true, 0])
  walls.close()
})

test('a stream that a node opens while it stops ends at once, and the page tries again', async (t) => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  const node = createServer((_request, response) => assert.ok(walls.open(ANN, response, OPEN)))
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

test('a page that does not read its stream neither fills the memory nor ends the process', async (t) => {
  const walls = new LiveWalls({ subscribe: () => () => {} })
  const responses: ServerResponse[] = []
  const node = createServer((_request, response) => {
    responses.push(response)
    walls.open(ANN, response, OPEN)
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const { port } = node.address() as AddressInfo
  const pages = [1, 2].map(() =>
    connect(port, '127.0.0.1')
      .pause()
      .on('error', () => {}),
  )
  t.after(() => {
    for (const page of pages) page.destroy()
    node.close()
  })
  for (const page of pages) page.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => walls.count === 2)
  const tellUntil = (isSo: () => boolean) =>
    until(() => {
      for (let i = 0; i < 10_000 && !isSo(); i++) walls.notify('1|l|ann', 'activity')
      return isSo()
    })
  await tellUntil(() => responses.every(({ writableLength }) => writableLength > 0))
  responses[0]?.end()
  await tellUntil(() => responses.every(({ destroyed, writableEnded }) => destroyed || writableEnded))
  assert.deepEqual(responses.map(({ writableLength }) => writableLength < 100_000), [true, true]) // prettier-ignore
  walls.close()
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

/** Streams of a wall and of a locker, and of others beside them, on a node whose beats are the test's. */
async function openStreams(t: TestContext) {
  const { appId, live } = await world.createApp()
  t.mock.timers.enable({ apis: ['setInterval'] })
  const node = await world.start({ requireHttps: false })
  const base = await node.server.listen({ host: '127.0.0.1', port: 0 })
  const controller = new AbortController()
  t.after(async () => {
    controller.abort()
    t.mock.timers.reset()
    await node.close()
  })
  const follow = async (path: string) => {
    const { status, body } = await fetch(`${base}${path}`, { signal: controller.signal })
    assert.equal(status, 200)
    const stream = { text: '', hasEnded: false }
    void (async () => {
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) stream.text += text
    })().then(() => (stream.hasEnded = true), () => {}) // prettier-ignore
    return stream
  }
  /** Until each stream has heard it, or ended. */
  const beat = async (...streams: { text: string; hasEnded: boolean }[]) => {
    const before = streams.map(({ text }) => text)
    t.mock.timers.tick(25_000)
    await until(() => streams.every(({ text, hasEnded }, i) => hasEnded || text !== before[i]))
    return streams.map(({ hasEnded }) => hasEnded)
  }
  const wallOf = (userId: string) =>
    follow(`/wall/v1/live?${new URLSearchParams({ apiKey: live.api_key, ...signed(live, userId) }).toString()}`)
  return { appId, node, base, follow, beat, wallOf }
}

test('a stream ends when its secret is rotated without grace', async (t) => {
  const { appId, beat, wallOf } = await openStreams(t)
  const stream = await wallOf('ann')
  assert.deepEqual(await beat(stream), [false])
  await rotateSigningSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', 0)
  await until(async () => (await beat(stream))[0] === true) // secrets are remembered for a moment
})

test('a stream ends when its publisher is suspended', async (t) => {
  const { appId, node, beat, wallOf } = await openStreams(t)
  const stream = await wallOf('ann')
  await permit(world.database.db, TESTER, await publisherOfApp(world, appId), { status: 'suspended' })
  await node.refresh()
  assert.deepEqual(await beat(stream), [true])
})

test('a stream of a locker ends when its visitor is banned, and those of others go on', async (t) => {
  const { db } = world.database
  const { appId, node, base, follow, beat } = await openStreams(t)
  const lockerId = await createLocker(db, TESTER, world.config, appId, { name: 'Chapter' })
  const path = `/locker/v1/lockers/${lockerId}`
  const come = async () => {
    const reply = await fetch(`${base}${path}/visits`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }) // prettier-ignore
    const { visitor, key } = ((await reply.json()) as { data: { visitor: string; key: string } }).data
    return { visitor, stream: await follow(`${path}/live?${new URLSearchParams({ visitor, key }).toString()}`) }
  }
  const [cheat, other] = [await come(), await come()]
  await banUser(db, TESTER, { appId, userId: `visitor-${cheat.visitor}`, reason: 'bots' })
  await node.refresh()
  assert.deepEqual(await beat(cheat.stream, other.stream), [true, false])
})

test('a stream of a locker ends when the operator takes the locker down', async (t) => {
  const { db } = world.database
  const { appId, base, follow, beat } = await openStreams(t)
  const lockerId = await createLocker(db, TESTER, world.config, appId, { name: 'Chapter' })
  const path = `/locker/v1/lockers/${lockerId}`
  const reply = await fetch(`${base}${path}/visits`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }) // prettier-ignore
  const { visitor, key } = ((await reply.json()) as { data: { visitor: string; key: string } }).data
  const stream = await follow(`${path}/live?${new URLSearchParams({ visitor, key }).toString()}`)
  assert.deepEqual(await beat(stream), [false])
  await takeDownLocker(db, TESTER, lockerId, { reason: 'Spam' })
  await until(async () => (await beat(stream))[0] === true) // lockers are remembered for a moment
})
