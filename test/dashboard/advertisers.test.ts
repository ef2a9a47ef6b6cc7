// Advertisers in a real browser: tokens, URLs to hand out, mappings, and their calls.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POSTBACK_PARAMETERS } from '../../src/features/accounts/advertiser-settings.ts'
import type { CallRules } from '../../src/features/accounts/call-rules.ts'
import { FEED_DEFAULTS } from '../../src/features/feeds/feed-settings.ts'
import { createFeed } from '../../src/features/feeds/feeds.ts'
import { becomes, checkLooks, checkPage, go, PHONE, pick, useDashboard } from './browser.ts'
import { TESTER } from '../tester.ts'
import { testLooks } from '../tier.ts'
import { SECRET_KEY } from '../world.ts'

let offerId = 0
let advertiserId = 0
let clickId = ''
const dashboard = useDashboard('e2e_advertisers', async (world) => {
  ;[offerId = 0] = await world.createOffers({ name: 'Castle of Mirrors', goals: [{ name: 'Install', payout: 1 }] })
  const { advertiser_id } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  advertiserId = advertiser_id
  const { live } = await world.createApp()
  ;({ clickId } = await world.click(offerId, live))
  await world.confirm(offerId, clickId, { status: 'lead_ok' })
})

const { world } = dashboard
const stored = async (column: 'aliases' | 'call_rules') => (await world.database.db.selectFrom('advertisers').select(column).where('advertiser_id', '=', advertiserId).executeTakeFirstOrThrow())[column] // prettier-ignore

test('an operator creates an advertiser and is shown its token once', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'Advertisers', exact: true }).click()
  await page.getByRole('button', { name: 'New advertiser' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Mossgate Play')
  await page.getByRole('button', { name: 'Create advertiser' }).click()
  const token = await page.getByText(/^adv_/).textContent()
  await checkPage(page)
  await page.getByRole('link', { name: 'To Mossgate Play' }).click()
  await page.getByRole('heading', { name: 'Mossgate Play' }).waitFor()
  assert.ok(!(await page.content()).includes(token ?? ''))
  await page.getByText('This advertiser has no offers yet').waitFor()
  assert.deepEqual(complaints, [])
})

test('a new token is shown once, and is in the URLs to hand out until the page is left', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/advertisers/${advertiserId}` })
  await page.getByText(/\/postback\?click_id=\{click_id\}.*token=YOUR_TOKEN$/).waitFor()
  await page.getByRole('button', { name: 'Create new token' }).click()
  await page.getByRole('button', { name: 'Create token', exact: true }).click()
  const token = (await page.getByText(/^adv_/).textContent()) ?? ''
  await page.getByText(new RegExp(`token=${token}$`)).waitFor()
  await page.getByText('The old token works until').waitFor()
  await page.reload()
  await page.getByText(/token=YOUR_TOKEN$/).waitFor()
  assert.ok(!(await page.content()).includes(token))
  assert.deepEqual(complaints, [])
})

test('a call with an unknown word is found, the word is mapped, and the call processed again', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, {
    at: `/network/advertisers/${advertiserId}?tab=calls&outcome=invalid`,
  })
  await page.getByText(/status "lead_ok" is not supported/).waitFor()

  await page.getByRole('tab', { name: 'Callback settings' }).click()
  const addresses = page.getByRole('combobox', { name: 'IP addresses and ranges' })
  await addresses.fill('nowhere')
  await addresses.press('Enter')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText('"nowhere" is not an address').waitFor()
  complaints.length = 0
  await page.getByRole('button', { name: 'Add status' }).click()
  await page.getByLabel('Advertiser’s value').fill('Lead_OK')
  await page.getByRole('button', { name: 'Save' }).nth(1).click()
  await page.getByText('Saved.').waitFor()
  await becomes(() => page.getByLabel('Advertiser’s value').inputValue(), 'lead_ok', 'as the server keeps it')

  await page.getByRole('tab', { name: 'Callbacks' }).click()
  await page.getByRole('button', { name: /^GET/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/token=\*{8}/).waitFor()
  await dialog.getByText('Request (token masked)').waitFor()
  await checkPage(page)
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await page.goForward()
  await page.waitForURL(/&call=/)
  await page.reload()
  await dialog.getByRole('button', { name: 'Process again' }).click()
  await page.getByText('The conversion is approved.').waitFor()
  await page.getByRole('cell', { name: 'approved' }).waitFor()
  await page.getByLabel('Click', { exact: true }).fill(clickId.toUpperCase())
  await page.waitForURL(/click_id=/)
  await page.getByRole('cell', { name: 'approved' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('every parameter of a call can be given the advertiser’s own name', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/advertisers/${advertiserId}?tab=dialect` }) // prettier-ignore
  await page.getByRole('button', { name: 'Add parameter' }).click()
  await page.getByRole('combobox', { name: 'Our parameter' }).click()
  await page.getByRole('option', { name: 'external_offer_id' }).waitFor()
  assert.deepEqual(await page.getByRole('option').allTextContents(), [...POSTBACK_PARAMETERS])
  await pick(page.getByRole('option', { name: 'currency' }))
  await page.getByLabel('Advertiser’s name').fill('cur')
  const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Add parameter' }) })
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  assert.deepEqual(await stored('aliases'), { currency: ['cur'] })
  assert.deepEqual(complaints, [])
})

test('an operator says in plain words which callbacks are ignored, beside those that came with a preset', async () => {
  const { db } = world.database
  await createFeed(db, TESTER, SECRET_KEY, { name: 'AdGem', advertiserId, kind: { preset: 'adgem' }, credentials: { key: 'k' }, settings: FEED_DEFAULTS }) // prettier-ignore
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/advertisers/${advertiserId}?tab=dialect` }) // prettier-ignore
  const section = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Callback rules' }) })
  await section.getByText('If nonpayable_install_goal is true, the callback is ignored: An install that this network does not pay for. Set by AdGem.').waitFor() // prettier-ignore
  const onlyGoal = section.getByRole('checkbox', { name: 'Count unknown goals as the offer’s only goal' })
  assert.deepEqual([await onlyGoal.isChecked(), await onlyGoal.isDisabled()], [true, true])
  await section.getByRole('button', { name: 'Add rule' }).click()
  await section.getByLabel('If the parameter').fill('token')
  await section.getByRole('textbox', { name: 'is', exact: true }).fill('1')
  await section.getByLabel('ignore the callback because').fill('It is a test of the network.')
  await section.getByRole('button', { name: 'Save' }).click()
  await section.getByText('A rule cannot use the token.').waitFor()
  complaints.length = 0 // a refused request is reported as an error, too
  await section.getByLabel('If the parameter').fill('test')
  await checkLooks(page)
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  const [preset, own] = ((await stored('call_rules')) as CallRules).ignored ?? []
  assert.deepEqual([preset?.parameter, own], ['nonpayable_install_goal', { parameter: 'test', is: '1', reason: 'It is a test of the network.' }]) // prettier-ignore

  await page.reload()
  await becomes(() => section.getByLabel('If the parameter').inputValue(), 'test')
  await section.getByRole('button', { name: 'Remove rule test' }).click()
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  assert.deepEqual(((await stored('call_rules')) as CallRules).ignored, [preset])
  assert.deepEqual(complaints, [])
})

test('a read-only operator has nothing to change advertisers with', async () => {
  const { page } = await dashboard.signIn('operator_reader', null, {
    at: `/network/advertisers/${advertiserId}?tab=dialect`,
  })
  await page.getByText('Status mappings').waitFor()
  for (const name of ['Save', 'Add status', 'Add rule', 'New offer'])
    await becomes(() => page.getByRole('button', { name }).count(), 0, name)
})

for (const [name, look] of [
  ['in light on a desktop', {}],
  ['in the dark on a phone', { colorScheme: 'dark', viewport: PHONE }],
] as const)
  testLooks(`every page of advertisers is open to everybody, ${name}`, async () => {
    const paths = ['', '?tab=calls', `/${advertiserId}`, `/${advertiserId}?tab=dialect`, `/${advertiserId}?tab=calls`]
    const { page } = await dashboard.signIn('operator', null, look)
    for (const path of paths) {
      await go(page, `/network/advertisers${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await checkPage(page)
    }
  })
