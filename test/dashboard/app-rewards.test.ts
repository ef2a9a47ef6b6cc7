// How an app rewards its users, and a user with what came of it, as a publisher and an operator see them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { publisherOfApp } from '../people.ts'
import { checkPage, go, PHONE, useDashboard } from './browser.ts'

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

  await section('Currency sale').getByLabel('Multiply rewards by').fill('2')
  await section('Currency sale').getByLabel('Ends').fill('2999-01-31T12:00')
  await save('Currency sale')
  await page.getByText('×2 from').waitFor()
  await section('Rounding and minimum').getByLabel('Round rewards').click()
  await page.getByRole('option', { name: 'To the nearest' }).click()
  await section('Rounding and minimum').getByLabel('To', { exact: true }).click()
  await page.getByRole('option', { name: '0 decimals' }).click()
  await page.getByText('A reward of 12.3456 becomes 12 Gems.').waitFor()
  await section('Rounding and minimum').getByLabel('Minimum reward').fill('5')
  await save('Rounding and minimum')
  await section('Welcome offer').getByLabel('Welcome offer').click()
  await page.getByRole('option', { name: /Bingo/ }).click()
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
  assert.deepEqual(complaints, [])
  await page.context().close()
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
  await page.getByRole('link', { name: 'Show the ban' }).click()
  await page.getByText('a hundred accounts').waitFor()
  assert.deepEqual(complaints, [])
  await page.context().close()
})
