// Reports, balance and the operator's overview, as people use them in a browser.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { recordPayout } from '../../src/features/ledger/payments.ts'
import { type Deal, createConversion, createDeal } from '../conversion-rows.ts'
import { addClicks } from '../seed-rows.ts'
import { becomes, checkLooks, checkPage, explains, go, PHONE, pick, useDashboard } from './browser.ts'
import { testLooks } from '../tier.ts'
import { TESTER } from '../tester.ts'

const USD = 1_000_000
const HOUR_MS = 3_600_000

let deal: Deal
let quiet: Deal
const dashboard = useDashboard('reports_e2e', async (world) => {
  deal = await createDeal(world, { name: 'Tiny Farm' })
  quiet = await createDeal(world)
  const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * HOUR_MS)
  const click = { appId: deal.appId, offerId: deal.offerId, country: 'DE', aff_sub: 'mail' }
  await addClicks(world.database.db, ...[1, 2, 30, 50].map((hours) => ({ ...click, at: at(hours).toISOString() })), {
    ...click,
    country: 'US',
    at: at(24 * 60).toISOString(),
  })
  await world.database.pool.query("UPDATE clicks SET locker_id = 4711 WHERE country = 'US'")
  const worth = { payoutMicros: 3 * USD, revenueMicros: 5 * USD }
  await createConversion(world, deal, { ...worth, status: 'approved', at: at(1) })
  await createConversion(world, deal, { ...worth, status: 'pending', at: at(2) })
  await createConversion(world, deal, { ...worth, status: 'reversed', at: at(3) })
  await recordPayout(world.database.db, TESTER, {
    publisherId: deal.publisherId,
    amountMicros: USD,
    reference: 'transfer 7',
    at: at(0),
  })
})

const figure = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name} `) })
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

async function choosePeriod(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Period' }).click()
  await pick(page.getByRole('option', { name, exact: true }))
}

async function download(page: Page, name: string | RegExp): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()])
  return readFileSync(await file.path(), 'utf8')
}

test('a publisher reads the figures by day, offer, country and sub-ID, and takes them along', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_developer', deal.publisherId, {
    at: `/apps/${deal.appId}/reports`,
  })
  assert.match((await figure(page, 'Clicks').innerText()).replaceAll(/\s+/g, ' '), /^Clicks 4 /)
  assert.match(await figure(page, 'Conversions').innerText(), /1 approved, 1 pending/)
  await page
    .getByRole('img', { name: /Clicks by day/ })
    .locator('svg')
    .first()
    .waitFor()
  await becomes(() => page.getByRole('row').count(), 32) // the head, 30 days and the total
  await checkPage(page)
  await figure(page, 'Payout').click()
  await page.getByRole('img', { name: /Payout by day/ }).waitFor()

  await page.getByRole('tab', { name: 'Countries' }).click()
  await row(page, 'Germany').waitFor()
  await becomes(() => row(page, 'United States').count(), 0)
  await choosePeriod(page, 'Last 90 days')
  await row(page, 'United States').waitFor()
  assert.match(page.url(), /range=90/)
  await page.reload()
  await row(page, 'United States').waitFor()
  assert.match(await download(page, 'Download CSV'), /^country,clicks,[^]*\r\nDE,4,[^]*\r\nUS,1,/)
  await page.getByRole('button', { name: 'United States' }).click()
  await row(page, 'Germany').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Remove: Only US' }).click()
  await row(page, 'Germany').waitFor()

  await page.getByRole('tab', { name: 'Sub-IDs' }).click()
  await row(page, 'mail').waitFor()
  await page.getByRole('tab', { name: 'Lockers' }).click()
  await becomes(async () => (await row(page, '4711').innerText()).split(/\s+/).slice(0, 2).join(' '), '4711 1')
  await page.getByRole('tab', { name: 'Platforms' }).click()
  await row(page, 'Unknown').waitFor()
  await page.getByRole('tab', { name: 'Offers' }).click()
  await row(page, 'Tiny Farm').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Tiny Farm' }).waitFor()
  await page.waitForURL(new RegExp(`/apps/${deal.appId}/offers/${deal.offerId}\\?.*range=90`))
  assert.match(await figure(page, 'Clicks').innerText(), /5/)
  await becomes(() => page.getByRole('tab', { name: 'Offers' }).count(), 0)
  await checkLooks(page)

  await go(page, `/apps/${deal.appId}`)
  await page.getByRole('heading', { name: 'Latest conversions' }).waitFor()
  await page.getByRole('img', { name: /Clicks by day/ }).waitFor()
  await becomes(() => page.getByRole('link', { name: 'Tiny Farm' }).count(), 3)
  await explains(page, page.getByText('CR', { exact: true }).first(), 'divided by clicks')
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})

test('days can be chosen, also those of another zone, and impossible ones are said to be so', async () => {
  const { page } = await dashboard.signIn('publisher_owner', deal.publisherId, {
    at: `/apps/${deal.appId}/reports?range=7`,
  })
  await choosePeriod(page, 'Custom')
  await page.getByLabel('First day').fill('2020-01-01')
  await page.getByText('Choose at most 400 days.').waitFor()
  await page.getByLabel('Last day').fill('2020-01-02')
  await page.getByText('No clicks in this period').waitFor()
  await page.getByRole('combobox', { name: 'Time zone' }).fill('Tok')
  await pick(page.getByRole('option', { name: 'Asia/Tokyo' }))
  await page.waitForURL(/zone=Asia%2FTokyo/)
  await checkPage(page)
})

test('a publisher sees its balance, a statement of each month and what was paid', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_finance', deal.publisherId)
  await page.getByRole('link', { name: 'Balance' }).click()
  await page.getByText('transfer 7').waitFor()
  await page.mouse.move(0, 0)
  const text = (await page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
  assert.match(text, /Pending \$3\.00 .*Payable \$2\.00 .*Paid \$1\.00 .*Earned \$6\.00 .*Reversed \$3\.00/)
  await checkPage(page)
  const statement = await download(page, /^Download the .* statement/)
  assert.match(statement, /Tiny Farm/)
  assert.deepEqual(complaints, [])
})

test('an operator begins with the figures of today, the latest conversions and what needs attention', async () => {
  const { page, complaints } = await dashboard.signIn('operator_reader', null, { at: '/' })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/network')
  await page.getByText('1 conversion is pending').waitFor()
  await page
    .getByRole('img', { name: /Clicks by day/ })
    .locator('svg')
    .first()
    .waitFor()
  await becomes(() => page.getByRole('row').count(), 4) // the head and the latest conversions
  await page.getByRole('button', { name: /^Revenue \$5\.00/ }).click()
  await page.getByRole('img', { name: /Revenue by day/ }).waitFor()
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})

test('an operator reads reports by any dimension, compares, sorts, goes further, and takes the file along', async () => {
  const { page, complaints } = await dashboard.signIn('operator_reader')
  await page.getByRole('link', { name: 'Reports', exact: true }).click()
  await becomes(() => page.getByRole('row').count(), 31) // the head and 30 days
  await page
    .getByRole('img', { name: /Clicks by day/ })
    .locator('svg')
    .first()
    .waitFor()
  await choosePeriod(page, 'Last 90 days')
  await becomes(() => page.getByRole('row').count(), 91)
  await choosePeriod(page, 'Last 30 days')
  await page.getByRole('switch', { name: 'Compare with previous period' }).check()
  await page.getByText(/^Compared with /).waitFor()
  assert.match(
    (await figure(page, 'Clicks').innerText()).replaceAll(/\s+/g, ' '),
    /Clicks 4 \+\d+%, up from \d|Clicks 4 Up from 0/,
  )
  assert.match(await figure(page, 'Revenue').innerText(), /\$5\.00[^]*Up from \$0\.00/)
  await checkLooks(page)

  await page.getByRole('tab', { name: 'Publishers' }).click()
  const head = (name: string) => page.getByRole('columnheader', { name })
  await head('Payout').and(page.locator('[aria-sort=descending]')).waitFor()
  await head('Clicks').getByRole('button').click()
  await head('Clicks').and(page.locator('[aria-sort=descending]')).waitFor()
  await head('Clicks').getByRole('button').click()
  await head('Clicks').and(page.locator('[aria-sort=ascending]')).waitFor()
  assert.match(page.url(), /compare=yes.*by=publisher.*sort=clicks.*order=asc/)
  const file = await download(page, 'Download CSV')
  assert.match(file, /^publisher_id,publisher,clicks,.*,previous_clicks,/)

  await page.reload()
  await page.getByRole('cell').getByRole('link').first().click()
  await row(page, 'Tiny Farm').waitFor()
  assert.match(
    page.url(),
    new RegExp(`publisher_id=${deal.publisherId}.*by=offer|by=offer.*publisher_id=${deal.publisherId}`),
  )
  await row(page, 'Tiny Farm').getByRole('link').click()
  await page.getByRole('heading', { level: 1, name: 'Report: Tiny Farm' }).waitFor()
  await row(page, 'App').first().waitFor()
  await checkLooks(page)
  await page.getByRole('tab', { name: 'Sub-IDs' }).click()
  await page.getByText('Sub-IDs belong to one app.').waitFor()
  await page.getByRole('combobox', { name: 'App' }).click()
  await pick(page.getByRole('option').first())
  await row(page, 'mail').waitFor()
  await choosePeriod(page, 'Last 90 days')
  await page.getByText(/Choose at most 31 days/).waitFor()
  await page.goBack()
  await row(page, 'Tiny Farm').waitFor()
  complaints.splice(0, complaints.length, ...complaints.filter((one) => !one.includes('400'))) // what was refused
  assert.deepEqual(complaints, [])
})

testLooks('every page is fine on a phone, in the dark, with and without anything on it', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { viewport: PHONE, colorScheme: 'dark' })
  const pages = [deal, quiet].flatMap(({ appId, publisherId }) => [
    `/apps/${appId}/reports`,
    `/publishers/${publisherId}/balance`,
  ])
  for (const path of ['/network', '/network/reports?range=yesterday', ...pages]) {
    await go(page, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await checkPage(page)
  }
  assert.deepEqual(complaints, [])
})

test('times, days and numbers follow the profile, on every page', async () => {
  const { page, complaints } = await dashboard.signIn('publisher_owner', deal.publisherId, { at: '/account' })
  const choose = async (label: string, typed: string) => {
    await page.getByRole('combobox', { name: label }).fill(typed)
    await pick(page.getByRole('option').filter({ hasText: typed }).first())
  }
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Ada Profile')
  await choose('Time zone', 'Pacific/Kiritimati') // a day ahead of everybody
  await choose('Numbers and dates', 'German (Germany)')
  await page.getByText('Example: 1.234,56\u00a0$').waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Save profile' }).click()
  await page.getByText('Profile saved.').waitFor()
  await page.getByRole('button', { name: /Ada Profile/ }).waitFor()
  const there = new Intl.DateTimeFormat('de-DE', { timeZone: 'Pacific/Kiritimati', dateStyle: 'medium' })
  // Of a session: nothing was loaded anew.
  await explains(page, page.locator('time').first(), there.format(new Date()))

  await go(page, `/apps/${deal.appId}/reports`)
  await becomes(() => page.getByRole('combobox', { name: 'Time zone' }).inputValue(), 'Pacific/Kiritimati')
  await figure(page, 'Payout').getByText('3,00\u00a0$').waitFor()
  await becomes(() => page.getByRole('row').count(), 32)
  await page
    .getByRole('row')
    .filter({ hasText: there.format(new Date()) })
    .waitFor()

  const [asked] = await Promise.all([
    page.waitForRequest((request) => request.url().includes('from=')),
    go(page, `/apps/${deal.appId}/conversions?from=2026-03-01&to=2026-03-02`),
  ])
  const { searchParams } = new URL(asked.url())
  const range = ['from', 'to'].map((name) => searchParams.get(name))
  assert.deepEqual(range, ['2026-02-28T10:00:00.000Z', '2026-03-02T10:00:00.000Z'])
  assert.deepEqual(complaints, [])
})

test('a theme is kept for the person, and the page has it from its first paint', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/account' })
  const chooseTheme = async (name: string) => {
    await page.getByRole('button', { name: /Your account/ }).click()
    await page.getByRole('menuitemradio', { name }).click()
  }
  const html = async () => (await page.request.get(`${dashboard.url}/sign-in`)).text()
  const isDark = page.locator("html[data-mantine-color-scheme='dark']")
  assert.doesNotMatch(await html(), /data-mantine-color-scheme/)
  await Promise.all([
    page.waitForResponse((answer) => answer.request().method() === 'PATCH'),
    chooseTheme('Dark theme'),
  ])
  await isDark.waitFor({ state: 'attached' })
  assert.match(await html(), /<html lang="en" data-mantine-color-scheme="dark">[^]*name="color-scheme" content="dark"/)
  await page.context().clearCookies({ name: 'offerdeck.theme' }) // as in another browser
  await page.reload()
  await isDark.waitFor({ state: 'attached' })
  await chooseTheme('System theme')
  await page.locator("html[data-mantine-color-scheme='light']").waitFor({ state: 'attached' })
  assert.doesNotMatch(await html(), /data-mantine-color-scheme/)
})
