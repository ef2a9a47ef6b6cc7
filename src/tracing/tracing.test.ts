// Traces as a collector gets them, from real processes, and what a bad collector can do to them.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Installation, until } from '../../test/installation.ts'
import { type CollectedSpan, useCollector } from '../../test/otlp-collector.ts'
import { TESTER } from '../../test/tester.ts'
import { databaseUrl } from '../../test/worker-world.ts'
import { SECRET_KEY, useWorld } from '../../test/world.ts'
import { DEFAULTS, saveSettings } from '../features/postbacks/settings.ts'
import { spanOfRequest } from './trace-ids.ts'

let offerId = 0
let keys: Record<string, string> = {}
let server: { url: string; out: string }
let refusals = 1 // attempts that the publisher's server refuses
const collector = useCollector()
const api = new Installation()
const worker = new Installation()
const receiver = createServer((_request, response) => response.writeHead(refusals-- > 0 ? 503 : 200).end('OK'))
const world = useWorld('tracing', async () => {
  const { appId, live } = await world.createApp()
  keys = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
  ;[offerId = 0] = await world.createOffers({ destination_url: 'https://ads.example.com/?c={click_id}' })
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hidden?user={user_id}`
  await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url })
  const env = {
    DATABASE_URL: databaseUrl(world.databaseName, 'traced'),
    SECRET_KEY,
    DEMO: 'off',
    POSTBACK_ALLOW: '127.0.0.0/8',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
    OTEL_TRACES_SAMPLER_ARG: '1',
  }
  server = await api.serve(env, ['--only', 'api'])
  await worker.start(['serve', '--only', 'worker'], env).prints('worker is running')
})
after(async () => {
  await api.remove()
  await worker.remove()
  receiver.closeAllConnections()
  receiver.close()
})

const idOf = (answer: Response) => answer.headers.get('x-request-id') ?? ''

async function flow(userId: string) {
  const path = `/v1/offers/${offerId}?userId=${userId}&aff_sub=hidden-sub`
  const listed = await fetch(server.url + path, {
    headers: { ...keys, traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` },
  })
  const { link } = ((await listed.json()) as { data: { offer: { link: string } } }).data.offer
  const followed = await fetch(new URL(new URL(link).pathname, server.url), { redirect: 'manual' })
  const clickId = URL.parse(followed.headers.get('location') ?? '')?.searchParams.get('c') ?? ''
  const query = new URLSearchParams({ click_id: clickId, token: world.tokenOf(offerId) })
  const confirmed = await fetch(`${server.url}/postback?${query.toString()}`)
  return { list: idOf(listed), click: idOf(followed), call: idOf(confirmed) }
}

const spansOf = (requestId: string) =>
  collector.spans.filter(({ traceId }) => traceId === spanOfRequest(requestId).traceId)
const linksOf = ({ links }: CollectedSpan) => links.map(({ traceId, spanId }) => ({ traceId, spanId }))

test('a flow through two nodes is one trace for each request, joined by links, without personal data', async () => {
  const { list, click, call } = await flow('hidden-user')
  await until(() => spansOf(call).filter(({ name }) => name === 'postback GET').length === 2)
  const shapeOf = (requestId: string) => {
    const root = spanOfRequest(requestId).spanId
    return spansOf(requestId)
      .map(
        (span) =>
          `${span.spanId === root ? 'root' : span.parentSpanId === root ? 'below' : 'astray'}: ${span.name}, ${String(span.resource['offerdeck.part'])}`,
      ) // prettier-ignore
      .toSorted()
  }
  assert.deepEqual(shapeOf(list), ['below: commit user_contexts, api', 'root: GET /v1/offers/:offer_id, api'])
  assert.deepEqual(shapeOf(click), ['below: commit clicks, api', 'root: GET /c/:offer_id/:token, api'])
  assert.deepEqual(shapeOf(call), ['below: commit conversions, api', 'below: postback GET, worker', 'below: postback GET, worker', 'root: GET /postback, api']) // prettier-ignore

  const [clicked] = spansOf(click).filter(({ name }) => name.startsWith('GET'))
  assert.deepEqual(linksOf(clicked as CollectedSpan), [spanOfRequest(list)])
  for (const span of spansOf(call)) assert.deepEqual(linksOf(span), [spanOfRequest(click)], span.name)
  const [listed] = spansOf(list).filter(({ name }) => name.startsWith('GET'))
  assert.deepEqual(linksOf(listed as CollectedSpan), [{ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }])

  const attempts = spansOf(call).filter(({ name }) => name === 'postback GET').toSorted((a, b) => Number(a.attributes['http.request.resend_count']) - Number(b.attributes['http.request.resend_count'])) // prettier-ignore
  assert.deepEqual(attempts.map(({ attributes, status }) => [attributes['http.response.status_code'], attributes['error.type'], status.code]), [[503, '503', 2], [200, undefined, 0]]) // prettier-ignore
  const { attributes, resource, kind, startTimeUnixNano, endTimeUnixNano } = clicked as CollectedSpan
  assert.deepEqual([attributes['http.route'], attributes['http.response.status_code'], attributes['offerdeck.request_id'], kind], ['/c/:offer_id/:token', 302, click, 2]) // prettier-ignore
  assert.equal(resource['service.name'], 'offerdeck')
  assert.ok(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano))
  assert.equal(collector.headers.authorization, 'Bearer abc')
  assert.doesNotMatch(collector.received, /hidden|127\.0\.0\.1:|adv_|sk_live|ads\.example/)
})

test('the spans that are queued when a process stops arrive before it ends', async () => {
  const home = new Installation()
  after(() => home.remove())
  const env = { DATABASE_URL: databaseUrl(world.databaseName, 'stopped'), SECRET_KEY, DEMO: 'off', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' } // prettier-ignore
  const running = await home.serve(env, ['--only', 'api'])
  const asked = await fetch(`${running.url}/v1/offers`)
  assert.equal((await running.kill('SIGTERM')).status, 0)
  assert.equal(spansOf(idOf(asked)).length, 1)
})

test('several processes on one port trace alike, each under its name', async () => {
  const home = new Installation()
  after(() => home.remove())
  const env = { DATABASE_URL: databaseUrl(world.databaseName, 'several'), SECRET_KEY, DEMO: 'off', PROCESSES: '2', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1', OTEL_SERVICE_NAME: 'several' } // prettier-ignore
  const running = await home.serve(env)
  const parts = () => new Set(collector.spans.filter(({ resource }) => resource['service.name'] === 'several').map(({ resource }) => resource['offerdeck.part'])) // prettier-ignore
  await until(async () => {
    await fetch(`${running.url}/v1/offers`, { headers: { connection: 'close' } })
    return parts().has('api-1') && parts().has('api-2')
  })
  assert.equal((await running.kill('SIGTERM')).status, 0)
})

test('without a collector nothing of OpenTelemetry’s SDK is loaded, nor of ours', async () => {
  const home = new Installation()
  after(() => home.remove())
  const hook = join(home.folder, 'hook.mjs')
  const loaded = join(home.folder, 'loaded.txt')
  writeFileSync(hook, `import { registerHooks } from 'node:module'
    import { appendFileSync } from 'node:fs'
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(loaded)}, url + '\\n'); return next(url, context) } })`) // prettier-ignore
  const traced = async (name: string, env: Record<string, string>) => {
    writeFileSync(loaded, '')
    const NODE_OPTIONS = `--import=${pathToFileURL(hook).href}`
    const running = await home.serve({ DATABASE_URL: databaseUrl(world.databaseName, name), SECRET_KEY, DEMO: 'off', NODE_OPTIONS, ...env }) // prettier-ignore
    await running.kill('SIGTERM')
    const urls = readFileSync(loaded, 'utf8')
    assert.match(urls, /main/)
    return urls.split('\n').filter((url) => /open-tracing|@opentelemetry\/(?!api|semantic)/.test(url))
  }
  assert.deepEqual(await traced('off', {}), [])
  assert.notDeepEqual(await traced('on', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), [])
})
