// URLs that no app may reach through us: refused when saved and, if that was bypassed, at every send.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../../test/installation.ts'
import { SECRET_KEY, useWorld } from '../../../test/world.ts'
import { buildWorker, type Worker } from '../../worker.ts'
import { trustApp } from '../apps/trust.ts'
import { createAddressGuard } from './address-guard.ts'
import { checkSettings, DEFAULTS, saveSettings } from './settings.ts'
import { TESTER } from '../../../test/tester.ts'

const URLS = [
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://localhost/',
  'http://a.localhost/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://10.1.2.3/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/',
  'http://[64:ff9b::a00:1]/',
  'http://0.0.0.0/',
  'http://100.64.0.1/',
]

let offerId: number
let worker: Worker
after(() => worker.close())
const world = useWorld('forbidden', async () => {
  ;[offerId] = (await world.createOffers({})) as [number]
  worker = await buildWorker({
    config: { ...world.config, demo: false }, // the demo may reach its own machine
    secretKey: SECRET_KEY,
    database: world.database,
    log: world.log,
  })
})

test('none of them can be saved', () => {
  const guard = createAddressGuard({ allow: [], deny: [], allowLoopback: false })
  for (const url of URLS) assert.equal(checkSettings({ ...DEFAULTS, url }, guard).problems.length, 1, url)
})

test('none of them is reached by a delivery, a replay or a test send', async () => {
  const { db } = world.database
  const apps = await Promise.all(
    URLS.map(async (url) => {
      const { live, appId } = await world.createApp()
      await trustApp(db, TESTER, appId, [offerId])
      await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url }) // past the check
      return { url, live, appId }
    }),
  )
  for (const { url, live } of apps) {
    await world.report(live, { userId: 'ann', offerId })
    const find = async () => (await world.get('/v1/postbacks', live)).body.data.postbacks[0]
    await until(async () => (await find())?.state === 'queued' && (await find())?.attempts === 1)
    const id = (await find())?.postback_id
    await world.get(`/v1/postbacks/${id}/replay`, live, { method: 'POST' })
    await until(async () => (await find())?.state === 'queued' && (await find())?.attempts === 2)
    const { tries } = (await world.get(`/v1/postbacks/${id}`, live)).body.data.postback
    for (const { phase, error, remote_address, status } of tries) {
      assert.deepEqual([phase, remote_address, status], ['dns', null, null], url)
      assert.match(error ?? '', /not a public IP address/, url)
    }
    const started = await world.get('/v1/postback-tests', live, {
      method: 'POST',
      payload: { scenarios: ['approved'] },
    })
    const path = `/v1/postback-tests/${started.body.data.test.test_id}`
    await until(async () => (await world.get(path, live)).body.data.test.result === 'fail')
  }
})
