// How an app rewards its users, a user with what came of it, and what the user asked, as publishers and operators see them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { readRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { DEFAULTS } from '../../src/features/wall/settings-schema.ts'
import { setWallSettings } from '../../src/features/wall/settings.ts'
import { openTicket } from '../../src/features/wall/tickets.ts'
import { PIXEL } from '../images.ts'
import { publisherOfApp } from '../people.ts'
import { TESTER } from '../tester.ts'
import { becomes, checkLooks, checkPage, go, PHONE, pick, useDashboard } from './browser.ts'

const dashboard = useDashboard('rewards_e2e', async (world) => {
  await world.createOffers({ name: 'Castle Quest', payout: '1.2345' }, { name: 'Bingo' })
})
const { world } = dashboard
const USER = 'ann/ä %2F?&#'

test('a publisher sets up a sale, rounding, limits and balances, and finds a user', async () => {
  const { db } = world.database
  const { appId, live } = await world.createApp({ currency: 'Gems' })
  const publisherId = await publisherOfApp(world, appId)
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at: `/apps/${appId}/rewards` })
  const section = (title: string) => page.locator('section', { has: page.getByRole('heading', { name: title }) })
  const save = async (title: string) => {
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH')
    await section(title).getByRole('button', { name: 'Save' }).click()
    assert.equal((await saved).status(), 200)
  }

  await section('Currency sale').getByLabel('Multiply rewards by').fill('1000000')
  await section('Currency sale').getByLabel('Ends').fill('2999-01-31T12:00')
  await section('Currency sale').getByRole('button', { name: 'Save' }).click()
  await section('Currency sale').locator('[data-path="sale.multiplier"][aria-invalid=true]').waitFor()
  await section('Currency sale')
    .getByText(/^Multiply rewards by must be a number above 1, at most/)
    .waitFor()
  await section('Currency sale').getByLabel('Multiply rewards by').fill('2')
  await section('Currency sale').getByLabel('Ends').fill('2020-01-31T12:00')
  await section('Currency sale').getByRole('button', { name: 'Save' }).click()
  await section('Currency sale').locator('[data-path="sale.ends_at"][aria-invalid=true]').waitFor()
  await section('Currency sale').getByText('The end of the sale must be in the future.').waitFor()
  await section('Currency sale').getByLabel('Ends').fill('2999-01-31T12:00')
  await save('Currency sale')
  await page.getByText('×2 from').waitFor()
  await section('Rounding and minimum').getByLabel('Round rewards').click()
  await pick(page.getByRole('option', { name: 'To the nearest' }))
  await section('Rounding and minimum').getByLabel('To', { exact: true }).click()
  await pick(page.getByRole('option', { name: '0 decimals' }))
  await page.getByText('A reward of 12.3456 becomes 12 Gems.').waitFor()
  await section('Rounding and minimum').getByLabel('Minimum reward').fill('5')
  await save('Rounding and minimum')
  await section('Welcome offer').getByLabel('Welcome offer').click()
  await pick(page.getByRole('option', { name: /Bingo/ }))
  await section('Welcome offer').getByLabel('Daily limit').fill('3')
  await save('Welcome offer')
  await section('User balances').getByRole('switch', { name: 'Keep a balance for each user' }).click()
  await save('User balances')
  await checkPage(page)
  const { sale, ...settings } = await readRewardSettings(db, appId)
  assert.deepEqual([sale?.multiplierPpm, settings.rounding, settings.minRewardSteps], [2_000_000, 'nearest0', 50_000])
  assert.deepEqual([settings.dailyLimit, settings.keepsBalance, settings.kind], [3, true, 'reward'])

  const offers = await world.database.db.selectFrom('offers').select(['offer_id', 'name']).execute()
  const offerId = offers.find(({ name }) => name === 'Castle Quest')?.offer_id ?? 0
  const { clickId } = await world.click(offerId, live, `userId=${encodeURIComponent(USER)}`)
  await world.confirm(offerId, clickId)

  await go(page, `/apps/${appId}/users`)
  await page.getByRole('link', { name: USER }).waitFor()
  await page.getByLabel('User ID').fill(USER)
  await page.getByRole('button', { name: 'Find user' }).click()
  await page.getByRole('heading', { name: 'Balance: 247 Gems' }).waitFor()
  await page.getByRole('table', { name: 'Latest clicks' }).getByText('Castle Quest').waitFor()
  await checkPage(page)
  await page.getByRole('link', { name: 'Reward', exact: true }).click()
  await page.getByText('In a currency sale: rewards ×2').waitFor()
  await page.getByText('247 Gems (currency sale ×2)').waitFor()
  await page.getByRole('link', { name: USER }).click()
  await page.getByRole('heading', { name: 'Balance: 247 Gems' }).waitFor()

  await go(page, `/apps/${appId}/rewards`)
  const asked = page.getByRole('dialog', { name: 'End the sale?' })
  for (const answer of ['Cancel', 'End the sale']) {
    await section('Currency sale').getByRole('button', { name: 'End the sale' }).click()
    await asked.getByRole('button', { name: answer }).click()
    await asked.waitFor({ state: 'hidden' })
    if (answer === 'Cancel') assert.equal((await readRewardSettings(db, appId)).sale?.multiplierPpm, 2_000_000)
  }
  await page.getByText('The sale has ended.').waitFor()
  assert.equal((await readRewardSettings(db, appId)).sale, null)
  assert.deepEqual(
    complaints.map((one) => /status of (\d+)/.exec(one)?.[1]),
    ['400', '400'],
    'the refused sales alone',
  )
})

test('an operator bans a user on the user’s page, on a phone', async () => {
  const { appId } = await world.createApp()
  const look = { viewport: PHONE, colorScheme: 'dark' } as const
  const at = `/apps/${appId}/users?${new URLSearchParams({ user: USER }).toString()}`
  const { page, complaints } = await dashboard.signIn('operator', null, { ...look, at })
  await page.getByText('No conversions.').waitFor()
  await page.getByRole('button', { name: 'Ban user' }).click()
  await page.getByLabel('Reason').fill('a hundred accounts')
  await page.getByRole('button', { name: 'Ban', exact: true }).click()
  await page.getByText('Banned in this app').waitFor()
  await checkPage(page)
  await page.getByRole('link', { name: 'View ban' }).click()
  await page.getByText('a hundred accounts').waitFor()
  assert.deepEqual(complaints, [])
})

/** About an offer that the user completed, with an image. */
async function ask() {
  const { db } = world.database
  const { appId, live } = await world.createApp()
  const { offer_id } = await db.selectFrom('offers').select('offer_id').where('name', '=', 'Castle Quest').executeTakeFirstOrThrow() // prettier-ignore
  const { clickId } = await world.click(offer_id, live, `userId=${encodeURIComponent(USER)}`)
  await world.confirm(offer_id, clickId)
  const question = { kind: 'not_credited', offer_id, text: 'Where are <b>my</b> coins?', image: PIXEL.toString('base64') } as const // prettier-ignore
  const user = { appId, isTest: false, userId: USER }
  const seen = { country: 'DE', device: 'mobile', os: 'android' }
  const ticketId = await openTicket(db, user, seen, { key: randomUUID(), ...question }, new Date())
  return { appId, ticketId, publisherId: await publisherOfApp(world, appId) }
}

test('a publisher finds a ticket, sees what it is about, answers it once, and closes and reopens it', async () => {
  const { db } = world.database
  const { appId, ticketId, publisherId } = await ask()
  const base = `/apps/${appId}/tickets`
  const off = { ...DEFAULTS, shows: { ...DEFAULTS.shows, support: false } }
  await setWallSettings(db, TESTER, appId, off)
  const { page, complaints } = await dashboard.signIn('publisher_owner', publisherId, { at: `${base}?mode=test` })
  await page.getByText('Help is off on your wall.').waitFor()
  await page.getByRole('link', { name: 'wall settings' }).waitFor()
  await checkLooks(page)
  await go(page, `/apps/${appId}`)
  await page.getByText('1 ticket waiting for an answer').waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'Show open tickets' }).click()
  await page.getByRole('heading', { name: 'Tickets (1 open)' }).waitFor()
  await page.getByRole('cell', { name: USER }).waitFor()
  await checkLooks(page)
  await page.getByRole('combobox', { name: 'Status' }).click()
  await pick(page.getByRole('option', { name: 'Closed' }))
  await page.getByText('No tickets match').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()

  await page.getByRole('link', { name: 'Not credited: Castle Quest' }).click()
  const messages = page.getByRole('list', { name: 'Messages' }).getByRole('listitem')
  await messages.getByText('Where are <b>my</b> coins?').waitFor()
  await page.getByRole('button', { name: 'Show image' }).click()
  await becomes(() => page.evaluate<number>(`document.querySelector('.thread img')?.naturalWidth ?? 0`), 1)
  const facts = page.getByRole('table', { name: 'About this ticket' })
  for (const text of ['Germany', 'mobile, android']) await facts.getByText(text).waitFor()
  await page.locator('main a[href*="/conversions/"]').waitFor()
  await checkLooks(page)

  // The server has the answer, but the browser does not learn of it, and sends it again.
  await page.route('**/messages', async (route) => {
    await route.fetch()
    await route.abort()
    await page.unroute('**/messages')
  })
  await page.getByLabel('Answer').fill('They are on their way.')
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByText('The server did not respond.').waitFor()
  await page.getByRole('button', { name: 'Send answer' }).click()
  await becomes(() => page.getByLabel('Answer').inputValue(), '')
  await becomes(() => messages.count(), 2)
  const written = await db.selectFrom('ticket_messages').select('text').where('ticket_id', '=', ticketId).execute()
  assert.equal(written.length, 2)

  await page.getByRole('button', { name: 'Close ticket' }).click()
  await page.getByRole('button', { name: 'Reopen ticket' }).click()
  await page.getByRole('button', { name: 'Close ticket' }).waitFor()
  await facts.getByRole('link', { name: USER }).click()
  await page.getByRole('table', { name: 'Tickets' }).getByRole('link', { name: 'Not credited: Castle Quest' }).click()
  await messages.first().waitFor()
  assert.deepEqual(complaints.filter((text) => !text.includes('ERR_FAILED')), []) // prettier-ignore
})

test('who may only look reads tickets and has nothing to answer with', async () => {
  const { appId, ticketId, publisherId } = await ask()
  const { page, complaints } = await dashboard.signIn('publisher_viewer', publisherId, {
    at: `/apps/${appId}/tickets/${ticketId}`,
  })
  await page.getByText('coins?').waitFor()
  assert.deepEqual(await page.getByRole('button', { name: /answer|ticket/i }).count(), 0)
  await go(page, `/apps/${appId}/tickets/${randomUUID()}`)
  await page.getByText('There is no such ticket.').waitFor()
  assert.deepEqual(complaints.filter((text) => !text.includes('404')), []) // prettier-ignore
})
