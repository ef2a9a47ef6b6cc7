// Whether all pages came: what upstreams leave out, cut, and answer in place of a page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSocket } from '../../../test/upstreams/feed.ts'
import { type Asked, Upstream } from '../../../test/upstreams/server.ts'
import { upstreamOffer } from '../../../test/upstreams/shapes.ts'
import type { FeedRequest, Paging } from './feed-request.ts'
import { fetchFeed } from './fetch-feed.ts'
import { FetchProblem } from './fetch-page.ts'
import { checkRequest } from './mapping/check.ts'

const offers = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, i) => ({ id: `o${from + i}` })) // prettier-ignore

type Answer = (asked: Asked) => unknown
type Own = { request?: Partial<FeedRequest>; offers?: string }

/** The IDs that came, or what is wrong; and what was asked. */
async function fetchOwn(paging: Paging, answer: Answer, { request = {}, offers: path = 'offers' }: Own = {}) {
  const upstream = await new Upstream('lootably').open()
  upstream.trouble = (asked, response) => (upstream.send(response, 200, answer(asked)), true)
  const own: FeedRequest = { method: 'GET', url: upstream.source.request.url.split('?')[0] ?? '', paging, ...request }
  assert.deepEqual(checkRequest(own, ['key']), [])
  const ids: string[] = []
  const fetching = fetchFeed(
    { request: own, mapping: { offers: path, id: 'id' }, credentials: { key: 'sesame-4711' } },
    { open: openSocket, pause: async () => {}, now: Date.now, take: async (items) => void ids.push(...(items as { id: string }[]).map(({ id }) => id)) },
  ) // prettier-ignore
  const problem = await fetching.then(
    () => null,
    (error: unknown) => error as FetchProblem,
  )
  return { ids, problem: problem?.message ?? '', fetched: problem?.fetched, asked: upstream.asked }
}

const PAGE: Paging = { kind: 'page', parameter: 'page', first: 1, size: { parameter: 'limit', value: 500 } }
const OFFSET: Paging = { kind: 'offset', parameter: 'skip', size: { parameter: 'limit', value: 500 } }
const NEXT: Paging = { kind: 'next', path: 'next' }

test('an error that comes with HTTP 200 in place of a later page is no end of the feed', async () => {
  const upstream = await new Upstream('everflow').open()
  upstream.offers = Array.from({ length: 1_200 }, (_, n) => upstreamOffer(n))
  upstream.trouble = (_, response, page) => page === 2 && (upstream.send(response, 200, { Error: 'Too many requests' }), true) // prettier-ignore
  const fetching = fetchFeed(upstream.source, { open: openSocket, pause: async () => {}, now: Date.now, take: async () => {} }) // prettier-ignore
  const problem = await fetching.then(() => null, (error: unknown) => error as FetchProblem) // prettier-ignore
  assert.equal(problem?.message, '"offers" of the response is missing: Too many requests')
  const { offers: came, pages, bytes } = problem?.fetched ?? {}
  assert.deepEqual([came, pages, (bytes ?? 0) > 1_000], [1_000, 3, true], 'what came until then is known')
})

test('what is not a list is not taken for an empty one', async () => {
  const wrong: [unknown, RegExp][] = [
    [{}, /"offers" of the response is missing: there are no details/],
    [{ offers: null, message: 'Try later' }, /is missing: Try later/],
    [{ offers: 'Too many requests' }, /is not a list/],
    [{ offers: { error: 'Too many requests' } }, /is not a list of offers/],
    [{ offers: { error: { code: 7 } } }, /has no offers, or they have no ID/],
  ]
  for (const [answer, message] of wrong) {
    const later = (asked: Asked) => (asked.query.get('page') === '2' ? answer : { offers: offers(0, 500) })
    assert.match((await fetchOwn(PAGE, later)).problem, message, JSON.stringify(answer))
    assert.match((await fetchOwn({ kind: 'one' }, () => answer)).problem, message, JSON.stringify(answer))
  }
  assert.match((await fetchOwn({ kind: 'one' }, () => ({ message: 'No access' }), { offers: '' })).problem, /^The response is not a list of offers: No access/) // prettier-ignore
  assert.deepEqual((await fetchOwn({ kind: 'one' }, () => ({ offers: {} }))).ids, [], '{} can be meant for a list')
})

test('the most that an upstream has said of its size has to come, also where its last page says otherwise', async () => {
  const pages = (...totals: (number | undefined)[]) => {
    const answer = ({ query }: Asked) => {
      const page = Number(query.get('page'))
      return { offers: page > 2 ? [] : offers((page - 1) * 100, page * 100), total: totals[page - 1] }
    }
    return fetchOwn({ ...PAGE, total: 'total' }, answer)
  }
  assert.equal((await pages(200, 200)).ids.length, 200)
  assert.equal((await pages(250, undefined)).problem, 'The upstream reports 250 offers, but sent 200.')
  assert.equal((await pages(250, 200)).problem, 'The upstream reports 250 offers, but sent 200.')
  const counted = ({ query }: Asked) => query.get('page') === '3' ? { offers: [] } : { offers: offers(Number(query.get('page')) * 10, Number(query.get('page')) * 10 + 5), pages: 3 } // prettier-ignore
  assert.match((await fetchOwn({ ...PAGE, pages: 'pages' }, counted)).problem, /reports 3 pages, but page 3 is empty/) // prettier-ignore
})

test('an upstream that sends fewer at once than it was asked for is asked until it has no more', async () => {
  const capped = ({ query }: Asked) => {
    const start = Number(query.get('skip') ?? (Number(query.get('page')) - 1) * 100)
    return { offers: offers(start, Math.min(250, start + 100)) }
  }
  for (const paging of [PAGE, OFFSET]) {
    const { ids, problem, asked } = await fetchOwn(paging, capped)
    assert.deepEqual([ids.length, problem, asked.length], [250, '', 4], paging.kind)
  }
  const deaf = await fetchOwn(OFFSET, () => ({ offers: offers(0, 100) }))
  assert.equal(deaf.problem, 'Page 2 has the same offers as an earlier page.')
})

test('links to the next page are followed to the last one, with the key', async () => {
  const linked = ({ query, headers }: Asked) => {
    assert.equal(headers['x-api-key'], 'sesame-4711')
    const at = Number(query.get('at') ?? 0)
    return { offers: offers(at, at + 10), next: [`?at=10&of=30`, `/elsewhere?at=20`, null][at / 10] }
  }
  const request = { headers: { 'X-Api-Key': '{key}' } }
  const { ids, problem, asked } = await fetchOwn(NEXT, linked, { request })
  assert.deepEqual([ids.length, problem], [30, ''])
  assert.deepEqual(asked.map(({ query }) => query.toString()), ['', 'at=10&of=30', 'at=20']) // prettier-ignore
  const empty = ({ query }: Asked) => query.has('at') ? { offers: [], next: '?at=20' } : { offers: offers(0, 10), next: '?at=10' } // prettier-ignore
  assert.equal((await fetchOwn(NEXT, empty)).problem, 'Page 2 is empty, but says that another page follows.')
  const odd = () => ({ offers: offers(0, 10), next: { href: '?at=10' } })
  assert.match((await fetchOwn(NEXT, odd)).problem, /no next page URL at "next"/)
})

test('a page is asked for in the body, as JSON or as a form, where the upstream wants that', async () => {
  const upstreamOf = (read: (body: string) => number) => ({ body }: Asked) => ({ offers: offers(read(body), Math.min(12, read(body) + 5)) }) // prettier-ignore
  const paging: Paging = { kind: 'offset', parameter: 'skip', size: { parameter: 'limit', value: 5 }, in: 'body' }
  const asJson = await fetchOwn(paging, upstreamOf((body) => (JSON.parse(body) as { skip: number }).skip), { request: { method: 'POST', json: { key: '{key}' } } }) // prettier-ignore
  assert.deepEqual([asJson.ids.length, asJson.problem], [12, ''])
  assert.deepEqual(JSON.parse(asJson.asked[1]?.body ?? ''), { key: 'sesame-4711', skip: 5, limit: 5 })
  const asForm = await fetchOwn(paging, upstreamOf((body) => Number(new URLSearchParams(body).get('skip'))), { request: { method: 'POST', form: { key: '{key}' } } }) // prettier-ignore
  assert.deepEqual([asForm.ids.length, asForm.problem], [12, ''])
  assert.deepEqual([asForm.asked[1]?.body, asForm.asked[1]?.headers['content-type'], asForm.asked[1]?.query.toString()], ['key=sesame-4711&skip=5&limit=5', 'application/x-www-form-urlencoded', '']) // prettier-ignore
  assert.match(checkRequest({ method: 'GET', url: 'https://a.example/', paging }, [])[0]?.message ?? '', /only where the method is POST/) // prettier-ignore
})
