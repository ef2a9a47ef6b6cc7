// A publisher's first minutes, as a person spends them: an app, its keys, the first request, the first conversion.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { buildWorker, type Worker } from '../../src/worker.ts'
import { createPublisher } from '../../src/features/accounts/publishers.ts'
import { recordLeak } from '../../src/features/apps/leaks.ts'
import { DEFAULTS, saveSettings } from '../../src/features/postbacks/settings.ts'
import { startTestSends } from '../../src/features/postbacks/test-sends.ts'
import { publisherOfApp } from '../people.ts'
import { answer, type Receiver, startReceiver } from '../receiver.ts'
import { SECRET_KEY } from '../world.ts'
import { becomes, checkPage, DESKTOP, go, PHONE, useDashboard } from './browser.ts'
import { TESTER } from '../tester.ts'

const run = promisify(execFile)
const NOTICED_MS = 15_000 // the page asks every second; the rest is for a busy machine

let receiver: Receiver
let worker: Worker
after(async () => {
  await worker.close()
  await receiver.close()
})
const dashboard = useDashboard('apps_e2e', async (world) => {
  await world.createOffers({})
  receiver = await startReceiver(answer(200, {}, 'OK'))
  worker = await buildWorker({
    config: { ...world.config, postbackAllow: ['127.0.0.0/8'] },
    secretKey: SECRET_KEY,
    database: world.database,
    log: world.log,
  })
})
const { world } = dashboard

const appIdOf = (page: Page) => Number(/\/apps\/(\d+)/.exec(page.url())?.[1])
const snippet = async (page: Page, language: string) => {
  await page.getByRole('tab', { name: language }).click()
  return page.getByRole('tabpanel', { name: language }).locator('pre').innerText()
}
const stepIsDone = (page: Page, name: string) =>
  page.getByRole('button', { name: new RegExp(`${name}.*done`) }).waitFor({ timeout: NOTICED_MS })

test('from nothing to the first conversion: the page notices every step automatically', async () => {
  const { db } = world.database
  const { publisher_id } = await createPublisher(db, TESTER, 'First steps')
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisher_id, { at: '/' })

  await page.getByRole('heading', { name: 'Welcome' }).waitFor()
  await checkPage(page)
  await page.getByLabel('Name').fill('Card game')
  await page.getByLabel('Currency').fill('Gems')
  await page.getByLabel('Units per US dollar').fill('20')
  await page.getByText('A payout of $1.50 is 30 Gems.').waitFor()
  await page.getByRole('button', { name: 'Create app' }).click()

  await page.getByRole('heading', { name: 'Card game' }).waitFor()
  await page.getByText('Store your secrets now').waitFor()
  await stepIsDone(page, 'Get your keys')
  await checkPage(page)

  const curl = await snippet(page, 'curl')
  assert.match(curl, /X-API-Key: pk_test_\w+"/)
  assert.match(curl, /X-API-Secret: sk_test_\w+"/)
  const { stdout } = await run('sh', ['-c', curl])
  assert.equal((JSON.parse(stdout) as { success: boolean }).success, true)
  await stepIsDone(page, 'Send your first request')

  const appId = appIdOf(page)
  await saveSettings(db, TESTER, SECRET_KEY, appId, {
    ...DEFAULTS,
    events: ['pending', 'approved', 'reversed'],
    url: `http://127.0.0.1:${receiver.port}/?id={transaction_id}&status={status}`,
  })
  await stepIsDone(page, 'Set your postback URL')
  await startTestSends(db, TESTER, { appId, isTest: true }, ['approved'], new Date())
  await stepIsDone(page, 'Send test postbacks')

  const node = await snippet(page, 'Node')
  const reported = await run(process.execPath, ['--input-type=module', '-e', node])
  assert.match(reported.stdout, /success: true/)
  await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached', timeout: NOTICED_MS })
  await page.getByRole('heading', { name: 'Today' }).waitFor()
  await page.getByText('All postbacks delivered.').waitFor()
  await page.getByText('Your integration works').waitFor()
  await checkPage(page)

  // Secrets live in this visit only.
  await page.reload()
  await page.getByRole('heading', { name: 'Today' }).waitFor()
  assert.ok(!/sk_(test|live)_|whsec_/.test(await page.content()))
  await page.getByRole('link', { name: 'View your first conversion' }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.getByText('approved').first().waitFor()
  assert.deepEqual(complaints, [])
})

test('a person whose app was created by the operator creates a secret, which the examples then have', async () => {
  const { appId, test: keys } = await world.createApp()
  const { page } = await dashboard.signIn('publisher_owner', await publisherOfApp(world, appId), { at: '/' })
  await page.getByRole('button', { name: 'Create test secret' }).click()
  await page.getByRole('button', { name: 'Create new API secret' }).click()
  await page.getByText('Your new test API secret').waitFor()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await stepIsDone(page, 'Get your keys')
  const python = await snippet(page, 'Python')
  assert.match(python, new RegExp(`'X-API-Key': '${keys.api_key}'`))
  assert.match(python, /'X-API-Secret': 'sk_test_\w+'/)
  assert.ok(!python.includes(keys.api_secret))
  await page.getByText('Live key', { exact: true }).click()
  assert.match(await snippet(page, 'PHP'), /X-API-Secret: YOUR_API_SECRET/)
})

test('the integration page: keys, a new secret, an end, the rate; light on a desktop, dark on a phone', async () => {
  const name = 'Lamp Lighter'
  const { appId, live } = await world.createApp({ name, rateLimit: 100 })
  const publisherId = await publisherOfApp(world, appId)
  await recordLeak(world.database.db, live.api_key, 'https://shop.example')
  await world.get('/v1/offers?userId=u', live)
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, {
    at: `/apps/${appId}/integration`,
  })
  await page.getByText('a request with your live API secret came from https://shop.example').waitFor()
  await page.getByText(live.api_key, { exact: true }).waitFor()
  await page.getByText('1 of 100 requests').waitFor()
  await checkPage(page)

  await page.getByRole('button', { name: 'New API secret' }).first().click()
  await page.getByRole('button', { name: 'Create new API secret' }).click()
  const secret = await page.getByRole('dialog').locator('code').innerText()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  assert.equal((await world.get('/v1/offers?userId=u', { ...live, api_secret: secret })).status, 200)
  await page.getByText('The old secret works until').waitFor()
  await page.getByRole('button', { name: 'Revoke now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke now' }).click()
  await page.getByText('The old secret works until').waitFor({ state: 'detached' })
  assert.equal((await world.get('/v1/offers?userId=u', live)).status, 401)

  await page.getByRole('button', { name: 'Set expiry' }).first().click()
  await page.getByLabel('Expires').fill('2020-01-01T00:00')
  await page.getByRole('button', { name: 'Save' }).last().click()
  await page.getByText('must be in the future').waitFor()
  await page.getByLabel('Expires').fill('2099-01-01T00:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.locator('time', { hasText: '2099' }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  const rate = page.getByLabel('Units per US dollar')
  await rate.fill('0')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter an amount above 0.').waitFor()
  assert.equal(await rate.inputValue(), '0')
  await rate.fill('3')
  await page.getByText('A payout of $1.50 is 4.5 Coins.').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved, effective immediately.').waitFor()
  assert.deepEqual(
    complaints.filter((complaint) => !complaint.includes('400')),
    [],
  )

  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize(PHONE)
  await page.reload()
  await page.getByRole('heading', { name: 'Sub-IDs' }).waitFor()
  await checkPage(page)
  await go(page, `/apps/${appId}`)
  await page.getByRole('heading', { name: 'First steps' }).waitFor()
  await checkPage(page)
  await page.setViewportSize(DESKTOP)
  await page.getByRole('navigation').getByText(name, { exact: true }).waitFor()
  await go(page, '/no/such/page')
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Integration' }).waitFor()
})

test('a revoked app says so; a read-only person has nothing to press', async () => {
  const { appId } = await world.createApp({ name: 'Old game' })
  const { page } = await dashboard.signIn('publisher_owner', await publisherOfApp(world, appId), {
    at: `/apps/${appId}/integration`,
  })
  await page.getByRole('button', { name: 'Revoke key' }).last().click()
  await page.getByRole('dialog', { name: 'Permanently revoke the test key?' }).waitFor()
  await checkPage(page)
  await page.getByRole('button', { name: 'Revoke test key' }).click()
  await page.getByText('Test key revoked.').waitFor()
  await page.getByText(/^Permanently revoked/).waitFor()
  await becomes(() => page.getByRole('button', { name: 'Revoke key' }).count(), 1, 'that of the live key')
  await page.getByRole('button', { name: 'Revoke both keys' }).click()
  await becomes(() => page.getByRole('button', { name: 'Permanently revoke' }).isDisabled(), true)
  await page.getByLabel('Type the app name to confirm').fill('Old game')
  await page.getByRole('button', { name: 'Permanently revoke' }).click()
  await page
    .getByText(/^Permanently revoked/)
    .nth(1)
    .waitFor()
  await go(page, `/apps/${appId}`)
  await page.getByText('This app is revoked').waitFor()
  await page.context().close()

  const other = await world.createApp()
  const reader = await dashboard.signIn('operator_reader', null, { at: `/apps/${other.appId}/integration` })
  await reader.page.getByRole('heading', { name: 'Live key' }).waitFor()
  for (const name of ['New API secret', 'Set expiry', 'Save', 'Revoke both keys', 'Revoke key'])
    await becomes(() => reader.page.getByRole('button', { name }).count(), 0, name)
})
