// The advertisers' own section, in a real browser: from the invitation to everything they see and do.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversion } from '../conversion-rows.ts'
import { publisherOfApp } from '../people.ts'
import { becomes, checkLooks, checkPage, go, useDashboard } from './browser.ts'

let advertiserId = 0
let offerId = 0
const dashboard = useDashboard('e2e_advertiser_door', async (world) => {
  ;[offerId = 0] = await world.createOffers({ name: 'Lighthouse Rush', goals: [{ name: 'Install', payout: 1, revenue: 2 }] }) // prettier-ignore
  const { advertiser_id } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  advertiserId = advertiser_id
  const { live } = await world.createApp()
  const { clickId } = await world.click(offerId, live)
  await world.confirm(offerId, clickId, { txn_id: 'order-1' })
})

const signInAs = (at: string) =>
  dashboard.signIn('advertiser', { publisherId: null, advertiserId }, { at: `/advertisers/${advertiserId}${at}` })

test('an operator invites an advertiser’s person, who joins and lands in their own section', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/advertisers/${advertiserId}` })
  await page.getByRole('main').getByRole('link', { name: 'People' }).click()
  await page.getByText('No members yet').waitFor()
  await page.getByRole('button', { name: 'Invite member' }).click()
  await page.getByLabel('Email address').fill('ada@lighthouse.example')
  await page.getByRole('button', { name: 'Send invitation' }).click()
  const url = (await page.getByText(/\/join#/).textContent()) ?? ''
  await checkPage(page)
  await page.context().clearCookies()
  await page.goto(url)
  await page.getByText(/You’re joining Advertiser/).waitFor()
  await page.getByLabel('Your name').fill('Ada')
  await page.getByRole('textbox', { name: 'Password' }).fill('a good long password')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL(new RegExp(`/advertisers/${advertiserId}`))
  await page.getByRole('heading', { level: 1 }).waitFor()
  await becomes(() => page.getByRole('link', { name: 'Publishers' }).count(), 0, 'nothing of the network')
  assert.deepEqual(complaints, [])
})

test('they rotate their token, limit IP addresses and read what their callbacks came to', async () => {
  const { page, complaints } = await signInAs('/integration')
  await page.getByText(/token=YOUR_TOKEN$/).waitFor()
  await page.getByRole('button', { name: 'Create new token' }).click()
  await page.getByRole('button', { name: 'Create token', exact: true }).click()
  const token = (await page.getByText(/^adv_/).textContent()) ?? ''
  await page.getByText(new RegExp(`token=${token}$`)).waitFor()
  const addresses = page.getByRole('combobox', { name: 'IP addresses and ranges' })
  await addresses.fill('192.0.2.7')
  await addresses.press('Enter')
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText('Saved.').waitFor()
  await checkLooks(page)
  await go(page, `/advertisers/${advertiserId}/callbacks`)
  await page.getByRole('cell', { name: 'approved' }).waitFor()
  await page.getByRole('button', { name: /^GET/ }).click()
  await page.getByRole('dialog').getByText('order-1').first().waitFor()
  await becomes(() => page.getByRole('button', { name: 'Process again' }).count(), 0, 'that is the operator’s')
  await checkPage(page)
  assert.deepEqual(complaints, [])
})

test('they read their figures, offers and conversions', async () => {
  const { page, complaints } = await signInAs('')
  await page.getByRole('button', { name: /^Spend\s*\$2\.00/ }).waitFor()
  await page.getByRole('tab', { name: 'Offers' }).click()
  await page.getByRole('cell', { name: '$2.00' }).waitFor()
  await becomes(() => page.getByText('Payout').count(), 0, 'nothing of payouts')
  await becomes(() => page.getByRole('tab', { name: 'Publishers' }).count(), 0, 'nothing of publishers')
  await checkLooks(page)
  await page.getByRole('tabpanel').getByRole('link', { name: 'Lighthouse Rush' }).click()
  await page.getByRole('heading', { name: 'Lighthouse Rush' }).waitFor()
  await page.getByRole('cell', { name: '$2.00' }).waitFor()
  await checkLooks(page)
  await go(page, `/advertisers/${advertiserId}/offers?search=light`)
  await page.getByRole('link', { name: 'Lighthouse Rush' }).waitFor()
  await checkPage(page)
  await go(page, `/advertisers/${advertiserId}/conversions`)
  await page.getByRole('cell', { name: 'order-1' }).waitFor()
  await page.getByLabel('Transaction ID').fill('order-2')
  await page.getByText('No conversions match').waitFor()
  await page.getByLabel('Transaction ID').fill('order-1')
  await page.getByRole('cell', { name: 'order-1' }).waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Approve or reverse by CSV' }).click()
  const dialog = page.getByRole('dialog')
  const buffer = Buffer.from('transaction_id,status\norder-1,reversed\norder-7,approved\n')
  await dialog.locator('input[type=file]').setInputFiles({ name: 'decisions.csv', mimeType: 'text/csv', buffer })
  await dialog.getByText('1 conversion will change; 1 row will change nothing.').waitFor()
  await dialog.getByRole('cell', { name: 'No conversion has this transaction ID.' }).waitFor()
  await checkPage(page)
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await dialog.getByText('1 conversion changed.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('cell', { name: 'reversed' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('an operator sets their budget, they see what is spent, and when it is used up both see what is closed', async () => {
  const operator = await dashboard.signIn('operator', null, { at: `/network/advertisers/${advertiserId}?tab=budget` })
  const form = operator.page
  await form.getByLabel('Per day').fill('0')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter an amount above 0.').waitFor()
  await form.getByLabel('Per day').fill('10')
  await form.getByLabel('In total').fill('1,000')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByRole('cell', { name: '$10.00' }).waitFor()
  await checkLooks(form)
  const { world } = dashboard
  const { appId } = await world.createApp()
  const publisherId = await publisherOfApp(world, appId)
  const { goal_id: goalId } = await world.database.db.selectFrom('goals').select('goal_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  const deal = { appId, publisherId, publisher: '', advertiserId, offerId, goalId }
  await createConversion(world, deal, { status: 'pending', payoutMicros: 1, revenueMicros: 12_500_000, at: new Date() })
  const { page, complaints } = await signInAs('')
  await page.getByRole('heading', { name: 'Budget' }).waitFor()
  await page.getByText('all your offers are closed. They open again on').waitFor()
  await checkLooks(page)
  await form.reload()
  await form.getByText('They open again on').waitFor()
  await form.getByLabel('Per day').fill('')
  await form.getByRole('button', { name: 'Save' }).click()
  await becomes(() => form.getByText('all offers of this advertiser are closed').count(), 0)
  assert.deepEqual([...complaints, ...operator.complaints], [])
})

test('they pause and resume an offer, and test their postback step by step', async () => {
  const { page, complaints } = await signInAs(`/offers/${offerId}`)
  await page.getByRole('button', { name: 'Pause offer' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText('You paused this offer.').waitFor()
  await checkPage(page)
  await page.getByRole('button', { name: 'Resume offer' }).click()
  await page.getByRole('button', { name: 'Pause offer' }).waitFor()
  await dashboard.world.database.pool.query(`UPDATE advertisers SET allowed_ips = '{}'`) // calls come from anywhere again
  await go(page, `/advertisers/${advertiserId}/postback-test`)
  await page.getByRole('button', { name: 'Start test' }).click()
  const link = (await page.getByRole('link', { name: 'Open the test link' }).getAttribute('href')) ?? ''
  await page.request.get(link, { maxRedirects: 0 })
  const url = page.getByText(/token=YOUR_TOKEN$/)
  await url.waitFor()
  await checkLooks(page)
  const clickId = /click_id=([^&]+)/.exec((await url.textContent()) ?? '')?.[1] ?? ''
  await dashboard.world.confirm(offerId, clickId, { status: 'nonsense' })
  await page.getByText('Outcome: invalid').waitFor()
  await dashboard.world.confirm(offerId, clickId, { txn_id: 'test-9' })
  await page.getByText('(test: nothing is owed)').waitFor()
  await becomes(() => page.getByLabel('done').count(), 4)
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})
