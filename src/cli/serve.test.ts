// The server as a process: what goes on beside it, and how it starts and stops.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Installation, until } from '../../test/installation.ts'
import { freePort } from '../../test/ports.ts'
import { type Credentials, failsWith, useOperator } from '../../test/operator.ts'

const { home, serverUrl, createApp, writeOffers } = useOperator()

async function listOffers(of: Credentials): Promise<{ status: number; ids: number[] }> {
  const reply = await fetch(`${serverUrl()}/api/v1/offers?userId=u&limit=100`, {
    headers: { 'x-api-key': of.api_key, 'x-api-secret': of.api_secret },
  })
  const { data } = (await reply.json()) as { data?: { offers: { offer_id: number }[] } }
  return { status: reply.status, ids: data?.offers.map((offer) => offer.offer_id) ?? [] }
}

test('what a command changes beside a running server is served soon, without a restart', async () => {
  const [app] = await Promise.all([createApp(), home.json('advertiser', 'create', '--name', 'Neighbour')])
  await home.json('offer', 'import', writeOffers({ advertiser: 'Neighbour', payout: 2.5 }))
  const [offer] = await home.json<{ offer_id: number }[]>('offer', 'list', '--advertiser', 'Neighbour')
  const id = offer?.offer_id ?? 0
  assert.partialDeepStrictEqual(offer, { external_id: 'row-0', status: 'active', payout: 2.5 })
  await until(async () => (await listOffers(app.live)).ids.includes(id))
  assert.equal((await listOffers(app.test)).status, 200)
  await home.json('offer', 'pause', String(id), '--yes')
  await until(async () => !(await listOffers(app.live)).ids.includes(id))
  assert.partialDeepStrictEqual(await home.json('offer', 'show', String(id)), { status: 'paused', goals: [{ name: 'Complete', payout: 2.5 }] }) // prettier-ignore
  await home.json('offer', 'resume', String(id))
  await until(async () => (await listOffers(app.live)).ids.includes(id))
  const rotated = await home.json<Credentials>('app', 'rotate-secret', String(app.app_id), '--grace', '0s', '--yes')
  await until(async () => (await listOffers(app.live)).status === 401)
  assert.equal((await listOffers({ ...app.live, ...rotated })).status, 200)
  await home.json('app', 'revoke', String(app.app_id), '--only', 'test', '--yes')
  await until(async () => (await listOffers(app.test)).status === 401)
  assert.equal((await listOffers({ ...app.live, ...rotated })).status, 200)
  await home.json('app', 'revoke', String(app.app_id), '--yes')
  await until(async () => (await listOffers({ ...app.live, ...rotated })).status === 401)
  assert.match((await home.run(['app', 'list'])).out, new RegExp(`revoked .*${app.live.api_key}`))
})

test('--test rotates the secrets of the test key, and leaves the live one alone', async () => {
  const app = await createApp()
  const id = String(app.app_id)
  await until(async () => (await listOffers(app.test)).status === 200)
  const rotated = await home.json<Credentials>('app', 'rotate-secret', id, '--test', '--grace', '0s', '--yes')
  assert.equal(rotated.api_key, app.test.api_key)
  await until(async () => (await listOffers(app.test)).status === 401)
  assert.equal((await listOffers({ ...app.live, ...rotated })).status, 200)
  assert.equal((await listOffers(app.live)).status, 200)
  const signing = await home.json<Credentials>('app', 'rotate-signing-secret', id, '--test')
  assert.equal(signing.api_key, app.test.api_key)
  assert.equal((await listOffers(app.live)).status, 200)
  assert.deepEqual(await home.json('postback', 'list', '--test', '--app', id), [])
})

test('a port in use is reported, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  failsWith(
    await home.run(['serve'], { PORT: String(port), DEMO: 'off' }),
    new RegExp(`Port ${port} .*is already in use.*PORT=`),
  )
  other.close()
})

test('the server starts with a demo whose request works as printed, stops at Ctrl-C, and starts again after a kill', async () => {
  const fresh = new Installation()
  try {
    const first = await fresh.serve()
    const [, url = '', key = '', secret = ''] = /curl '(.*?)' -H 'X-API-Key: (.*?)' -H 'X-API-Secret: (.*?)'/.exec(first.out) ?? [] // prettier-ignore
    assert.equal((await fetch(url, { headers: { 'x-api-key': key, 'x-api-secret': secret } })).status, 200)
    const [, site = ''] = /Try it as a user +(\S+)\n/.exec(first.out) ?? []
    assert.match(await (await fetch(site)).text(), /Pixel Harbor/)
    assert.match(await (await fetch(first.url)).text(), /<meta name="offerdeck-demo"/)
    assert.ok(fresh.postgresProcesses().length > 0)
    const { status, err } = await first.kill('SIGINT')
    assert.deepEqual({ status, err }, { status: 0, err: '' })
    assert.deepEqual(fresh.postgresProcesses(), [])

    const second = await fresh.serve({}, ['--json'])
    assert.partialDeepStrictEqual(JSON.parse(second.out), { address: second.url, demo: { live: { api_key: key } } })
    await second.kill('SIGKILL')
    const third = await fresh.serve({ DRAIN_SECONDS: '60' })
    assert.match(third.out, new RegExp(`API key +${key}\n`))
    const ended = third.kill('SIGTERM')
    await until(async () => (await fetch(`${third.url}/readyz`)).status === 503)
    const served = await fetch(`${third.url}/v1/offers?userId=u`, {
      headers: { 'x-api-key': key, 'x-api-secret': secret },
    })
    assert.deepEqual([served.status, served.headers.get('connection')], [200, 'close'])
    void third.kill('SIGTERM')
    assert.equal((await ended).status, 0)
    assert.deepEqual(fresh.postgresProcesses(), [])

    const elsewhere = await fresh.run(['serve'], { HOST: '0.0.0.0', PORT: String(await freePort()) })
    assert.equal(elsewhere.status, 1)
    assert.match(
      elsewhere.err,
      /the account operator@demo\.example, the account publisher@demo\.example, app 1 still work .*DATA_DIR to another/,
    )
  } finally {
    await fresh.remove()
  }
})

test('ending the process that npm start gives ends the server', async () => {
  const installation = new Installation()
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const port = String(await freePort())
  const { PATH = '', HOME = '' } = process.env
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { PATH, HOME, DATA_DIR: installation.dataDir, PORT: port, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(npm, 'exit')
  for await (const chunk of npm.stdout) if (String(chunk).includes('Ctrl-C')) break
  npm.kill('SIGTERM')
  await exited
  await until(() => installation.postgresProcesses().length === 0) // it stops when its last user is gone
  await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`))
  await installation.remove()
})
