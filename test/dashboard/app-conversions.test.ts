// What a publisher sees of conversions, in a real browser: finding one, its history, the file of all.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { buildWorker, type Worker } from '../../src/worker.ts'
import { DEFAULTS, saveSettings } from '../../src/features/postbacks/settings.ts'
import { publisherOfApp } from '../people.ts'
import { answer, type Receiver, startReceiver } from '../receiver.ts'
import { SECRET_KEY } from '../world.ts'
import { becomes, checkLooks, checkPage, go, PHONE, pick, useDashboard } from './browser.ts'
import { TESTER } from '../tester.ts'

let worker: Worker
let receiver: Receiver
after(async () => {
  await worker.close()
  await receiver.close()
})

let appId = 0
let publisherId = 0
let conversionId = ''
const dashboard = useDashboard('e2e_app_conversions', async (world) => {
  const { db } = world.database
  receiver = await startReceiver(answer(200, {}, 'OK'))
  worker = await buildWorker({ config: world.config, secretKey: SECRET_KEY, database: world.database, log: world.log })
  const made = await world.createApp()
  appId = made.appId
  publisherId = await publisherOfApp(world, appId)
  const url = `http://127.0.0.1:${receiver.port}/?u={user_id}&s={status}`
  await saveSettings(db, TESTER, SECRET_KEY, appId, { ...DEFAULTS, url })
  const [tea = 0, cake = 0] = await world.createOffers({ name: 'Tea Garden', payout: '1.5' }, { name: 'Cake Shop' })
  const convert = async (offerId: number, query: string, status: string) => {
    const { clickId } = await world.click(offerId, made.live, query)
    return { clickId, ...(await world.confirm(offerId, clickId, { status })) }
  }
  const { clickId, conversion_id } = await convert(tea, 'userId=ann&aff_sub=mail&aff_sub2=top', 'approved')
  conversionId = conversion_id ?? ''
  await world.confirm(tea, clickId, { status: 'reversed' })
  await convert(cake, 'userId=bob', 'rejected')
  await world.report(made.test, { userId: 'tess', offerId: tea })
  for (let user = 0; user < 20; user++) await convert(cake, `userId=user-${user}`, 'approved')
})
const { world } = dashboard
world.config = { ...world.config, postbackAllow: ['127.0.0.0/8'] }
const conversions = () => `${dashboard.url}/apps/${appId}/conversions`

test('a publisher finds a conversion by its sub-ID and follows it from the request to its postbacks', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_developer', publisherId)
  await page.getByRole('link', { name: 'Conversions', exact: true }).click()
  await page.getByRole('cell', { name: 'user-19' }).waitFor()
  await checkPage(page)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByRole('cell', { name: 'ann' }).waitFor()
  await page.getByLabel('Sub-ID').fill('mail')
  await page.waitForURL(/sub_id=mail/)
  await page.getByRole('cell', { name: 'user-19' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Tea Garden' }).click()
  await page.waitForURL(`${conversions()}/${conversionId}`)
  for (const text of ['Your server requested offers', 'The user followed the link', 'aff_sub=mail', '+$1.50 payable', '−$1.50 payable', 'The advertiser reversed it.']) await page.getByText(text).first().waitFor() // prettier-ignore
  await page.getByText('Postback delivered, attempt 1').nth(1).waitFor()
  await becomes(() => page.getByText('For operators').count(), 0)
  await checkPage(page)
  const order = await page.locator('.mantine-Timeline-itemTitle').allTextContents()
  assert.deepEqual(order.slice(0, 3), ['Your server requested offers', 'The user followed the link', 'Approvedby the advertiser']) // prettier-ignore
  await page.getByRole('link', { name: 'Postback', exact: true }).first().click()
  await page.waitForURL(new RegExp(`/apps/${appId}/postbacks/`))

  // The same conversion, from any page, without a mouse.
  await page.keyboard.press('Control+k')
  const search = page.getByRole('combobox', { name: 'Search' })
  await search.fill('bob')
  await page
    .getByRole('option', { name: /Cake Shop, user bob Conversion in App, rejected, found by user ID/ })
    .waitFor()
  await checkPage(page)
  await page.getByRole('status').getByText('1 result', { exact: true }).waitFor()
  await page.getByRole('option', { name: 'Conversions of user “bob”' }).waitFor() // some were found by it
  await search.fill('cake')
  await page.getByRole('option', { name: /Offers with “cake”/ }).waitFor()
  assert.equal(await page.getByRole('option', { name: /Conversions of user/ }).count(), 0)
  await search.fill('nothing has it')
  await page.getByText(/Nothing found for “nothing has it”. Search for pages, apps and offers/).waitFor()
  await search.fill(conversionId)
  await page.locator('[data-combobox-selected]', { hasText: 'found by ID' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(`${conversions()}/${conversionId}`)
  await page.setViewportSize(PHONE)
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await search.fill('tea')
  await pick(page.getByRole('option', { name: /Tea Garden Offer/ }))
  await page.getByRole('heading', { name: 'Tea Garden' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('filtered conversions can be downloaded, and a filter without a match says so', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { colorScheme: 'dark' })
  await go(page, `${conversions()}?status=rejected`)
  await page.getByText('The advertiser rejected it.').waitFor()
  await checkPage(page)
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()])
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n')
  assert.equal(download.suggestedFilename(), `conversions-of-app-${appId}.csv`)
  assert.equal(lines.length, 2)
  assert.match(lines[1] ?? '', /,rejected,advertiser_rejected,\d+,Cake Shop,\d+,bob,/)
  await page.getByLabel('User ID').fill('nobody')
  await page.getByText('No conversions match').waitFor()
  await page.getByLabel('From').fill('2026-01-01')
  await page.waitForURL(/from=2026-01-01/)
  assert.deepEqual(complaints, [])
})

test('one switch shows test traffic on every page, until it is turned off, and is in every address', async () => {
  const at = `/apps/${appId}/conversions?status=approved`
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at })
  await page.getByRole('cell', { name: 'user-19' }).waitFor()
  const toggle = page.getByRole('switch', { name: 'Test data' })
  await toggle.check()
  await page.getByRole('cell', { name: 'tess' }).waitFor()
  assert.equal(await page.getByRole('cell', { name: 'user-19' }).count(), 0)
  await page.waitForURL(/\/conversions\?status=approved&mode=test$/)
  await page.getByText('Test data. This page shows the activity of test keys').waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'Reports', exact: true }).click()
  await page.waitForURL(/\/reports\?mode=test$/)
  await page.getByText('Live data. This page counts live traffic only').waitFor()
  await page.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.getByRole('cell', { name: 'tess' }).waitFor()
  await page.getByRole('link', { name: 'People', exact: true }).click()
  await page.getByRole('heading', { name: 'People', exact: true }).waitFor()
  assert.equal(await page.getByText(/^(Test|Live) data\./).count(), 0)
  await page.getByRole('link', { name: 'API log' }).click()
  await page.getByText('POST /v1/conversions').click()
  await page.getByRole('dialog', { name: 'API request' }).getByText('Open the documentation').waitFor()
  await page.goBack()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show live data' }).click()
  await page.getByText('POST /v1/conversions').waitFor({ state: 'detached' })
  assert.equal(page.url(), `${dashboard.url}/apps/${appId}/requests`)
  await page.goBack()
  await page.getByText('POST /v1/conversions').waitFor()
  await becomes(() => toggle.isChecked(), true)
  assert.equal(await page.getByRole('link', { name: 'Offers', exact: true }).getAttribute('href'), `/apps/${appId}/offers?mode=test`) // prettier-ignore
  assert.deepEqual(complaints, [])
})

test('on a phone all of it is there; operators also see what looked like fraud', async () => {
  const look = { viewport: PHONE, colorScheme: 'dark' as const }
  const { page, complaints } = await dashboard.signIn('operator_reader', null, look)
  await go(page, conversions())
  await page.getByRole('cell', { name: 'user-19' }).waitFor()
  const card = page.getByRole('row').filter({ hasText: 'user-19' })
  for (const text of ['Approved', '$']) await card.getByText(text).first().waitFor()
  assert.equal(await page.getByLabel('Offer ID').isVisible(), false, 'filters are folded')
  await checkPage(page)
  await page.getByRole('button', { name: /^Filters/ }).click()
  await page.getByLabel('Offer ID').waitFor()
  await checkPage(page)
  await go(page, `${conversions()}/${conversionId}`)
  await page.getByText('Not visible to the publisher.').waitFor()
  await page.getByText('too_fast').waitFor()
  await checkPage(page)
  const trail = await page.getByRole('navigation', { name: 'Breadcrumb' }).innerText()
  const short = `…${conversionId.slice(-8)}`
  assert.match(
    trail.replaceAll(/\s+/g, ' '),
    new RegExp(`^Publishers / Publisher \\d+ / App / Conversions / ${short}$`),
  )
  await go(page, `${conversions()}/${crypto.randomUUID()}`)
  await page.getByText('This app has no such conversion.').waitFor()
  complaints.splice(0, 1) // the browser reports the 404
  assert.deepEqual(complaints, [])
})
