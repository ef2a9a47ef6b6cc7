// Proposals of advertisers, from the form to the operator's decision, in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { becomes, checkLooks, checkPage, go, useDashboard } from './browser.ts'

let advertiserId = 0
let offerId = 0
const dashboard = useDashboard('e2e_proposals', async (world) => {
  const goals = [{ name: 'Install', payout: 1, revenue: 2 }]
  ;[offerId = 0] = await world.createOffers({ name: 'Lighthouse Rush', description: 'Light the coast.', goals })
  const { advertiser_id } = await world.database.db.selectFrom('offers').select('advertiser_id').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  advertiserId = advertiser_id
})

const offerNow = async () => (await dashboard.world.database.db.selectFrom('offers').select(['name', 'description', 'payout_micros']).where('offer_id', '=', offerId).executeTakeFirstOrThrow()) // prettier-ignore

test('an advertiser proposes changes, the operator edits in between, approves, and refuses the next', async () => {
  const base = `/advertisers/${advertiserId}`
  const [self, operator] = [
    await dashboard.signIn('advertiser', { publisherId: null, advertiserId }, { at: `${base}/offers/${offerId}` }),
    await dashboard.signIn('operator', null, { at: '/network' }),
  ]
  const { page } = self
  await page.getByRole('link', { name: 'Propose changes' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Lighthouse Rush 2')
  await page.getByRole('textbox', { name: 'Description', exact: true }).fill('Light the whole coast.')
  await page.getByLabel('You pay, USD').fill('')
  await page.getByRole('button', { name: 'Propose changes' }).click()
  await page.getByText('Enter what you pay for this goal.').waitFor()
  await page.getByLabel('You pay, USD').fill('0.50')
  await page.getByLabel('Spend per day, USD').fill('75')
  await checkLooks(page)
  await page.getByRole('button', { name: 'Propose changes' }).click()
  await page.getByRole('cell', { name: 'Light the whole coast.' }).waitFor()
  await page.getByRole('row', { name: /^Spend per day, USD / }).waitFor()
  await checkLooks(page)
  await go(page, `${base}/proposals`)
  await page.getByRole('cell', { name: /Spend per day/ }).waitFor()
  assert.equal((await offerNow()).name, 'Lighthouse Rush')
  await dashboard.world.database.pool.query("UPDATE offers SET description = 'Edited here.' WHERE offer_id = $1", [offerId]) // prettier-ignore

  const desk = operator.page
  await desk.reload()
  await desk.getByRole('main').getByRole('link', { name: 'Review proposals' }).click()
  await checkPage(desk)
  await desk.getByRole('link', { name: 'Lighthouse Rush' }).click()
  await desk.getByRole('row', { name: /Description Edited since Edited here. Light the whole coast./ }).waitFor()
  await desk.getByRole('row', { name: /^Revenue per day, USD / }).waitFor()
  await desk.getByText(/"Install" pays 1.00 USD and earns 0.50 USD/).waitFor()
  await checkLooks(desk)
  await desk.getByRole('button', { name: 'Edit and approve' }).click()
  await desk.getByLabel('Payout, USD').first().fill('0.25')
  await checkPage(desk)
  await desk.getByRole('button', { name: 'Approve', exact: true }).click()
  await desk.waitForURL(new RegExp(`/network/offers/${offerId}`))
  assert.deepEqual(await offerNow(), { name: 'Lighthouse Rush 2', description: 'Light the whole coast.', payout_micros: 250_000 }) // prettier-ignore

  await go(page, `${base}/offers/${offerId}/edit`)
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Free money')
  await page.getByRole('button', { name: 'Propose changes' }).click()
  await page.getByRole('button', { name: 'Withdraw' }).waitFor()
  const proposed = await dashboard.world.database.db.selectFrom('offer_proposals').select('fields').where('status', '=', 'waiting').execute() // prettier-ignore
  assert.deepEqual(proposed, [{ fields: { name: 'Free money' } }], 'what the operator changed since is not proposed')
  await desk.reload()
  await desk.getByText('The advertiser has proposed changes').waitFor()
  await checkLooks(desk)
  await desk.getByRole('link', { name: 'Review proposal', exact: true }).click()
  await desk.getByRole('button', { name: 'Refuse' }).click()
  await desk.getByLabel('Reason').fill('Please keep the name.')
  await desk.getByRole('dialog').getByRole('button', { name: 'Refuse' }).click()
  await desk.getByText('Please keep the name.').waitFor()
  await go(desk, `/network/offers/${offerId}`)
  await desk.getByText('Lighthouse Rush 2').first().waitFor()
  await becomes(() => desk.getByText('The advertiser has proposed changes').count(), 0)
  await go(page, `${base}/proposals?status=refused`)
  await page.getByRole('link', { name: 'Lighthouse Rush 2' }).waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'Lighthouse Rush 2' }).click()
  await page.reload()
  await page.getByText('Please keep the name.').waitFor()
  await checkPage(page)
  assert.deepEqual(
    [...self.complaints, ...operator.complaints].filter((one) => !one.includes('400')),
    [],
  )
})

test('an advertiser proposes a new offer, withdraws it, proposes it again, and the operator says what it pays', async () => {
  const base = `/advertisers/${advertiserId}`
  const { page, complaints } = await dashboard.signIn('advertiser', { publisherId: null, advertiserId }, { at: `${base}/offers` }) // prettier-ignore
  const propose = async () => {
    await page.getByRole('textbox', { name: 'External ID', exact: true }).fill('harbor-1')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Harbor Manager')
    await page.getByLabel('Destination').fill('https://ads.example.com/?c={click_id}')
    await page.getByLabel('You pay, USD').fill('3')
    await page.getByLabel('Repeatable').check()
    await page.getByRole('button', { name: 'Propose offer' }).click()
    await page.getByRole('cell', { name: 'Harbor Manager' }).waitFor()
    await page.getByRole('cell', { name: /\$3\.00 · repeatable/ }).waitFor()
  }
  await page.getByRole('link', { name: 'Propose offer' }).click()
  await propose()
  await page.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
  await page.getByText('Withdrawn', { exact: true }).waitFor()
  await go(page, `${base}/offers/new`)
  await propose()
  const { page: desk, complaints: heard } = await dashboard.signIn('operator', null, { at: '/network/proposals' })
  await desk.getByRole('link', { name: 'Harbor Manager' }).click()
  await desk.getByRole('button', { name: 'Set payouts and approve' }).click()
  await desk.getByRole('button', { name: 'Approve', exact: true }).click()
  await desk.getByText('Required.').first().waitFor()
  await desk.getByLabel('Payout, USD').first().fill('2')
  await desk.getByRole('button', { name: 'Approve', exact: true }).click()
  await desk.waitForURL(/\/network\/offers\/\d+$/)
  await go(page, `${base}/offers`)
  await page.reload()
  await page.getByRole('link', { name: 'Harbor Manager' }).waitFor()
  assert.deepEqual(
    [...complaints, ...heard].filter((one) => !one.includes('400')),
    [],
  )
})
