// Fetching from each of the upstreams that are known, and from upstreams that fail, lie and hang.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Upstream } from '../../../test/upstreams/server.ts'
import { upstreamOffer } from '../../../test/upstreams/shapes.ts'
import { createAddressGuard } from '../postbacks/address-guard.ts'
import { createSocketOpener } from '../postbacks/open-socket.ts'
import { fetchFeed, type FetchOptions } from './fetch-feed.ts'
import { FetchProblem } from './fetch-page.ts'
import { mapOffer } from './mapping/map-offer.ts'
import { PRESETS } from './presets/presets.ts'

const guarded = (allowLoopback: boolean) =>
  createSocketOpener({ guard: createAddressGuard({ allow: [], deny: [], allowLoopback }), proxy: null })
const open = guarded(true)

async function fetchAll(upstream: Upstream, more: Partial<FetchOptions> = {}) {
  const items: unknown[] = []
  const fetched = await fetchFeed(upstream.source, { open, pause: async () => {}, now: Date.now, take: async (some) => void items.push(...some), ...more }) // prettier-ignore
  return { fetched, items }
}

const refusal = async (upstream: Upstream, more: Partial<FetchOptions> = {}) => {
  const problem = await fetchAll(upstream, more).then(
    () => new FetchProblem('nothing was wrong'),
    (error: unknown) => error,
  )
  assert.ok(problem instanceof FetchProblem, String(problem))
  assert.doesNotMatch(problem.message, /sesame|token/i)
  return problem
}

for (const { key, mapping } of PRESETS) {
  test(`all offers of ${key} come, page by page, and each can be mapped`, async () => {
    const upstream = await new Upstream(key).open()
    upstream.offers = Array.from({ length: 1_234 }, (_, n) => upstreamOffer(n))
    const { fetched, items } = await fetchAll(upstream)
    assert.ok(fetched.kind === 'complete')
    assert.deepEqual([fetched.offers, fetched.twice], [1_234, 0])
    // Those with several goals would not be known by their callbacks.
    const mapped = items.flatMap((item) => mapOffer({ ...mapping, ...(mapping.goals && { goals: { ...mapping.goals, only_one: false } }) }, item)) // prettier-ignore
    assert.deepEqual(mapped.filter((one) => 'skipped' in one), []) // prettier-ignore
    for (const [n, one] of mapped.entries()) {
      assert.ok('offer' in one)
      const { payout, country, goals } = upstreamOffer(n)
      const micros = one.offer.goals.reduce((sum, goal) => sum + goal.micros, 0)
      assert.deepEqual([micros, one.offer.record['countries']], [payout * 1_000_000, [country]])
      if (key !== 'cpalead') assert.equal(one.offer.goals.length, Math.max(1, goals.length))
    }
  })
}

test('offers that come twice are taken once; IDs of 19 digits keep all of them', async () => {
  const upstream = await new Upstream('trackier').open()
  upstream.offers = Array.from({ length: 150 }, (_, n) => upstreamOffer(n % 140))
  const { fetched } = await fetchAll(upstream)
  assert.ok(fetched.kind === 'complete')
  assert.deepEqual([fetched.offers, fetched.twice], [140, 10])
  const adgem = await new Upstream('adgem').open()
  adgem.trouble = ({ path }, response) => path.endsWith('/offers') && (adgem.send(response, 200, '{"data":[{"id":9007199254740993123,"creatives":{"name":"A"}}]}'), true) // prettier-ignore
  const { items } = await fetchAll(adgem)
  assert.deepEqual(items, [{ id: '9007199254740993123', creatives: { name: 'A' } }])
})

test('what fails, is cut, repeats itself or lies about its size is no feed', async () => {
  const upstream = await new Upstream('everflow').open()
  upstream.offers = Array.from({ length: 1_200 }, (_, n) => upstreamOffer(n))
  const onPage = (wanted: number, answer: (response: Parameters<Upstream['trouble']>[1]) => void) => {
    upstream.trouble = (_, response, page) => page === wanted && (answer(response), true)
    return refusal(upstream)
  }
  assert.match((await onPage(1, (to) => upstream.send(to, 500, {}))).message, /HTTP 500/)
  assert.match((await onPage(0, (to) => upstream.send(to, 401, {}))).message, /refused the credentials/)
  assert.equal((await onPage(2, (to) => upstream.send(to, 429, {}, { 'retry-after': '90' }))).retryAfterS, 90)
  assert.match((await onPage(0, (to) => upstream.send(to, 302, {}, { location: 'http://127.0.0.1:1/' }))).message, /redirects/) // prettier-ignore
  assert.match((await onPage(1, (to) => upstream.send(to, 200, ''))).message, /empty/)
  assert.match((await onPage(1, (to) => upstream.send(to, 200, '<html>Down for maintenance'))).message, /not JSON.*maintenance/) // prettier-ignore
  assert.match((await onPage(1, (to) => upstream.send(to, 200, '{"offers":[{"id":1},{"i'))).message, /cut off/)
  assert.match((await onPage(2, (to) => upstream.send(to, 200, { offers: [], paging: { total_count: 1_200 } }))).message, /1200 offers, but sent 1000/) // prettier-ignore
  assert.match((await onPage(1, (to) => to.writeHead(200, { 'content-length': '500' }).write('{"offers"') && setImmediate(() => to.destroy()))).message, /connection was lost/) // prettier-ignore
  const first = upstream.offers.slice(0, 500)
  upstream.trouble = (_, response, page) => {
    if (page !== 1) return false
    upstream.send(response, 200, { offers: first.map(({ id }) => ({ network_offer_id: id })), paging: { total_count: 1_200 } }) // prettier-ignore
    return true
  }
  assert.match((await refusal(upstream)).message, /same offers as an earlier page/)
})

test('what hangs or is too large is not waited for', async () => {
  const upstream = await new Upstream('ayet').open()
  upstream.trouble = () => true
  assert.match((await refusal(upstream, { limits: { timeoutMs: 300, maxBytes: 1_000 } })).message, /within 0.3 s/)
  upstream.trouble = (_, response) => (upstream.send(response, 200, { status: 'success', offers: ['x'.repeat(3_000_000)] }), true) // prettier-ignore
  assert.match((await refusal(upstream, { limits: { timeoutMs: 10_000, maxBytes: 1_000_000 } })).message, /larger than 1 MB/) // prettier-ignore
})

test('an answer that says itself that it failed is believed, with what it says and without the key', async () => {
  const upstream = await new Upstream('torox').open()
  const lootably = await new Upstream('lootably').open()
  lootably.trouble = ({ body }, response) => (lootably.send(response, 200, { success: false, message: `Bad key in ${body}` }), true) // prettier-ignore
  const { message } = await refusal(lootably)
  assert.match(message, /"false" at "success".*Bad key/)
  upstream.trouble = (asked, response) => (upstream.send(response, 200, `oops ${asked.query.toString()}`), true)
  assert.match((await refusal(upstream)).message, /not JSON.*secretkey=•••/)
})

test('what has not changed is not fetched again', async () => {
  const upstream = await new Upstream('ayet').open()
  upstream.offers = [upstreamOffer(1)]
  upstream.trouble = ({ headers }, response) => {
    if (headers['if-none-match'] !== '"v1"') return (response.setHeader('etag', '"v1"'), false)
    response.writeHead(304).end()
    return true
  }
  const { fetched } = await fetchAll(upstream)
  assert.ok(fetched.kind === 'complete')
  assert.deepEqual(fetched.validators, { etag: '"v1"' })
  assert.deepEqual((await fetchAll(upstream, { validators: fetched.validators })).fetched, { kind: 'unchanged' })
})

test('a feed reaches no address that postbacks may not, and follows no link to another host', async () => {
  const upstream = await new Upstream('ayet').open()
  assert.match((await refusal(upstream, { open: guarded(false) })).message, /not a public IP address/)
  const { source } = upstream
  const paged = { ...source, request: { ...source.request, paging: { kind: 'next' as const, path: 'next' } } }
  upstream.trouble = (_, response) => (upstream.send(response, 200, { status: 'success', offers: [{ id: 1 }], next: 'http://127.0.0.2/?key=sesame' }), true) // prettier-ignore
  const fetching = fetchFeed(paged, { open, pause: async () => {}, now: Date.now, take: async () => {} })
  await assert.rejects(fetching, /another host \(127\.0\.0\.2\)/)
})

test('an answer is read in the charset that it names, without a byte order mark, and however gzip is spelled', async () => {
  const text = JSON.stringify({ success: true, data: { offers: [{ offerID: 'Größe' }] } })
  const answers: [Buffer, Record<string, string>][] = [
    [Buffer.from(`\ufeff${text}`), {}],
    [Buffer.from(text, 'latin1'), { 'content-type': 'application/json; charset=ISO-8859-1' }],
    [Buffer.from(`\ufeff${text}`, 'utf16le'), { 'content-type': 'application/json;charset="utf-16le"' }],
    [Buffer.from(text), { 'content-type': 'application/json; charset=nonsense' }],
    [gzipSync(text), { 'content-encoding': 'GZIP' }],
  ]
  for (const [content, headers] of answers) {
    const upstream = await new Upstream('lootably').open()
    upstream.trouble = (_, response) => (response.writeHead(200, headers).end(content), true)
    assert.deepEqual((await fetchAll(upstream)).items, [{ offerID: 'Größe' }], JSON.stringify(headers))
  }
})

test('an upstream that says that nothing has changed is believed only where it was asked that', async () => {
  const upstream = await new Upstream('lootably').open()
  upstream.trouble = (_, response) => (response.writeHead(304).end(), true)
  assert.match((await refusal(upstream)).message, /HTTP 304/)
})

test('an upstream that sends page after page is asked for an hour, and no longer', async () => {
  const upstream = await new Upstream('offer18').open()
  let [time, pages] = [Date.now(), 0]
  upstream.trouble = (_, response) => {
    time += 60_000
    upstream.send(response, 200, { response: '200', data: { [pages++]: { offerid: `o${pages}` } } })
    return true
  }
  assert.match((await refusal(upstream, { now: () => time })).message, /61 pages within 60 minutes/)
})
