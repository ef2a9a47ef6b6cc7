// No secret in any log, error or page: every route and every error is driven with canary secrets, and all that was
// written is searched for them.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { createRedisLimiter } from '../src/http/rate-limit.ts'
import { maskSecrets } from '../src/cli/log.ts'
import { freePort } from './ports.ts'
import { useWorld } from './world.ts'
import { Installation, until } from './installation.ts'

const world = useWorld('canary')

test('no route and no error repeats a secret, in its answer, its headers or the log', async () => {
  const { live, test: testMode } = await world.createApp()
  const secrets = [live, testMode].flatMap(({ api_secret, signing_secret }) => [api_secret, signing_secret])
  const broken = `${live.api_secret}%zz`
  const { api_key: key, api_secret: secret } = live
  const paths = [
    `/v1/offers?apiKey=${key}&apiSecret=${secret}&userId=u&aff_sub=x`,
    `/v1/offers?apiKey=${key}&apiSecret=${secret}&limit=0`,
    `/v1/offers?apiKey=${key}&apiSecret=${secret}&apiSecret=${secret}x&userId=u`,
    `/v1/offers?apiKey=wrong&apiSecret=${secret}&userId=u`,
    `/v1/offers?apiKey=${secret}&apiSecret=${secret}&userId=u`,
    `/v1/offers?apiKey=${key}&apiSecret=${broken}&userId=u`,
    `/v1/offers/1?apiKey=${key}&apiSecret=${secret}&userId=u`,
    `/v1/offers/${secret}?apiKey=${key}&apiSecret=${secret}&userId=u`,
    `/v1/nothing?apiSecret=${secret}`,
    `/v1/%?apiSecret=${secret}`,
    ...[
      '/',
      '/docs',
      '/openapi.json',
      '/healthz',
      '/readyz',
      '/icon.svg',
      '/robots.txt',
      '/.well-known/security.txt',
      '/pictures/x.svg',
    ].map((path) => `${path}?apiSecret=${secret}`),
  ]
  const written: string[] = []
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    for (const url of paths) {
      const answer = await world.app.server.inject({
        method,
        url,
        headers: { origin: 'https://shop.example', 'x-api-secret': secret },
      })
      written.push(answer.body, JSON.stringify(answer.headers))
    }
  }
  const connect = world.database.pool.connect.bind(world.database.pool)
  world.database.pool.connect = () => Promise.reject(new Error(`a driver that repeats what it was given: ${secret}`))
  const failed = await world.app.server.inject(`/v1/conversions?apiKey=${key}&apiSecret=${secret}`)
  world.database.pool.connect = connect
  assert.equal(failed.statusCode, 500)
  written.push(failed.body, ...world.logged)
  assert.ok(
    world.logged.some((line) => line.includes('a driver that repeats')),
    'the error was logged',
  )
  for (const one of secrets) assert.ok(!written.some((text) => text.includes(one)), one)
})

test('no call of an advertiser brings its token into an answer, the log or a table', async () => {
  const { live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({})
  const { clickId } = await world.click(offerId, live)
  const token = world.tokenOf(offerId)
  const loggedBefore = world.logged.length
  const { server } = world.app
  const calls: InjectOptions[] = [
    ...[`token=${token}`, `token=${token}&status=x`, `token=${token}x`, `TOKEN=${token}`, `goal=${token}`].map(
      (query) => ({ url: `/postback?click_id=${clickId}&${query}` }),
    ),
    ...[`token=${token}`, JSON.stringify({ token, click_id: token }), `{"token":"${token}"`, token.repeat(2_000)].map(
      (payload) => ({ method: 'POST' as const, url: `/postback?click_id=${clickId}`, payload }),
    ),
    ...(['HEAD', 'PUT', 'DELETE'] as const).map((method) => ({ method, url: `/postback?token=${token}` })),
    { url: `/postback/${token}?token=${token}` },
    { url: `/postback?token=${token}&x=%` },
  ]
  const written: string[] = []
  const send = async (call: InjectOptions) => {
    const answer = await server.inject(call)
    written.push(answer.body, JSON.stringify(answer.headers))
    return answer.statusCode
  }
  for (const call of calls) await send(call)
  const { pool } = world.database
  const connect = pool.connect.bind(pool)
  pool.connect = () => Promise.reject(new Error(`a driver that repeats what it was given: ${token}`))
  const status = await send({ url: `/postback?click_id=${clickId}&token=${token}` })
  pool.connect = connect
  assert.equal(status, 500)
  const logged = world.logged.slice(loggedBefore)
  assert.ok(
    logged.some((line) => line.includes('a driver that repeats')),
    'the error was logged',
  )
  const { rows: tables } = await pool.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`)
    written.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  const holders = [...written, ...logged].filter((text) => text.includes(token.slice(4)))
  assert.deepEqual(holders, [])
})

test('a leak warning names the page a secret came from, not its URL, which may hold the secret', async () => {
  const { live } = await world.createApp()
  const headers = { 'sec-fetch-site': 'cross-site', referer: `https://shop.example/page?apiSecret=${live.api_secret}` }
  await world.get('/v1/offers?userId=u', live, { headers })
  const leak = async () =>
    (
      await world.database.db
        .selectFrom('credentials')
        .select('secret_leaked_origin')
        .where('api_key', '=', live.api_key)
        .executeTakeFirstOrThrow()
    ).secret_leaked_origin
  await until(async () => (await leak()) !== null)
  assert.equal(await leak(), 'https://shop.example')
})

test('the log masks what looks like a secret, wherever it stands', () => {
  assert.equal(
    maskSecrets('x sk_live_abc123 y apiSecret=hunter2&z whsec_a+/b= "adv_Ab1" /postback?a=b&token=hunter3&c'),
    'x sk_live_******** y apiSecret=********&z whsec_******** "adv_********" /postback?a=b&token=********&c',
  )
})

test('a warning about Redis does not repeat its password', async () => {
  const warnings: string[] = []
  const limiter = await createRedisLimiter(`redis://:canary-password@127.0.0.1:${await freePort()}`, (message) =>
    warnings.push(message),
  )
  await limiter.close()
  assert.ok(warnings.length > 0 && !warnings.join().includes('canary-password'))
})

test('a whole start of the demo leaves its secrets in the files meant for them and nowhere else', async () => {
  const program = new Installation()
  try {
    const server = await program.serve({ LOG_LEVEL: 'trace' }, ['--json'])
    const { demo: { live: demo } } = JSON.parse(server.out) as { demo: { live: { api_key: string; api_secret: string } } } // prettier-ignore
    for (const path of ['/v1/offers?userId=u&aff_sub=1', '/v1/offers?limit=0', '/v1/x?']) {
      const answer = await fetch(`${server.url}${path}&apiKey=${demo.api_key}&apiSecret=${demo.api_secret}`)
      assert.ok(!(await answer.text()).includes(demo.api_secret))
    }
    const { status, err } = await server.kill('SIGINT')
    assert.equal(status, 0)
    assert.ok(!err.includes(demo.api_secret), err)
    const holders = filesBelow(program.dataDir).filter((file) => readFileSync(file).includes(demo.api_secret))
    assert.deepEqual(holders, [join(program.dataDir, 'demo-app.json')])
    for (const name of ['demo-app.json', 'secret-key', 'postgres-password']) {
      assert.equal(statSync(join(program.dataDir, name)).mode & 0o777, 0o600, name)
    }
  } finally {
    await program.remove()
  }
})

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
