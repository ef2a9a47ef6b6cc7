// What the pages of lockers show, to whom, and what they do not let happen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { REPORT_REASONS } from '../../src/features/lockers/schema.ts'
import { TEXTS } from '../../src/features/lockers/texts.ts'
import { DEFAULTS } from '../../src/features/wall/settings-schema.ts'
import { setWallSettings } from '../../src/features/wall/settings.ts'
import { PIXEL } from '../images.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { BROWSER } from '../world.ts'
import { useLockers } from './lockers.ts'

const { site, world, addLocker, createOne, openSite } = useLockers('locker_looks')
const LINK = { link: { target_url: 'https://files.example.com/album' } }

test('what publishers and advertisers write is never run, in a frame and on the page of a link', async () => {
  const evil = '</script><img src=x onerror=alert(1)><script>alert(1)</script>'
  const texts = { title: evil, text: evil, consent: evil, link: null }
  const { appId, slug } = await createOne({ ...texts, ...LINK })
  const { lockerId } = await addLocker(appId, texts)
  await world.createOffers({ name: evil, description: evil })
  const { page, complaints } = await site.open({ userAgent: BROWSER })
  let alerts = 0
  page.on('dialog', (dialog) => (alerts++, void dialog.dismiss()))
  const content = await openSite(`<offer-locker locker="${lockerId}">Words</offer-locker>`)
  for (const url of [`${site.url}/l/${slug}`, content]) {
    await page.goto(url)
    const shown = url === content ? page.frameLocator('iframe') : page
    await shown.getByRole('heading', { name: evil }).waitFor()
    await shown.getByRole('link', { name: `Start: ${evil}` }).waitFor()
    assert.equal(await shown.getByText(evil, { exact: true }).count(), 5) // title, text, consent, name, description
    assert.equal(await shown.locator('img[src=x]').count(), 0)
  }
  assert.equal(alerts, 0)
  const left = complaints.filter((one) => !one.startsWith(`leaves: ${content}`) && !one.includes('favicon') && !one.includes('404')) // prettier-ignore
  assert.deepEqual(left, [])
})

test('a link shows its picture and text, and a visitor reports it', async () => {
  const { lockerId, slug } = await createOne({ ...LINK, image: 'https://img.example/a.png', text: 'The full album.' })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.route('https://img.example/**', (route) => route.fulfill({ body: PIXEL, contentType: 'image/png' }))
  await page.goto(`${site.url}/l/${slug}`)
  await page.getByText('The full album.').waitFor()
  await until(async () => (await page.evaluate<number>(`document.querySelector('img.hero').naturalWidth`)) > 0)
  const { en } = TEXTS
  await page.getByText(en.report).click()
  assert.deepEqual(
    await page.getByLabel(en.report_reason).locator('option').allInnerTexts(),
    REPORT_REASONS.map((reason) => en[reason]),
  )
  await page.getByLabel(en.report_reason).selectOption(en.malware)
  await page.getByRole('button', { name: en.send }).click()
  await page.getByText(en.reported).waitFor()
  const reports = await world.database.db.selectFrom('locker_reports').select('reason').where('locker_id', '=', lockerId).execute() // prettier-ignore
  assert.deepEqual(reports, [{ reason: 'malware' }])
})

test('with the attribute test, lockers are in test mode and are unlocked by test conversions', async () => {
  const { lockerId, live, test: testKeys } = await createOne()
  const [offerId = 0] = await world.createOffers({ name: 'Tea survey' })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.goto(await openSite(`<offer-locker test locker="${lockerId}">One</offer-locker><p data-test data-offer-locker="${lockerId}">Two</p>`)) // prettier-ignore
  const frame = page.frameLocator('body > iframe')
  await frame.getByText(TEXTS.en.test).waitFor()
  const link = await page.frameLocator('offer-locker iframe').getByRole('link', { name: /Tea survey/ }).getAttribute('href') // prettier-ignore
  await frame.getByText('Tea survey').waitFor()
  await world.confirm(offerId, (await world.follow(link ?? '')).clickId)
  for (const text of ['One', 'Two']) await page.getByText(text, { exact: true }).waitFor()
  const [proof] = await page.evaluate<string[]>('window.proofs')
  const redeem = async (keys: typeof live) => (await world.get(`/v1/lockers/${lockerId}/redeem`, keys, { method: 'POST', payload: { proof } })).status // prettier-ignore
  assert.deepEqual([await redeem(live), await redeem(testKeys)], [400, 200])
})

test('only the pages that a publisher allows can frame its lockers', async () => {
  const allowed = await createOne({ title: 'Here' })
  const refused = await createOne({ title: 'Elsewhere' })
  const url = await openSite(`<offer-locker id="a" locker="${allowed.lockerId}">One</offer-locker><offer-locker id="b" locker="${refused.lockerId}">Two</offer-locker>`) // prettier-ignore
  const { origin } = new URL(url)
  await setWallSettings(world.database.db, TESTER, allowed.appId, { ...DEFAULTS, parents: [origin] })
  await setWallSettings(world.database.db, TESTER, refused.appId, { ...DEFAULTS, parents: ['https://game.example'] })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.goto(url)
  await page.waitForLoadState('networkidle')
  await page.frameLocator('#a iframe').getByRole('heading', { name: 'Here' }).waitFor()
  const shown = page.frames().filter((one) => one.url().includes('/locker?'))
  assert.deepEqual(shown.map((one) => new URL(one.url()).searchParams.get('locker')), [String(allowed.lockerId)]) // prettier-ignore
})

test('a locker whose offers are for other devices says where to open it, in the language of the page', async () => {
  const phones = await createOne({ ...LINK, platforms: ['ios', 'android'] })
  const { lockerId } = await addLocker(phones.appId, { platforms: ['ios'] })
  await world.createOffers({ name: 'For all of them' })
  const { page } = await site.open({ userAgent: BROWSER })
  await page.goto(`${site.url}/l/${phones.slug}?lang=pl`)
  await page.getByText(TEXTS.pl.on_phone).waitFor()
  assert.equal(await page.getByText(TEXTS.pl.no_offers).count(), 0)
  await page.goto(await openSite(`<offer-locker locker="${lockerId}">Words</offer-locker>`))
  await page.frameLocator('iframe').getByText(TEXTS.en.on_system.replace('{system}', 'iOS')).waitFor()
})
