// Visitors who come back: an unlock that ended while its page was open, Back after a link was opened, and pages that the
// browser kept.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { TEXTS } from '../../src/features/lockers/texts.ts'
import { BROWSER } from '../world.ts'
import { useLockers } from './lockers.ts'

const { site, world, createOne, openSite } = useLockers('locker_back')
const TARGET = 'https://files.example.com/album'
const { en } = TEXTS

async function openPage(url: string): Promise<Page> {
  const { page } = await site.open({ userAgent: BROWSER })
  await page.route(`${TARGET}**`, (route) => route.fulfill({ body: 'the album', contentType: 'text/plain' }))
  await page.goto(url)
  return page
}

async function complete(page: Page, offerId: number, name: string): Promise<void> {
  const link = await page.getByRole('link', { name }).getAttribute('href')
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
}

const move = (lockerId: number, column: 'expires_at' | 'opened_at', to: string) =>
  world.database.pool.query(`UPDATE locker_unlocks SET ${column} = ${column} + $2::interval WHERE locker_id = $1`, [lockerId, to]) // prettier-ignore

test('a link that is opened too late, or once more, says why and shows offers again', async () => {
  const { lockerId, slug } = await createOne({ link: { target_url: TARGET } })
  const [first = 0, second = 0] = await world.createOffers({ name: 'Oolong' }, { name: 'Sencha' })
  await world.createOffers({ name: 'Assam' })
  const page = await openPage(`${site.url}/l/${slug}`)
  const button = page.getByRole('button', { name: en.open })
  await complete(page, first, 'Start: Oolong')
  await button.waitFor()
  await move(lockerId, 'expires_at', '-1 year')
  await button.click()
  await page.getByText(en.expired).waitFor()
  await page.getByText(en.need_one).waitFor()
  assert.equal(await page.getByText(en.opened).count(), 0)
  await complete(page, second, 'Start: Sencha')
  await button.click()
  await page.waitForURL(TARGET)
  // Back at once: it was opened once, however often its visitor does it again.
  await page.goBack()
  await button.click()
  await page.waitForURL(TARGET)
  await page.goBack()
  await button.waitFor()
  await move(lockerId, 'opened_at', '-1 hour')
  await button.click()
  await page.getByText(en.opened).waitFor()
  await page.getByRole('link', { name: 'Start: Assam' }).waitFor()
  await page.goForward()
  await page.waitForURL(TARGET)
  await page.goBack()
  await page.getByText(en.opened).waitFor()
  const { rows } = await world.database.pool.query('SELECT opened FROM lockers WHERE locker_id = $1', [lockerId])
  assert.deepEqual(rows, [{ opened: 1 }])
})

test('a page that the browser kept asks again when it is shown', async () => {
  const { lockerId, slug } = await createOne({ link: { target_url: TARGET } })
  const [offerId = 0] = await world.createOffers({ name: 'Mocha' })
  await world.createOffers({ name: 'Latte' })
  const page = await openPage(`${site.url}/l/${slug}`)
  await complete(page, offerId, 'Start: Mocha')
  await page.getByRole('button', { name: en.open }).waitFor()
  await world.database.pool.query(`UPDATE locker_unlocks SET opened_at = now() - interval '1 hour' WHERE locker_id = $1`, [lockerId]) // prettier-ignore
  // Browsers of tests keep no pages: as one that does.
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`)
  await page.getByText(en.opened).waitFor()
  await page.getByRole('link', { name: 'Start: Latte' }).waitFor()
})

test('content is uncovered again after Back and Forward for as long as it is unlocked, then its locker says why not', async () => {
  const { lockerId } = await createOne()
  const [offerId = 0] = await world.createOffers({ name: 'Rooibos' })
  const url = await openSite(`<offer-locker locker="${lockerId}"><p>The words</p></offer-locker>`)
  const page = await openPage(url)
  const frame = page.frameLocator('offer-locker iframe')
  const link = await frame.getByRole('link', { name: 'Start: Rooibos' }).getAttribute('href')
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
  const words = page.getByText('The words')
  await words.waitFor()
  await page.goto(TARGET)
  await page.goBack()
  await words.waitFor()
  assert.equal((await page.evaluate<string[]>('window.proofs')).length, 1)
  await page.goForward()
  await page.waitForURL(TARGET)
  await move(lockerId, 'expires_at', '-1 year')
  await page.goBack()
  await frame.getByText(en.expired).waitFor()
  assert.equal(await words.isVisible(), false)
})
