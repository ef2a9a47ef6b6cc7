// What a user has started and earned, as the wall shows it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IssuedCredentials } from '../../src/features/apps/keys.ts'
import { DEFAULTS } from '../../src/features/wall/settings-schema.ts'
import { checkUsersPage, PHONE, useDashboard } from '../dashboard/browser.ts'
import { until } from '../installation.ts'
import { addConversions } from '../seed-rows.ts'
import { messagesOf, openParentSite, wallIn } from './parent-site.ts'
import { signed, wallUrl } from './wall-url.ts'

const site = useDashboard('wall_activity')
const { world } = site
const urlOf = (keys: IssuedCredentials, more: Record<string, string> = {}) => wallUrl(site.url, keys, more)

test('a credited goal appears by itself, with the reason of what is rejected, and only for its signed user', async () => {
  const { live } = await world.createApp({ currency: 'Gems' })
  const [offerId = 0, other = 0] = await world.createOffers(
    { name: 'Two steps', payout: undefined, goals: [{ name: 'Install', payout: '1' }, { name: 'Finish', payout: '2' }] },
    { name: 'Refused one' },
  ) // prettier-ignore
  const parent = await openParentSite()
  const { page } = await site.open({ viewport: PHONE })
  await page.goto(parent.at(urlOf(live, signed(live))))
  await until(async () => (await messagesOf(page)).length > 0)
  const wall = wallIn(page)
  await wall.getByRole('button', { name: 'My activity' }).click()
  await wall.getByText('Nothing here yet').waitFor()
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  const refused = await world.click(other, live, 'userId=ann')
  await world.confirm(offerId, clickId, { goal: 'Install' })
  await world.confirm(other, refused.clickId, { status: 'rejected' })
  await wall.getByText('You received 100 Gems').waitFor()
  await wall.getByText('The advertiser did not accept it.').waitFor()
  await wall.getByRole('heading', { name: 'In progress' }).waitFor()
  assert.match(await wall.getByRole('listitem').filter({ hasText: 'Two steps' }).first().innerText(), /Install\s+Credited[\s\S]*100 Gems[\s\S]*Finish[\s\S]*200 Gems/) // prettier-ignore
  await until(async () => (await messagesOf(page)).some(({ event, detail }) => event === 'credited' && detail['reward'] === 100)) // prettier-ignore
  const { page: alone } = await site.open({ viewport: PHONE, colorScheme: 'dark' })
  await alone.goto(urlOf(live, signed(live)))
  await alone.getByRole('button', { name: 'My activity' }).click()
  await alone.getByRole('heading', { name: 'History' }).waitFor()
  await checkUsersPage(alone)
  // Another user's signature, or none, shows nothing of it.
  const { page: unsigned } = await site.open()
  await unsigned.goto(urlOf(live))
  await unsigned.getByRole('heading', { name: 'Earn Gems' }).waitFor()
  assert.equal(await unsigned.getByRole('button', { name: 'My activity' }).count(), 0)
  const stolen = await unsigned.request.get(`${site.url}/wall/v1/activity?${new URLSearchParams({ apiKey: live.api_key, ...signed(live, 'bob'), userId: 'ann' }).toString()}`) // prettier-ignore
  assert.equal(stolen.status(), 400)
})

test('a long history is read page by page, each row once, also when something new comes between', async () => {
  const { appId, live } = await world.createApp()
  const [offerId = 0, begun = 0] = await world.createOffers({ name: 'Often' }, { name: 'Begun' })
  const hourAgo = Date.now() - 3_600_000
  const seeds = Array.from({ length: 25 }, (_, i) => ({ at: new Date(hourAgo + i * 1000).toISOString(), appId, offerId, status: 'rejected' as const, user_id: 'ann' })) // prettier-ignore
  await addConversions(world.database.db, ...seeds)
  await world.click(begun, live, 'userId=ann')
  const { page } = await site.open()
  await page.goto(urlOf(live, signed(live)))
  await page.getByRole('button', { name: 'My activity' }).click()
  const count = (name: string) =>
    page
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name }) })
      .count()
  await page.getByRole('button', { name: 'Show more' }).waitFor()
  assert.deepEqual([await count('Often'), await count('Begun')], [20, 1])
  const { clickId } = await world.click(offerId, live, 'userId=ann')
  await world.confirm(offerId, clickId)
  await page.getByText('You received').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
  assert.deepEqual([await count('Often'), await count('Begun')], [26, 1])
  const second = await world.click(begun, live, 'userId=ann')
  await world.confirm(begun, second.clickId, { status: 'rejected' })
  await page.getByText('The advertiser did not accept it.').waitFor()
  assert.deepEqual([await count('Often'), await page.getByRole('button', { name: 'Show more' }).count()], [26, 0])
})

test('where streams do not get through, a reward appears when the page asks', async () => {
  const { live } = await world.createApp({ currency: 'Gems' })
  const [offerId = 0] = await world.createOffers({ name: 'Castle builder' })
  const { page } = await site.open()
  await page.clock.install()
  await page.route('**/wall/v1/live?*', (route) => route.abort())
  await page.goto(urlOf(live, signed(live)))
  await page.getByRole('button', { name: 'My activity' }).click()
  await page.getByText('Nothing here yet').waitFor()
  await world.confirm(offerId, (await world.click(offerId, live, 'userId=ann')).clickId)
  await page.clock.runFor(15_000)
  await page.getByText('You received 100 Gems').waitFor()
})

test('a hostile page changes nothing of the look, floods the server with nothing, and the wall goes on', async () => {
  const { live } = await world.createApp({ currency: 'Gems' })
  const [offerId = 0] = await world.createOffers({ name: 'Castle builder' })
  const parent = await openParentSite()
  const { page } = await site.open()
  await page.clock.install()
  await page.goto(parent.at(urlOf(live, signed(live))))
  await until(async () => (await messagesOf(page)).length > 0)
  const wall = wallIn(page)
  await wall.getByRole('button', { name: 'My activity' }).click()
  await wall.getByText('Nothing here yet').waitFor()
  const look = () => wall.evaluate<string>(`document.documentElement.cloneNode().outerHTML + document.querySelector('header').outerHTML`) // prettier-ignore
  const before = await look()
  await wall.evaluate(`void (window.isOver = new Promise((resolve) => addEventListener('message', ({ data }) => data === 'over' && resolve())))`) // prettier-ignore
  const asked: string[] = []
  page.on('request', (request) => request.url().includes('/wall/v1/') && asked.push(request.url()))
  await page.evaluate(`{
    const send = (data) => document.querySelector('iframe').contentWindow.postMessage(data, '*')
    const sign = (exp, sig) => send({ source: 'offerdeck-sdk', version: 1, event: 'signature', exp, sig })
    send({ source: 'offerdeck-preview', theme: 'dark', settings: ${JSON.stringify({ ...DEFAULTS, title: 'Free money', radius: 20 })} })
    for (const data of [null, 7, 'x', [], { source: 'offerdeck-sdk' }, { source: 'offerdeck-sdk', version: 1, event: 'constructor' }]) send(data)
    for (const sig of [null, {}, ['${'0'.repeat(64)}'], '<b>', '0'.repeat(65)]) sign('1', sig)
    for (let i = 0; i < 1000; i++) sign(${JSON.stringify(signed(live, 'ann', 700)['exp'])}, ${JSON.stringify(signed(live, 'ann', 700)['sig'])})
    for (let i = 0; i < 2000; i++) sign('2000000000', i.toString(16).padStart(64, '0'))
    sign(${JSON.stringify(signed(live, 'ann', 800)['exp'])}, ${JSON.stringify(signed(live, 'ann', 800)['sig'])})
    send('over')
  }`)
  await wall.evaluate('isOver')
  await page.clock.runFor(10_000)
  await world.confirm(offerId, (await world.click(offerId, live, 'userId=ann')).clickId)
  await wall.getByText('You received 100 Gems').waitFor()
  assert.equal(await look(), before)
  assert.ok(asked.length < 20, `${asked.length} requests`)
})
