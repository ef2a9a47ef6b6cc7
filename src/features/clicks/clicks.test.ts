// Caps on clicks, to the last place: at once, in several processes, over midnight.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BROWSER, useWorld } from '../../../test/world.ts'
import { uuid7 } from '../../lib/uuid7.ts'
import type { IssuedCredentials } from '../apps/keys.ts'
import { setCaps } from '../offers/edit-offers.ts'
import { type Click, recordClicks, recordLateClicks } from './clicks.ts'
import { TESTER } from '../../../test/tester.ts'

const NOON = '2026-03-10T12:00:00.000Z'
const NEXT_NOON = '2026-03-11T12:00:00.000Z'
const MIDNIGHT = '2026-03-11T00:00:00.000Z'

let appId: number
let live: IssuedCredentials
let testMode: IssuedCredentials
const world = useWorld('clicks', async () => {
  ;({ appId, live, test: testMode } = await world.createApp())
})

async function createOffer(more: Record<string, unknown> = {}): Promise<number> {
  const [offerId = 0] = await world.createOffers(more)
  return offerId
}

async function linkOf(offerId: number, credentials = live, userId = 'u'): Promise<string> {
  const { body } = await world.get(`/v1/offers/${offerId}?userId=${userId}`, credentials)
  return body.data.offer.link.replace(world.config.publicUrl, '')
}

const clicksOn = (offerId: number) =>
  world.database.db.selectFrom('clicks').select(['click_id', 'is_test', 'signals']).where('offer_id', '=', offerId).execute() // prettier-ignore

async function usageOf(offerId: number): Promise<Record<number, number>> {
  const rows = await world.database.db.selectFrom('offer_usage').select(['day', 'clicks']).where('offer_id', '=', offerId).where('clicks', '>', 0).orderBy('day').execute() // prettier-ignore
  return Object.fromEntries(rows.map(({ day, clicks }) => [day, clicks]))
}

const fullUntil = async (offerId: number): Promise<unknown> => {
  const { full_until } = await world.database.db.selectFrom('offers').select('full_until').where('offer_id', '=', offerId).executeTakeFirstOrThrow() // prettier-ignore
  return full_until instanceof Date ? full_until.toISOString() : full_until
}

function clickAt(time: string, offerId: number, more: Partial<Click> = {}): Click {
  return {
    click_id: uuid7(Date.parse(time)), clicked_at: time, app_id: appId, is_test: false, user_id: 'u', offer_id: offerId,
    terms_id: 1, currency: 'Coins', rate_micros: 1, share_ppm: null, request_id: 'req_1', aff_sub: null, aff_sub2: null, aff_sub3: null,
    aff_sub4: null, ip: null, country: null, device: null, os: null, signals: null, ...more,
  } // prettier-ignore
}

const record = (time: string, ...clicks: Click[]) => recordClicks(world.database, clicks, new Date(time))

test('of many clicks at once exactly as many as the cap allows are recorded and sent on', async () => {
  for (const cap of ['total_click_cap', 'daily_click_cap']) {
    const offerId = await createOffer({ [cap]: 7 })
    const link = await linkOf(offerId)
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.follow(link)))
    assert.equal(answers.filter(({ status }) => status === 302).length, 7)
    const others = answers.filter(({ status }) => status !== 302)
    assert.ok(others.every(({ status, text }) => status === 410 && text.includes('<h1>This offer is full</h1>')))
    const ids = answers.map(({ clickId }) => clickId).filter((id) => id !== '')
    assert.deepEqual((await clicksOn(offerId)).map((row) => row.click_id).toSorted(), ids.toSorted())
    await world.app.refresh()
    assert.equal((await world.get(`/v1/offers/${offerId}?userId=u`, live)).status, 404, 'and it has left the lists')
  }
})

test('several processes together pass no cap', async () => {
  const offerId = await createOffer({ total_click_cap: 13 })
  const link = await linkOf(offerId)
  const others = [await world.start(), await world.start()]
  try {
    const servers = [world.app, ...others].map((app) => app.server)
    const follow = async (_: unknown, i: number) =>
      (await servers[i % 3]?.inject({ url: link, headers: { 'user-agent': BROWSER } }))?.statusCode
    const statuses = await Promise.all(Array.from({ length: 90 }, follow))
    assert.equal(statuses.filter((status) => status === 302).length, 13)
    assert.equal((await clicksOn(offerId)).length, 13)
  } finally {
    for (const app of others) await app.close()
  }
})

test('bots and tests are recorded, and do not count towards caps', async () => {
  const offerId = await createOffer({ total_click_cap: 2 })
  const [link, testLink] = [await linkOf(offerId), await linkOf(offerId, testMode)]
  const bot = { 'user-agent': 'curl/8.5.0' }
  const statuses: number[] = []
  for (const [path, headers] of [[link, bot], [testLink, {}], [link, bot], [testLink, bot], [link, {}], [testLink, {}], [link, {}], [testLink, {}], [link, {}]] as const)
    statuses.push((await world.follow(path, headers)).status) // prettier-ignore
  assert.deepEqual(statuses.slice(0, 7), Array(7).fill(302))
  assert.equal(statuses[8], 410)
  assert.equal((await usageOf(offerId))[0], 2)
  const rows = await clicksOn(offerId)
  assert.equal(rows.filter((row) => row.is_test).length, statuses[7] === 302 ? 4 : 3)
  assert.equal(rows.filter((row) => !row.is_test && row.signals === null).length, 2)
})

test('a cap on conversions or on payout closes clicks, and opens them again when it is taken away', async () => {
  for (const caps of [{ totalConversions: 1 }, { dailyConversions: 1 }, { totalPayoutMicros: 1_000_000 }]) {
    const offerId = await createOffer({})
    await setCaps(world.database.db, TESTER, offerId, caps, new Date())
    await world.app.refresh()
    const first = await world.click(offerId, live, 'userId=one')
    const link = await linkOf(offerId, live, 'two')
    await world.confirm(offerId, first.clickId)
    assert.equal((await world.follow(link)).status, 410)
    const [cap] = Object.keys(caps)
    await setCaps(world.database.db, TESTER, offerId, { [cap as string]: null }, new Date())
    await world.app.refresh()
    assert.equal((await world.follow(link)).status, 302)
  }
})

test('a cap set while clicks come in holds from then on', async () => {
  const offerId = await createOffer({})
  const link = await linkOf(offerId)
  const follow = () => world.follow(link)
  const [, ...answers] = await Promise.all([
    setCaps(world.database.db, TESTER, offerId, { totalClicks: 5 }, new Date()),
    ...Array.from({ length: 60 }, follow),
  ])
  const recorded = (await clicksOn(offerId)).length
  assert.equal(answers.filter(({ status }) => status === 302).length, recorded)
  const more = await Promise.all(Array.from({ length: 20 }, follow))
  const counted = (await usageOf(offerId))[0] ?? 0
  assert.equal(counted, 5)
  assert.equal((await clicksOn(offerId)).length - recorded, more.filter(({ status }) => status === 302).length)
})

test('a daily cap opens again on the next day of UTC', async () => {
  const offerId = await createOffer({ daily_click_cap: 1 })
  assert.deepEqual(await record(NOON, clickAt(NOON, offerId), clickAt(NOON, offerId)), ['recorded', 'full'])
  assert.equal(await fullUntil(offerId), MIDNIGHT)
  assert.deepEqual(await record(NOON, clickAt('2026-03-10T23:59:59.999Z', offerId)), ['full'])
  assert.deepEqual(await record(MIDNIGHT, clickAt(MIDNIGHT, offerId)), ['recorded'])
  assert.equal(await fullUntil(offerId), '2026-03-12T00:00:00.000Z')
})

test('clicks of two days in one group each count for their own', async () => {
  const offerId = await createOffer({ daily_click_cap: 1 })
  const group = [clickAt(MIDNIGHT, offerId), clickAt(NOON, offerId), clickAt(NOON, offerId), clickAt(MIDNIGHT, offerId)]
  assert.deepEqual(await record(MIDNIGHT, ...group), ['recorded', 'recorded', 'full', 'full'])
})

test('what comes late is counted for its own day, passes the cap, and opens nothing that is full today', async () => {
  const { db } = world.database
  const offerId = await createOffer({ daily_click_cap: 1 })
  await record(NEXT_NOON, clickAt(NEXT_NOON, offerId))
  assert.equal(await fullUntil(offerId), '2026-03-12T00:00:00.000Z')
  await recordLateClicks(db, [clickAt(NOON, offerId), clickAt(NOON, offerId)], new Date(NEXT_NOON))
  assert.equal(await fullUntil(offerId), '2026-03-12T00:00:00.000Z')
  assert.deepEqual(Object.values(await usageOf(offerId)), [3, 2, 1])
})

test('a full offer that somehow stayed in the lists leaves them with the next click', async () => {
  const offerId = await createOffer({ total_click_cap: 1 })
  await record(NOON, clickAt(NOON, offerId))
  await world.database.db.updateTable('offers').set({ full_until: null }).where('offer_id', '=', offerId).execute()
  assert.deepEqual(await record(NOON, clickAt(NOON, offerId)), ['full'])
  assert.equal(await fullUntil(offerId), Infinity)
})

test('written twice is recorded once and counted once, with a cap and without', async () => {
  for (const caps of [{}, { total_click_cap: 1 }]) {
    const offerId = await createOffer(caps)
    const click = clickAt(NOON, offerId)
    assert.deepEqual(await record(NOON, click), ['recorded'])
    assert.deepEqual(await record(NOON, click), ['recorded'])
    await recordLateClicks(world.database.db, [click, click], new Date(NOON))
    assert.equal((await clicksOn(offerId)).length, 1)
    assert.deepEqual(Object.values(await usageOf(offerId)), 'total_click_cap' in caps ? [1, 1] : [])
  }
})

test('groups that want the same offers in another order do not block each other', async () => {
  const offers = await world.createOffers(...Array.from({ length: 6 }, () => ({ total_click_cap: 10_000 })))
  const times = [NOON, NEXT_NOON]
  const groups = Array.from({ length: 40 }, (_, g) =>
    offers.flatMap((_, i) => times.map((_, t) => clickAt(times[(t + g) % 2] ?? NOON, offers[(i * 5 + g) % 6] ?? 0))),
  )
  const late = (group: Click[]) => recordLateClicks(world.database.db, group, new Date(NEXT_NOON))
  const now = (group: Click[]) => record(NEXT_NOON, ...group)
  await Promise.all(groups.map((group, g) => (g % 3 === 0 ? late(group) : now(group))))
  for (const offerId of offers) assert.deepEqual(Object.values(await usageOf(offerId)), [80, 40, 40])
})
