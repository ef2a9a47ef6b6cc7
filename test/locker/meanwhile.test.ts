// What changes between a visitor's first look at a locker and its unlock: the locker, the password, and the other tab.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { changeApp } from '../../src/features/apps/apps.ts'
import { changeLocker, takeDownLocker } from '../../src/features/lockers/lockers.ts'
import type { LockerInput } from '../../src/features/lockers/schema.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { BROWSER } from '../world.ts'
import { useLockers } from './lockers.ts'

const { site, world, createOne, openSite } = useLockers('locker_meanwhile')
const LINK = { link: { target_url: 'https://files.example.com/album' } }

const change = (of: { appId: number; lockerId: number }, input: Partial<LockerInput>) =>
  changeLocker(world.database.db, TESTER, world.config, of, { name: 'Locker', ...input })

async function openPage(): Promise<Page> {
  const { page } = await site.open()
  await page.context().setExtraHTTPHeaders({ 'user-agent': BROWSER })
  return page
}

async function complete(page: Page, offerId: number, name: string): Promise<void> {
  const link = await page.getByRole('link', { name }).getAttribute('href')
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
}

test('when the publisher asks for more meanwhile, the page says how much is missing', async () => {
  const locker = await createOne(LINK)
  const [first = 0, second = 0] = await world.createOffers({ name: 'Oolong' }, { name: 'Sencha' })
  const page = await openPage()
  await page.goto(`${site.url}/l/${locker.slug}`)
  await page.getByText('Complete an offer to continue.').waitFor()
  await change(locker, { ...LINK, needed_offers: 2 })
  await complete(page, first, 'Start: Oolong')
  await page.getByText('Complete 2 offers to continue.').waitFor()
  await page.getByText('1 of 2 done').waitFor()
  await complete(page, second, 'Start: Sencha')
  await page.getByRole('button', { name: 'Open the link' }).waitFor()
})

test('when the currency is replaced meanwhile, the page says what is needed in the new one', async () => {
  const locker = await createOne({ ...LINK, needed_reward: 500 })
  const [first = 0] = await world.createOffers({ name: 'Rooibos', payout: '1' })
  const page = await openPage()
  await page.goto(`${site.url}/l/${locker.slug}`)
  await page.getByText('Earn 500 Coins to continue.').waitFor()
  await changeApp(world.database.db, TESTER, locker.appId, { currency: 'Points', rateMicros: 300_000_000 })
  await world.app.refresh()
  await complete(page, first, 'Start: Rooibos')
  await page.getByText('Earn 500 Points to continue.').waitFor()
})

/** Two pages of a browser ask for a visitor at the same time: the second is answered first. */
async function openTwo(url: string): Promise<[Page, Page]> {
  const one = await openPage()
  let held: Route | null = null
  await one.route('**/visits', (route) => (held === null ? (held = route) : route.continue()))
  await one.goto(url)
  await until(async () => held !== null)
  const two = await one.context().newPage()
  await two.goto(url)
  await until(async () => two.evaluate(`Object.keys(localStorage).some((name) => name.startsWith('offerdeck-app-'))`))
  await (held as Route | null)?.continue()
  return [one, two]
}

test('two tabs that begin at the same time are one visitor, on the page of a link and in frames', async () => {
  const { slug, appId } = await createOne(LINK)
  const [tea = 0, coffee = 0] = await world.createOffers({ name: 'Assam' }, { name: 'Mocha' })
  const [one, two] = await openTwo(`${site.url}/l/${slug}`)
  await one.getByRole('link', { name: 'Start: Assam' }).waitFor()
  await complete(one, tea, 'Start: Assam')
  for (const page of [one, two]) await page.getByRole('button', { name: 'Open the link' }).waitFor()
  assert.equal(await one.evaluate(`Object.keys(localStorage).filter((name) => name.includes('${appId}')).length`), 1)

  const content = await createOne()
  const [left, right] = await openTwo(await openSite(`<offer-locker locker="${content.lockerId}">The words</offer-locker>`)) // prettier-ignore
  const link = await left.frameLocator('iframe').getByRole('link', { name: 'Start: Mocha' }).getAttribute('href')
  await until(async () => (await linkVisitor(left)) === (await linkVisitor(right)))
  assert.ok(link)
  const agreed = await left.frameLocator('iframe').getByRole('link', { name: 'Start: Mocha' }).getAttribute('href')
  await world.confirm(coffee, (await world.follow(agreed ?? '')).clickId)
  for (const page of [left, right]) await page.getByText('The words').waitFor()
})

const linkVisitor = async (page: Page) =>
  /visitor-\w+/.exec((await page.frameLocator('iframe').getByRole('link').first().getAttribute('href')) ?? '')?.[0]

test('a page that is over says to load it again, in the language of the visitor, and a cut network is not a wrong password', async () => {
  const locker = await createOne(LINK)
  const [offerId = 0] = await world.createOffers({ name: 'Darjeeling' })
  const page = await openPage()
  await page.goto(`${site.url}/l/${locker.slug}?lang=de`)
  await complete(page, offerId, 'Starten: Darjeeling')
  await page.getByRole('button', { name: 'Link öffnen' }).waitFor()
  await change(locker, { ...LINK, password: 'sesame' })
  await page.getByRole('button', { name: 'Link öffnen' }).click()
  await page.getByText('Diese Seite ist abgelaufen. Lade sie neu, um fortzufahren.').waitFor()
  await page.getByRole('button', { name: 'Neu laden' }).click()
  await page.getByLabel('Passwort').fill('sesame')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'Weiter' }).click()
  await page.getByText('Etwas ist schiefgegangen.').waitFor()
  await page.context().setOffline(false)
  await takeDownLocker(world.database.db, TESTER, locker.lockerId, { reason: 'Phishing' })
  await page.getByRole('button', { name: 'Weiter' }).click()
  await page.getByText('Dies wurde entfernt. Es hat gegen die Regeln dieses Netzwerks verstoßen.').waitFor()
  await page.goto(`${site.url}/l/${locker.slug}?lang=ar`)
  await page.getByRole('heading', { name: 'تمت إزالة هذا' }).waitFor()
  assert.deepEqual(await page.locator('html').evaluate((one) => [one.lang, one.dir]), ['ar', 'rtl'])
})

test('a visitor whose key was signed with a secret that is gone starts again by itself, on the page of a link and in a frame', async () => {
  const link = await createOne(LINK)
  const content = await createOne()
  const [offerId = 0] = await world.createOffers({ name: 'Lapsang' })
  const old = JSON.stringify({ visitor: 'a'.repeat(32), key: 'k'.repeat(43) })
  const page = await openPage()
  for (const [appId, url] of [
    [link.appId, `${site.url}/l/${link.slug}`],
    [content.appId, await openSite(`<offer-locker locker="${content.lockerId}"><p>The words</p></offer-locker>`)],
  ] as const) {
    await page.goto(url)
    const shown = appId === link.appId ? page : page.frameLocator('iframe')
    const lapsang = shown.getByRole('link', { name: 'Start: Lapsang' })
    await lapsang.waitFor()
    await page.evaluate(`localStorage.setItem('offerdeck-app-${appId}', '${old}')`)
    await page.reload()
    const start = await lapsang.getAttribute('href')
    assert.notEqual(await page.evaluate(`localStorage.getItem('offerdeck-app-${appId}')`), old)
    await world.confirm(offerId, (await world.follow(start ?? '')).clickId)
    await (appId === link.appId ? page.getByRole('button', { name: 'Open the link' }) : page.getByText('The words')).waitFor() // prettier-ignore
  }
})
