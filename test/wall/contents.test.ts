// What a wall says about offers, and about what came of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeRewardSettings } from '../../src/features/apps/reward-settings.ts'
import type { Trx } from '../../src/db/open.ts'
import { storeImage } from '../../src/features/offers/images.ts'
import { estimate } from '../../src/features/offers/ranking/model.ts'
import { insertRanking } from '../../src/features/reports/rankings.ts'
import { checkUsersPage, PHONE, useDashboard } from '../dashboard/browser.ts'
import { PIXEL } from '../images.ts'
import { until } from '../installation.ts'
import { TESTER } from '../tester.ts'
import { signed, wallUrl } from './wall-url.ts'

const site = useDashboard('wall_contents')
const { world } = site

test('cards say what is new, easy or pays well and how long it takes; details also how it is confirmed', async () => {
  const { db } = world.database
  const { live } = await world.createApp()
  const { path: image_url } = await storeImage(db, TESTER, PIXEL)
  const [, , old = 0] = await world.createOffers(
    { name: 'Castle', payout: '5', difficulty: 'hard', time_estimate: '2 days', conversion_type: 'cpi', image_url },
    { name: 'Tea', payout: '1', difficulty: 'easy', conversion_type: 'survey' },
    { name: 'Bingo', payout: '1', difficulty: 'medium', payment_required: true, conversion_type: 'cpl' },
  )
  await db.updateTable('offers').set({ created_at: new Date(Date.now() - 8 * 86_400_000) }).where('offer_id', '=', old).execute() // prettier-ignore
  await world.app.refresh()
  const { page, complaints } = await site.open({ viewport: PHONE })
  await page.goto(wallUrl(site.url, live))
  const badgesOf = (name: string) => page.locator('.card').filter({ hasText: name }).locator('.badge').allInnerTexts()
  await page.getByRole('button', { name: 'Castle' }).waitFor()
  assert.deepEqual(await badgesOf('Castle'), ['New', 'High reward', '2 days'])
  assert.deepEqual(await badgesOf('Tea'), ['New', 'Easy'])
  assert.deepEqual(await badgesOf('Bingo'), ['Purchase required'])

  const detailsOf = async (name: string) => {
    await page.getByRole('button', { name }).click()
    const dialog = page.getByRole('dialog', { name })
    const text = await dialog.innerText()
    const shown = { facts: await dialog.locator('.badge').allInnerTexts(), how: text.split('How it is confirmed')[1] }
    const picture = dialog.locator('img')
    const source = (await picture.count()) === 0 ? null : await picture.getAttribute('src')
    await dialog.getByRole('button', { name: 'Close' }).click()
    return { ...shown, source }
  }
  const long = 'Most steps are confirmed within minutes. Some advertisers take a few days to check.'
  const castle = await detailsOf('Castle')
  assert.deepEqual([castle.facts, castle.source?.replace(site.url, '')], [['Hard', '2 days'], image_url])
  assert.ok(castle.how?.includes(`The advertiser confirms the step once you have installed and opened the app. ${long}`)) // prettier-ignore
  const tea = await detailsOf('Tea')
  assert.deepEqual([tea.facts, tea.source], [['Easy'], null])
  assert.ok(tea.how?.includes(`The survey is confirmed once you have answered its last question. ${long}`))
  const bingo = await detailsOf('Bingo')
  assert.deepEqual(bingo.facts, ['Medium', 'Purchase required'])
  assert.ok(bingo.how?.includes('The advertiser confirms the step once your details have been checked.'))
  assert.deepEqual(complaints, [])
})

test('the history says of each completion where it stands and why, and the balance what is left', async () => {
  const { appId, live } = await world.createApp({ currency: 'Gems' })
  await changeRewardSettings(world.database.db, TESTER, appId, { keepsBalance: true })
  await world.app.refresh()
  const names = ['Checked', 'Held', 'Paid', 'Refused', 'Taken back', 'Full']
  const [checked = 0, held = 0, paid = 0, refused = 0, back = 0, full = 0] = await world.createOffers(
    ...names.map((name) => ({ name, ...(name === 'Held' ? { hold: '7d' } : {}), ...(name === 'Full' ? { total_conversion_cap: 1, over_cap: 'reject' } : {}) })),
  ) // prettier-ignore
  const clickOf = async (offerId: number, user = 'ann') => (await world.click(offerId, live, `userId=${user}`)).clickId
  await world.confirm(checked, await clickOf(checked), { status: 'pending' })
  await world.confirm(held, await clickOf(held))
  await world.confirm(paid, await clickOf(paid))
  await world.confirm(refused, await clickOf(refused), { status: 'rejected' })
  const backClick = await clickOf(back)
  await world.confirm(back, backClick)
  await world.confirm(back, backClick, { status: 'reversed' })
  const late = await clickOf(full)
  await world.confirm(full, await clickOf(full, 'bob'))
  await world.confirm(full, late)

  const { page } = await site.open({ viewport: PHONE })
  await page.goto(wallUrl(site.url, live, signed(live)))
  await page.locator('header').getByText('Balance 100 Gems').waitFor()
  await page.getByRole('button', { name: 'My activity' }).click()
  await page.getByRole('heading', { name: 'History' }).waitFor()
  const rowOf = async (name: string) => {
    const row = page.locator('.row').filter({ has: page.getByRole('heading', { name, exact: true }) })
    const reason = row.locator('.reason')
    return [await row.locator('.status').innerText(), (await reason.count()) === 0 ? null : await reason.innerText()]
  }
  assert.deepEqual(await rowOf('Checked'), ['Pending', 'Being checked by the advertiser.'])
  const { hold_until } = await world.database.db.selectFrom('conversions').select('hold_until').where('offer_id', '=', held).executeTakeFirstOrThrow() // prettier-ignore
  const when = await page.evaluate<string>(`new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' }).format(new Date('${hold_until?.toISOString()}'))`) // prettier-ignore
  assert.deepEqual(await rowOf('Held'), ['Pending', `Confirmed. Credited on ${when}.`])
  assert.deepEqual(await rowOf('Paid'), ['Credited', null])
  assert.deepEqual(await rowOf('Refused'), ['Rejected', 'The advertiser did not accept it.'])
  assert.deepEqual(await rowOf('Taken back'), ['Reversed', 'The advertiser reversed it.'])
  assert.deepEqual(await rowOf('Full'), ['Rejected', 'The offer was full.'])
  await checkUsersPage(page)

  // Only for the signed user of an app that keeps balances.
  await page.goto(wallUrl(site.url, live))
  await page.getByRole('button', { name: 'Paid' }).waitFor({ state: 'detached' })
  assert.equal(await page.locator('.balance').innerText(), '')
  const other = await world.createApp()
  await page.goto(wallUrl(site.url, other.live, signed(other.live)))
  await page.getByRole('button', { name: 'My activity' }).click()
  await page.getByText('Nothing here yet').waitFor()
  assert.equal(await page.locator('.balance').innerText(), '')
})

test('a welcome offer is the first card for a new user, is listed once, and hides no other offer; a list goes on as it began', async () => {
  const { appId, live } = await world.createApp()
  const count = 25
  const ids = await world.createOffers(...Array.from({ length: count }, (_, i) => ({ name: `Step ${i}`, category: 'video', payout: String(count - i) }))) // prettier-ignore
  const { page } = await site.open()
  const cards = () => page.locator('.card').evaluateAll((all) => all.map((card) => card.getAttribute('data-offer'))) // prettier-ignore
  for (const welcome of [3, 22]) {
    await changeRewardSettings(world.database.db, TESTER, appId, { welcomeOfferId: ids[welcome] ?? 0 })
    await world.app.refresh()
    await page.goto(wallUrl(site.url, live, { category: 'video', sort: 'payout_desc' }))
    const first = page.locator('.card').first()
    await first.getByText('Welcome offer').waitFor()
    assert.equal(await first.getByRole('heading').innerText(), `Step ${welcome}`)
    await page.getByRole('button', { name: 'Show more' }).click()
    await until(async () => (await page.getByRole('button', { name: 'Show more' }).count()) === 0)
    const listed = await cards()
    assert.deepEqual(listed.map(String).toSorted(), ids.map(String).toSorted(), `with ${welcome} as the welcome offer`)
    assert.equal(await page.getByText('Welcome offer').count(), 1)
  }
  await world.confirm(ids[0] ?? 0, (await world.click(ids[0] ?? 0, live, 'userId=ann')).clickId)
  await until(async () => {
    await page.goto(wallUrl(site.url, live, { category: 'video', sort: 'payout_desc' }))
    await page.getByRole('button', { name: 'Step 1', exact: true }).waitFor()
    return (await page.getByText('Welcome offer').count()) === 0
  })

  // A ranking that takes effect while the page is open changes nothing on it.
  const rank = async (isBest: (place: number) => boolean) => {
    const offers = ids.map((offerId) => ({ offerId, category: 'video' as const, payoutMicros: 1_000_000 }))
    const cells = offers.map(({ offerId }, i) => ({ offerId, country: '', platform: '', clicks: 1_000, allClicks: 1_000, approved: 50, earnedMicros: isBest(i) ? 9e8 : 1e8 - i * 1e6 })) // prettier-ignore
    const write = (trx: Trx) => insertRanking(trx, estimate(cells, offers), new Date(), new Date(0))
    await world.database.db.transaction().execute(write)
    await world.app.refresh()
  }
  await rank((place) => place === 5)
  await page.goto(wallUrl(site.url, live, { category: 'video' }))
  await until(async () => (await cards()).length === 20)
  assert.equal(await page.locator('.card').first().getByRole('heading').innerText(), 'Step 5')
  await rank((place) => place > 18)
  await page.getByRole('button', { name: 'Show more' }).click()
  await until(async () => (await cards()).length === 24)
  assert.deepEqual((await cards()).map(String).toSorted(), ids.slice(1).map(String).toSorted())
  await page.reload()
  await until(async () => (await page.locator('.card').first().getByRole('heading').innerText()) === 'Step 19')
})
