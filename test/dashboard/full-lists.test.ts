// The operator's lists where there is a lot: they load, page, and look as with few rows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillConversions, fillHistory } from '../crowd.ts'
import { createDeal } from '../conversion-rows.ts'
import { fillManyRows } from '../many-rows.ts'
import { createPerson } from '../people.ts'
import { testLong } from '../tier.ts'
import { becomes, checkLooks, checkPage, DESKTOP, go, PHONE, useDashboard } from './browser.ts'

const COUNT = 10_000
const DAY_MS = 86_400_000

testLong('10,000 offers and conversions load, page and look right', async () => {
  const { world } = dashboard
  const deal = await createDeal(world, { name: 'First of all' })
  await world.createOffers(...Array.from({ length: COUNT - 1 }, (_, i) => ({ name: `Offer number ${i}` })))
  const crowd = { ...deal, offerIds: [deal.offerId], fromMs: Date.now() - 30 * DAY_MS, toMs: Date.now(), name: 'crowd', users: COUNT } // prettier-ignore
  await fillConversions(world.database.pool, crowd, COUNT)
  await fillHistory(world.database.pool)

  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/offers' })
  const rows = page.locator('tbody').getByRole('row')
  for (const path of ['/network/offers', '/network/conversions?view=all']) {
    await go(page, path)
    await rows.nth(9).waitFor()
    const first = await rows.first().innerText()
    await checkLooks(page)
    await page.getByRole('button', { name: 'Next' }).click()
    await becomes(async () => (await rows.first().innerText()) !== first, true, `${path} has a next page`)
    await page.getByRole('button', { name: 'Previous' }).click()
    await becomes(async () => rows.first().innerText(), first, `${path} goes back`)
  }
  assert.deepEqual(complaints, [])
})

test('lists of what is set up have pages, and room for long names', async () => {
  const { world } = dashboard
  const deal = await createDeal(world, { name: 'Offer of many' })
  await fillManyRows(world, deal, (await createPerson(world, 'operator')).id)
  const { page, complaints } = await dashboard.signIn('operator')
  const list = page.getByRole('main').locator('tbody').first()
  const rows = list.getByRole('row')
  for (const path of [
    `/publishers/${deal.publisherId}/people`,
    `/apps/${deal.appId}/lockers`,
    '/network/feeds',
    '/network/fraud',
    '/network/reported-links',
  ]) {
    await go(page, path)
    await rows.nth(9).waitFor()
    assert.ok((await rows.count()) <= 100, `${path} shows ${await rows.count()} rows`)
    await page.setViewportSize(PHONE)
    await checkPage(page)
    await page.setViewportSize(DESKTOP)
    await checkPage(page)
    assert.equal(await page.evaluate(SCROLLS), '', `${path} has no room for its rows`)
    const shown = await list.innerText()
    await page.getByRole('button', { name: 'Next' }).first().click()
    await becomes(async () => (await list.innerText()) !== shown, true, `${path} has a next page`)
  }
  for (const path of [`/apps/${deal.appId}/postbacks`, '/network/system']) {
    await go(page, path)
    await page
      .getByText(/longname/i)
      .first()
      .waitFor()
    assert.equal(await page.evaluate(SCROLLS), '', `${path} has no room for its rows`)
    await page.setViewportSize(PHONE)
    await checkPage(page)
    await page.setViewportSize(DESKTOP)
  }
  assert.deepEqual(complaints, [])
})

/** A table that is wider than its frame: what is in its last columns has to be scrolled to. */
const SCROLLS = `[...document.querySelectorAll('.rows-frame')].filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.innerText.slice(0, 80)).join()`

const dashboard = useDashboard('full_lists')
