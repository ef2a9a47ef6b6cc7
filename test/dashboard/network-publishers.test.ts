// The operator and its publishers, in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createConversion, createDeal, type Deal } from '../conversion-rows.ts'
import { becomes, checkLooks, go, pick, useDashboard } from './browser.ts'

let deal: Deal
const dashboard = useDashboard('e2e_publishers', async (world) => {
  deal = await createDeal(world, { name: 'Tidewater Tiles' }, 'Puzzle corner')
  const at = new Date(Date.now() - 3_600_000)
  await createConversion(world, deal, { status: 'approved', payoutMicros: 2_500_000, revenueMicros: 3_000_000, at })
})

test('an operator creates a publisher, and finds it again', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/publishers' })
  await page.getByRole('button', { name: 'New publisher' }).click()
  await page.getByLabel('Name').fill(deal.publisher)
  await page.getByRole('button', { name: 'Create publisher' }).click()
  await page.getByText(`A publisher "${deal.publisher}" already exists.`).waitFor()
  await page.getByLabel('Name').fill('Blue Lantern Rewards')
  await page.getByLabel('Email address for notices').fill('ops@lantern.example')
  await page.getByRole('button', { name: 'Create publisher' }).click()
  await page.getByRole('heading', { name: 'Blue Lantern Rewards' }).waitFor()
  await becomes(() => page.getByLabel('Email address for notices').inputValue(), 'ops@lantern.example')
  await page.getByText('No apps yet.').waitFor()
  await becomes(() => page.getByRole('link', { name: 'People' }).last().isVisible(), true)

  await page.getByRole('link', { name: 'Publishers' }).first().click()
  await page.getByLabel('Search').fill('lantern')
  await page.waitForURL(/search=lantern/)
  await page.getByRole('cell', { name: deal.publisher }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Blue Lantern Rewards' }).waitFor()
  await page.getByLabel('Search').fill('nobody of that name')
  await page.getByText('No publisher matches').waitFor()
  await page.getByLabel('Search').fill('')
  await page.getByRole('link', { name: deal.publisher }).waitFor()
  await becomes(() => page.getByRole('cell', { name: '$2.50' }).isVisible(), true)
  await checkLooks(page)
  await page.getByLabel('Status').first().click()
  await pick(page.getByRole('option', { name: 'suspended' }))
  await page.getByText('No publisher is suspended').waitFor()
  await go(page, '/network/publishers?status=active')
  await page.getByRole('row', { name: deal.publisher }).getByText('active').waitFor()
  await go(page, '/network/publishers?status=gone')
  await page.getByText('status must be one of: pending, active, suspended.').waitFor()
  // The browser itself reports the name that was taken.
  assert.deepEqual(
    complaints.filter((text) => !text.includes('400')),
    [],
  )
})

test('allowance, notices and trust of a publisher are changed on its page', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, {
    at: `/network/publishers/${deal.publisherId}`,
  })
  await page.getByRole('link', { name: 'Puzzle corner' }).waitFor()
  await page.getByRole('button', { name: 'Change the rate limit of Puzzle corner' }).click()
  await page.getByLabel('Requests per minute').fill('250')
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
  await page.getByText('250 per minute').waitFor()

  await page.getByLabel('Email address for notices').fill('tech@puzzle.example')
  await page.getByRole('main').getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').first().waitFor()

  await page.getByLabel('Search offers').fill('tidewater')
  const trust = { name: 'Trust Puzzle corner for Tidewater Tiles' }
  await page.getByRole('switch', trust).press('Space')
  await page.getByRole('cell', { name: '1 offer', exact: true }).waitFor()
  await page.getByRole('switch', { ...trust, checked: true }).waitFor()
  await page.getByRole('button', { name: 'Stop trusting' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop trusting' }).click()
  await page.getByRole('cell', { name: '0 offers' }).waitFor()
  await checkLooks(page)
  assert.deepEqual(complaints, [])
  const { db } = dashboard.world.database
  const saved = await db
    .selectFrom('publishers')
    .select('email')
    .where('publisher_id', '=', deal.publisherId)
    .executeTakeFirst()
  assert.equal(saved?.email, 'tech@puzzle.example')
})

test('offers are blocked by name, and what cannot be read is never saved', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: `/network/publishers/${deal.publisherId}` })
  const blocked = () =>
    dashboard.world.database.db
      .selectFrom('publisher_offers')
      .select(['offer_id', 'is_allowed'])
      .where('publisher_id', '=', deal.publisherId)
      .execute()
  const picker = page.getByRole('combobox', { name: 'Blocked offers' })
  await picker.fill('tidewater')
  await pick(page.getByRole('option', { name: `Tidewater Tiles (${deal.offerId})` }))
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('effective immediately').waitFor()
  assert.deepEqual(await blocked(), [{ offer_id: deal.offerId, is_allowed: false }])

  await page.reload()
  await page.getByText(`Tidewater Tiles (${deal.offerId})`).waitFor()
  await picker.fill('abc')
  await page.getByText('No offer matches').waitFor()
  await page.keyboard.press('Tab')
  await page.getByText('No offer matches “abc”.').waitFor()
  assert.equal(await picker.inputValue(), 'abc')
  await page.getByLabel('Margin').fill('ten')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Enter a percentage from 0 to 100').waitFor()
  await page.getByLabel('Margin').fill('0.00001')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('Margin must have at most 4 decimals.').waitFor()
  await becomes(() => page.locator('input:focus').inputValue(), '0.00001')
  await page.getByLabel('Margin').fill('0')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('effective immediately').waitFor()
  assert.deepEqual(await blocked(), [{ offer_id: deal.offerId, is_allowed: false }])
  await checkLooks(page)
  await picker.fill('')
  await picker.press('Backspace')
  await picker.press('Escape')
  await page.getByRole('button', { name: 'Apply' }).click()
  await becomes(async () => (await blocked()).length, 0)
})

test('leaving a changed form asks, by a link as by Back', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: '/network/publishers' })
  await page.getByRole('link', { name: deal.publisher }).click()
  const margin = page.getByLabel('Margin')
  await margin.fill('33')
  const question = page.getByRole('dialog', { name: 'Leave without saving?' })
  for (const leave of [() => page.getByRole('link', { name: 'Ledger' }).click(), () => page.goBack()]) {
    await leave()
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await question.waitFor({ state: 'hidden' })
    assert.match(page.url(), new RegExp(`/network/publishers/${deal.publisherId}$`))
    assert.equal(await margin.inputValue(), '33')
  }
  await page.goBack()
  await question.getByRole('button', { name: 'Discard changes' }).click()
  await page.waitForURL(/network\/publishers$/)
  await page.getByRole('heading', { name: 'Publishers' }).waitFor()

  await page.goForward()
  await margin.fill('34')
  const closing = page.waitForEvent('dialog')
  const closed = page.close({ runBeforeUnload: true })
  const asked = await closing
  assert.equal(asked.type(), 'beforeunload')
  await asked.accept()
  await closed
})

test('a publisher’s margin and state are set on its page', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, {
    at: `/network/publishers/${deal.publisherId}`,
  })
  await page.getByLabel('Margin').fill('20')
  await page.locator('label', { hasText: /^Suspended$/ }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.locator('label', { hasText: /^Active$/ }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('effective immediately').waitFor()
  const { db } = dashboard.world.database
  const saved = await db
    .selectFrom('publishers')
    .select(['share_ppm', 'status'])
    .where('publisher_id', '=', deal.publisherId)
    .executeTakeFirst()
  assert.deepEqual(saved, { share_ppm: 800_000, status: 'active' })
  assert.deepEqual(complaints, [])
})

test('a publisher that is suspended sees that on every page, and so does the operator', async () => {
  const { page } = await dashboard.signIn('operator', null, { at: `/network/publishers/${deal.publisherId}` })
  await page.locator('label', { hasText: /^Suspended$/ }).click()
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('stop working immediately').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await page.getByText('This publisher is suspended').waitFor()
  await go(page, `/apps/${deal.appId}/reports`)
  await page.getByText('This publisher is suspended').waitFor()
  const own = await dashboard.signIn('publisher_owner', deal.publisherId)
  await own.page.getByText('Your account is suspended').waitFor()
  await go(own.page, `/publishers/${deal.publisherId}/people`)
  await own.page.getByText('Your account is suspended').waitFor()
  await checkLooks(own.page)
  await dashboard.world.database.db.updateTable('publishers').set({ status: 'pending' }).where('publisher_id', '=', deal.publisherId).execute() // prettier-ignore
  await own.page.reload()
  await own.page.getByText('Your account is awaiting approval').waitFor()
  await dashboard.world.database.db.updateTable('publishers').set({ status: 'active' }).where('publisher_id', '=', deal.publisherId).execute() // prettier-ignore
  await own.page.reload()
  await own.page.getByRole('heading', { level: 1 }).waitFor()
  await becomes(() => own.page.getByText('Your account is').count(), 0)
})

test('a user is banned everywhere, and let in again', async () => {
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/bans' })
  await page.getByText('No banned users').waitFor()
  await page.getByRole('button', { name: 'Ban a user' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('User ID').fill('cheater-7')
  await dialog.getByLabel('Reason').fill('a hundred accounts')
  await dialog.getByRole('button', { name: 'Ban', exact: true }).click()
  await page.getByRole('cell', { name: 'cheater-7', exact: true }).waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Lift the ban on cheater-7' }).click()
  await page.getByRole('button', { name: 'Lift ban' }).click()
  await page.getByText('No banned users').waitFor()
  assert.deepEqual(complaints, [])
})

test('who may only look has nothing to change it with', async () => {
  const { page, complaints } = await dashboard.signIn('operator_reader', null, {
    at: `/network/publishers/${deal.publisherId}`,
  })
  await page.getByRole('link', { name: 'Puzzle corner' }).waitFor()
  const trust = page.getByRole('main').getByRole('switch').first()
  await trust.waitFor()
  await becomes(() => trust.isDisabled(), true)
  await becomes(() => page.getByRole('button', { name: /Change|Save|Trust for|Stop trusting/ }).count(), 0)
  await go(page, '/network/publishers')
  await page.getByRole('link', { name: deal.publisher }).waitFor()
  await becomes(() => page.getByRole('button', { name: 'New publisher' }).count(), 0)
  assert.deepEqual(complaints, [])
})
