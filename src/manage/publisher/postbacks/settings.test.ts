// Postback settings through the management API: saving, preview, test sends.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '../../../../test/installation.ts'
import { createOwnedApps } from '../../../../test/owned-apps.ts'
import { publisherOfApp, visit } from '../../../../test/people.ts'
import { answer, type Receiver, startReceiver } from '../../../../test/receiver.ts'
import { SECRET_KEY, useWorld } from '../../../../test/world.ts'
import type { Static } from 'typebox'
import { buildWorker, type Worker } from '../../../worker.ts'
import { DEFAULTS, readSettings, saveSettings } from '../../../features/postbacks/settings.ts'
import { PLAIN } from '../../../features/postbacks/dialect.ts'
import type { PostbackSettingsReply, Preview, TestSends } from './schema.ts'
import { TESTER } from '../../../../test/tester.ts'

let worker: Worker
let receiver: Receiver
after(async () => {
  await worker.close()
  await receiver.close()
})
const world = useWorld('manage_postback_settings', async () => {
  await world.app.close()
  world.config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  world.app = await world.start()
  receiver = await startReceiver(answer(200, {}, 'OK'))
  worker = await buildWorker({ config: world.config, secretKey: SECRET_KEY, database: world.database, log: world.log })
})

type Settings = Static<typeof PostbackSettingsReply>

const { createOwned, auditOfPublisher } = createOwnedApps(world)

const URL_OF = 'https://example.com/cb?u={user_id}&t={transaction_id}&s={status}&test={is_test}'

test('settings are saved, shown without the values of headers, changed in part, removed, and each change is recorded', async () => {
  const { visitor, base, publisherId, appId } = await createOwned('publisher_developer')
  const empty = await visitor.get<Settings>(`${base}/postback`)
  assert.equal(empty.data.settings, null)
  assert.ok(empty.data.macros.some(({ name }) => name === 'user_id'))
  const saved = await visitor.put<Settings>(`${base}/postback`, {
    url: URL_OF,
    method: 'POST',
    events: ['approved', 'reversed', 'rejected'],
    headers: { 'X-Token': 'very secret' },
    timeout_ms: 5_000,
    success: 'body',
    negative_reversals: false,
  })
  assert.equal(saved.status, 200, saved.text)
  const shown = await visitor.get<Settings>(`${base}/postback`)
  assert.deepEqual(shown.data.settings, {
    method: 'POST',
    url: URL_OF,
    events: ['approved', 'reversed', 'rejected'],
    headers: ['X-Token'],
    timeout_ms: 5_000,
    success: 'body',
    negative_reversals: false,
    dialect: PLAIN,
    has_receiver_secret: false,
  })
  assert.ok(!saved.text.includes('very secret') && !shown.text.includes('very secret'))
  await visitor.put(`${base}/postback`, { url: `${URL_OF}&x=1`, headers: { 'x-token': null, 'X-More': 'm' } })
  const kept = await readSettings(world.database.db, SECRET_KEY, appId)
  assert.deepEqual(
    [kept?.headers, kept?.timeoutMs, kept?.success],
    [{ 'x-token': 'very secret', 'X-More': 'm' }, 5_000, 'body'],
  )
  assert.equal((await visitor.delete(`${base}/postback`)).status, 200)
  assert.equal((await visitor.delete(`${base}/postback`)).status, 404)
  assert.equal((await visitor.post(`${base}/postback/resume`)).status, 409)
  const entries = await auditOfPublisher(publisherId)
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['postback_settings.save', 'postback_settings.save', 'postback_settings.remove'],
  )
  assert.ok(!JSON.stringify(entries).includes('very secret'))
})

test('what cannot be sent is not saved, and each fault stands at its field', async () => {
  const { visitor, base } = await createOwned()
  const refused = async (body: object) => {
    const { status, error } = await visitor.put(`${base}/postback`, body)
    assert.equal(status, 400)
    return error.details
  }
  assert.match((await refused({ url: 'https://example.com/{user}' }))?.['url'] ?? '', /did you mean \{user_id\}/)
  assert.match((await refused({ url: 'http://169.254.169.254/latest' }))?.['url'] ?? '', /not a public IP address/)
  assert.match((await refused({ url: URL_OF, headers: { Host: 'x' } }))?.['headers'] ?? '', /it is reserved/)
  assert.match((await refused({ url: URL_OF, headers: { 'X-Unknown': null } }))?.['headers'] ?? '', /needs a value/)
  assert.match((await refused({ url: URL_OF, events: [] }))?.['events'] ?? '', /at least one/)
  assert.match((await refused({ url: URL_OF, timeout_ms: 60_000 }))?.['timeout_ms'] ?? '', /from 1000 to 15000/)
  assert.match((await refused({}))?.['url'] ?? '', /required/)
})

test('header values do not follow the URL to another server', async () => {
  const { visitor, base } = await createOwned()
  await visitor.put(`${base}/postback`, { url: URL_OF, headers: { Authorization: 'Bearer x' } })
  for (const body of [
    { url: 'https://evil.example/{user_id}' },
    { url: 'https://evil.example/{user_id}', headers: { Authorization: null } },
    { url: 'http://example.com/cb' },
  ]) {
    const { status, error } = await visitor.put(`${base}/postback`, body)
    assert.deepEqual([status, Object.keys(error.details ?? {})], [400, ['headers']])
  }
  const removed = await visitor.put<Settings>(`${base}/postback`, { url: 'https://evil.example/', headers: {} })
  assert.deepEqual(removed.data.settings?.headers, [])
})

test('settings sealed with another key are reported as unreadable, and can be saved again', async () => {
  const { visitor, base, appId } = await createOwned()
  const other = 'another secret key, of forty characters!'
  await saveSettings(world.database.db, TESTER, other, appId, { ...DEFAULTS, url: URL_OF, headers: { A: 'b' } })
  const { data } = await visitor.get<Settings>(`${base}/postback`)
  assert.deepEqual([data.settings, data.is_unreadable], [null, true])
  assert.equal((await visitor.put(`${base}/postback`, { url: URL_OF })).status, 200)
})

test('the preview shows the request as it would be sent, in the currency of the app, and saves nothing', async () => {
  const { visitor, base } = await createOwned()
  const ask = async (body: object) =>
    (await visitor.post<Static<typeof Preview>>(`${base}/postback/preview`, body)).data
  const get = await ask({ url: 'https://example.com/{user_id}?r={reward}&c={currency}&signature={signature}' })
  assert.match(get.request?.url ?? '', /^https:\/\/example\.com\/user-1\?r=125&c=Coins&signature=[0-9a-f]{64}$/)
  assert.deepEqual(get.errors, [])
  assert.ok(get.warnings.some((warning) => warning.includes('{is_test}')))
  const signature = get.request?.headers.find(({ name }) => name === 'webhook-signature')
  assert.match(signature?.about ?? '', /HMAC-SHA256.*the full URL/)
  const posted = await ask({ url: 'https://example.com/', method: 'POST', headers: ['X-Token'], status: 'reversed' })
  const body = JSON.parse(posted.request?.body ?? '') as { type: string; data: { payout: number; status: string } }
  assert.deepEqual([body.type, body.data.payout, body.data.status], ['conversion.reversed', -1.25, 'reversed'])
  assert.deepEqual(posted.request?.headers.find(({ name }) => name === 'x-token')?.value, '********')
  const wrong = await ask({ url: 'https://{user_id}/', events: [] })
  assert.equal(wrong.request, null)
  assert.equal(wrong.errors.length, 2)
  assert.equal((await visitor.get<Settings>(`${base}/postback`)).data.settings, null)
})

test('a run of test sends shows for each scenario what was expected and every attempt', async () => {
  const { visitor, base, publisherId } = await createOwned()
  const none = await visitor.post(`${base}/postback/tests`)
  assert.deepEqual([none.status, none.error.message.includes('Set one first')], [400, true])
  await visitor.put(`${base}/postback`, { url: `http://127.0.0.1:${receiver.port}/{status}` })
  const { data: started } = await visitor.post<Static<typeof TestSends>>(`${base}/postback/tests`, { mode: 'test' })
  const path = `${base}/postback/tests/${started.test_id}`
  await until(async () => (await visitor.get<Static<typeof TestSends>>(path)).data.result !== 'waiting')
  const { data } = await visitor.get<Static<typeof TestSends>>(path)
  assert.deepEqual(
    data.results.map(({ scenario, result }) => [scenario, result]),
    [['pending', 'pass'], ['approved', 'pass'], ['duplicate', 'pass'], ['reversed', 'pass'], ['out_of_order', 'pass'], ['wrong_signature', 'fail']], // prettier-ignore
  )
  // Only an answer was seen, so nothing is said about what was credited.
  assert.match(data.results.find(({ scenario }) => scenario === 'duplicate')?.about ?? '', /Passes with the expected answer; check that nothing was credited again/) // prettier-ignore
  for (const { seen } of data.results) assert.match(seen, /200/)
  for (const { seen } of data.results) assert.doesNotMatch(seen, /credit/)
  const tries = data.results.flatMap(({ postbacks }) => postbacks.flatMap((one) => one.tries))
  assert.equal(tries.length, 7)
  assert.ok(tries.every((one) => one.status === 200 && one.request.startsWith('GET http://127.0.0.1')))
  const stranger = await createOwned()
  assert.equal((await stranger.visitor.get(`${stranger.base}/postback/tests/${started.test_id}`)).status, 404)
  assert.equal((await visitor.get(`${base}/postback/tests/no-uuid`)).status, 404)
  const limits = await Promise.all(Array.from({ length: 21 }, () => stranger.visitor.post(`${stranger.base}/postback/tests`))) // prettier-ignore
  assert.equal(limits.filter(({ status }) => status === 429).length, 1)
  assert.ok((await auditOfPublisher(publisherId)).some(({ action }) => action === 'postback_test.start'))
})

test('a form that was loaded before another save undoes nothing: 409, and two at once take turns', async () => {
  const { appId } = await world.createApp()
  const owner = await visit(world, 'publisher_owner', await publisherOfApp(world, appId))
  const path = `/apps/${appId}/postback`
  const url = 'https://example.com/?u={user_id}&t={transaction_id}&s={status}&x={is_test}'
  type Shown = { version: number | null; settings: { timeout_ms: number; events: string[] } | null }
  assert.equal((await owner.get<Shown>(path)).data.version, null)
  const { version } = (await owner.put<Shown>(path, { url, seen_version: null })).data
  const second = await owner.put(path, { url, seen_version: null })
  assert.equal(second.status, 409)
  assert.match(second.error.message, /^Someone else changed these settings/)
  assert.equal((await owner.put(path, { url, timeout_ms: 4000, seen_version: version })).status, 200)
  const stale = await owner.put(path, { url, events: ['approved'], timeout_ms: 10_000, seen_version: version })
  assert.equal(stale.status, 409)
  assert.equal((await owner.get<Shown>(path)).data.settings?.timeout_ms, 4000)
  // Each gives one field: neither loses the other's.
  for (let i = 0; i < 5; i++) {
    const [timeout, events] = [3000 + i, i % 2 === 0 ? ['approved'] : ['approved', 'reversed']]
    const answers = await Promise.all([owner.put(path, { url, timeout_ms: timeout }), owner.put(path, { url, events })])
    assert.deepEqual(answers.map(({ status }) => status), [200, 200]) // prettier-ignore
    const { settings } = (await owner.get<Shown>(path)).data
    assert.deepEqual([settings?.timeout_ms, settings?.events], [timeout, events])
  }
})
