// The pages as a browser shows them: real Chromium, on a desktop and on a phone.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { useBrowser } from '../chromium.ts'
import { useWorld } from '../world.ts'

const DESKTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

let live: IssuedCredentials
let url: string
const world = useWorld('pages', async () => {
  ;({ live } = await world.createApp())
  await world.app.server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = world.app.server.server.address() as { port: number }
  url = `http://127.0.0.1:${port}`
})

let browser: Browser
before(async () => {
  browser = await useBrowser()
})

/** Opens a page; returns it with all that went wrong or left this server. */
async function open(path: string, { withScripts = true } = {}) {
  const page = await (await browser.newContext({ viewport: DESKTOP })).newPage()
  if (!withScripts) await page.route('**/*.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }))
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on(
    'request',
    (request) =>
      !request.url().startsWith(url) &&
      !request.url().startsWith('data:') &&
      complaints.push(`leaves: ${request.url()}`),
  )
  await page.goto(url + path)
  return { page, complaints }
}

test('the front page is the dashboard, which asks who comes, at both sizes, without complaint', async () => {
  const { page, complaints } = await open('/')
  await page.waitForURL(`${url}/sign-in`)
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await page.title(), 'Sign in · Offerdeck')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'nothing sticks out')
  }
  // The browser itself reports the API's 401: that is how the page learns that no one is signed in.
  assert.deepEqual(complaints.map((one) => /status of 401/.test(one)), [true]) // prettier-ignore
  await page.context().close()
})

test('the reference page shows every operation, at both sizes, and calls no other server', async () => {
  const { page, complaints } = await open('/docs')
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size)
    await page.getByRole('heading', { name: 'Offerdeck API' }).waitFor()
    await page.getByText('List the offers a user can complete').first().waitFor({ state: 'attached' })
  }
  assert.deepEqual(complaints, [])
  await page.context().close()
})

test('the management API has a reference of its own, whose operations are shown when they are asked for', async () => {
  const { page, complaints } = await open('/docs/manage')
  await page.getByRole('heading', { name: 'Offerdeck management API' }).waitFor()
  await page.getByText('Audit log').first().click()
  await page.getByText('Every change that a person made, newest first').first().waitFor({ state: 'attached' })
  assert.deepEqual(complaints, [])
  await page.context().close()
})

test('testing the API from the reference page works, and is no leak', async () => {
  const { page, complaints } = await open('/docs', { withScripts: false })
  const request = `fetch('/api/v1/offers?userId=u', { headers: { 'X-API-Key': '${live.api_key}', 'X-API-Secret': '${live.api_secret}' } }).then((answer) => answer.json())`
  const answer = await page.evaluate<{ success: boolean }>(request)
  assert.equal(answer.success, true)
  const credential = await world.database.db
    .selectFrom('credentials')
    .select('secret_leaked_at')
    .where('api_key', '=', live.api_key)
    .executeTakeFirstOrThrow()
  assert.equal(credential.secret_leaked_at, null)
  assert.deepEqual(complaints, [])
  await page.context().close()
})
