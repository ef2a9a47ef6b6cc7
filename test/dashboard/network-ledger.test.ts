// The operator's money in a real browser: payment runs, adjustments, voids, receipts, and the log of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Deal, createConversion, createDeal } from '../conversion-rows.ts'
import { becomes, checkLooks, go, useDashboard } from './browser.ts'

let games: Deal
let small: Deal
const dashboard = useDashboard('network_ledger_e2e', async (world) => {
  const earn = async (payoutMicros: number, status: 'approved' | 'pending' = 'approved') => {
    const deal = await createDeal(world)
    await createConversion(world, deal, { status, payoutMicros, revenueMicros: 2 * payoutMicros, at: new Date() })
    return deal
  }
  games = await earn(120_505_000)
  small = await earn(3_000_000)
  await earn(40_000_000, 'pending')
})

test('an operator creates a payment run, exports it, marks it as paid, and sees it in log and payments', async () => {
  const { page, complaints } = await dashboard.signIn('operator')
  await page.getByRole('link', { name: 'Ledger' }).click()
  await page.getByRole('heading', { name: 'Ledger and payments' }).waitFor()
  await page.getByRole('row', { name: small.publisher }).waitFor()
  await checkLooks(page)
  await page.getByLabel('Owed at least').fill('100')
  await page.getByText('1 publisher, $120.50 to pay').waitFor()
  assert.match(page.url(), /minimum=100/)
  await page.getByRole('button', { name: 'Create payment run' }).click()
  const row = page.getByRole('row', { name: games.publisher })
  await row.getByText('due').waitFor()
  await checkLooks(page)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  const file = await (await download.createReadStream()).toArray()
  assert.match(Buffer.concat(file).toString(), new RegExp(`${games.publisherId},${games.publisher},,120.50,USD,run-1`))

  await page.getByRole('button', { name: 'Mark all as paid' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Mark as paid' }).click()
  await page.getByText('1 marked as paid.').waitFor()
  await row.getByText('Paid', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'All payment runs' }).click()
  await page.getByRole('row', { name: 'Run 1' }).getByText('$120.50').first().waitFor()
  await checkLooks(page)

  await page.getByRole('tab', { name: 'Payments', exact: true }).click()
  await page.getByRole('row', { name: 'run-1' }).getByText('$120.50').waitFor()
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByRole('row', { name: 'payment_run.pay' }).waitFor()
  assert.deepEqual(complaints, [])
})

test('an operator credits a bonus, voids it, and cancels a line of a run, each with a reason', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/ledger' })
  await page.getByRole('button', { name: `Adjust the balance of ${small.publisher}` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Amount in US dollars').fill('2.5')
  await dialog.getByLabel('Reference').fill('bonus 1')
  await dialog.getByLabel('Reason').fill('A good month')
  await checkLooks(page)
  await dialog.getByRole('button', { name: 'Record adjustment' }).click()
  await page.getByRole('row', { name: small.publisher }).getByText('$5.50').first().waitFor()

  await page.getByLabel(`Select ${small.publisher}`).check()
  await page.getByRole('button', { name: 'Create payment run for 1' }).click()
  await page.getByRole('button', { name: `Cancel ${small.publisher}` }).click()
  await dialog.getByLabel('Reason').fill('Not yet')
  await dialog.getByRole('button', { name: 'Cancel line' }).click()
  await page.getByRole('row', { name: small.publisher }).getByText('Not yet').waitFor()

  await page.getByRole('tab', { name: 'Payments', exact: true }).click()
  await page.getByRole('button', { name: `Void bonus 1 of ${small.publisher}` }).click()
  await dialog.getByLabel('Reason').fill('The wrong publisher')
  await dialog.getByRole('button', { name: 'Void' }).click()
  await page.getByRole('row', { name: 'Void: adjustment of' }).getByText('The wrong publisher').waitFor()
  await page.getByRole('row', { name: 'A good month' }).getByText('voided').waitFor()
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})

test('an amount that could be read in two ways is refused at its field; the same adjustment counts once', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/network/ledger' })
  const dialog = page.getByRole('dialog')
  const record = async (amount: string) => {
    await dialog.getByLabel('Amount in US dollars').fill(amount)
    await dialog.getByLabel('Reference').fill('comma')
    await dialog.getByLabel('Reason').fill('Typed on a train')
    await dialog.getByRole('button', { name: 'Record adjustment' }).click()
  }
  const adjust = page.getByRole('button', { name: `Adjust the balance of ${games.publisher}` })
  await adjust.click()
  for (const amount of ['1,50', '1e9', '-5', 'abc']) {
    await record(amount)
    await dialog.getByText('Enter an amount such as 1234.56.').waitFor()
  }
  await record('0')
  await dialog.getByText('Enter an amount above 0.').waitFor()
  await record('1.50')
  await page.getByText('Adjustment recorded.').waitFor()
  await adjust.click()
  await record('1.50')
  await page.getByText('This adjustment was already recorded').waitFor()
  await adjust.click()
  await record('2')
  await dialog.getByText('was already used for 1.50 USD, not 2.00 USD').waitFor()
  await becomes(() => dialog.getByLabel('Reason').inputValue(), 'Typed on a train')
})

test('a payment run pays what the list shows: never all publishers for a search, or for an invalid minimum', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/network/ledger' })
  const create = page.getByRole('button', { name: 'Create payment run' })
  await page.getByRole('row', { name: small.publisher }).waitFor()
  await page.getByLabel('Publisher', { exact: true }).fill(small.publisher)
  await page.getByText('Select publishers, or clear the search to pay all.').waitFor()
  await becomes(() => create.isDisabled(), true)
  await page.getByLabel('Publisher', { exact: true }).fill('')
  await page.getByLabel('Owed at least').fill('a lot')
  await page.getByText('Enter an amount such as 1234.56.').waitFor()
  await becomes(() => create.isDisabled(), true)

  await go(page, '/network/ledger')
  await page.getByLabel(`Select ${small.publisher}`).check()
  await page.getByRole('button', { name: 'Create payment run for 1' }).click()
  await page.getByRole('row', { name: small.publisher }).getByText('due').waitFor()
  await page.getByRole('tab', { name: 'Pay publishers' }).click()
  const row = page.getByRole('row', { name: small.publisher })
  await row.getByRole('link', { name: /^in run/ }).waitFor()
  await becomes(() => page.getByLabel(`Select ${small.publisher}`).isDisabled(), true)
})

test('an operator notes what an advertiser paid, once, and has the ledger checked', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/network/ledger?view=receipts' })
  const row = page.getByRole('row').filter({ has: page.locator(`a[href$="/advertisers/${games.advertiserId}"]`) })
  await row.getByText('$241.01').waitFor()
  await checkLooks(page)
  for (const isFirst of [true, false]) {
    await row.getByRole('button', { name: 'Record' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount in US dollars').fill('41.01')
    await dialog.getByLabel('Reference').fill('INV 7')
    await dialog.getByRole('button', { name: 'Record receipt' }).click()
    if (isFirst) await row.getByText('$200.00').waitFor()
    else await page.getByText('This receipt was already recorded').waitFor()
  }
  await page.getByRole('tab', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Check ledger' }).click()
  await page.getByText('The ledger is correct').waitFor()
  await checkLooks(page)
})

test('an operator who only looks sees it all and finds nothing to press', async () => {
  const { page } = await dashboard.signIn('operator_reader', null, { at: '/network/ledger' })
  await page.getByRole('row', { name: small.publisher }).waitFor()
  await becomes(() => page.getByRole('checkbox').count(), 0)
  await page.getByRole('tab', { name: 'Advertisers' }).click()
  await page.getByRole('columnheader', { name: 'Owes' }).waitFor()
  await becomes(() => page.getByRole('button', { name: /^(Record|Adjust|Create)/ }).count(), 0)
})
