// What changes while a wall is open: its list, its signature, and what was earned before.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { changeApp } from '../../src/features/apps/apps.ts'
import { banUser, liftBan, listBans } from '../../src/features/apps/bans.ts'
import { permit } from '../../src/features/apps/permissions.ts'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import { rotateSigningSecret } from '../../src/features/apps/signing-secrets.ts'
import { until } from '../installation.ts'
import { publisherOfApp } from '../people.ts'
import { addConversions } from '../seed-rows.ts'
import { TESTER } from '../tester.ts'
import { SECRET_KEY } from '../world.ts'
import { heard, useSdkPages, wallOf } from './sdk-page.ts'
import { signed, wallUrl } from './wall-url.ts'

const site = useSdkPages('wall_meanwhile')
const { world } = site

const cardsOf = (page: Page) =>
  page.locator('.card').evaluateAll((all) => all.map((card) => Number(card.getAttribute('data-offer'))))
const more = (page: Page) => page.getByRole('button', { name: 'Show more' })

test('a list that moves between its pages shows every offer once', async () => {
  const { live } = await world.createApp()
  const { db } = world.database
  const ids = await world.createOffers(...Array.from({ length: 65 }, (_, i) => ({ name: `Clip ${i}`, category: 'video', payout: String(65 - i) }))) // prettier-ignore
  const { page } = await site.open()
  await page.goto(wallUrl(site.url, live, { ...signed(live), category: 'video' }))
  await until(async () => (await cardsOf(page)).length === 20)
  // The user completes what is on the first page: what follows moves up by one.
  const [done = 0] = await cardsOf(page)
  await world.confirm(done, (await world.click(done, live, 'userId=ann')).clickId)
  await page.getByText('You received').waitFor()
  await more(page).click()
  await until(async () => (await cardsOf(page)).length >= 40)
  // The operator puts an offer of below to the top, and one of the top to the end.
  const seen = new Set(await cardsOf(page))
  const last = ids.findLast((id) => !seen.has(id)) ?? 0
  await db.updateTable('offers').set({ pin_position: 1 }).where('offer_id', '=', last).execute()
  await db
    .updateTable('offers')
    .set({ is_excluded: true })
    .where('offer_id', '=', [...seen][5] ?? 0)
    .execute()
  await world.app.refresh()
  for (let isMore = true; isMore; isMore = (await more(page).count()) > 0) {
    const before = (await cardsOf(page)).length
    await more(page).click()
    await until(async () => (await cardsOf(page)).length > before || (await more(page).count()) === 0)
  }
  const shown = await cardsOf(page)
  assert.deepEqual(shown.toSorted((a, b) => a - b), ids.toSorted((a, b) => a - b)) // prettier-ignore
})

test('a signature that is over says where to go on, also in the list of offers', async (t) => {
  const { live } = await world.createApp()
  await world.createOffers({ name: 'Castle', category: 'game' })
  const { page } = await site.open()
  const user = signed(live)
  await page.goto(wallUrl(site.url, live, { ...user, category: 'game' }))
  await page.getByRole('button', { name: 'Castle' }).waitFor()
  t.mock.timers.enable({ apis: ['Date'], now: (Number(user['exp']) + 1) * 1000 })
  await page.getByRole('button', { name: 'Games' }).click()
  await page.getByText('Open the offers again from the app or site you came from.').waitFor()
  assert.equal(await page.getByRole('button', { name: /Reload|Try again/ }).count(), 0, 'neither would help')
  await page.goto(wallUrl(site.url, live, { ...user, lang: 'de' }))
  await page.getByText('Öffne die Angebote noch einmal').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'de')
})

test('when the signing secret is replaced at once, an open wall asks its page for a new signature and goes on', async () => {
  const { appId, live } = await world.createApp()
  await world.createOffers({ name: 'Tower', category: 'game' })
  const page = await site.openPage()
  const options = JSON.stringify({ apiKey: live.api_key, platform: 'web', category: 'game', ...signed(live) })
  await page.evaluate(`window.wall = listen(Offerdeck.open({ ...${options}, renew: async () => next }))`)
  await until(async () => (await heard(page)).includes('ready'))
  const wall = wallOf(page, 'ann')
  await wall?.getByRole('button', { name: 'Tower' }).waitFor()
  const next = await rotateSigningSecret(world.database.db, TESTER, SECRET_KEY, appId, 'live', 0)
  await page.evaluate(`window.next = ${JSON.stringify(signed({ ...live, signing_secret: next.signing_secret }))}`)
  const isRefused = async () => (await world.get(`/wall/v1/offers?${new URLSearchParams({ apiKey: live.api_key, ...signed(live) }).toString()}`)).status === 400 // prettier-ignore
  await until(isRefused)
  await wall?.getByRole('button', { name: 'Games' }).click()
  await wall?.getByRole('button', { name: 'Tower' }).waitFor()
  assert.equal(await wall?.getByText('This page has expired').count(), 0)
  await wall?.getByRole('button', { name: 'My activity' }).click()
  await wall?.getByText('Nothing here yet').waitFor()
})

test('when the app is closed, an open wall says where to go on at each step, and starts nothing', async () => {
  const { appId, live } = await world.createApp()
  const [offerId = 0] = await world.createOffers({ name: 'Bridge', category: 'game' })
  await world.click(offerId, live, 'userId=ann')
  const { page } = await site.open()
  await page.goto(wallUrl(site.url, live, { ...signed(live), category: 'game' }))
  await page.getByRole('button', { name: 'Bridge' }).click()
  const link = await page.getByRole('dialog').getByRole('link', { name: 'Start offer' }).getAttribute('href')
  await page.keyboard.press('Escape')
  await permit(world.database.db, TESTER, await publisherOfApp(world, appId), { status: 'suspended' })
  await world.app.refresh()
  assert.equal((await world.follow(link ?? '')).status, 410)
  await page.getByRole('button', { name: 'Games' }).click()
  const over = page.getByText('Open the offers again from the app or site you came from.')
  await over.waitFor()
  assert.equal(await page.getByRole('button', { name: /Reload|Try again/ }).count(), 0, 'neither would help')
  await page.getByRole('button', { name: 'Help' }).click()
  await page.getByText('Ask for help').click()
  const form = page.getByRole('group', { name: 'Ask for help' })
  await form.getByLabel('Message').fill('Where is my reward?')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('Open the offers again').waitFor()
})

test('a user who is banned meanwhile is told so by the next list, and sees offers again when the ban is lifted', async () => {
  const { appId, live } = await world.createApp()
  await world.createOffers({ name: 'Lagoon', category: 'game' })
  const { page } = await site.open()
  await page.goto(wallUrl(site.url, live, { ...signed(live), category: 'game' }))
  await page.getByRole('button', { name: 'Lagoon' }).waitFor()
  const { db } = world.database
  await banUser(db, TESTER, { appId, userId: 'ann', reason: 'opened a hundred accounts' })
  await world.app.refresh()
  await page.getByRole('button', { name: 'Games' }).click()
  await page.getByRole('heading', { name: 'Offers are not available to you' }).waitFor()
  const [ban] = await listBans(db, { appId, userId: 'ann' }, 1)
  await liftBan(db, TESTER, ban?.ban_id ?? 0)
  await world.app.refresh()
  await page.getByRole('button', { name: 'Games' }).click()
  await page.getByRole('button', { name: 'Lagoon' }).waitFor()
})

test('what was earned stays in the currency it was earned in, and a reversal is seen wherever it stands in the history', async () => {
  const { appId, live } = await world.createApp({ currency: 'Gems' })
  const [offerId = 0, first = 0] = await world.createOffers({ name: 'Often' }, { name: 'The first one' })
  const { clickId } = await world.click(first, live, 'userId=ann')
  await world.confirm(first, clickId)
  const soon = Date.now() + 60_000
  const seeds = Array.from({ length: 25 }, (_, i) => ({ at: new Date(soon + i * 1000).toISOString(), appId, offerId, status: 'rejected' as const, user_id: 'ann' })) // prettier-ignore
  await addConversions(world.database.db, ...seeds)
  await changeApp(world.database.db, TESTER, appId, { currency: 'Stars' })
  await world.app.refresh()
  const { page } = await site.open()
  await page.goto(wallUrl(site.url, live, signed(live)))
  await page.getByRole('heading', { name: 'Earn Stars' }).waitFor()
  await page.getByRole('button', { name: 'My activity' }).click()
  await more(page).click()
  const row = page.locator('.row').filter({ has: page.getByRole('heading', { name: 'The first one' }) })
  assert.match(await row.innerText(), /100 Gems\s+Credited/)
  await world.confirm(first, clickId, { status: 'reversed' })
  await row.getByText('The advertiser reversed it.').waitFor()
  assert.equal(await page.getByText('You received').count(), 0)
})

test('when a sale ends, an open wall shows what offers pay from then on', async () => {
  const { appId, live } = await world.createApp({ currency: 'Gems' })
  await world.createOffers({ name: 'Harbour', category: 'survey', payout: '1' })
  const [startsAt, endsAt] = [new Date(Date.now() - 60_000), new Date(Date.now() + 3_600_000)]
  await changeRewardSettings(world.database.db, TESTER, appId, { sale: { multiplierPpm: 2_000_000, startsAt, endsAt } })
  await world.app.refresh()
  const { page } = await site.open()
  await page.clock.install()
  await page.goto(wallUrl(site.url, live, { category: 'survey' }))
  const card = page.locator('.card').filter({ hasText: 'Harbour' })
  await card.getByText('200 Gems').waitFor()
  await changeRewardSettings(world.database.db, TESTER, appId, { sale: null }) // as time would
  await world.app.refresh()
  await page.clock.fastForward(3_602_000)
  await card.getByText('100 Gems').waitFor()
  assert.equal(await page.locator('.sale').count(), 0)
})

test('when the currency is replaced, an open wall shows new lists in the new one', async () => {
  const { appId, live } = await world.createApp({ currency: 'Gems', rateMicros: 100_000_000 })
  await world.createOffers({ name: 'Meadow', category: 'survey', payout: '1' })
  const { page } = await site.open()
  await page.goto(wallUrl(site.url, live, { category: 'survey' }))
  const card = page.locator('.card').filter({ hasText: 'Meadow' })
  await card.getByText('100 Gems').waitFor()
  await changeApp(world.database.db, TESTER, appId, { currency: 'Points', rateMicros: 5_000_000_000 })
  await world.app.refresh()
  await page.getByRole('button', { name: 'Surveys' }).click()
  await card.getByText('5,000 Points').waitFor()
  await page.getByRole('button', { name: 'Meadow' }).click()
  assert.equal(await page.getByRole('dialog').getByText('5,000 Points').count(), 2) // the offer, and its step
})

test('an offer in progress is continued from where its steps are shown', async () => {
  const { live } = await world.createApp()
  const goals = [{ name: 'Install', payout: '1' }, { name: 'Finish', payout: '2' }] // prettier-ignore
  const [offerId = 0] = await world.createOffers({ name: 'Two steps', payout: undefined, goals })
  await world.confirm(offerId, (await world.click(offerId, live, 'userId=ann')).clickId, { goal: 'Install' })
  const { page } = await site.open()
  await page.goto(wallUrl(site.url, live, signed(live)))
  await page.getByRole('button', { name: 'My activity' }).click()
  await page.getByRole('button', { name: 'Continue offer' }).click()
  const link = page.getByRole('dialog', { name: 'Two steps' }).getByRole('link', { name: 'Continue offer' })
  assert.match((await link.getAttribute('href')) ?? '', new RegExp(`/c/${offerId}/`))
})
