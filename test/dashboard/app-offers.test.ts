// What a publisher sees of offers, in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { publisherOfApp } from '../people.ts'
import { becomes, checkPage, go, PHONE, pick, useDashboard } from './browser.ts'

let appId = 0
let publisherId = 0
let testKeys: IssuedCredentials
let tea = 0
const dashboard = useDashboard('e2e_app_offers', async (world) => {
  ;({ appId, test: testKeys } = await world.createApp())
  publisherId = await publisherOfApp(world, appId)
  const many = Array.from({ length: 21 }, (_, i) => ({ name: `Survey number ${i}`, category: 'survey', payout: '0.5' }))
  ;[tea = 0] = await world.createOffers(
    { name: 'Tea Garden', category: 'game', countries: ['SE'], platforms: ['ios'], payout: '3', requirements: 'New players only.', language: 'sv', goals: [{ name: 'Open it', payout: '1' }, { name: 'Reach level 9', payout: '2' }] },
    ...many,
  ) // prettier-ignore
})
const offers = () => `${dashboard.url}/apps/${appId}/offers`

test('a publisher looks through the offers, filters them and reads about one', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_developer', publisherId)
  await page.getByRole('link', { name: 'Offers', exact: true }).click()
  await page.getByText('1 to 20 of 22 offers').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('21 to 22 of 22 offers').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('page'), '2')
  await page.getByLabel('Search').fill('garden')
  await page.getByText('1 to 1 of 1 offer').waitFor()
  await page.getByRole('combobox', { name: 'Country' }).click()
  await pick(page.getByRole('option', { name: 'Norway (NO)' }))
  await page.getByText('No offers match').waitFor()
  await page.getByRole('combobox', { name: 'Country' }).fill('Sweden')
  await pick(page.getByRole('option', { name: 'Sweden (SE)' }))
  await page.getByText('300 Coins').waitFor()
  await page.getByRole('columnheader', { name: 'EPC' }).waitFor()
  await page.getByRole('combobox', { name: 'Sort by' }).click()
  await pick(page.getByRole('option', { name: 'Recommended', exact: true }))
  await page.getByRole('columnheader', { name: 'Expected EPC' }).waitFor()
  await page.getByText('no clicks yet').waitFor()
  await page.getByText('New: until there are more clicks').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('country'), 'SE')
  await checkPage(page)
  await page.getByRole('button', { name: 'Tea Garden' }).click()
  const drawer = page.getByRole('dialog')
  for (const text of ['New players only.', 'Reach level 9', '200 Coins', 'Sweden', 'iOS', 'Swedish', 'Open', 'Position on the wall']) await drawer.getByText(text, { exact: true }).first().waitFor() // prettier-ignore
  await checkPage(page)
  await page.goBack()
  await drawer.waitFor({ state: 'hidden' })
  assert.equal(new URL(page.url()).searchParams.get('country'), 'SE', 'Back closes the drawer only')
  assert.deepEqual(complaints, [])
})

test('rules that are saved take offers away at once, and the form says why a user does not see one', async () => {
  // A separate app: other tests count the offers that all users see.
  const own = (await dashboard.world.createApp()).appId
  const owner = await publisherOfApp(dashboard.world, own)
  const { page, complaints } = await dashboard.signIn('publisher_owner', owner, {
    colorScheme: 'dark',
    at: `/apps/${own}/offers?tab=rules`,
  })
  await page.getByText('22 of 22 active offers are allowed.').waitFor()
  const keywords = page.getByRole('combobox', { name: 'Blocked words' })
  await keywords.fill('Garden')
  await keywords.press('Enter')
  await checkPage(page)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('21 of 22 active offers are allowed.').waitFor()
  await page.getByRole('tab', { name: 'Offer check' }).click()
  await page.getByLabel('Offer ID').fill(String(tea))
  await page.getByRole('combobox', { name: 'Platform' }).click()
  await pick(page.getByRole('option', { name: 'Android' }))
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText("The app's own content rules exclude the offer.").waitFor()
  await page.getByText('The offer does not run on this platform.').waitFor()
  await page.getByText('Saved, effective immediately.').waitFor({ state: 'hidden' })
  await checkPage(page)
  await page.getByLabel('Offer ID').fill('999999')
  await page.getByRole('button', { name: 'Check' }).click()
  await page.getByText('No offer has this ID.').waitFor()
  complaints.splice(0, 1) // the browser reports the 404
  await page.getByRole('tab', { name: 'Content rules' }).click()
  await page.getByText('Garden', { exact: true }).waitFor()
  await keywords.press('Backspace')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('22 of 22 active offers are allowed.').waitFor()
  assert.deepEqual(complaints, [])
})

test('on a phone and in the dark, all of it is there; who may only look has nothing to save', async () => {
  const { page, complaints } = await dashboard.signIn('operator_reader', null, { viewport: PHONE, colorScheme: 'dark' })
  await go(page, offers())
  await page.getByText('1 to 20 of 22 offers').waitFor()
  await checkPage(page)
  await go(page, `${offers()}?tab=rules`)
  await page.getByText('22 of 22').waitFor()
  await becomes(() => page.getByRole('button', { name: 'Save' }).count(), 0)
  await checkPage(page)
  await go(page, `${offers()}?tab=why`)
  await page.getByRole('button', { name: 'Check' }).waitFor()
  await checkPage(page)
  await go(page, `/apps/${appId}/console`)
  await page.getByText(testKeys.api_key).waitFor()
  await checkPage(page)
  assert.deepEqual(complaints, [])
})

test('the console opens the reference with the key filled in, which no server sees', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_developer', publisherId)
  await page.getByRole('link', { name: 'API console' }).click()
  await page.getByText(testKeys.api_key).waitFor()
  await checkPage(page)
  const asked: string[] = []
  page.context().on('request', (request) => asked.push(request.url()))
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: 'Open API reference' }).click()
  const reference = await opened
  const fields = reference.getByPlaceholder(/./)
  await fields.nth(1).waitFor({ state: 'attached' }) // of the key and of the secret
  const values = await Promise.all((await fields.all()).map((field) => field.inputValue()))
  assert.deepEqual(values, [testKeys.api_key, ''])
  assert.equal(reference.url(), `${dashboard.url}/docs`)
  assert.ok(asked.length > 0)
  assert.ok(!asked.some((url) => url.includes('pk_')))
  assert.deepEqual(complaints, [])
})
