// The operator decides about conversions, and about what looks like fraud, in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal } from '../conversion-rows.ts'
import { becomes, checkLooks, checkPage, go, PHONE, pick, useDashboard } from './browser.ts'

let deal: Deal
const waiting: string[] = []
let approved: string
const dashboard = useDashboard('e2e_conversions', async (world) => {
  deal = await createDeal(world, { name: 'Tidewater Tiles' }, 'Puzzle corner')
  const row = { payoutMicros: 1_250_000, revenueMicros: 2_000_000 }
  for (const minutes of [50, 40, 30, 20]) {
    const at = new Date(Date.now() - minutes * 60_000)
    waiting.push((await createConversion(world, deal, { ...row, status: 'pending', at })).conversionId)
  }
  approved = (await createConversion(world, deal, { ...row, status: 'approved', at: new Date() })).conversionId
})

const short = (id = '') => `…${id.slice(-8)}`
const statusOf = async (id = '') =>
  (
    await dashboard.world.database.db
      .selectFrom('conversions')
      .select('status')
      .where('conversion_id', '=', id)
      .executeTakeFirstOrThrow()
  ).status

test('an operator works through the queue: approves some, rejects one and says why', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/conversions' })
  await page.getByRole('link', { name: short(waiting[0]) }).waitFor()
  const shown = await page.getByRole('link', { name: /^…/ }).allInnerTexts()
  assert.deepEqual(shown, waiting.map(short), 'oldest first')
  await checkLooks(page)

  for (const id of waiting.slice(0, 2)) await page.getByLabel(`Select conversion ${short(id)}`).check()
  await page.getByRole('button', { name: 'Approve 2' }).click()
  await page.getByRole('dialog', { name: 'Approve 2 conversions' }).waitFor()
  await page.getByRole('button', { name: 'Approve', exact: true }).click()
  await page.getByText('2 approved.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('link', { name: short(waiting[0]) }).waitFor({ state: 'detached' })

  await page.getByRole('link', { name: short(waiting[2]) }).click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  await page.getByRole('button', { name: 'Reject' }).click()
  const reject = page.getByRole('dialog').getByRole('button', { name: 'Reject' })
  await becomes(() => reject.isDisabled(), true, 'not without a reason')
  await page.getByRole('dialog').getByLabel('Reason shown to the publisher').first().click()
  await pick(page.getByRole('option', { name: 'fraud' }))
  await page.getByRole('dialog').getByLabel('Internal note').fill('Same device as forty others')
  await reject.click()
  await page.getByText('1 rejected').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('Same device as forty others').waitFor()
  await page.getByText('By operator: fraud').waitFor()
  await page.getByRole('cell', { name: 'Publisher, pending' }).first().waitFor()
  await checkLooks(page)

  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: /^Audit log Network page/ }).waitFor()
  await page.keyboard.type('puzzle')
  await page.getByRole('option', { name: /^Puzzle corner App \d+ of/ }).waitFor()
  await page.getByRole('combobox', { name: 'Search' }).fill('advertiser')
  await page
    .getByRole('option', { name: /^Advertiser \d+ Advertiser \d+/ })
    .first()
    .waitFor()
  await checkLooks(page)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  assert.deepEqual(await Promise.all(waiting.map(statusOf)), ['approved', 'approved', 'rejected', 'pending'])
})

test('a pasted list is reversed; what cannot be is reported', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/conversions?view=all' })
  await page.getByRole('button', { name: 'Bulk decide by ID' }).click()
  await page
    .getByLabel('Conversion IDs')
    .fill(`conversion_id,note\n${approved},x\n${waiting[3]},y\n"${approved}"\nnot an id\n`)
  await page.getByRole('dialog').getByLabel('Action').first().click()
  await pick(page.getByRole('option', { name: 'Reverse' }))
  await page.getByRole('button', { name: 'Continue with 3' }).click()
  await page.getByLabel('Internal note').fill('Charged back')
  await page.getByRole('dialog').getByRole('button', { name: 'Reverse' }).click()
  await page.getByText('1 reversed, 2 refused.').waitFor()
  await page.getByText('Refused. This conversion is pending and cannot be reversed.').waitFor()
  await page.getByText('Refused. This is not a conversion ID.').waitFor()
  await checkPage(page)
  assert.equal(await statusOf(approved), 'reversed')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

  await page.getByLabel('Status').first().click()
  await pick(page.getByRole('option', { name: 'reversed' }))
  await page.waitForURL(/status=reversed/)
  await page.getByRole('link', { name: short(waiting[3]) }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: short(approved) }).waitFor()
  await page.getByRole('button', { name: /^Filters/ }).click()
  await page.getByLabel('App ID').fill('none')
  await page.getByText('An ID is a number.').waitFor()
  await page.getByRole('link', { name: short(approved) }).waitFor()
  await page.getByLabel('App ID').fill('999999')
  await page.getByLabel('App ID').press('Enter')
  await page.getByText('No conversion matches').waitFor()
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})

test('a fraud rule is added for one offer, changed and removed', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/fraud' })
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByLabel('Offer').first().fill(String(deal.offerId))
  await pick(page.getByRole('option', { name: `Tidewater Tiles (${deal.offerId})` }))
  await page.getByLabel('Threshold').fill('soon')
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('Enter a whole number from 1 to 1,000,000,000.').waitFor()
  await page.getByLabel('Threshold').fill('45')
  await page.getByRole('button', { name: 'Save rule' }).click()
  const cell = page.getByRole('cell', { name: `Tidewater Tiles (ID ${deal.offerId})` })
  await cell.waitFor()
  await page.getByRole('cell', { name: /fewer than 45 seconds/ }).waitFor()
  await page.getByRole('button', { name: `Edit the rule for: Too fast, offer ${deal.offerId}` }).click()
  await page.getByRole('dialog').getByLabel('Action').first().click()
  await pick(page.getByRole('option', { name: /^Hold/ }))
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByRole('cell', { name: 'hold for review' }).waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: `Remove the rule for: Too fast, offer ${deal.offerId}` }).click()
  await page.getByRole('button', { name: 'Remove rule' }).click()
  await cell.waitFor({ state: 'detached' })
  await page.setViewportSize(PHONE)
  await checkPage(page)
  assert.deepEqual(complaints, [])
})

test('who may only look sees all of it and decides nothing', async () => {
  const { page, complaints } = await dashboard.signIn('operator_reader', null, { at: '/network/conversions' })
  await page.getByRole('link', { name: short(waiting[3]) }).waitFor()
  await becomes(() => page.getByRole('checkbox').count(), 0)
  await becomes(() => page.getByRole('button', { name: /decide/i }).count(), 0)
  await go(page, `/network/conversions/${waiting[3]}`)
  await page.getByRole('heading', { name: 'Ledger' }).waitFor()
  await becomes(() => page.getByRole('button', { name: /^(Approve|Reject|Reverse)$/ }).count(), 0)
  await go(page, '/network/fraud')
  await page.getByText('always').first().waitFor()
  await becomes(() => page.getByRole('button', { name: /rule/ }).count(), 0)
  assert.deepEqual(complaints, [])
})
