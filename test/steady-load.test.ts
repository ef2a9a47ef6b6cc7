// What measures capacity and soak: times in buckets, the load generator, and the verdicts.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { Histogram } from '../bench/capacity/histogram.ts'
import { failuresOf, type LoadStep, startGenerator, type StepReport } from '../bench/capacity/load.ts'
import type { Sample, TableState } from '../bench/capacity/samples.ts'
import { findBloat, judgeFigures } from '../bench/capacity/soak.ts'
import { createFolder } from './folders.ts'

test('percentiles are those of the times recorded, within a 64th', () => {
  const histogram = new Histogram()
  const times = Array.from({ length: 100_000 }, (_, i) => ((i + 1) ** 2 / 1e10) * 20_000)
  for (const ms of times) histogram.record(ms)
  for (const percent of [1, 50, 90, 99, 99.9, 100]) {
    const exact = times[Math.ceil((percent / 100) * times.length) - 1] ?? 0
    const found = histogram.percentileMs(percent)
    assert.ok(Math.abs(found - exact) <= exact / 64 + 0.001, `${percent}: ${found} for ${exact}`)
  }
  assert.equal(histogram.count, times.length)
})

/** The report of one step against a server of ours. */
async function loadServer(listener: RequestListener, step: Omit<LoadStep, 'patienceSeconds'>): Promise<StepReport> {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const folder = createFolder('steady-load')
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const generator = startGenerator({
    port: (server.address() as AddressInfo).port,
    apiKey: 'key',
    apiSecret: 'secret',
    filters: file('filters', 'country=US\ncountry=DE\n'),
    links: file('links', '/c/1/a\tBrowser 1\n/c/2/b\tBrowser 2\n'),
    offers: file('offers', '58\n'),
    run: '1',
  })
  try {
    return await generator.run({ ...step, patienceSeconds: 60 })
  } finally {
    await generator.stop()
    server.closeAllConnections()
    server.close()
  }
}

test('requests are sent at their time whatever became of those before, and their latency counts from it', async () => {
  const held: (() => void)[] = []
  const report = await loadServer(
    (_request, response) => {
      held.push(() => response.end('{}'))
      if (held.length === 100) for (const answer of held) answer()
    },
    { load: 'list', rate: 1000, seconds: 0.1 },
  )
  assert.equal(report.answers, 100)
  assert.equal(failuresOf(report), 0)
  // The first was to be sent 99 ms before the last, without which none was answered.
  assert.ok(report.maxMs >= 99, String(report.maxMs))
  assert.ok(report.p50Ms >= 49, String(report.p50Ms))
})

test('the mix has every kind, and each is a request that a server understands', async () => {
  const seen = new Map<string, number>()
  const report = await loadServer(
    (request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (part: string) => (body += part))
      request.on('end', () => {
        const [path = ''] = (request.url ?? '').split(/[?]|\/\d/)
        seen.set(path, (seen.get(path) ?? 0) + 1)
        const isReport = path === '/v1/conversions'
        if (isReport) assert.equal((JSON.parse(body) as { offerId: number }).offerId, 58)
        response.writeHead(isReport ? 201 : path === '/c' ? 302 : 200, { 'Content-Length': 2 }).end('{}')
      })
    },
    { load: 'mix', rate: 4000, seconds: 0.5 },
  )
  assert.equal(failuresOf(report), 0)
  assert.equal(report.answers, 2000)
  assert.deepEqual([...seen.keys()].toSorted(), ['/api/v1/offers', '/c', '/v1/conversions', '/wall'])
  assert.equal(seen.get('/wall'), report.kinds.wall.answers)
})

test('other statuses and connections that end are failures', async () => {
  let count = 0
  const report = await loadServer(
    (request, response) => {
      if (++count % 10 === 0) request.socket.destroy()
      else response.writeHead(count % 10 === 1 ? 429 : 200, { 'Content-Length': 0 }).end()
    },
    { load: 'wall', rate: 500, seconds: 0.2 },
  )
  assert.deepEqual([report.unexpected, report.broken, report.unanswered], [{ 429: 10 }, 10, 0])
})

const sampleOf = (figures: Record<string, number>, tables: Record<string, TableState>) =>
  ({ atSeconds: 0, figures, tables, report: {} }) as Sample

test('a figure that rises from the second sixth to the last is growing, one that warms up first is flat', () => {
  const samples = Array.from({ length: 12 }, (_, i) =>
    sampleOf(
      { 'API: heap MB': 100 + 10 * i, 'API: resident MB': i < 2 ? 100 : 300, 'API: open files': 40 + (i % 3) },
      {},
    ),
  )
  assert.deepEqual(
    judgeFigures(samples).map(({ what, isFlat }) => [what, isFlat]),
    [
      ['API: heap MB', false],
      ['API: resident MB', true],
      ['API: open files', true],
    ],
  )
})

test('a table that grows without rows is named, one that grows with them is not', () => {
  const samples = Array.from({ length: 12 }, (_, i) =>
    sampleOf(
      {},
      {
        queue: { live: 10, dead: 1000 * i, bytes: 10e6 * (i + 1) },
        clicks: { live: 1000 * (i + 1), dead: 0, bytes: 10e6 * (i + 1) },
      },
    ),
  )
  assert.deepEqual(
    findBloat(samples).map(({ what }) => what),
    ['queue, no more rows: MB'],
  )
})
