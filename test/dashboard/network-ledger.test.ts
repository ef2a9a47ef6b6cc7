// The operator's money in a real browser: paying publishers, noting what advertisers paid, and the log of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, makeConversion, makeDeal } from '../conversion-rows.ts'
import { checkLooks, useDashboard } from './browser.ts'

let games: Deal
let small: Deal
const dashboard = useDashboard('network_ledger_e2e', async (world) => {
  const earn = async (payoutMicros: number, status: 'approved' | 'pending' = 'approved') => {
    const deal = await makeDeal(world)
    await makeConversion(world, deal, { status, payoutMicros, revenueMicros: 2 * payoutMicros, at: new Date() })
    return deal
  }
  games = await earn(120_505_000)
  small = await earn(3_000_000)
  await earn(40_000_000, 'pending')
})

test('an operator finds who is owed enough, exports it, marks it as paid, and sees it in log and payments', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'Ledger' }).click()
  await page.getByRole('heading', { name: 'Ledger and payments' }).waitFor()
  await page.getByRole('row', { name: small.publisher }).waitFor()
  await checkLooks(page)
  await page.getByLabel('Owed at least').fill('100')
  await page.getByText('1 publisher, $120.50 to pay').waitFor()
  assert.match(page.url(), /minimum=100/)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ])
  const file = await (await download.createReadStream()).toArray()
  assert.match(Buffer.concat(file).toString(), new RegExp(`${games.publisherId},${games.publisher},,120.50,USD`))

  await page.getByLabel(`Choose ${games.publisher}`).check()
  await page.getByRole('button', { name: 'Mark as paid' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reference').fill('2026-11')
  await checkLooks(page)
  await dialog.getByRole('button', { name: 'Mark as paid' }).click()
  await dialog.getByText('1 payment is recorded.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('Nobody matches').waitFor()

  await page.getByRole('tab', { name: 'Payments' }).click()
  await page.getByRole('row', { name: '2026-11' }).getByText('$120.50').waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('row', { name: 'payout.record' }).getByText('reference 2026-11').waitFor()
  assert.deepEqual(complaints, [])
})

test('an operator notes what an advertiser paid, once, and has the ledger checked', async () => {
  const { page } = await dashboard.signIn('operator')
  await page.goto(`${dashboard.url}/network/ledger?view=receipts`)
  const row = page.getByRole('row').filter({ has: page.locator(`a[href$="/advertisers/${games.advertiserId}"]`) })
  await row.getByText('$241.01').waitFor()
  await checkLooks(page)
  for (const isFirst of [true, false]) {
    await row.getByRole('button', { name: 'Record' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount in US dollars').fill('41.01')
    await dialog.getByLabel('Reference').fill('INV 7')
    await dialog.getByRole('button', { name: 'Record the receipt' }).click()
    if (isFirst) await row.getByText('$200.00').waitFor()
    else await dialog.getByText('nothing was recorded now').waitFor()
  }
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Check the ledger' }).click()
  await page.getByText('The ledger is right').waitFor()
  await checkLooks(page)
})

test('an operator who only looks sees it all and finds nothing to press', async () => {
  const { page } = await dashboard.signIn('operator_reader')
  await page.goto(`${dashboard.url}/network/ledger`)
  await page.getByRole('row', { name: small.publisher }).waitFor()
  assert.equal(await page.getByRole('checkbox').count(), 0)
  await page.getByRole('tab', { name: 'Advertisers' }).click()
  await page.getByRole('columnheader', { name: 'Owes' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /^Record/ }).count(), 0)
})
