// How the pages of lockers learn of what changes, and that the lockers of an app know a visitor as one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../installation.ts'
import { BROWSER } from '../world.ts'
import { useLockers } from './lockers.ts'

const { site, world, addLocker, createOne, openSite } = useLockers('locker_following')
const LINK = { link: { target_url: 'https://files.example.com/album' } }

/** A page whose time does not pass by itself, with what it asks about its visitor. */
async function openPage() {
  const { page } = await site.open({ userAgent: BROWSER })
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
  await page.addInitScript(`window.streams = []; window.EventSource = class extends EventSource { constructor(url) { super(url); streams.push(this) } }`) // prettier-ignore
  const asked: string[] = []
  page.on('request', (request) => request.url().endsWith('/visits') && asked.push(request.postData() ?? ''))
  return { page, asked }
}

const statesOf = (page: Page) => page.evaluate<number[]>('streams.map(({ readyState }) => readyState)')
const [OPEN, CLOSED] = [1, 2]

/** What the page began to ask before is counted after this. */
const settle = (page: Page) => page.evaluate(`fetch('/healthz').then(() => {})`)

async function complete(offerId: number, link: string | null): Promise<void> {
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
}

test('a page is unlocked by its stream, also after the stream was cut, and asks nothing while it is open', async () => {
  const { slug } = await createOne(LINK)
  const [offerId = 0] = await world.createOffers({ name: 'Tea survey' })
  const { page, asked } = await openPage()
  await page.goto(`${site.url}/l/${slug}`)
  await until(async () => asked.length === 2) // for the visitor, and because the stream is open
  for (let i = 0; i < 4; i++) await page.clock.fastForward(60_000)
  await settle(page)
  assert.deepEqual([asked.length, await statesOf(page)], [2, [OPEN]])
  const link = await page.getByRole('link', { name: /Tea survey/ }).getAttribute('href')
  world.app.server.server.closeAllConnections()
  await complete(offerId, link)
  await page.getByRole('button', { name: 'Open the link' }).waitFor()
  // Once more, and this time the stream says so.
  const other = await createOne(LINK)
  await page.goto(`${site.url}/l/${other.slug}`)
  await until(async () => asked.length >= 5)
  await settle(page)
  const before = asked.length
  assert.deepEqual(await statesOf(page), [OPEN])
  await complete(offerId, await page.getByRole('link', { name: /Tea survey/ }).getAttribute('href'))
  await page.getByRole('button', { name: 'Open the link' }).waitFor()
  assert.ok(asked.length > before)
})

test('without a stream, a page that is looked at asks now and then, and is unlocked', async () => {
  const { slug } = await createOne(LINK)
  const [offerId = 0] = await world.createOffers({ name: 'Coffee survey' })
  const { page, asked } = await openPage()
  await page.route('**/live?*', (route) => route.abort())
  await page.goto(`${site.url}/l/${slug}`)
  const link = await page.getByRole('link', { name: /Coffee survey/ }).getAttribute('href')
  // Nobody looks at it, until somebody does.
  const show = (is: string) => page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${is}', configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`) // prettier-ignore
  await show('hidden')
  await page.clock.runFor(60_000)
  await settle(page)
  assert.equal(asked.length, 1)
  await show('visible')
  await until(async () => asked.length === 2)
  await complete(offerId, link)
  await settle(page)
  assert.equal(asked.length, 2)
  await page.clock.runFor(15_000)
  await page.getByRole('button', { name: 'Open the link' }).waitFor()
  assert.equal(asked.length, 3)
  // What is unlocked asks no more: its button stays under the finger that is about to press it.
  await page.clock.runFor(60_000)
  await show('visible')
  await settle(page)
  assert.equal(asked.length, 3)
})

test('a page whose stream is refused does not ask for it again, and asks now and then', async () => {
  const { slug, lockerId, appId } = await createOne(LINK)
  await world.createOffers({ name: 'Milk survey' })
  const { page, asked } = await openPage()
  await page.goto(`${site.url}/l/${slug}`)
  await until(async () => (await statesOf(page))[0] === OPEN)
  const known = await page.evaluate<string>(`localStorage.getItem('offerdeck-app-${appId}')`)
  await page.goto('about:blank')
  const query = new URLSearchParams(JSON.parse(known) as Record<string, string>)
  const { signal, abort } = closable()
  const hold = async () => {
    const { body } = await fetch(`${site.url}/locker/v1/lockers/${lockerId}/live?${query.toString()}`, { signal })
    const { value } = (await body?.getReader().read()) ?? {}
    return !new TextDecoder().decode(value as Uint8Array).includes('busy')
  }
  let held = 0
  await until(async () => (held += Number(await hold())) === 5) // all that a visitor may have
  asked.length = 0
  await page.goto(`${site.url}/l/${slug}`)
  await until(async () => (await statesOf(page))[0] === CLOSED)
  await until(async () => asked.length === 2)
  await page.clock.runFor(15_000)
  await until(async () => asked.length === 3)
  assert.deepEqual(await statesOf(page), [CLOSED])
  abort()
})

function closable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

const visitorsIn = (asked: string[]) =>
  new Set(asked.flatMap((text) => (JSON.parse(text) as { visitor?: string }).visitor ?? []))

test('two lockers of an app have one visitor: what was completed in one is not offered in the other', async () => {
  const { appId, lockerId } = await createOne({ title: 'First' })
  const second = await addLocker(appId, { title: 'Second' })
  const [tea = 0] = await world.createOffers({ name: 'Green tea' }, { name: 'Black tea' })
  const { page, asked } = await openPage()
  await page.goto(await openSite(`<offer-locker id="a" locker="${lockerId}">One</offer-locker><p id="b" data-offer-locker="${second.lockerId}">Two</p>`)) // prettier-ignore
  const frame = (selector: string) => page.frameLocator(selector)
  const [a, b] = [frame('offer-locker iframe'), frame('body > iframe')]
  await b.getByText('Green tea').waitFor()
  await complete(tea, await a.getByRole('link', { name: /Green tea/ }).getAttribute('href'))
  await page.getByText('One', { exact: true }).waitFor()
  await b.getByText('Green tea').waitFor({ state: 'detached' })
  await b.getByText('Black tea').waitFor()
  assert.equal(await page.getByText('Two', { exact: true }).isVisible(), false)
  assert.equal(visitorsIn(asked).size, 1)
})

test('links of an app have one visitor, and adopt the one that a link kept for itself', async () => {
  const { appId, slug, lockerId } = await createOne(LINK)
  const second = await addLocker(appId, LINK)
  await world.createOffers({ name: 'Mint tea' })
  const { page, asked } = await openPage()
  const visit = async (to: string) => {
    await page.goto(`${site.url}/l/${to}`)
    await page.getByText('Mint tea').waitFor()
  }
  await visit(slug)
  await visit(second.slug)
  const key = `offerdeck-app-${appId}`
  await page.evaluate(`localStorage.setItem('offerdeck-visitor-${lockerId}', localStorage.getItem('${key}')); localStorage.removeItem('${key}')`) // prettier-ignore
  await visit(slug)
  await visit(second.slug)
  assert.equal(visitorsIn(asked).size, 1)
  assert.equal(asked.filter((text) => !text.includes('visitor')).length, 1)
})

test('a known visitor who looks away is still asked for the password', async () => {
  const { appId, slug } = await createOne({ ...LINK, password: 'sesame' })
  const open = await addLocker(appId, LINK)
  const { page, asked } = await openPage()
  await page.goto(`${site.url}/l/${open.slug}`)
  await until(async () => asked.length === 2)
  await page.goto(`${site.url}/l/${slug}`)
  await page.getByLabel('Password').waitFor()
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await settle(page)
  assert.deepEqual([asked.length, await page.getByLabel('Password').isVisible()], [2, true])
})

test('a locker that fails does not keep the others of its app waiting', async () => {
  const { appId, lockerId } = await createOne()
  const second = await addLocker(appId)
  await world.createOffers({ name: 'Last tea' })
  const { page } = await openPage()
  await page.route(`**/lockers/${lockerId}/visits`, (route) => route.abort())
  await page.goto(await openSite(`<offer-locker locker="${lockerId}">One</offer-locker><p data-offer-locker="${second.lockerId}">Two</p>`)) // prettier-ignore
  await page.frameLocator('body > iframe').getByText('Last tea').waitFor()
})
