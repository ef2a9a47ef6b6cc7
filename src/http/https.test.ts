import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { visit } from '../../test/people.ts'
import { useWorld } from '../../test/world.ts'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import type { IssuedCredentials } from '../features/apps/keys.ts'

let appId: number
let live: IssuedCredentials
const world = useWorld('https', async () => {
  ;({ appId, live } = await world.createApp())
  await world.createOffers({})
})

async function withApp(config: Partial<Config>, work: (app: App) => Promise<void>): Promise<void> {
  const app = await world.start(config)
  try {
    await work(app)
  } finally {
    await app.close()
  }
}

const ask = (app: App, headers: Record<string, string> = {}, remoteAddress = '198.51.100.1') =>
  app.server.inject({
    url: '/v1/offers?userId=u',
    remoteAddress,
    headers: { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret, ...headers },
  })

test('where HTTPS is required, plain HTTP gets 400 INVALID_REQUEST and no redirect, before any other check', async () => {
  await withApp({ requireHttps: true }, async (app) => {
    for (const headers of [{}, { 'x-api-key': 'wrong' }, { 'x-forwarded-proto': 'https' }]) {
      const answer = await ask(app, headers)
      assert.equal(answer.statusCode, 400)
      assert.equal(answer.headers['location'], undefined)
      assert.equal(answer.json().error.code, 'INVALID_REQUEST')
      assert.ok(answer.headers['x-ratelimit-limit'] !== undefined)
    }
  })
})

test('where HTTPS is required, it is for pages, for what is not there and for other methods; only health is exempt', async () => {
  await withApp({ requireHttps: true }, async (app) => {
    for (const url of ['/', '/docs', '/openapi.json', '/v1/nothing', '/nothing', '/pictures/game-a.svg']) {
      assert.equal((await app.server.inject(url)).statusCode, 400, url)
    }
    assert.equal((await app.server.inject({ method: 'POST', url: '/v1/offers' })).statusCode, 400)
    for (const url of ['/healthz', '/readyz']) assert.equal((await app.server.inject(url)).statusCode, 200, url)
  })
})

test('every answer has security headers', async () => {
  for (const url of [
    '/',
    '/docs',
    '/docs/start.js',
    '/openapi.json',
    '/healthz',
    '/readyz',
    '/icon.svg',
    '/v1/offers',
    '/nothing',
  ]) {
    const { headers } = await world.app.server.inject(url)
    assert.equal(headers['x-content-type-options'], 'nosniff', url)
    assert.equal(headers['referrer-policy'], 'no-referrer', url)
    assert.match(String(headers['content-security-policy']), /default-src 'none'/, url)
  }
})

test('a proxy named in TRUST_PROXY may say that the client used HTTPS; no other client may', async () => {
  await withApp({ requireHttps: true, trustProxy: ['10.0.0.0/8'] }, async (app) => {
    const https = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' }
    const trusted = await ask(app, https, '10.1.2.3')
    assert.equal(trusted.statusCode, 200)
    assert.equal(trusted.headers['strict-transport-security'], 'max-age=31536000')
    assert.equal((await ask(app, { ...https, 'x-forwarded-proto': 'HTTPS' }, '10.1.2.3')).statusCode, 200)
    assert.equal((await ask(app, https, '198.51.100.1')).statusCode, 400)
    assert.equal((await ask(app, { 'x-forwarded-proto': 'http' }, '10.1.2.3')).statusCode, 400)
  })
})

test('every kind of answer tells a browser that came by HTTPS to keep to it', async () => {
  const operator = await visit(world, 'operator')
  const { data } = await operator.post<{ token: string }>('/me/tokens', { name: 'reports' })
  await withApp({ trustProxy: ['10.0.0.0/8'] }, async (app) => {
    const urls = {
      list: '/v1/offers?userId=u',
      page: '/docs',
      wall: `/wall?apiKey=${live.api_key}&userId=u`,
      file: `/manage/v1/apps/${appId}/stats.csv?from=2026-03-10&to=2026-03-11`,
    }
    for (const [kind, url] of Object.entries(urls)) {
      const { statusCode, headers } = await app.server.inject({
        url,
        remoteAddress: '10.1.2.3',
        headers: {
          'x-forwarded-proto': 'https',
          'x-forwarded-for': '203.0.113.9',
          'x-api-key': live.api_key,
          'x-api-secret': live.api_secret,
          ...(kind === 'file' ? { authorization: `Bearer ${data.token}` } : {}),
        },
      })
      assert.equal(statusCode, 200, kind)
      assert.equal(headers['strict-transport-security'], 'max-age=31536000', kind)
    }
  })
})

test('the client is the rightmost hop that is no trusted proxy', async () => {
  await withApp({ trustProxy: ['10.0.0.0/8'] }, async (app) => {
    const remaining = async (forwarded: string, from: string) =>
      Number(
        (await ask(app, { 'x-api-key': 'wrong', 'x-forwarded-for': forwarded }, from)).headers['x-ratelimit-remaining'],
      )
    assert.equal(await remaining('1.1.1.1, 203.0.113.9, 10.9.9.9', '10.1.2.3'), 99)
    assert.equal(
      await remaining('2.2.2.2, 203.0.113.9', '10.1.2.3'),
      98,
      'what a client writes to the left of itself counts for nothing',
    )
    assert.equal(await remaining('203.0.113.9', '198.51.100.77'), 99, 'nor what one says who is no proxy')
    assert.equal(await remaining('garbage', '10.1.2.3'), 99, 'garbage counts against the proxy')
  })
})

test('links come from PUBLIC_URL, never from the Host header', async () => {
  const { body } = await world.get('/v1/offers?userId=u', live, {
    headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
  })
  assert.ok(body.data.offers.every(({ link }) => link.startsWith('https://offers.test/c/')))
})

test('TLS_CERT and TLS_KEY serve HTTPS', async () => {
  const [certFile, keyFile] = [join(world.dataDir, 'cert.pem'), join(world.dataDir, 'key.pem')]
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      keyFile,
      '-out',
      certFile,
      '-days',
      '2',
      '-subj',
      '/CN=localhost',
    ],
    { stdio: 'ignore' },
  )
  await withApp({ requireHttps: true, tls: { certFile, keyFile } }, async (app) => {
    await app.server.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.server.address() as { port: number }
    const status = await new Promise((resolve, reject) => {
      const headers = { 'x-api-key': live.api_key, 'x-api-secret': live.api_secret }
      request(
        { host: '127.0.0.1', port, path: '/v1/offers?userId=u', rejectUnauthorized: false, headers, agent: false },
        (answer) => resolve(answer.statusCode),
      )
        .on('error', reject)
        .end()
    })
    assert.equal(status, 200)
  })
})

test('TLS files that cannot be read are a clear error', async () => {
  await assert.rejects(
    world.start({ tls: { certFile: '/nonexistent/cert.pem', keyFile: '/nonexistent/key.pem' } }),
    /Cannot use the TLS files.*TLS_CERT and TLS_KEY/,
  )
})
