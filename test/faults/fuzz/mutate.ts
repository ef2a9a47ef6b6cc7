// What is done to a valid request before it is sent.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Random } from '../random.ts'
import { type Draft, printable, queryText } from './drafts.ts'
import type { FuzzRequest, Header } from './request.ts'
import { spoil, wrongText, wrongValue } from './wrong-values.ts'

type Mutation = (random: Random, draft: Draft) => void

const TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml', 'application/json; charset=utf-16', 'application/json;charset="', 'application/json, text/html', 'APPLICATION/JSON', 'application/problem+json', '', ';', '*/*', 'application/octet-stream'] // prettier-ignore
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'LINK', 'M-SEARCH'] // prettier-ignore

/** Of which one is added. Those with a meaning to the server stand beside those that should have none. */
const HEADERS: ((random: Random) => Header)[] = [
  (random) => ['Range', random.pick(['bytes=0-0', 'bytes=-1', 'bytes=5-1', 'bytes=0-,0-,0-', 'bytes=99999999999999999999-', 'x'])],
  (random) => ['If-None-Match', random.pick(['*', '"x"', 'W/"x", "y"', '"', 'x'.repeat(5_000)])],
  (random) => ['If-Modified-Since', random.pick(['Sat, 29 Oct 1994 19:43:31 GMT', 'never', '0'])],
  (random) => ['If-Match', random.pick(['*', '"x"'])],
  (random) => ['Accept', random.pick(['text/html', '*/*;q=0', 'x', 'a/b;q=2', ','.repeat(2_000)])],
  (random) => ['Accept-Encoding', random.pick(['gzip', 'br', 'gzip;q=0, *;q=0', 'identity;q=0', '*', 'x'])],
  (random) => ['Accept-Language', random.pick(['de', 'ar', 'xx-YY', '*', 'en;q=x', 'a-'.repeat(900)])],
  (random) => ['Cookie', random.pick(['offerdeck.session_token=x', 'a', '=', ';;;', '__proto__=1', 'a=%zz', 'a="', `a=${'b'.repeat(6_000)}`])],
  (random) => ['Authorization', random.pick(['Bearer', 'Bearer x', 'Basic eDp5', 'bearer  y', 'Digest username="x"'])],
  (random) => ['Origin', random.pick(['null', 'https://evil.test', '', 'x'])],
  (random) => ['Host', random.pick(['evil.test', '', '127.0.0.1:99999', 'a b', '[::1'])],
  (random) => ['X-Forwarded-Proto', random.pick(['https', 'http', 'x', 'https,http'])],
  (random) => ['X-Forwarded-Host', random.pick(['evil.test', 'a b', ''])],
  (random) => ['X-Forwarded-For', random.pick(['', 'x', '::1', '1.2.3.4, 10.0.0.1', '999.1.1.1', ','.repeat(500)])],
  (random) => ['User-Agent', random.pick(['', 'Googlebot/2.1', 'x'.repeat(5_000), '(((((', 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)'])],
  (random) => ['Expect', random.pick(['100-continue', 'x'])],
  (random) => ['Idempotency-Key', random.pick(['', 'k', 'x'.repeat(300), 'a b', '"'])],
  (random) => ['X-HTTP-Method-Override', random.pick(METHODS)],
  (random) => ['Sec-Fetch-Site', random.pick(['cross-site', 'same-origin', 'x'])],
  (random) => ['X-API-Key', random.pick(['', 'pk_live_x', 'x'.repeat(3_000)])],
  (random) => ['X-API-Secret', random.pick(['', 'sk_live_x', 'x'.repeat(3_000)])],
  (random) => ['TE', random.pick(['trailers', 'x'])],
  (random) => ['Upgrade', random.pick(['h2c', 'x'])],
  (random) => ['Last-Event-ID', random.pick(['1', 'x', '-1'])],
  (random) => [random.pick(['X-A', '__proto__', 'constructor', 'Content-Location']), printable(wrongText(random)).slice(0, 6_000)],
] // prettier-ignore

const inQuery: Mutation[] = [
  (random, { query }) => query.push([random.pick(query)?.[0] ?? 'a', wrongText(random)]),
  (random, { query }) => void (query.length > 0 && query.splice(random.int(0, query.length - 1), 1)),
  (random, draft) => (draft.query = draft.query.map(([name, value]) => [name, random.chance(0.4) ? wrongText(random) : value])), // prettier-ignore
  (random, draft) => (draft.query = draft.query.map(([name, value]) => [random.chance(0.4) ? `${name}${random.pick(['[]', '[a]', '.a', '%00', ' ', '\0'])}` : name, value])), // prettier-ignore
  (random, { query }) => query.push([wrongText(random), wrongText(random)]),
  (random, { query }) => {
    for (let i = random.int(2, 400); i > 0; i--) query.push(['userId', String(i)])
  },
]

const inPath: Mutation[] = [
  (random, draft) => {
    const parts = draft.path.split('/')
    const at = random.int(1, parts.length - 1)
    parts[at] = random.pick([queryText([['', wrongText(random)]]).slice(1), '..', '.', '%2e%2e', '%252e%252e', '%2f', '%5c..', '0', '-1', '1e9', '9007199254740993', '%00', '%', '%zz', '%c0%af', ';', parts[at]?.toUpperCase() ?? '', `${parts[at]}%20`, `${parts[at]}/`, `${parts[at]}.json`, 'x'.repeat(random.int(100, 9_000))]) // prettier-ignore
    draft.path = parts.join('/')
  },
  (random, draft) => (draft.path = random.pick([`/${draft.path}`, `${draft.path}/`, `http://127.0.0.1${draft.path}`, `/x/..${draft.path}`, `${draft.path};a=b`, `${draft.path}#x`, `${draft.path}?`, draft.path.replaceAll('/', '//')])), // prettier-ignore
]

const inBody: Mutation[] = [
  (random, draft) => (draft.body = spoil(random, draft.body)),
  (random, draft) => (draft.body = spoil(random, spoil(random, draft.body))),
  (random, draft) => (draft.body = spoil(random, draft.body)),
  (random, draft) => (draft.body = spoilText(random, jsonOf(draft.body))),
]

const inHeaders: Mutation[] = [
  (random, { headers }) => void headers.push(random.pick(HEADERS)(random)),
  (random, { headers }) => void headers.push(random.pick(HEADERS)(random), random.pick(HEADERS)(random)),
  (random, draft) => (draft.method = random.pick(METHODS)),
  (random, { headers }) => void headers.push(['Content-Type', random.pick(TYPES)]),
  (random, { headers }) => void (headers.length > 0 && headers.splice(random.int(0, headers.length - 1), 1)),
  (random, draft) => {
    const text = draft.body === undefined ? Buffer.from(random.pick(['', '{}', 'x', '\0'])) : jsonOf(draft.body)
    const [name, compress] = random.pick([['gzip', gzipSync], ['deflate', deflateSync], ['br', brotliCompressSync], ['x', (some: Buffer) => some], ['gzip', (some: Buffer) => some]] as const) // prettier-ignore
    draft.headers.push(['Content-Encoding', name])
    draft.body = compress(random.chance(0.1) ? Buffer.alloc(5_000_000) : text)
  },
]

const jsonOf = (body: unknown) =>
  body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(JSON.stringify(body) ?? '')

/** What is not JSON any more, or JSON that most programs never write. */
function spoilText(random: Random, json: Buffer): Buffer {
  const text = json.toString('utf8')
  const makers = [
    () => json.subarray(0, random.int(0, json.length)),
    () => Buffer.concat([json, Buffer.from(random.pick(['}', ',', '\0', ' ', 'x', '\n{}']))]),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), json]),
    () => Buffer.from(text, 'utf16le'),
    () => random.bytes(random.int(1, 200)),
    () => Buffer.from('['.repeat(random.int(100, 60_000))),
    () => Buffer.from(`${'[{"a":'.repeat(random.int(100, 5_000))}1`),
    () => Buffer.from(`${'['.repeat(2_000)}${']'.repeat(2_000)}`),
    () => Buffer.alloc(random.int(60_000, 300_000), ' '),
    () => Buffer.from(text.replace('{', `{"__proto__":{"a":1},"constructor":{"prototype":{"a":1}},`)),
    () => Buffer.from(text.replace(/:[^,}]*/, random.pick([':1e400', ':-0', ':1e-400', ':9007199254740993', ':0.1e1', ':01', ':NaN', ':"\\ud800"', ':"\\u0000"', ':"\\x"']))), // prettier-ignore
    () => Buffer.from(text.replace(/"(\w+)":/, '"$1":null,"$1":')),
    () => {
      const bytes = Buffer.from(json)
      for (let i = random.int(1, 5); i > 0 && bytes.length > 0; i--) bytes[random.int(0, bytes.length - 1)] = random.int(0, 255) // prettier-ignore
      return bytes
    },
    () => Buffer.from(JSON.stringify(wrongValue(random)) ?? ''),
  ]
  return random.pick(makers)()
}

const KINDS: [weight: number, name: string, mutations: Mutation[]][] = [
  [5, 'body', inBody],
  [3, 'query', inQuery],
  [2, 'path', inPath],
  [2, 'headers', inHeaders],
]

/** Changes one thing, or a few. */
export function mutate(random: Random, draft: Draft): void {
  const kinds = KINDS.filter(([, name]) => (name === 'body' ? draft.body !== undefined : name !== 'query' || draft.query.length > 0 || random.chance(0.2))).flatMap((kind) => Array.from({ length: kind[0] }, () => kind)) // prettier-ignore
  for (let i = random.pick([1, 1, 1, 2, 3]); i > 0; i--) {
    const [, name, mutations] = random.pick(kinds)
    draft.what += `, ${name} changed`
    const { method, path } = draft
    random.pick(mutations)(random, draft)
    if (draft.method !== method || draft.path !== path) draft.operation = null
  }
}

/** More than any body may have but that of an import. */
const MOST_BYTES = 4_000_000
/** Few addresses, so that what is counted for each is not what grows. */
const ADDRESSES = 4_000

export function finish(random: Random, { what, operation, method, path, query, headers, body }: Draft): FuzzRequest {
  const target = query.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${queryText(query)}`
  const address = random.int(0, ADDRESSES)
  const before: Header[] = [['Host', '127.0.0.1']]
  if (!headers.some(([name]) => name === 'X-Forwarded-For')) before.push(['X-Forwarded-For', `10.2.${address >> 8}.${address & 255}`]) // prettier-ignore
  const hasType = headers.some(([name]) => name === 'Content-Type')
  if (body !== undefined && !hasType) before.push(['Content-Type', 'application/json'])
  const sent = body === undefined ? null : jsonOf(body).subarray(0, MOST_BYTES)
  return { what, operation, method, target, headers: [...before, ...headers], body: sent }
}
