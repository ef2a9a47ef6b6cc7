// How an upstream is asked: its ways to sign in, tokens that expire, and that nothing shows what was sent.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openSocket } from '../../../test/upstreams/feed.ts'
import { type Asked, Upstream } from '../../../test/upstreams/server.ts'
import type { FeedRequest } from './feed-request.ts'
import { fetchFeed } from './fetch-feed.ts'
import { checkRequest } from './mapping/check.ts'
import { fetchSample } from './try-mapping.ts'

const KEY = 'se/same&open=1%'
const credentials = { user: 'pub-7', key: KEY }
type Reply = { status?: number; answer: unknown }

async function play(own: Partial<FeedRequest>, reply: (asked: Asked, n: number) => Reply) {
  const upstream = await new Upstream('ayet').open()
  upstream.trouble = (asked, response) => {
    const { status = 200, answer } = reply(asked, upstream.asked.length - 1)
    upstream.send(response, status, answer)
    return true
  }
  const host = upstream.source.request.url.split('/').slice(0, 3).join('/')
  const request = { method: 'GET', url: `${host}/offers`, paging: { kind: 'one' }, ...own } as FeedRequest
  if (request.auth?.kind === 'exchange') request.auth.request.url = `${host}/token`
  assert.deepEqual(checkRequest(request, Object.keys(credentials)), [])
  return { request, asked: upstream.asked }
}

/** What is wrong; empty: all came. */
const fetchAll = (request: FeedRequest, now = Date.now) =>
  fetchFeed({ request, mapping: { offers: 'offers', id: 'id' }, credentials }, { open: openSocket, pause: async () => {}, now, take: async () => {} }).then(
    () => '',
    (error: unknown) => (error as Error).message,
  ) // prettier-ignore

const NO_OFFERS = { answer: { offers: [] } }
const PAIR = Buffer.from(`pub-7:${KEY}`).toString('base64')
const echo = ({ headers, query, path }: Asked) => ({ status: 200, answer: { offers: [], error: [headers.authorization, query.toString(), decodeURIComponent(path), JSON.stringify(headers)].join(' ') } }) // prettier-ignore

test('an upstream is asked with Basic, a bearer, or a signed query, as it wants', async () => {
  const basic = await play({ auth: { kind: 'basic', user: '{user}', password: '{key}' } }, () => NO_OFFERS)
  assert.equal(await fetchAll(basic.request), '')
  assert.equal(basic.asked[0]?.headers.authorization, `Basic ${PAIR}`)
  const bearer = await play({ auth: { kind: 'bearer', token: '{key}' } }, () => NO_OFFERS)
  assert.equal(await fetchAll(bearer.request), '')
  assert.equal(bearer.asked[0]?.headers.authorization, `Bearer ${KEY}`)
  const now = () => 1_790_000_000_500
  for (const hash of ['md5', 'sha1', 'sha256'] as const) {
    const signed = await play({ query: { time: '{timestamp}' }, auth: { kind: 'signature', parameter: 'sig', hash, of: ['{timestamp}', '-', '{key}'] } }, () => NO_OFFERS) // prettier-ignore
    assert.equal(await fetchAll(signed.request, now), '')
    const wanted = createHash(hash).update(`1790000000-${KEY}`).digest('hex')
    assert.equal(signed.asked[0]?.query.toString(), `time=1790000000&sig=${wanted}`)
  }
})

/** A token for each exchange, good for `most` requests. */
function exchange(most: number) {
  let [tokens, uses] = [0, 0]
  return ({ path, headers, query }: Asked): Reply => {
    if (path === '/token') {
      uses = 0
      return { answer: { access: `tok-secret-${++tokens}` } }
    }
    const isGood = headers.authorization === `Bearer tok-secret-${tokens}` && ++uses <= most
    const page = Number(query.get('page'))
    return isGood ? { answer: { offers: page > 5 ? [] : [{ id: `o${page}` }] } } : { status: 401, answer: {} }
  }
}

const EXCHANGED: Partial<FeedRequest> = {
  auth: { kind: 'exchange', request: { method: 'POST', url: 'https://api.example.com/token', form: { refresh: '{key}' } }, token: 'access', lives_s: 600 },
  paging: { kind: 'page', parameter: 'page', first: 1 },
} // prettier-ignore

test('an exchanged token is renewed before it expires, and once where it is no longer accepted', async () => {
  const exchanges = ({ asked }: Awaited<ReturnType<typeof play>>) => asked.filter(({ path }) => path === '/token').length // prettier-ignore
  const patient = await play(EXCHANGED, exchange(100))
  let time = 1_790_000_000_000
  assert.equal(await fetchAll(patient.request, () => (time += 60_000)), '')
  assert.ok(exchanges(patient) > 1, 'it lives ten minutes')
  assert.equal(patient.asked.filter(({ path }) => path !== '/token').length, 6, 'no page was refused')
  const short = await play(EXCHANGED, exchange(2))
  assert.equal(await fetchAll(short.request), '')
  assert.equal(exchanges(short), 3)
  const refused = await play(EXCHANGED, exchange(0))
  assert.match(await fetchAll(refused.request), /refused the credentials \(HTTP 401\)/)
  assert.equal(exchanges(refused), 1, 'a new one that is refused is not worth another one')
})

test('nothing that an upstream echoes shows what it was asked with: not in problems, and not in samples', async () => {
  const seen = (request: FeedRequest) => ({ ...request, query: { k: '{key}' } })
  const kinds: [string, Partial<FeedRequest>][] = [
    ['basic', { auth: { kind: 'basic', user: '{user}', password: '{key}' } }],
    ['bearer', { auth: { kind: 'bearer', token: '{key}' } }],
    ['signature', { auth: { kind: 'signature', parameter: 'sig', hash: 'md5', of: ['{key}'] } }],
    ['exchange', { auth: EXCHANGED.auth! }],
  ]
  const sent = [KEY, encodeURIComponent(KEY), encodeURIComponent(KEY).toLowerCase(), JSON.stringify(KEY).slice(1, -1), PAIR, Buffer.from(KEY).toString('base64'), createHash('md5').update(KEY).digest('hex'), 'tok-secret-1'] // prettier-ignore
  for (const [kind, own] of kinds) {
    const { request } = await play(own, (asked) => asked.path === '/token' ? { answer: { access: 'tok-secret-1' } } : { answer: { error: `bad ${JSON.stringify(echo(asked).answer.error)}`, echoed: { [asked.headers.authorization ?? 'none']: [`https://a.example/?${asked.query.toString()}`, 'x'.repeat(995) + KEY] } } }) // prettier-ignore
    const problem = await fetchAll(seen(request))
    const sample = JSON.stringify(await fetchSample(openSocket, seen(request), credentials))
    assert.match(problem, /is missing: bad .*•••/)
    assert.match(sample, /https:\/\/a\.example\/\?k=•••/)
    for (const text of [problem, sample]) for (const one of sent) assert.ok(!text.includes(one), `${kind}: ${one} in ${text}`) // prettier-ignore
    assert.doesNotMatch(sample, /xse/, 'not by its beginning either')
  }
})
