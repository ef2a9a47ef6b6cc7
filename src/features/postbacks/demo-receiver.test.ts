// What the demo may reach on this machine, and what nobody may.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { after, before, test } from 'node:test'
import { makeFolder } from '../../../test/folders.ts'
import { createAppSender, createGuards, DEMO_RECEIVER, demoAppFile } from './demo-receiver.ts'
import { DEFAULTS, checkSettings } from './settings.ts'

const DEMO_APP = 7
const dataDir = makeFolder('demo-receiver')
const config = { demo: true, dataDir, postbackAllow: [], postbackDeny: [], postbackProxy: null }

let other: Server
let otherUrl: string
let calls = 0
before(async () => {
  writeFileSync(demoAppFile(dataDir), JSON.stringify({ app_id: DEMO_APP }))
  other = createServer((_request, response) => {
    calls++
    response.end('a secret of this machine')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  otherUrl = `http://127.0.0.1:${(other.address() as { port: number }).port}`
})
after(() => other.close())

const accepts = (appId: number, url: string, more: Partial<typeof config> = {}) =>
  checkSettings({ ...DEFAULTS, url }, createGuards({ ...config, ...more })(appId, url)).errors.length === 0

test('only the demo app may have the address of the demo receiver, and no other on this machine', () => {
  assert.equal(accepts(DEMO_APP, `${DEMO_RECEIVER}/?u={user_id}`), true)
  assert.equal(accepts(8, `${DEMO_RECEIVER}/?u={user_id}`), false)
  assert.equal(accepts(DEMO_APP, `${DEMO_RECEIVER}/?u={user_id}`, { demo: false }), false)
  for (const url of [
    otherUrl,
    'http://127.0.0.1:5432',
    'http://localhost:8088',
    'http://[::1]:8088',
    'https://127.0.0.1:8088',
  ])
    assert.equal(accepts(DEMO_APP, `${url}/?u={user_id}`), false, url)
})

test('a postback to this machine is sent for the demo app, to its receiver, and not otherwise', async () => {
  const sender = createAppSender(config)
  const send = async (url: string, appId: number) => {
    const { error } = await sender.send({ method: 'GET', url, headers: {}, body: null, timeoutMs: 5_000 }, appId)
    return error?.code ?? 'sent'
  }
  try {
    // Whether somebody listens there or not: it was tried.
    assert.notEqual(await send(`${DEMO_RECEIVER}/`, DEMO_APP), 'refused_address')
    assert.equal(await send(`${DEMO_RECEIVER}/`, 8), 'refused_address')
    assert.equal(await send(`${otherUrl}/`, DEMO_APP), 'refused_address')
    assert.equal(await send(`${otherUrl}/`, 8), 'refused_address')
    assert.equal(calls, 0)
  } finally {
    await sender.close()
  }
})
