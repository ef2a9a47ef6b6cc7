// Collectors that hang, lie and die: what serves requests goes on, and every span is accounted for.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { until } from '../../test/installation.ts'
import { Collector, useCollector } from '../../test/otlp-collector.ts'
import { SECRET_KEY, useWorld } from '../../test/world.ts'
import { buildApp } from '../app.ts'
import { clickRequest } from '../http/request-ids.ts'
import { uuid7 } from '../lib/uuid7.ts'
import { openTracing, type Tracing } from './open-tracing.ts'
import { isRecorded, spanOfRequest } from './trace-ids.ts'

const world = useWorld('span_queue')
const collector = useCollector()

const open = (endpoint: string, ratio = 1) =>
  openTracing({ endpoint, headers: {}, serviceName: 'offerdeck', ratio }, 'api', world.log)

const total = ({ counts }: Tracing) => Object.values(counts()).reduce((sum, count) => sum + count, 0)

/** So many spans, as loops that failed leave them. */
function record(tracing: Tracing, count: number): void {
  const loop = { name: 'a task', failures: 0, onRun: null as ((run: { tookMs: number; error: unknown }) => void) | null, start() {}, stop: async () => {} } // prettier-ignore
  tracing.traceLoops([loop])
  for (let i = 0; i < count; i++) loop.onRun?.({ tookMs: 1, error: new Error('failed') })
}

const BAD: Record<string, (response: ServerResponse) => unknown> = {
  'that refuses': (response) => response.writeHead(400).end('no'),
  'that is overloaded': (response) => response.writeHead(503, { 'Retry-After': '3600' }).end(),
  'that cuts connections': (response) => response.destroy(),
  'that never ends its answer': (response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 100)
    response.on('close', () => clearInterval(timer))
  },
  'that answers without end': (response) => {
    response.writeHead(200)
    const more = () => void (response.destroyed || (response.write('x'.repeat(1_000_000)) ? setImmediate(more) : response.once('drain', more))) // prettier-ignore
    more()
  },
}

for (const [name, answer] of Object.entries(BAD))
  test(`spans for a collector ${name} are counted as failed, and once it behaves they arrive`, async () => {
    const tracing = open(collector.url)
    collector.answer = answer
    record(tracing, 3)
    await until(() => tracing.counts().failed === 3)
    collector.behave()
    record(tracing, 2)
    await until(() => tracing.counts().exported === 2)
    await tracing.close()
    assert.equal(total(tracing), 5)
  })

test('spans that a collector accepts with a nonsensical answer count as exported', async () => {
  const tracing = open(collector.url)
  collector.answer = (response) => response.writeHead(200).end('<html>')
  record(tracing, 3)
  await until(() => tracing.counts().exported === 3)
  await tracing.close()
})

test('while the collector hangs, requests are served, the queue is bounded, and closing does not wait for it', async () => {
  collector.answer = () => {}
  const tracing = open(collector.url)
  const database = world.database
  const app = await buildApp({ config: world.config, secretKey: SECRET_KEY, database, log: world.log, tracing })
  const exports = collector.exports
  assert.equal((await app.server.inject('/v1/offers')).statusCode, 401)
  await until(() => collector.exports > exports)
  record(tracing, 10_000)
  const statuses = await Promise.all(Array.from({ length: 200 }, () => app.server.inject('/v1/offers')))
  assert.ok(statuses.every(({ statusCode }) => statusCode === 401 || statusCode === 429))
  assert.ok(tracing.counts().dropped >= 5_000)
  await app.close()
  const before = total(tracing)
  await tracing.close()
  assert.ok(total(tracing) > before, 'what was queued is counted')
})

test('a collector that is not there costs one line in the log, however often spans fail', async () => {
  const gone = new Collector()
  await gone.open()
  const { url } = gone
  await gone.close()
  const tracing = open(url)
  const lines = () => world.logged.filter((line) => line.includes('traces cannot be exported')).length
  const known = lines()
  record(tracing, 1)
  await until(() => tracing.counts().failed === 1)
  record(tracing, 1)
  await until(() => tracing.counts().failed === 2)
  assert.equal(lines() - known, 1)
  await tracing.close()
})

test('what is recorded follows from the ID alone: the share is right, and a larger one includes a smaller one', () => {
  const ids = Array.from({ length: 20_000 }, () => clickRequest(uuid7(Date.now())))
  const recorded = (ratio: number) => ids.filter((id) => isRecorded(id, ratio))
  assert.deepEqual([recorded(0).length, recorded(1).length], [0, ids.length])
  const [few, more] = [recorded(0.1), new Set(recorded(0.3))]
  assert.ok(few.length > 1_700 && few.length < 2_300, String(few.length))
  assert.ok(few.every((id) => more.has(id)))
  assert.equal(new Set(ids.map((id) => spanOfRequest(id).traceId)).size, ids.length)
})

test('a caller cannot have its request recorded', async () => {
  collector.behave()
  const tracing = open(collector.url, 0)
  const app = await buildApp({ config: world.config, secretKey: SECRET_KEY, database: world.database, log: world.log, tracing }) // prettier-ignore
  const traceparent = `00-${'12'.repeat(16)}-${'34'.repeat(8)}-01`
  for (const header of ['traceparent', 'x-request-id', 'b3'])
    await app.server.inject({ url: '/v1/offers', headers: { traceparent, [header]: traceparent } })
  await app.close()
  await tracing.close()
  assert.deepEqual(collector.named('GET /v1/offers'), [])
})
