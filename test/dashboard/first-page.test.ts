// What a person sees on the first visit, or by an incomplete link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { createPerson, PASSWORD } from '../people.ts'
import { checkLooks, useDashboard } from './browser.ts'

const MAX_SCRIPT_BYTES = 250_000
const dashboard = useDashboard('first_page_e2e')

/** The bytes of JavaScript that this page loads during an action, as they come over the wire. */
async function countScripts(page: Page, work: () => Promise<unknown>): Promise<number> {
  const sizes: Promise<{ responseBodySize: number }>[] = []
  page.on('requestfinished', (request) => request.resourceType() === 'script' && sizes.push(request.sizes()))
  await work()
  await page.waitForLoadState('networkidle')
  return (await Promise.all(sizes)).reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
}

test('little JavaScript comes before the first page can be used', async () => {
  const { page } = await dashboard.open()
  const bytes = await countScripts(page, async () => {
    await page.goto(`${dashboard.url}/sign-in`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
  assert.ok(bytes > 10_000 && bytes < MAX_SCRIPT_BYTES, `${bytes} bytes`)
})

test('who is signed in is asked for before the script has come, and each thing once', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/' })
  await page.getByText('Needs attention').waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await page.goto(dashboard.url)
  await page.getByText('Needs attention').waitFor()
  const ofApi = asked.filter((path) => path.startsWith('/manage/'))
  assert.deepEqual(ofApi.slice(0, 2), ['/manage/v1/me', '/manage/v1/network/overview'])
  assert.equal(new Set(ofApi).size, ofApi.length, ofApi.join(' ')) // the latest conversions may have been asked for, too
  assert.ok(asked.indexOf('/manage/v1/me') < asked.findIndex((path) => path.endsWith('.js')), asked.join(' '))
  const { page: stranger } = await dashboard.open()
  for (const path of ['/', '/sign-in'])
    assert.equal((await stranger.request.get(dashboard.url + path)).headers()['link'], undefined)
})

test('a page runs no script but ours, and none that stands in it', async () => {
  const { page } = await dashboard.open()
  const nonces = new Set<string>()
  for (const path of ['/sign-in', '/network/offers']) {
    const answer = await page.request.get(dashboard.url + path)
    const policy = answer.headers()['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self'; /)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe-/)
    const html = await answer.text()
    for (const [script] of html.matchAll(/<script[^>]*>[^<]*/g)) assert.match(script, /\ssrc="\/assets\/[^"]+"[^>]*>$/)
    assert.doesNotMatch(html, /\son\w+=|javascript:/i)
    nonces.add(/'nonce-([^']+)'/.exec(policy)?.[1] ?? '')
  }
  assert.equal(nonces.size, 2, 'of styles, another one each time')
})

test('who has no mouse signs in, skips the menu, and learns what time it is in UTC', async () => {
  const { email } = await createPerson(dashboard.world, 'operator')
  const { page } = await dashboard.open()
  await page.goto(`${dashboard.url}/sign-in`)
  await page.getByLabel('Email address').waitFor()
  await page.keyboard.type(email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByText('Needs attention').waitFor()
  await page.goto(`${dashboard.url}/network/audit`)
  await page.getByRole('cell', { name: 'session.start' }).first().waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter') // "Skip to content"
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(`document.getElementById('main').contains(document.activeElement)`), true)
  await page.locator('time').first().focus()
  await page.getByRole('tooltip', { name: /UTC/ }).waitFor()
})

test('an incomplete link says so, and what to do', async () => {
  const { page } = await dashboard.open()
  await page.goto(`${dashboard.url}/join`)
  await page.getByText('This link is incomplete').waitFor()
  await checkLooks(page)
  await page.goto(`${dashboard.url}/reset-password`)
  await page.getByText('This link is incomplete').waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'ask for a new one' }).click()
  await page.getByRole('heading', { name: 'Reset your password' }).waitFor()
})

test('without a connection the pages say so, and go on by themselves once it is back', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/' })
  await page.getByText('Needs attention').waitFor()
  await page.route('**/manage/v1/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('The server cannot be reached').waitFor()
  await checkLooks(page)
  await page.unroute('**/manage/v1/**')
  await page.getByRole('cell', { name: 'session.start' }).first().waitFor()

  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Fraud' }).click()
  await page.getByText('Part of this page could not be loaded').waitFor() // the code of that page
  await checkLooks(page)
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Fraud' }).waitFor()
})

test('an unknown URL is a page for people, and JSON for programs', async () => {
  const { page } = await dashboard.open()
  const shown = await page.goto(`${dashboard.url}/sign-inn`)
  assert.equal(shown?.status(), 404)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'dashboard' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  for (const path of ['/manage/v1/nothing', '/v1/nothing', '/api/v1/nothing']) {
    const answer = await page.request.get(dashboard.url + path, { headers: { accept: 'text/html' } })
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'RESOURCE_NOT_FOUND')
  }
})
