// Receivers as they are: PHP pages as reward sites have them (test/php-receivers), written for other networks. Each is
// sent test postbacks by a worker, through its preset, and credits, ignores repeats, takes back, and refuses.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { trustApp } from '../src/features/apps/trust.ts'
import { readAttempts } from '../src/features/postbacks/postbacks.ts'
import { applyQuery, presetOf } from '../src/features/postbacks/presets.ts'
import { DEFAULTS, type PostbackSettings, readSettings, saveSettings } from '../src/features/postbacks/settings.ts'
import { readTestSends, type Scenario, startTestSends } from '../src/features/postbacks/test-sends.ts'
import { buildWorker, type Worker } from '../src/worker.ts'
import { createFolder } from './folders.ts'
import { until } from './installation.ts'
import { freePort, isListening } from './ports.ts'
import { TESTER } from './tester.ts'
import { SECRET_KEY, useWorld } from './world.ts'

const SECRET = 'a secret & its "quotes"'
const folder = createFolder('php-receivers')
let worker: Worker
let php: ChildProcess
let port: number
after(async () => {
  await worker.close()
  php.kill('SIGKILL')
  if (php.exitCode === null && php.signalCode === null) await once(php, 'close')
  rmSync(folder, { recursive: true })
})

const world = useWorld('dialects', async () => {
  const config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
  worker = await buildWorker({ config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  port = await freePort()
  await startPhp()
})
const apps = new Map<number, Awaited<ReturnType<typeof world.createApp>>>()

/** One server for all pages. */
async function startPhp(): Promise<void> {
  const root = fileURLToPath(new URL('php-receivers', import.meta.url))
  const env = { ...process.env, FOLDER: folder, SECRET }
  php = spawn('php', ['-S', `127.0.0.1:${port}`, '-t', root], { env, stdio: 'ignore' })
  await until(() => isListening(port))
}

type Case = { page: string; preset: string; table: string; change?: (settings: PostbackSettings) => PostbackSettings }

const CASES: Record<string, Case> = {
  'Wannads style': { page: 'wannads', preset: 'wannads', table: 'offerwall' },
  'Wannads style, as a form': {
    page: 'wannads',
    preset: 'wannads',
    table: 'offerwall',
    change: (settings) => ({ ...settings, method: 'POST', dialect: { ...settings.dialect, post_body: 'form' } }),
  },
  'Wannads style, where a chargeback repeats the ID of the credit': {
    page: 'wannads-lookup',
    preset: 'wannads',
    table: 'offerwall',
    change: (settings) => ({ ...settings, method: 'POST', dialect: { ...settings.dialect, post_body: 'form', transaction_id: 'conversion' } }), // prettier-ignore
  },
  'SuperRewards style': { page: 'superrewards', preset: 'superrewards', table: 'transactions' },
  'Fyber style': { page: 'fyber', preset: 'fyber', table: 'rewards' },
  'OfferToro style': { page: 'offertoro', preset: 'offertoro', table: 'leads' },
  'HMAC of the sorted query': { page: 'sorted-query', preset: 'sorted-query', table: 'transactions' },
  'Lootably style': { page: 'lootably', preset: 'lootably', table: 'conversions' },
}

async function createReceiver({ page, preset: name, change = (one) => one }: Case, receiverSecret = SECRET) {
  const preset = presetOf(name)!
  const app = await world.createApp()
  const { appId } = app
  apps.set(appId, app)
  const url = applyQuery(`http://127.0.0.1:${port}/${page}.php`, preset.query)
  await saveSettings(world.database.db, TESTER, SECRET_KEY, appId, change({ ...DEFAULTS, ...preset, url, receiverSecret })) // prettier-ignore
  return appId
}

/** The results, and what is in the log of each attempt. */
async function send(appId: number, ...scenarios: Scenario[]) {
  const { db } = world.database
  const owner = { appId, isTest: false }
  const testId = await startTestSends(db, null, owner, scenarios, new Date())
  await until(async () => (await readTestSends(db, testId, owner))?.result !== 'waiting')
  const { results } = (await readTestSends(db, testId, owner))!
  const attempts = await readAttempts(db, ...results.flatMap(({ postbacks }) => postbacks.map((one) => one.postback_id))) // prettier-ignore
  return { results: Object.fromEntries(results.map(({ scenario, result }) => [scenario, result])), attempts }
}

function balance({ page, table }: Case): number {
  const db = new DatabaseSync(join(folder, `${page}.db`))
  const { sum } = db.prepare(`SELECT coalesce(sum(points), 0) AS sum FROM ${table}`).get() as { sum: number }
  db.close()
  return sum
}

for (const [title, one] of Object.entries(CASES))
  test(`${title}: credits once, takes back, and refuses what is signed with another secret`, async () => {
    const appId = await createReceiver(one)
    const first = await send(appId, 'approved')
    assert.deepEqual(first.results, { approved: 'pass' }, first.attempts[0]?.error ?? '')
    const start = balance(one) - 50
    const all = await send(appId, 'approved', 'duplicate', 'reversed', 'wrong_signature')
    assert.deepEqual(all.results, { approved: 'pass', duplicate: 'pass', reversed: 'pass', wrong_signature: 'pass' }, all.attempts.map(({ error }) => error).join('\n')) // prettier-ignore
    assert.equal(balance(one) - start, 50)
    const log = all.attempts.map(({ request, response }) => request + response).join('\n')
    assert.ok(!log.includes(SECRET) && log.includes('webhook-signature: v1,'))
    const stranger = await createReceiver(one, 'not that secret')
    const refused = await send(stranger, 'approved')
    assert.deepEqual(refused.results, { approved: 'fail' })
    assert.match(
      refused.attempts[0]?.error ?? '',
      /is not expected: it must begin with|The server answered 40[03], not 2xx/,
    )
    assert.equal(balance(one) - start, 50)
  })

test('a scenario that the receiver has no word for is not sent: it could be taken for a credit', async () => {
  const one = CASES['SuperRewards style']!
  const appId = await createReceiver(one)
  const { results } = await send(appId, 'pending', 'approved')
  assert.deepEqual(results, { approved: 'pass' })
  await assert.rejects(send(appId, 'pending'), /no word for these statuses/)
})

test('a change of the dialect applies to what was sent before it and not received', async () => {
  const one = CASES['Wannads style']!
  const { db } = world.database
  const appId = await createReceiver(one, 'not that secret')
  const [offerId = 0] = await world.createOffers({ payout: 1.5 })
  await trustApp(db, TESTER, appId, [offerId])
  const { live } = apps.get(appId)!
  const before = balance(one)
  const { conversion } = (await world.report(live, { userId: 'Zoë & co', offerId })).body.data
  const read = async () => (await world.get(`/v1/postbacks?conversionId=${conversion.conversion_id}`, live)).body.data.postbacks[0] // prettier-ignore
  await until(async () => (await read())?.last_error != null)
  assert.match((await read())?.last_error ?? '', /^The answer "ERROR: Signature doesn't match" is not expected/)
  assert.equal(balance(one), before)
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...(await readSettings(db, SECRET_KEY, appId))!, receiverSecret: SECRET }) // prettier-ignore
  await until(async () => (await read())?.state === 'delivered') // by a retry
  assert.equal(balance(one) - before, conversion.payout_local)
})
