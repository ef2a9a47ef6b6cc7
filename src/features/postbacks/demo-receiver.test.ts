// What the demo may reach on this machine, and what no app may.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { after, before, test } from 'node:test'
import { createFolder } from '../../../test/folders.ts'
import { until } from '../../../test/installation.ts'
import { publisherOfApp, visit, type Visitor } from '../../../test/people.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker } from '../../worker.ts'
import { createAppSender } from './app-sender.ts'
import { createGuards, DEMO_RECEIVER, demoAppFile, demoSiteFile } from './demo-receiver.ts'
import { DEFAULTS, checkSettings, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const DEMO_APP = 7
const DEMO_SITE = 9
const dataDir = createFolder('demo-receiver')
const config = {
  demo: true,
  publicUrl: 'http://127.0.0.1:8099',
  dataDir,
  postbackAllow: [],
  postbackDeny: [],
  postbackProxy: null,
}

let other: Server
let otherUrl: string
let calls = 0
before(async () => {
  writeFileSync(demoAppFile(dataDir), JSON.stringify({ app_id: DEMO_APP }))
  writeFileSync(demoSiteFile(dataDir), JSON.stringify({ app_id: DEMO_SITE }))
  other = createServer((_request, response) => {
    calls++
    response.end('a secret of this machine')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  otherUrl = `http://127.0.0.1:${(other.address() as { port: number }).port}`
})
after(() => other.close())

const accepts = (appId: number, url: string, more: Partial<typeof config> = {}) =>
  checkSettings({ ...DEFAULTS, url }, createGuards({ ...config, ...more })(appId, url)).problems.length === 0

test('only the demo app may use the URL of the demo receiver, and no other on this machine', () => {
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

test('only the app of the demo site may use the URL of its receiver, and no other path there', () => {
  const url = `${config.publicUrl}/demo/postback?u={user_id}`
  assert.equal(accepts(DEMO_SITE, url), true)
  assert.equal(accepts(DEMO_APP, url), false)
  assert.equal(accepts(DEMO_SITE, url, { demo: false }), false)
  for (const path of ['/manage/v1/me', '/demo/postback/../confirm', '/demo/postback2'])
    assert.equal(accepts(DEMO_SITE, `${config.publicUrl}${path}?u={user_id}`), false, path)
})

test('a postback to this machine is sent for the demo app, to its receiver, and not otherwise', async () => {
  const sender = createAppSender(config)
  const send = async (url: string, appId: number) => {
    const { error } = await sender.send({ method: 'GET', url, headers: {}, body: null, timeoutMs: 5_000 }, appId)
    return error?.code ?? 'sent'
  }
  try {
    // Whether or not anything listens there: it was attempted.
    assert.notEqual(await send(`${DEMO_RECEIVER}/`, DEMO_APP), 'refused_address')
    assert.equal(await send(`${DEMO_RECEIVER}/`, 8), 'refused_address')
    assert.equal(await send(`${otherUrl}/`, DEMO_APP), 'refused_address')
    assert.equal(await send(`${otherUrl}/`, 8), 'refused_address')
    assert.equal(calls, 0)
  } finally {
    await sender.close()
  }
})

const world = useWorld('demo_receiver')

test('in the demo no publisher gets an answer of this machine, by settings, a test or what was saved before', async () => {
  const [demoApp, strangers] = [await world.createApp(), await world.createApp()]
  assert.ok(world.config.demo)
  writeFileSync(demoAppFile(world.dataDir), JSON.stringify({ app_id: demoApp.appId }))
  const ownerOf = async ({ appId }: { appId: number }) => visit(world, 'publisher_owner', await publisherOfApp(world, appId)) // prettier-ignore
  const [demoOwner, stranger] = [await ownerOf(demoApp), await ownerOf(strangers)]
  const save = async (owner: Visitor, { appId }: { appId: number }, url: string) => {
    const { status, error } = await owner.put(`/apps/${appId}/postback`, { url: `${url}/?u={user_id}&t={is_test}` })
    return status === 200 ? 'saved' : error.details?.['url']
  }
  assert.equal(await save(demoOwner, demoApp, DEMO_RECEIVER), 'saved')
  assert.match((await save(demoOwner, demoApp, otherUrl)) ?? '', /not a public IP address/)
  for (const url of [DEMO_RECEIVER, otherUrl, 'http://localhost:8088', 'http://[::1]:8088'])
    assert.match((await save(stranger, strangers, url)) ?? '', /not a public IP address/, url)

  await saveSettings(world.database.db, TESTER, SECRET_KEY, strangers.appId, {
    ...DEFAULTS,
    url: `${otherUrl}/?u={user_id}`,
  })
  const worker = await buildWorker({ config: world.config, secretKey: SECRET_KEY, database: world.database, log: world.log }) // prettier-ignore
  try {
    type Run = { test_id: string }
    const { data: started } = await stranger.post<Run>(`/apps/${strangers.appId}/postback/tests`, { mode: 'test' })
    const read = async () =>
      (await stranger.get<Run>(`/apps/${strangers.appId}/postback/tests/${started.test_id}`)).text
    await until(async () => /not a public IP address/.test(await read()))
    assert.doesNotMatch(await read(), /a secret of this machine/)
    assert.equal(calls, 0)
  } finally {
    await worker.close()
  }
})
