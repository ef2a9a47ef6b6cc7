// Ways around the gates: every route of the router, and requests that no ordinary client sends. Over a real socket,
// because a client that tidies up a request would hide what the server does with it.
import assert from 'node:assert/strict'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { IssuedCredentials } from '../src/features/apps/keys.ts'
import { createPerson, createToken, PASSWORD, publisherOfApp } from './people.ts'
import { fill, isBehind, isClosed, listRoutes, type ServedRoute } from './routes.ts'
import { PUBLIC_URL, useWorld } from './world.ts'

let port: number
let routes: ServedRoute[]
let live: IssuedCredentials
/** The cookie of an operator’s session. */
let cookie: string
const world = useWorld('doors', async () => {
  await world.app.close()
  world.config = { ...world.config, trustProxy: ['127.0.0.1'] }
  world.app = await world.start()
  live = (await world.createApp()).live
  routes = listRoutes(world.app.server)
  await world.app.server.listen({ host: '127.0.0.1', port: 0 })
  port = (world.app.server.server.address() as AddressInfo).port
  const { email } = await createPerson(world, 'operator')
  const signedIn = await fetch(`http://127.0.0.1:${port}/manage/v1/session`, {
    method: 'POST',
    headers: { origin: PUBLIC_URL, 'content-type': 'application/json', 'x-forwarded-for': '10.9.9.9' },
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  cookie = signedIn.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ') // prettier-ignore
})

/** All that the server answers on one connection to exactly these bytes. */
function speak(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setEncoding('latin1').on('data', (chunk: string) => (heard += chunk))
    socket.on('close', () => resolve(heard)).on('error', reject)
  })
}

let senders = 0
/** Each request has its own IP address, so that none is refused for their number. */
const address = () => `X-Forwarded-For: 10.8.${(senders >> 8) & 255}.${senders++ & 255}\r\n`
const ask = (method: string, target: string, headers = '', body = '') =>
  speak(`${method} ${target} HTTP/1.1\r\nHost: offers.test\r\nConnection: close\r\n${address()}${headers}\r\n${body}`)
const statusesOf = (heard: string) => [...heard.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
const statusOf = (heard: string) => statusesOf(heard)[0]

/** What anyone may request, without a key or a session. A new route is behind a gate, or is decided on here. */
const OPEN = [
  // the dashboard: a page that is the same for everyone, and calls the management API
  'GET /', 'GET /*', 'GET /account', 'GET /account*', 'GET /advertisers', 'GET /advertisers*', 'GET /apps', 'GET /apps*', 'GET /assets/:name', 'GET /forgot-password',
  'GET /forgot-password*', 'GET /icon.svg', 'GET /join', 'GET /join*', 'GET /network', 'GET /network*', 'GET /publishers',
  'GET /publishers*', 'GET /reset-password', 'GET /reset-password*', 'GET /robots.txt', 'GET /sign-in', 'GET /sign-in*', 'GET /sign-up', 'GET /sign-up*',
  'GET /verify-email', 'GET /verify-email*',
  // users and advertisers: a link is signed, a callback carries a token
  'GET /c/:offer_id/:token', 'GET /c/page.css', 'GET /images/:name', 'GET /pictures/:file', 'GET /postback', 'POST /postback',
  // lockers: anonymous visitors of a publisher's page, or of a link
  'GET /l/:slug', 'GET /locker', 'GET /locker/v1.js', 'GET /locker/v1/lockers/:locker_id/live',
  'POST /l/:slug/open', 'POST /l/:slug/password', 'POST /l/:slug/report', 'POST /locker/v1/lockers/:locker_id/visits',
  // the wall: a page in a browser names its app by the public key
  'GET /sdk/:name', 'GET /wall', 'GET /wall/v1/activity', 'GET /wall/v1/live', 'GET /wall/v1/offers', 'GET /wall/v1/offers/:offer_id',
  'GET /wall/v1/tickets', 'POST /wall/v1/opened', 'POST /wall/v1/tickets', 'POST /wall/v1/tickets/:ticket_id/messages', 'GET /wall/v1/tickets/:ticket_id/messages/:message_id/image',
  // descriptions and health
  'GET /docs', 'GET /docs/manage', 'GET /docs/manage.json', 'GET /docs/reference.js', 'GET /docs/start.js', 'GET /docs/v1.json',
  'GET /.well-known/security.txt', 'GET /healthz', 'GET /openapi.json', 'GET /readyz',
] // prettier-ignore

test('every route is described and behind a gate, or known to be open', async () => {
  const { paths } = JSON.parse((await world.get('/openapi.json')).text) as { paths: Record<string, object> }
  const described = new Set(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    ),
  )
  const gates = ['/manage/v1', '/v1', '/api/v1']
  const isGated = (route: ServedRoute) => gates.some((prefix) => isBehind(prefix)(route))
  const names = (some: ServedRoute[]) => some.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => `${method} ${path}`) // prettier-ignore
  assert.deepEqual(names(routes.filter(isGated)).filter((name) => !described.has(name.replace(' /v1', ' /api/v1'))), []) // prettier-ignore
  assert.deepEqual(names(routes.filter((route) => !isGated(route))).toSorted(), OPEN.toSorted())
})

test('without a session no method and no spelling of a route of the management API is let through', async () => {
  const closed = routes.filter(isClosed)
  assert.ok(closed.length > 100)
  const through: string[] = []
  for (const { method, path } of closed) {
    const body = method === 'GET' || method === 'HEAD' ? '' : '{}'
    const headers =
      body === '' ? '' : `Origin: ${PUBLIC_URL}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`
    const status = statusOf(await ask(method, fill(path), headers, body))
    if (status !== 401) through.push(`${method} ${path}: ${status}`)
  }
  assert.deepEqual(through, [])
  const odd: string[] = []
  for (const path of ['/manage/v1/publishers', '/manage/v1/apps/1', '/manage/v1/me'])
    for (const target of spellings(path))
      for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND']) {
        const status = statusOf(await ask(method, target))
        if (status === undefined || status < 400 || status >= 500) odd.push(`${method} ${target}: ${status}`)
      }
  assert.deepEqual(odd, [])
})

/** Of the same path, some of which a router or a proxy might take for it. */
const spellings = (path: string) => [
  path,
  `${path}/`,
  `/${path}`,
  path.replace('/v1/', '//v1//'),
  path.toUpperCase(),
  path.replace('manage', '%6danage'),
  path.replace('/v1/', '/v1%2f'),
  path.replace('/v1/', '/v1/./'),
  path.replace('/manage', '/x/../manage'),
  path.replace('/v1/', '/v1/%2e%2e/v1/'),
  `${path};a=b`,
  `${path}%00`,
  `${path}%20`,
  `${path}?x=1#y`,
  `http://offers.test${path}`,
  path.replaceAll('/', '\\'),
]

test('without a key no method and no spelling of a route of v1 is let through', async () => {
  const closed = [...routes.filter(isBehind('/v1')), ...routes.filter(isBehind('/api/v1'))]
  for (const { method, path } of closed) {
    const body = method === 'POST' ? '{}' : ''
    const heard = await ask(method, fill(path), body === '' ? '' : 'Content-Type: application/json\r\nContent-Length: 2\r\n', body) // prettier-ignore
    assert.equal(statusOf(heard), 401, `${method} ${path}`)
  }
  for (const path of ['/v1/offers', '/api/v1/offers', '/v1/stats'])
    for (const target of spellings(path)) {
      const status = statusOf(await ask('GET', `${target}${target.includes('?') ? '&' : '?'}userId=u`)) ?? 0
      assert.ok(status >= 400 && status < 500, `${target}: ${status}`)
    }
})

test('a session changes something only from our own pages, however the request is dressed up', async () => {
  const forge = (headers: string, body = '{"name":"Forged"}', type = 'application/json') =>
    ask('POST', '/manage/v1/publishers', `Cookie: ${cookie}\r\n${headers}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`, body) // prettier-ignore
  const ours = `Origin: ${PUBLIC_URL}\r\n`
  for (const headers of [
    '',
    'Origin: null\r\n',
    'Origin: https://evil.test\r\n',
    `Origin: ${PUBLIC_URL}.evil.test\r\n`,
    `Origin: ${PUBLIC_URL}/\r\n`,
    `Origin: ${PUBLIC_URL.toUpperCase()}\r\n`,
    `${ours}Origin: https://evil.test\r\n`,
    `Referer: ${PUBLIC_URL}/\r\n`,
    'Sec-Fetch-Site: same-origin\r\n',
    'Authorization: Bearer \r\n',
    'Authorization: Basic eDp5\r\n',
  ])
    assert.equal(statusOf(await forge(headers)), 403, headers)
  assert.equal(statusOf(await forge(`${ours}Authorization: Bearer nobody\r\n`)), 401)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])
    assert.equal(statusOf(await forge(ours, '{"name":"Forged"}', type)), 400, type) // prettier-ignore
  for (const method of ['GET', 'HEAD'])
    for (const override of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const heard = await ask(
        method,
        '/manage/v1/publishers?_method=POST',
        `Cookie: ${cookie}\r\n${override}: POST\r\n`,
      )
      assert.equal(statusOf(heard), 200)
    }
  const { data } = JSON.parse((await ask('GET', '/manage/v1/publishers?search=Forged', `Cookie: ${cookie}\r\n`)).split('\r\n\r\n')[1] ?? '') as { data: { publishers: unknown[] } } // prettier-ignore
  assert.deepEqual(data.publishers, [])
  assert.equal(statusOf(await forge(ours)), 200)
})

test('a request with a token is its owner’s alone, even with the cookie of a person who may do more', async () => {
  const viewer = await createPerson(world, 'publisher_viewer', await publisherOfApp(world, 1))
  const { token } = await createToken(world, viewer.id, ['read'])
  const both = `Cookie: ${cookie}\r\nAuthorization: Bearer ${token}\r\n`
  assert.equal(statusOf(await ask('GET', '/manage/v1/publishers', `Cookie: ${cookie}\r\n`)), 200)
  assert.equal(statusOf(await ask('GET', '/manage/v1/publishers', both)), 404)
  for (const dead of ['expires_at', 'revoked_at']) {
    const { token: ended } = await createToken(world, viewer.id, ['read'])
    const { token_id } = await world.database.db.selectFrom('access_tokens').select('token_id').orderBy('token_id', 'desc').executeTakeFirstOrThrow() // prettier-ignore
    await world.database.db.updateTable('access_tokens').set({ [dead]: new Date() }).where('token_id', '=', token_id).execute() // prettier-ignore
    assert.equal(statusOf(await ask('GET', '/manage/v1/me', `Cookie: ${cookie}\r\nAuthorization: Bearer ${ended}\r\n`)), 401, dead) // prettier-ignore
  }
})

test('an identity does not outlast a request: on one connection each is checked separately', async () => {
  const request = (target: string, headers: string, more = '') =>
    `GET ${target} HTTP/1.1\r\nHost: offers.test\r\n${address()}${headers}${more}\r\n`
  const keys = `X-API-Key: ${live.api_key}\r\nX-API-Secret: ${live.api_secret}\r\n`
  const heard = await speak(
    request('/v1/offers?userId=u', keys) +
      request('/v1/offers?userId=u', '') +
      request('/manage/v1/me', `Cookie: ${cookie}\r\n`) +
      request('/manage/v1/me', '') +
      request('/v1/offers?userId=u', `X-API-Key: ${live.api_key}\r\n`, 'Connection: close\r\n'),
  )
  assert.deepEqual(statusesOf(heard), [200, 401, 200, 401, 401])
})

test('HTTP/1.0, a body where none belongs, and two lengths of one body open nothing', async () => {
  assert.match(await speak('GET /manage/v1/me HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 401/)
  assert.match(await speak('GET /v1/offers?userId=u HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 401/)
  const hidden = `GET /manage/v1/publishers HTTP/1.1\r\nHost: offers.test\r\nCookie: ${cookie}\r\n\r\n`
  const carried = await ask('GET', '/manage/v1/me', `Content-Length: ${hidden.length}\r\n`, hidden)
  assert.deepEqual(statusesOf(carried), [401], 'a body is no second request')
  const chunked = 'Transfer-Encoding: chunked\r\n'
  for (const [headers, body] of [
    [`${chunked}Content-Length: 4\r\n`, `0\r\n\r\n${hidden}`],
    ['Content-Length: 0\r\nContent-Length: 5\r\n', hidden],
    ['Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden}`],
    ['Transfer-Encoding : chunked\r\n', `0\r\n\r\n${hidden}`],
  ] as const) {
    const statuses = statusesOf(await ask('POST', '/manage/v1/session', `Origin: ${PUBLIC_URL}\r\n${headers}`, body))
    assert.ok(!statuses.includes(200), `${headers}: ${statuses.join()}`)
  }
})
