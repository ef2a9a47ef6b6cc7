// Feeds in a real browser: adding one beside its live answer, its preview, its runs, payouts that wait, and rates.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { runAskedFeeds, runDueFeeds } from '../../src/features/feeds/due-feeds.ts'
import { FEED_DEFAULTS } from '../../src/features/feeds/feed-settings.ts'
import { createFeed, readFeed } from '../../src/features/feeds/feeds.ts'
import { createGuardedOpener } from '../../src/features/postbacks/app-sender.ts'
import { Upstream } from '../upstreams/server.ts'
import { upstreamOffer } from '../upstreams/shapes.ts'
import { TESTER } from '../tester.ts'
import { SECRET_KEY } from '../world.ts'
import { becomes, checkLooks, go, pick, useDashboard } from './browser.ts'

const upstream = new Upstream('lootably')
const dashboard = useDashboard('e2e_feeds', () => upstream.listen())
after(() => upstream.close())
const { world } = dashboard
world.config = { ...world.config, postbackAllow: ['127.0.0.1/32'] }

const work = async () => {
  const runner = { db: world.database.db, secretKey: SECRET_KEY, open: createGuardedOpener(world.config) }
  await runAskedFeeds(runner, assert.fail)
  await runDueFeeds(runner, assert.fail)
}

test('an operator adds a network beside its live answer, looks at the preview, starts it, and approves a payout', async () => {
  upstream.offers = Array.from({ length: 5 }, (_, n) => upstreamOffer(n))
  const { request } = upstream.source
  const { mapping } = upstream.preset
  const { page, complaints } = await dashboard.signIn('operator', null, { at: '/network/feeds' })
  await page.getByText('No feeds yet').waitFor()
  await page.getByRole('link', { name: 'Add feed' }).click()
  await page.getByRole('combobox', { name: 'Network' }).click()
  await pick(page.getByRole('option', { name: 'Lootably' }))
  await page.getByLabel('Placement ID').waitFor()
  await page.getByRole('button', { name: 'Copy to a custom feed' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Tidewater')
  await page.getByLabel('Share for publishers').fill('50')
  const url = { ...request, json: { apiKey: '{key}', placementID: '{placement}' } }
  await page.getByRole('textbox', { name: 'Request' }).fill(JSON.stringify(url))
  await page.getByText('JSON', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Mapping' }).fill(JSON.stringify({ ...mapping, titel: 'name' }))
  await page.getByLabel('Value of key').fill(upstream.source.credentials['key'] ?? '')
  await page.getByLabel('Value of placement').fill('acme')
  await page.getByRole('button', { name: 'Fetch the first page' }).click()
  await page.getByText(/^titel is not a known name here/).waitFor()
  await page.getByRole('textbox', { name: 'Mapping' }).fill('{')
  await page.getByText('This is not a JSON object.').waitFor()
  const { name: _name, description: _description, offers: _offers, ...rest } = mapping
  await page.getByRole('textbox', { name: 'Mapping' }).fill(JSON.stringify({ ...rest, titel: 'name' }))
  await page.getByText('Form', { exact: true }).click()
  await page.getByRole('button', { name: 'Remove titel' }).click()
  const answer = page.getByRole('group', { name: 'Response' })
  await answer.getByRole('button', { name: /^offerID 1000-a/ }).click() // any of an offer says where the list is
  await page.getByText('List of offers: data.offers').waitFor()
  const field = (name: string) => page.locator(`[data-path='mapping.${name}']`)
  await field('name').and(page.locator('[aria-invalid=true]')).focus()
  await answer.getByRole('button', { name: /^name Offer 0/ }).press('Enter')
  await becomes(() => field('name').inputValue(), 'name')
  await page.getByRole('list', { name: 'Name of the first offers' }).getByText('Offer 2 & more').waitFor() // prettier-ignore
  for (const name of [/^Link /, /^Texts /, /^Where it runs /]) await page.getByRole('button', { name, expanded: false }).click() // prettier-ignore
  await page.getByRole('list', { name: 'Link of the first offers' }).getByText('{click_id}').first().waitFor()
  await page.getByRole('list', { name: 'Countries of the first offers' }).getByText('US').first().waitFor()
  await field('description').fill('descript')
  await field('description').press('ArrowDown')
  await field('description').press('Enter')
  await becomes(() => field('description').inputValue(), 'description')
  const becoming = page.getByRole('table', { name: 'Resulting offers' })
  await becoming.getByRole('row', { name: /1001-a Offer 1 & more \$0\.25/ }).waitFor()
  await checkLooks(page)
  await page.getByRole('button', { name: 'Add feed' }).click()
  await page.getByText(/postback\?click_id=\{click_id\}.*token=adv_/).waitFor()

  await page.getByRole('link', { name: 'Go to Tidewater' }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('heading', { name: 'Preview 1' }).waitFor()
  await work()
  await page.getByText('5 offers on 1 page').waitFor()
  await page.getByRole('radio', { name: 'New (5)' }).waitFor({ state: 'attached' })
  await page.getByText('0 of 0 offers are active').waitFor()
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Hold payout changes above').fill('20')
  await page.getByLabel('Share for publishers').fill('0')
  await page.getByLabel('Minimum margin').fill('0.50')
  await page.getByLabel('Maximum margin').fill('0.10')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The share must be a percentage above 0, at most 100.').waitFor()
  await page.getByText('The maximum margin must not be below the minimum margin.').waitFor()
  await page.getByLabel('Minimum margin').fill('')
  await page.getByLabel('Maximum margin').fill('')
  complaints.length = 0 // a refused request is reported as an error, too
  await page.getByLabel('Share for publishers').fill('600')
  await page.getByLabel('Hold payout changes above').fill('abc')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Enter a percentage such as 12.5.').waitFor()
  assert.deepEqual([await page.getByLabel('Share for publishers').inputValue(), await page.getByLabel('Hold payout changes above').inputValue()], ['600', 'abc']) // prettier-ignore
  await page.getByLabel('Hold payout changes above').fill('20')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The share must be a percentage above 0, at most 100.').waitFor()
  complaints.length = 0
  await page.getByLabel('Share for publishers').fill('60')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved. The next run reads all offers again.').waitFor()
  await page.getByRole('button', { name: 'Add credential' }).click()
  await page.getByLabel('Credential', { exact: true }).last().fill('app_id')
  await page.getByLabel('Value of app_id').fill('4711')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByLabel('Value of app_id').and(page.getByPlaceholder('unchanged')).waitFor()
  await page.getByRole('button', { name: 'Remove credential app_id' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await becomes(async () => page.getByLabel('Value of app_id').count(), 0)
  await checkLooks(page)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('Feed started.').waitFor()
  await page.getByText('next run now').waitFor()
  await page.mouse.move(0, 0) // or what it says stays, in front of the buttons
  await work()

  upstream.offers = upstream.offers.map((offer, n) => (n === 1 ? { ...offer, payout: 5 } : offer))
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByRole('heading', { name: /^Run \d/ }).waitFor()
  await work()
  await page.getByRole('row', { name: /^Run \d.* 5 0 0 0 1 0/ }).waitFor()
  await page.getByRole('radio', { name: 'Held (1)' }).waitFor({ state: 'attached' })
  await checkLooks(page)
  await page.getByRole('tab', { name: /^Payout changes/ }).click()
  await page.getByRole('row', { name: /Offer 1 & more \$0\.30 \$3\.00/ }).waitFor()
  await page.getByRole('checkbox', { name: 'Select Offer 1 & more' }).check()
  await page.getByRole('button', { name: 'Approve 1 payout' }).click()
  await page.getByText('No payout changes awaiting approval').waitFor()
  await work()
  const payout = async () => (await world.database.db.selectFrom('offers').select('payout_micros').where('external_id', '=', '1001-a').executeTakeFirstOrThrow()).payout_micros // prettier-ignore
  await becomes(payout, 3_000_000)

  const whole = upstream.offers
  upstream.offers = whole.slice(0, 1)
  await page.getByRole('tab', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByText('A worker will start this run within a few seconds.').waitFor()
  await work()
  await page.getByRole('button', { name: 'Apply anyway' }).click()
  await page.getByText('up to 4 offers that are gone will be paused').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Apply anyway' }).click()
  await page.getByText('A worker will start this run within a few seconds.').waitFor()
  await work()
  await page.getByRole('radio', { name: 'Paused (4)' }).waitFor({ state: 'attached' })
  upstream.offers = whole
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.getByText('A worker will start this run within a few seconds.').waitFor()
  await work()
  await page.getByText('5 of 5 offers are active').waitFor()
  assert.deepEqual(complaints, [])
})

test('an offer of a feed says so, and a field that was edited follows the feed again when an operator wants it', async () => {
  const { db } = world.database
  const { offer_id } = await db.selectFrom('offers').select('offer_id').where('external_id', '=', '1002-a').executeTakeFirstOrThrow() // prettier-ignore
  await db.updateTable('offers').set({ name: 'Renamed here' }).where('offer_id', '=', offer_id).execute()
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/offers/${offer_id}` })
  await page.getByText('Edited: name. In the feed: “Offer 2 & more”.').waitFor()
  await page.getByRole('button', { name: 'Follow the feed' }).click()
  await page.getByText('The next run will restore the feed’s value.').waitFor()
  await work()
  await becomes(async () => (await db.selectFrom('offers').select('name').where('offer_id', '=', offer_id).executeTakeFirstOrThrow()).name, 'Offer 2 & more') // prettier-ignore

  await go(page, '/network/feeds')
  await page.getByRole('row', { name: /Tidewater 5 of 5/ }).waitFor()
  await page.getByRole('button', { name: 'Set a rate' }).click()
  await page.getByLabel('Currency').fill('usd')
  await page.getByLabel('US dollars per unit').fill('1')
  await page.getByRole('button', { name: 'Set rate' }).click()
  await page.getByText('US dollars need no rate').waitFor()
  complaints.length = 0
  await page.getByLabel('Currency').fill('eur')
  await page.getByLabel('US dollars per unit').fill('1.0842')
  await page.getByRole('button', { name: 'Set rate' }).click()
  await page.getByRole('row', { name: /EUR 1\.0842/ }).waitFor()
  await checkLooks(page)
  assert.deepEqual(complaints, [])
})

test('the page of a feed says how callbacks of its network are read, and a feed that is removed is gone', async () => {
  const { db } = world.database
  const create = (name: string, preset: string) => createFeed(db, TESTER, SECRET_KEY, { name, advertiserId: null, kind: { preset }, credentials: { key: 'k', publisher: '1' }, settings: FEED_DEFAULTS }) // prettier-ignore
  const adgem = await create('Harrowgate', 'adgem')
  const torox = await create('Brackwater', 'torox')
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/feeds/${adgem.feedId}?tab=callbacks` }) // prettier-ignore
  const rules = page.getByRole('list', { name: 'Callback rules' }).getByRole('listitem')
  await rules.filter({ hasText: 'If nonpayable_install_goal is true, the callback is ignored: An install that this network does not pay for. Set by AdGem.' }).waitFor() // prettier-ignore
  await rules.filter({ hasText: 'If a callback names an unknown goal' }).waitFor()
  await checkLooks(page)
  await page.getByRole('link', { name: 'Change callback settings' }).click()
  await page.getByRole('button', { name: 'Add rule' }).waitFor()
  await go(page, `/network/feeds/${torox.feedId}?tab=callbacks`)
  await page.getByText('No rules: callbacks are read by their status and amount.').waitFor()

  await page.getByRole('tab', { name: 'Settings' }).click()
  const remove = page.getByRole('button', { name: 'Remove feed' })
  await remove.click()
  await page.getByText('0 active offers will be paused immediately.').waitFor()
  await checkLooks(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Remove feed' }).click()
  await page.getByText('The feed “Brackwater” is removed.').waitFor()
  await page.getByRole('heading', { name: 'Feeds', exact: true }).waitFor()
  await becomes(() => page.getByRole('cell', { name: 'Brackwater' }).count(), 0)
  assert.deepEqual(complaints, [])
})

test('two tabs that change settings of a feed keep what the other one saved', async () => {
  const { db } = world.database
  const { feedId } = await createFeed(db, TESTER, SECRET_KEY, { name: 'Two tabs', advertiserId: null, kind: { preset: 'cpalead' }, credentials: { publisher: '1' }, settings: FEED_DEFAULTS }) // prettier-ignore
  const { page, complaints } = await dashboard.signIn('operator', null, { at: `/network/feeds/${feedId}?tab=settings` })
  const other = await page.context().newPage()
  await other.goto(page.url())
  const save = async (tab: typeof page) => {
    await tab.getByRole('button', { name: 'Save' }).click()
    await tab.getByText('Saved. The next run reads all offers again.').waitFor()
  }
  await other.getByLabel('Maximum margin').fill('9')
  await page.getByLabel('Share for publishers').fill('60')
  await save(page)
  await save(other)
  await becomes(() => other.getByLabel('Share for publishers').inputValue(), '60')
  const { settings } = await readFeed(db, SECRET_KEY, feedId)
  assert.deepEqual([settings.sharePpm, settings.maxMarginMicros], [600_000, 9_000_000])
  assert.deepEqual(complaints, [])
})
