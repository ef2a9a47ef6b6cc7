// What a list hides, a link refuses: everything is checked again at the click, and what was promised there is kept.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { App } from '../../app.ts'
import { buildMmdb } from '../../../test/mmdb.ts'
import { BROWSER, SECRET_KEY, useWorld } from '../../../test/world.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { setCaps } from '../offers/edit-offers.ts'
import { createLinkSigner } from '../offers/links.ts'
import { TESTER } from '../../../test/tester.ts'

const ANDROID = 'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36' // prettier-ignore
const IPHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1' // prettier-ignore
const DAY_MS = 86_400_000

let appId: number
let live: IssuedCredentials
const world = useWorld('eligibility', async () => {
  ;({ appId, live } = await world.createApp())
})

const signer = createLinkSigner(SECRET_KEY)
function linkOf(offerId: number, userId = 'u', ofApp = appId): string {
  const issuedAt = Math.floor(Date.now() / 1000)
  return `/c/${offerId}/${signer.sign({ appId: ofApp, isTest: false, issuedAt, requestId: 'req_1', userId, subIds: null })}`
}

async function createOffer(more: Record<string, unknown> = {}): Promise<number> {
  const [offerId = 0] = await world.createOffers(more)
  return offerId
}

const countClicks = async (offerId: number) =>
  (await world.database.db.selectFrom('clicks').select('click_id').where('offer_id', '=', offerId).execute()).length

/** The status of a link, and the heading where it does not lead on. */
async function follow(link: string, headers: object = {}, app: App = world.app, remoteAddress = '127.0.0.1') {
  const answer = await app.server.inject({ url: link, headers: { 'user-agent': BROWSER, ...headers }, remoteAddress })
  const [, heading] = /<h1>(.*)<\/h1>/.exec(answer.body) ?? []
  return heading === undefined ? answer.statusCode : `${answer.statusCode} ${heading}`
}

const at = (ms: number) => new Date(Date.now() + ms).toISOString()

test('paused, not started, ended and full offers are refused, and nothing is recorded', async () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ status: 'paused' }, '410 This offer has ended'],
    [{ starts_at: at(DAY_MS) }, '403 This offer has not started yet'],
    [{ starts_at: at(-2 * DAY_MS), ends_at: at(-DAY_MS) }, '410 This offer has ended'],
  ]
  for (const [more, expected] of cases) {
    const offerId = await createOffer(more)
    assert.equal(await follow(linkOf(offerId)), expected)
    assert.equal(await countClicks(offerId), 0)
  }
  const full = await createOffer({ total_click_cap: 1 })
  assert.equal(await follow(linkOf(full)), 302)
  assert.equal(await follow(linkOf(full)), '410 This offer is full')
  await world.app.refresh()
  assert.equal(await follow(linkOf(full)), '410 This offer is full')
  assert.equal(await countClicks(full), 1)
})

test('an offer is open from its first moment and closed from its last, between two looks as well', async () => {
  const { offerId, endsAt } = await createOfferThatEnds()
  let answer: unknown = 302
  while (answer === 302 && Date.now() < endsAt + 10_000) answer = await follow(linkOf(offerId))
  assert.equal(answer, '410 This offer has ended')

  /** On a busy machine, one that ends soon may have ended before it is seen open. */
  async function createOfferThatEnds() {
    for (const soon of [1_000, 5_000, 20_000]) {
      const endsAt = Date.now() + soon
      const offerId = await createOffer({ starts_at: at(-DAY_MS), ends_at: new Date(endsAt).toISOString() })
      if ((await follow(linkOf(offerId))) === 302) return { offerId, endsAt }
    }
    return assert.fail('no offer was ever open')
  }
})

test('the country is that of the IP address; an unknown country passes', async () => {
  const file = join(world.dataDir, 'countries.mmdb')
  writeFileSync(file, buildMmdb({ '81.2.69.0/24': 'GB', '89.160.20.0/24': 'SE', '2001:db8::/32': 'SE' }))
  const offerId = await createOffer({ countries: ['SE', 'NO'] })
  const app = await world.start({ geoipDb: file })
  try {
    const from = (address: string) => follow(linkOf(offerId), {}, app, address)
    assert.equal(await from('89.160.20.1'), 302)
    assert.equal(await from('2001:db8::1'), 302)
    assert.equal(await from('81.2.69.1'), '403 This offer is not for your country')
    assert.equal(await from('::ffff:81.2.69.1'), '403 This offer is not for your country')
    assert.equal(await from('203.0.113.9'), 302)
    // Only a trusted proxy may send the visitor's country.
    assert.equal(await follow(linkOf(offerId), { 'cf-ipcountry': 'SE', 'x-forwarded-for': '89.160.20.1' }, app, '81.2.69.1'), '403 This offer is not for your country') // prettier-ignore
  } finally {
    await app.close()
  }
  const clicks = await world.database.db.selectFrom('clicks').select(['country', 'ip']).where('offer_id', '=', offerId).orderBy('click_id').execute() // prettier-ignore
  assert.deepEqual(clicks, [
    { country: 'SE', ip: '89.160.20.1' },
    { country: 'SE', ip: '2001:db8::1' },
    { country: null, ip: '203.0.113.9' },
  ])
})

test('a trusted proxy may send the country; an invalid one is unknown', async () => {
  const offerId = await createOffer({ countries: ['SE'] })
  const app = await world.start({ trustProxy: ['10.0.0.0/8'], countryHeader: 'cf-ipcountry' })
  try {
    const visitFrom = (country: string, peer = '10.1.2.3') =>
      follow(linkOf(offerId), { 'cf-ipcountry': country, 'x-forwarded-for': '198.51.100.7' }, app, peer)
    assert.equal(await visitFrom('SE'), 302)
    assert.equal(await visitFrom('GB'), '403 This offer is not for your country')
    assert.equal(await visitFrom('GB', '192.0.2.1'), 302)
    for (const unknown of ['XX', 'T1', '', 'Sweden', '<b>']) assert.equal(await visitFrom(unknown), 302)
  } finally {
    await app.close()
  }
})

test('an offer for one kind of device is refused on another; the web is everywhere', async () => {
  const [android = 0, ios = 0, web = 0] = await world.createOffers(
    { platforms: ['android'] },
    { platforms: ['ios'] },
    { platforms: ['web'] },
  )
  const refusal = '403 This offer is not for your device'
  const answers = async (agent: string) => {
    const all = [android, ios, web].map((offerId) => follow(linkOf(offerId), { 'user-agent': agent }))
    return Promise.all(all)
  }
  assert.deepEqual(await answers(BROWSER), [refusal, refusal, 302])
  assert.deepEqual(await answers(ANDROID), [302, refusal, 302])
  assert.deepEqual(await answers(IPHONE), [refusal, 302, 302])
  assert.deepEqual(await answers('Something/1.0'), [302, 302, 302])
  assert.deepEqual(await answers(''), [302, 302, 302])
})

test("an app's content rules hold at the click", async () => {
  const strict = await world.createApp({
    blockedCategories: ['game'],
    blockedKeywords: ['Casino'],
    paymentOffers: false,
  })
  const offers = await world.createOffers(
    { category: 'game' },
    { name: 'A CASINO night' },
    { description: 'see the casino' },
    { payment_required: true },
    {},
  )
  const answers = await Promise.all(offers.map((offerId) => follow(linkOf(offerId, 'u', strict.appId))))
  const refusal = '403 This offer is not available here'
  assert.deepEqual(answers, [refusal, refusal, refusal, refusal, 302])
  assert.deepEqual(await Promise.all(offers.map((offerId) => follow(linkOf(offerId)))), [302, 302, 302, 302, 302])
})

test('a user who has completed an offer gets a page that says so; other users, and the same user in another app, pass', async () => {
  const offerId = await createOffer()
  const click = await world.click(offerId, live, 'userId=done')
  await world.confirm(offerId, click.clickId)
  await world.app.refresh()
  assert.equal(await follow(linkOf(offerId, 'done')), '410 You have already completed this offer')
  assert.equal(await follow(linkOf(offerId, 'not done')), 302)
  const other = await world.createApp()
  assert.equal(await follow(linkOf(offerId, 'done', other.appId)), 302)
  assert.equal(await countClicks(offerId), 3)
})

test('what a click promised is paid, whatever becomes of the offer and of the rate of the app', async () => {
  const { db } = world.database
  const deal = await world.createApp()
  const offerId = await createOffer({ payout: '1.5', revenue: '2' })
  const [early, kept] = [
    await world.click(offerId, deal.live, 'userId=early'),
    await world.click(offerId, deal.live, 'userId=kept'),
  ]
  await db.updateTable('apps').set({ rate_micros: 7_000_000, currency: 'Gems' }).where('app_id', '=', deal.appId).execute() // prettier-ignore
  await db.updateTable('goals').set({ payout_micros: 100_000, revenue_micros: 100_000 }).where('offer_id', '=', offerId).execute() // prettier-ignore
  await db.updateTable('offers').set({ payout_micros: 100_000, revenue_micros: 100_000 }).where('offer_id', '=', offerId).execute() // prettier-ignore
  await world.database.pool.query('SELECT renew_terms(ARRAY[$1::bigint])', [offerId])
  await world.app.refresh()
  const late = await world.click(offerId, deal.live, 'userId=late')
  await setCaps(db, TESTER, offerId, { totalConversions: 1 }, new Date())
  await db.updateTable('offers').set({ status: 'paused' }).where('offer_id', '=', offerId).execute()
  await world.app.refresh()
  const paid = async (clickId: string) => {
    const { outcome, conversion_id } = await world.confirm(offerId, clickId)
    const { body } = await world.get(`/v1/conversions/${conversion_id}`, deal.live)
    const { payout, payout_local, currency } = body.data.conversion
    return [outcome, payout, payout_local, currency]
  }
  assert.deepEqual(await paid(early.clickId), ['approved', 1.5, 150, 'Coins'])
  assert.deepEqual(await paid(kept.clickId), ['approved', 1.5, 150, 'Coins'])
  assert.deepEqual(await paid(late.clickId), ['approved', 0.1, 0.7, 'Gems'])
  assert.equal(await follow(linkOf(offerId, 'new', deal.appId)), '410 This offer has ended')
})
