// The operator's lists where there is a lot: they load, page, and look as with few rows.
import assert from 'node:assert/strict'
import { fillConversions, fillHistory } from '../crowd.ts'
import { createDeal } from '../conversion-rows.ts'
import { testLong } from '../tier.ts'
import { becomes, checkLooks, go, useDashboard } from './browser.ts'

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

const dashboard = useDashboard('full_lists')
