// Lockers as visitors meet them: content in a page of another origin, and the page of a link.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkUsersPage, PHONE } from '../dashboard/browser.ts'
import { until } from '../installation.ts'
import { BROWSER } from '../world.ts'
import { useLockers } from './lockers.ts'

const { site, world, createOne, openSite } = useLockers('locker_page')

const openArticle = (lockerId: number) =>
  openSite(`<offer-locker locker="${lockerId}">Plain words<p>The rest of the article</p></offer-locker>
    <ul data-offer-locker="${lockerId}"><li>In a list</li></ul>`)

const clickOf = async (offerId: number) => {
  const click = await world.database.db.selectFrom('clicks').select(['click_id', 'locker_id']).where('offer_id', '=', offerId).orderBy('click_id', 'desc').executeTakeFirst() // prettier-ignore
  return click ?? null
}

test('covered content is uncovered by itself once the visitor has completed an offer, with a proof', async () => {
  const { lockerId, live } = await createOne({ title: 'Read on', consent: 'By starting you agree to the terms.' })
  const [offerId = 0] = await world.createOffers({ name: 'Tea survey', destination_url: `${site.url}/healthz?c={click_id}` }) // prettier-ignore
  const { page } = await site.open()
  await page.goto(await openArticle(lockerId))
  const areShown = async () => {
    const text = await page.locator('body').innerText()
    return ['The rest of the article', 'Plain words', 'In a list'].map((part) => text.includes(part))
  }
  assert.deepEqual(await areShown(), [false, false, false])
  const frame = page.frameLocator('offer-locker iframe')
  await frame.getByRole('heading', { name: 'Read on' }).waitFor()
  await frame.getByText('By starting you agree').waitFor()
  await until(async () => {
    const [outer, inner] = [await page.locator('offer-locker iframe').boundingBox(), await frame.locator('#locker').boundingBox()] // prettier-ignore
    return Math.abs((outer?.height ?? 0) - (inner?.height ?? -9)) <= 1 // nothing of it is cut
  })
  // What a hostile script of the page says to itself unlocks nothing.
  await page.evaluate(`postMessage({ source: 'offerdeck-locker', version: 1, event: 'unlocked', detail: { proof: 'x' } }, '*')`) // prettier-ignore
  const [opened] = await Promise.all([page.waitForEvent('popup'), frame.getByRole('link', { name: /Tea survey/ }).click()]) // prettier-ignore
  await opened.waitForURL(/healthz/)
  assert.deepEqual(await areShown(), [false, false, false])
  const click = await clickOf(offerId)
  assert.equal(click?.locker_id, lockerId)
  await world.confirm(offerId, click?.click_id ?? '')
  await until(async () => (await areShown()).every(Boolean))
  const [proof = ''] = await page.evaluate<string[]>('window.proofs')
  const redeemed = await world.get(`/v1/lockers/${lockerId}/redeem`, live, { method: 'POST', payload: { proof } })
  assert.equal((redeemed.body.data as unknown as { redeemed: boolean }).redeemed, true)
  await page.reload()
  await page.getByText('The rest of the article').waitFor()
})

test('a part of a page that goes away before it knows the visitor does not keep the others waiting', async () => {
  const { lockerId } = await createOne({ title: 'Read on' })
  await world.createOffers({ name: 'Milk survey' })
  const { page } = await site.open()
  await page.addInitScript(`Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') };
    addEventListener('DOMContentLoaded', () => addEventListener('message', ({ data }) => { if (data.event === 'ready') document.querySelector('offer-locker')?.remove() }))`) // prettier-ignore
  await page.goto(await openArticle(lockerId))
  const frame = page.frameLocator('iframe').first()
  await frame.getByText('Milk survey').waitFor()
  assert.equal(await page.locator('iframe').count(), 1)
  // Loaded again, as after a cut: it is the same visitor.
  const again = page.waitForRequest((one) => one.url().endsWith('/visits') && one.frame().url().includes('&again'))
  await page.evaluate(`document.querySelector('iframe').src += '&again'`)
  assert.match((await again).postData() ?? '', /"visitor":/)
})

test('a link asks for its password and an offer, then leads on; on a phone, in both themes, without a finding', async () => {
  const { slug } = await createOne({ password: 'sesame', text: 'The full album.', link: { target_url: 'https://files.example.com/album' } }) // prettier-ignore
  const [offerId = 0] = await world.createOffers({ name: 'Coffee survey', destination_url: `${site.url}/healthz?c={click_id}` }) // prettier-ignore
  const { page } = await site.open({ viewport: PHONE })
  await page.setExtraHTTPHeaders({ 'user-agent': BROWSER }) // headless browsers are taken for bots
  await page.route('https://files.example.com/**', (route) => route.fulfill({ body: 'the album', contentType: 'text/plain' })) // prettier-ignore
  await page.goto(`${site.url}/l/${slug}`)
  await checkUsersPage(page)
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Wrong password.').waitFor()
  await page.getByLabel('Password').fill('sesame')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Complete an offer to continue.').waitFor()
  await checkUsersPage(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await checkUsersPage(page)
  const [opened] = await Promise.all([page.waitForEvent('popup'), page.getByRole('link', { name: /Coffee survey/ }).click()]) // prettier-ignore
  await opened.waitForURL(/healthz/)
  await until(async () => (await clickOf(offerId)) !== null)
  await world.confirm(offerId, (await clickOf(offerId))?.click_id ?? '')
  await page.getByRole('button', { name: 'Open the link' }).click()
  await page.waitForURL('https://files.example.com/album')
})
