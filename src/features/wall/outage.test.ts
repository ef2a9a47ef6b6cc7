// Walls of signed users while the database does not answer.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { mock, test } from 'node:test'
import { PostgresProxy } from '../../../test/postgres-proxy.ts'
import { TESTER } from '../../../test/tester.ts'
import { signed } from '../../../test/wall/wall-url.ts'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import { rotateSigningSecret } from '../apps/signing-secrets.ts'
import { readVersionedWallSettings, setWallSettings } from './settings.ts'

const world = useWorld('wall_outage')
const HOUR_MS = 3_600_000

for (const fault of ['cut', 'freeze'] as const)
  test(`a signed wall opens while the database is ${fault === 'cut' ? 'cut off' : 'frozen'}, until its secret expires`, async () => {
    const { db } = world.database
    const { appId, live } = await world.createApp()
    await world.createOffers({})
    const { signing_secret } = await rotateSigningSecret(db, TESTER, SECRET_KEY, appId, 'live', HOUR_MS)
    const dataDir = join(world.dataDir, fault)
    mkdirSync(dataDir)
    const proxy = await PostgresProxy.open(world)
    const app = await world.start({ dataDir }, proxy.database)
    const open = async (path: string, keys = live) => {
      const query = new URLSearchParams({ apiKey: keys.api_key, ...signed(keys, 'ann', 8 * 3600) }).toString()
      return (await app.server.inject({ url: `${path}?${query}`, headers: { 'user-agent': BROWSER } })).statusCode
    }
    const openAll = async () => [await open('/wall'), await open('/wall/v1/offers')]
    try {
      assert.deepEqual(await openAll(), [200, 200])
      proxy[fault]()
      const now = Date.now()
      mock.timers.enable({ apis: ['Date'], now: now + 3_000 })
      assert.deepEqual(await openAll(), [200, 200])
      mock.timers.setTime(now + 6_000)
      assert.deepEqual(await openAll(), [200, 200])
      mock.timers.setTime(now + HOUR_MS + 9_000)
      assert.deepEqual(await openAll(), [400, 400])
      assert.equal(await open('/wall', { ...live, signing_secret }), 200)
    } finally {
      mock.timers.reset()
      proxy.restore()
      await app.close()
      await proxy.close()
    }
  })

test('a secret that is rotated without grace signs no more, also after a while without requests', async () => {
  const { appId, live } = await world.createApp()
  const open = async () => {
    const query = new URLSearchParams({ apiKey: live.api_key, ...signed(live) }).toString()
    return (await world.app.server.inject({ url: `/wall?${query}`, headers: { 'user-agent': BROWSER } })).statusCode
  }
  assert.equal(await open(), 200)
  await rotateSigningSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', 0)
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  try {
    assert.equal(await open(), 400)
  } finally {
    mock.timers.reset()
  }
})

test('a wall that is for signed users only shows itself to no one else, also after a while without requests', async () => {
  const { db } = world.database
  const { appId, live } = await world.createApp()
  const open = async () =>
    (await world.app.server.inject({ url: `/wall?apiKey=${live.api_key}&userId=ann`, headers: { 'user-agent': BROWSER } })).statusCode // prettier-ignore
  assert.equal(await open(), 200)
  const { version: _version, ...settings } = await readVersionedWallSettings(db, appId)
  await setWallSettings(db, TESTER, appId, { ...settings, require_signature: true })
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_000 })
  try {
    assert.equal(await open(), 400)
  } finally {
    mock.timers.reset()
  }
})
